//! What an agent does, on the screen, as it happens.

use std::io;

use interleaf::model::{Spent, Status};
use interleaf_agent::{End, Ended, Event, Limit};
use interleaf_transport::Amount;

use crate::ink::Ink;
use crate::lines::cut;
use crate::output::Output;
use crate::reach::cut as cut_off;
use crate::working::{line_of, took};

/// Tells the events of a turn.
pub(super) struct Telling {
    width: usize,
    /// What is being written, whose line has begun.
    open: Option<Kind>,
    spent: Spent,
    /// What the agents are called that calls have sent: for each call, how its agent's name
    /// begins, and what of it is the agent's own.
    sent: Vec<(String, String)>,
    /// What summaries cost.
    pub(super) summaries: Amount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
}

impl Telling {
    pub(super) fn new(output: &Output) -> Self {
        let width = output.width(None);
        let (spent, summaries) = (Spent::default(), Amount::default());
        Self { width, open: None, spent, sent: Vec::new(), summaries }
    }

    pub(super) fn tell(&mut self, event: &Event, output: &mut Output) -> io::Result<()> {
        self.tell_at(event, 1, output)?;
        output.flush()
    }

    fn tell_at(&mut self, event: &Event, depth: usize, output: &mut Output) -> io::Result<()> {
        let started = if let Event::Sub { event, .. } = event { event } else { event };
        if let Event::Started(call) = started {
            let name = call.name.to_string();
            self.sent.push((format!("{name}-{}", call.id), name));
        }
        match event {
            Event::Text(text) if depth == 1 => self.write(Kind::Text, text, output),
            Event::Thinking(text) if depth == 1 => self.write(Kind::Thinking, text, output),
            // Of a sub-agent, the report is what counts: it is the result of its call.
            Event::Text(_) | Event::Thinking(_) | Event::Ended(_) => Ok(()),
            Event::Answered(answer) => {
                self.close(output)?;
                self.add(answer.spent);
                let why = answer.not_compacted.iter().map(|why| format!("not compacted: {why}"));
                why.chain(cut_off(&answer.reply))
                    .try_for_each(|line| self.line(depth, &line, None, output))
            }
            Event::Result(result) => {
                let failed = result.as_result().is_some_and(|it| it.status == Status::Error);
                let ink = if failed { output.palette.fault } else { output.palette.dim };
                self.line(depth, &line_of(event), Some(ink), output)
            }
            Event::Compacted(done) => {
                for text in &done.texts {
                    self.summaries = self.summaries + text.price.unwrap_or_default();
                }
                self.line(depth, &event.to_string(), Some(output.palette.mark), output)
            }
            Event::Sub { agent, event } => {
                let name = self.own_name(agent).to_owned();
                match &**event {
                    Event::Started(_) | Event::Begins(_) => {
                        let line = format!("{name}: {event}");
                        self.line(depth + 1, &line, Some(output.palette.dim), output)
                    }
                    event => self.tell_at(event, depth + 1, output),
                }
            }
            other => self.line(depth, &other.to_string(), None, output),
        }
    }

    /// The name of an agent, without the id of the call that sent it.
    fn own_name<'a>(&'a self, agent: &'a str) -> &'a str {
        let is_sent = |begins: &str| {
            let rest = agent.strip_prefix(begins);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        let sent = self.sent.iter().rev().find(|(begins, _)| is_sent(begins));
        sent.map_or(agent, |(_, name)| name)
    }

    /// More of what is being written.
    fn write(&mut self, kind: Kind, text: &str, output: &mut Output) -> io::Result<()> {
        if self.open.is_some_and(|open| open != kind) {
            self.close(output)?;
        }
        if let Some(last) = text.chars().next_back() {
            self.open = (last != '\n').then_some(kind);
        }
        let ink = match kind {
            Kind::Text => Ink::default(),
            Kind::Thinking => output.palette.dim,
        };
        output.speech(ink, text)
    }

    /// Ends a line that has begun.
    pub(super) fn close(&mut self, output: &mut Output) -> io::Result<()> {
        match self.open.take() {
            Some(_) => output.line(""),
            None => Ok(()),
        }
    }

    /// A line, bounded, and further in the deeper the agent is.
    fn line(
        &mut self,
        depth: usize,
        text: &str,
        ink: Option<Ink>,
        output: &mut Output,
    ) -> io::Result<()> {
        self.close(output)?;
        let ink = ink.unwrap_or_default();
        let line = cut(&format!("{}{text}", "  ".repeat(depth)), self.width);
        output.line(format_args!("{ink}{line}{ink:#}"))
    }

    fn add(&mut self, spent: Option<Spent>) {
        let spent = spent.unwrap_or_default();
        self.spent.uncached += spent.uncached;
        self.spent.read += spent.read;
        self.spent.written += spent.written;
        self.spent.written_hour += spent.written_hour;
        self.spent.output += spent.output;
        self.spent.reasoning += spent.reasoning;
    }

    /// How a turn ended, whether it can be gone on with, and what it took.
    pub(super) fn end(
        &mut self,
        ended: &Ended,
        goes_on: bool,
        currency: &str,
        output: &mut Output,
    ) -> io::Result<()> {
        self.close(output)?;
        if let Some(how) = how(&ended.end, goes_on) {
            let fault = output.palette.fault;
            output.line(format_args!("{fault}{how}{fault:#}"))?;
        }
        let (sent, read) = (self.spent.sent(), self.spent.read);
        let made = self.spent.output + self.spent.reasoning;
        // Of an answer that was cut off, what it took is known as far as the API told it.
        let cut_off = match ended.used.tokens.saturating_sub(self.spent.total()) {
            0 => String::new(),
            tokens => format!(", {tokens} cut off"),
        };
        let tokens = |at_least: &str| {
            format!("{at_least}{sent} tokens sent, {read} read, {made} made{cut_off}")
        };
        let line = took(&ended.used, ": ", &tokens, currency);
        let dim = output.palette.dim;
        output.line(format_args!("{dim}  {line}{dim:#}"))
    }
}

/// What is said of an end, beside the last word.
fn how(end: &End, goes_on: bool) -> Option<String> {
    match end {
        End::Completed => None,
        End::Interrupted => Some("interrupted: what came is kept".to_owned()),
        End::OutOfBudget(Limit::Length) if !goes_on => {
            Some(format!("{end}; say \"go on\" to continue"))
        }
        // The answer is the last word, though it is cut off or refused.
        end if !goes_on => Some(end.to_string()),
        End::OutOfBudget(_) => Some(format!("{end} (/go goes on)")),
        end => Some(format!("{end} (/go tries again)")),
    }
}
