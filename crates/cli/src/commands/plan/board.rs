//! The steps of a plan that runs: a table that is kept up to date where a person looks on, and
//! lines where nobody does.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::{Duration, Instant};

use interleaf::model::shown;
use interleaf::plan::{Plan, PlanStep};
use interleaf_agent::PlanEvent;
use unicode_width::UnicodeWidthStr as _;

use crate::failure::printable;
use crate::ink::{Ink, screened};
use crate::lines::{cut, padded};
use crate::output::{Palette, say};

/// The widest and the narrowest column of names.
const MOST_NAME: usize = 24;
const LEAST_NAME: usize = 6;

/// How wide and high a terminal is that does not say it.
const USUAL_SIZE: (u16, u16) = (80, 24);

/// What a line takes beside the names and what there is to say: state, time, tokens and gaps.
const FIGURES: usize = 31;

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
    /// It has its arguments. A person may be asked whether it may run.
    Asks,
    Done,
    Failed,
    Skipped,
}

struct Row {
    state: State,
    began: Option<Instant>,
    /// Since when it asks. That is no time of its own.
    asks: Option<Instant>,
    took: Duration,
    tokens: u64,
    note: String,
}

impl State {
    const ALL: [Self; 7] = [
        Self::Asks,
        Self::Asking,
        Self::Running,
        Self::Done,
        Self::Failed,
        Self::Skipped,
        Self::Waiting,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Asking => "asking",
            Self::Running => "running",
            Self::Asks => "asks",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    fn ink(self, palette: &Palette) -> Ink {
        match self {
            Self::Waiting | Self::Skipped => palette.dim,
            Self::Asking | Self::Running | Self::Asks => palette.mark,
            Self::Done => palette.heading,
            Self::Failed => palette.fault,
        }
    }

    /// What is shown first where not all is.
    fn rank(self) -> usize {
        match self {
            Self::Asks => 0,
            Self::Running => 1,
            Self::Asking => 2,
            Self::Failed => 3,
            Self::Done => 4,
            Self::Skipped => 5,
            Self::Waiting => 6,
        }
    }
}

impl Board {
    pub(super) fn new(plan: &Plan, is_silent: bool) -> Self {
        let row = || Row {
            state: State::Waiting,
            began: None,
            asks: None,
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
            PlanEvent::Answered { .. } => State::Asks,
            PlanEvent::Started { .. } => State::Running,
            PlanEvent::Known(_) | PlanEvent::Done { .. } => State::Done,
            PlanEvent::Failed { .. } => State::Failed,
            PlanEvent::Skipped { .. } => State::Skipped,
            PlanEvent::Stopped(_) => State::Waiting,
            _ => row.state,
        };
        if let (Some(began), Some(asks)) = (&mut row.began, row.asks.take()) {
            *began += asks.elapsed();
        }
        match event {
            PlanEvent::Began(_) => row.began = Some(Instant::now()),
            PlanEvent::Answered { answer, .. } => {
                row.asks = Some(Instant::now());
                row.tokens += answer.spent.map_or(0, |spent| spent.total());
            }
            _ => {}
        }
        let is_over = !matches!(row.state, State::Asking | State::Asks | State::Running);
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
        let (width, height) = size.map_or(USUAL_SIZE, |(width, height)| (width.0, height.0));
        let most = usize::from(height).saturating_sub(2).max(4);
        let lines = self.lines(most, usize::from(width));
        let mut out = erased(n_shown);
        // On a very narrow screen a line is still too long, and must not become two.
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

    /// The table, in at most this many lines, each in at most this many columns.
    fn lines(&self, most: usize, width: usize) -> Vec<String> {
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
        let longest = (width.saturating_sub(FIGURES) / 2).clamp(LEAST_NAME, MOST_NAME);
        let names = |of: fn(&PlanStep) -> &str| -> Vec<String> {
            let steps = at.iter().map(|&step| &self.plan.steps()[step]);
            steps.map(|step| cut(&shown(of(step)), longest)).collect()
        };
        let (ids, tools) = (names(|step| step.id.as_str()), names(|step| step.tool.as_str()));
        let widest = |texts: &[String]| texts.iter().map(|text| text.width()).max().unwrap_or(0);
        let (wide, wide_tool) = (widest(&ids).max(4), widest(&tools).max(4));
        let heading = palette.heading;
        let mut lines = vec![format!(
            "{heading}{:wide$}  {:wide_tool$}  state    time    tokens{heading:#}",
            "step", "tool"
        )];
        let room = width.saturating_sub(FIGURES + wide + wide_tool);
        for ((&step, id), tool) in at.iter().zip(&ids).zip(&tools) {
            let row = &self.rows[step];
            let until = row.asks.unwrap_or_else(Instant::now);
            let took = row.began.map_or(row.took, |began| until.saturating_duration_since(began));
            let time = match took.is_zero() {
                true => "–".to_owned(),
                false => format!("{:.1} s", took.as_secs_f64()),
            };
            let ink = row.state.ink(&palette);
            let state = row.state.as_str();
            let (tokens, note) = (row.tokens, cut(&row.note, room));
            let (id, tool) = (padded(id, wide), padded(tool, wide_tool));
            let line = format!("{ink}{state:7}{ink:#}  {time:>6}  {tokens:>6}  {note}");
            lines.push(format!("{id}  {tool}  {line}").trim_end().to_owned());
        }
        lines.push(cut(&self.counts(), width));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_the_table_is_wider_than_the_screen() {
        let text = r#"{"objective": "Bake.", "tools": [{"name": "a_tool_with_quite_a_long_name",
            "description": "", "parameters": {}}], "steps": [
            {"id": "面粉和水和盐和酵母在一起的步骤", "tool": "a_tool_with_quite_a_long_name", "reason": ""}]}"#;
        let mut board = Board::new(&Plan::read_with(text, &[]).unwrap(), true);
        board.rows[0].note =
            "flour.txt: 5 bytes are written 面面面面面面面面面面面面面面面面".to_owned();
        for width in [50, 60, 80, 100] {
            let lines = board.lines(20, width);
            assert_eq!(lines.len(), 3);
            assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:#?}");
            assert!(width < 80 || lines[1].ends_with('…'), "{width}: {lines:#?}");
        }
    }
}
