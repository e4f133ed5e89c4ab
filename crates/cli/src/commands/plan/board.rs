//! The steps of a plan that runs: a table that is kept up to date where a person looks on, and
//! lines where nobody does.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::{Duration, Instant};

use interleaf::model::shown;
use interleaf::plan::Plan;
use interleaf_agent::PlanEvent;

use crate::failure::printable;
use crate::ink::{Ink, screened};
use crate::output::{Palette, say};

/// The widest column of names.
const MOST_NAME: usize = 24;

/// How many lines a table has where the terminal does not say how high it is.
const USUAL_HEIGHT: u16 = 24;

/// The steps of a plan, as a person sees them.
pub(super) struct Board {
    plan: Plan,
    rows: Vec<Row>,
    how: How,
}

/// How steps are shown.
#[derive(PartialEq)]
enum How {
    /// As a table, of which this many lines are on the screen.
    Table(usize),
    /// Not now: somebody is asked something.
    Paused,
    /// A line for each thing that happens.
    Lines,
    /// Not at all.
    Silent,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Asking,
    Running,
    Done,
    Failed,
    Skipped,
}

struct Row {
    state: State,
    began: Option<Instant>,
    took: Duration,
    tokens: u64,
    note: String,
}

impl State {
    const ALL: [Self; 6] =
        [Self::Asking, Self::Running, Self::Done, Self::Failed, Self::Skipped, Self::Waiting];

    fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Asking => "asking",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    fn ink(self, palette: &Palette) -> Ink {
        match self {
            Self::Waiting | Self::Skipped => palette.dim,
            Self::Asking | Self::Running => palette.mark,
            Self::Done => palette.heading,
            Self::Failed => palette.fault,
        }
    }

    /// What is shown first where not all is.
    fn rank(self) -> usize {
        match self {
            Self::Running => 0,
            Self::Asking => 1,
            Self::Failed => 2,
            Self::Done => 3,
            Self::Skipped => 4,
            Self::Waiting => 5,
        }
    }
}

impl Board {
    pub(super) fn new(plan: &Plan, is_silent: bool) -> Self {
        let row = || Row {
            state: State::Waiting,
            began: None,
            took: Duration::ZERO,
            tokens: 0,
            note: String::new(),
        };
        let how = match (is_silent, stderr().is_terminal()) {
            (true, _) => How::Silent,
            (false, true) => How::Table(0),
            (false, false) => How::Lines,
        };
        let rows = plan.steps().iter().map(|_| row()).collect();
        Self { plan: plan.clone(), rows, how }
    }

    /// Takes in what happens.
    pub(super) fn take(&mut self, event: &PlanEvent) {
        let Some(step) = event.step() else { return };
        let words = event.in_words(&self.plan);
        if self.how == How::Lines && !matches!(event, PlanEvent::Began(_)) {
            let id = printable(self.plan.steps()[step].id.as_str()).into_owned();
            say(format_args!("{id}: {words}"));
        }
        let row = &mut self.rows[step];
        row.state = match event {
            PlanEvent::Began(_) | PlanEvent::Asking { .. } => State::Asking,
            PlanEvent::Started { .. } => State::Running,
            PlanEvent::Known(_) | PlanEvent::Done { .. } => State::Done,
            PlanEvent::Failed { .. } => State::Failed,
            PlanEvent::Skipped { .. } => State::Skipped,
            PlanEvent::Stopped(_) => State::Waiting,
            _ => row.state,
        };
        match event {
            PlanEvent::Began(_) => row.began = Some(Instant::now()),
            PlanEvent::Answered { answer, .. } => {
                row.tokens += answer.spent.map_or(0, |spent| spent.total());
            }
            _ => {}
        }
        let is_over = !matches!(row.state, State::Asking | State::Running);
        if let Some(began) = row.began.take_if(|_| is_over) {
            row.took = began.elapsed();
        }
        if !matches!(event, PlanEvent::Began(_) | PlanEvent::Answered { .. }) {
            let plain = ["done: ", "failed: ", "skipped: "];
            let note = plain.iter().find_map(|state| words.strip_prefix(state));
            row.note = note.unwrap_or(&words).to_owned();
        }
    }

    /// Shows the table as it is now.
    pub(super) fn draw(&mut self) {
        let How::Table(n_shown) = self.how else { return };
        let size = terminal_size::terminal_size_of(stderr());
        let height = size.map_or(USUAL_HEIGHT, |(_, height)| height.0);
        let lines = self.lines(usize::from(height).saturating_sub(2).max(4));
        let mut out = erased(n_shown);
        // A line that is too long for the screen must not become two.
        out.push_str("\u{1b}[?7l");
        for line in &lines {
            let _ = writeln!(out, "{}", screened(line));
        }
        out.push_str("\u{1b}[?7h");
        let _ = stderr().write_all(out.as_bytes());
        self.how = How::Table(lines.len());
    }

    /// Takes the table off the screen, until it is resumed: somebody is asked something.
    pub(super) fn pause(&mut self) {
        if let How::Table(n_shown) = self.how {
            let _ = stderr().write_all(erased(n_shown).as_bytes());
            self.how = How::Paused;
        }
    }

    pub(super) fn resume(&mut self) {
        if self.how == How::Paused {
            self.how = How::Table(0);
        }
        self.draw();
    }

    /// The table, in at most this many lines.
    fn lines(&self, most: usize) -> Vec<String> {
        let palette = Palette::of(&stderr());
        let mut at: Vec<usize> = (0..self.rows.len()).collect();
        let room = most.saturating_sub(2);
        if at.len() > room {
            // Of those that are over, the last are the newest, more or less.
            at.sort_by_key(|&step| match self.rows[step].state {
                State::Done => (State::Done.rank(), self.rows.len() - step),
                state => (state.rank(), step),
            });
            at.truncate(room);
            at.sort_unstable();
        }
        let name = |text: &str| {
            let text = shown(text);
            match text.char_indices().nth(MOST_NAME) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text.into_owned(),
            }
        };
        let ids: Vec<String> =
            at.iter().map(|&step| name(self.plan.steps()[step].id.as_str())).collect();
        let tools: Vec<String> =
            at.iter().map(|&step| name(self.plan.steps()[step].tool.as_str())).collect();
        let width = |texts: &[String], least: usize| {
            texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(least)
        };
        let (wide, wide_tool) = (width(&ids, 4), width(&tools, 4));
        let heading = palette.heading;
        let mut lines = vec![format!(
            "{heading}{:wide$}  {:wide_tool$}  state    time    tokens{heading:#}",
            "step", "tool"
        )];
        for ((&step, id), tool) in at.iter().zip(&ids).zip(&tools) {
            let row = &self.rows[step];
            let took = row.began.map_or(row.took, |began| began.elapsed());
            let time = match took.is_zero() {
                true => "–".to_owned(),
                false => format!("{:.1} s", took.as_secs_f64()),
            };
            let ink = row.state.ink(&palette);
            let state = row.state.as_str();
            let (tokens, note) = (row.tokens, &row.note);
            lines.push(format!(
                "{id:wide$}  {tool:wide_tool$}  {ink}{state:7}{ink:#}  {time:>6}  {tokens:>6}  {note}"
            ));
        }
        lines.push(self.counts());
        lines
    }

    /// How many steps are how far.
    fn counts(&self) -> String {
        let count = |state: State| self.rows.iter().filter(|row| row.state == state).count();
        let counts = State::ALL.into_iter().map(|state| (count(state), state.as_str()));
        let counts = counts.filter(|(n, _)| *n > 0).map(|(n, state)| format!("{n} {state}"));
        let tokens: u64 = self.rows.iter().map(|row| row.tokens).sum();
        format!("{}; {tokens} tokens", counts.collect::<Vec<_>>().join(", "))
    }
}

/// What takes lines off the screen.
fn erased(n_lines: usize) -> String {
    match n_lines {
        0 => String::new(),
        n => format!("\u{1b}[{n}F\u{1b}[J"),
    }
}
