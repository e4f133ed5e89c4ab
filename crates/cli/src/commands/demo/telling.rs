//! Tells the demo request by request, as it happens.

use std::collections::BTreeMap;
use std::io;

use interleaf::Target;
use interleaf::assemble::PlacementRule;
use interleaf::model::{Message, ToolCall, shown};
use interleaf::wire::Family;
use interleaf_agent::Event;
use interleaf_doubles::{Double, Exchange};
use interleaf_transport::{Answer, CompactionDone};
use serde_json::Value;

use super::costs::Spending;
use super::picture::Picture;
use super::story::{Speaker, Story};
use crate::lines::cut;
use crate::output::Output;

/// What stands beside the picture of a request.
const BESIDE: usize = 40;

/// How much of an argument is shown.
const LONGEST_ARGUMENT: usize = 24;

pub(super) struct Telling<'a> {
    double: &'a Double,
    story: &'a Story,
    output: &'a mut Output,
    width: usize,
    /// Each speaker's last request, and how many there were.
    last: Vec<(Speaker, usize, Picture)>,
    /// The answers that scouts got. Who is first is chance, so they are told one scout after the
    /// other.
    scouts: BTreeMap<usize, Vec<Answer>>,
    /// The calls that sent them, by the names of the agents.
    sent: Vec<String>,
    n_told: usize,
    spending: Spending,
}

impl<'a> Telling<'a> {
    pub(super) fn new(
        double: &'a Double,
        story: &'a Story,
        output: &'a mut Output,
        width: usize,
    ) -> Self {
        Self {
            double,
            story,
            output,
            width,
            last: Vec::new(),
            scouts: BTreeMap::new(),
            sent: Vec::new(),
            n_told: 0,
            spending: Spending::default(),
        }
    }

    pub(super) fn begin(
        &mut self,
        api: Family,
        target: &Target,
        rule: &PlacementRule,
    ) -> io::Result<()> {
        let palette = self.output.palette;
        self.output
            .remark(format_args!("an agent at work · {api}, {} · {rule}", target.options.model))?;
        let legend = [
            "Real requests over HTTP to a double of the API on this machine; no key, no cost.",
            "A letter is a message: s system, u user, a assistant, t tool result, Σ summary.",
            "▌rtin▌ is the context: role, TODO, information, notes; a capital letter changed.",
            "│ ends what the request before had too; + begins what is new since then.",
            "`read`: tokens that the cache gave. `expected`: as Interleaf said beforehand.",
        ];
        let dim = palette.dim;
        for line in legend {
            self.output.line(format_args!("{dim}{}{dim:#}", cut(line, self.width)))?;
        }
        let room = self.room();
        let heading = palette.heading;
        self.output.line(format_args!(
            "\n{heading}{:>3} {:<7} {:<room$} {:>7} {:>7} {:>9}{heading:#}",
            "no", "who", "request", "tokens", "read", "expected"
        ))
    }

    /// What the user says.
    pub(super) fn said(&mut self, text: &str) -> io::Result<()> {
        let user = self.output.palette.role(interleaf::model::Role::User);
        self.output.line(format_args!("{user}u{user:#} {}", cut(&shown(text), self.width - 2)))?;
        self.output.flush()
    }

    pub(super) fn tell(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Started(call) if call.name.as_str() == "scout" => {
                self.sent.push(format!("scout-{}", call.id));
            }
            Event::Compacted(done) => {
                self.tell_scouts()?;
                self.compacted(done)?;
            }
            Event::Answered(answer) => {
                self.tell_scouts()?;
                self.answered(Speaker::Main, answer)?;
            }
            Event::Sub { agent, event } => {
                let scout = self.sent.iter().position(|sent| sent == agent);
                if let (Event::Answered(answer), Some(n)) = (&**event, scout) {
                    self.scouts.entry(n).or_default().push((**answer).clone());
                }
            }
            _ => {}
        }
        self.output.flush()
    }

    /// What all of it took.
    pub(super) fn end(mut self) -> io::Result<Spending> {
        self.tell_scouts()?;
        Ok(self.spending)
    }

    fn tell_scouts(&mut self) -> io::Result<()> {
        for (n, answers) in std::mem::take(&mut self.scouts) {
            for answer in answers {
                self.answered(Speaker::Scout(n), &answer)?;
            }
        }
        Ok(())
    }

    fn answered(&mut self, speaker: Speaker, answer: &Answer) -> io::Result<()> {
        let n_before = self.last.iter().find(|(who, ..)| *who == speaker).map_or(0, |(_, n, _)| *n);
        let Some(exchange) = self.exchange(speaker, n_before) else { return Ok(()) };
        let Some(asked) = &exchange.asked else { return Ok(()) };
        let picture = Picture::of(asked, self.story.summary());
        let before = self.last.iter().position(|(who, ..)| *who == speaker);
        let before = before.map(|n| self.last.swap_remove(n).2);
        let drawn = picture.drawn(before.as_ref(), self.room(), self.output.palette);
        self.last.push((speaker, n_before + 1, picture));
        self.n_told += 1;
        let who = match speaker {
            Speaker::Main => "agent".to_owned(),
            Speaker::Scout(n) => format!("scout {}", n + 1),
            Speaker::Summary => "summary".to_owned(),
        };
        let usage = exchange.usage.unwrap_or_default();
        let (no, tokens, read) = (self.n_told, usage.input(), usage.read);
        let expected = answer.expected_read().map_or_else(|| "–".to_owned(), |n| n.to_string());
        self.output
            .line(format_args!("{no:>3} {who:<7} {drawn} {tokens:>7} {read:>7} {expected:>9}"))?;
        let did = format!("            {}", did(&answer.reply.message));
        let dim = self.output.palette.dim;
        self.output.line(format_args!("{dim}{}{dim:#}", cut(&did, self.width)))?;
        self.spending.add(answer);
        Ok(())
    }

    /// The nth request of a speaker that was answered.
    fn exchange(&self, speaker: Speaker, n: usize) -> Option<Exchange> {
        let exchanges = self.double.requests().into_iter();
        let is_theirs = |exchange: &Exchange| {
            let asked = exchange.asked.as_ref();
            asked.is_some_and(|asked| self.story.speaker(asked) == speaker)
        };
        exchanges.filter(is_theirs).nth(n)
    }

    fn compacted(&mut self, done: &CompactionDone) -> io::Result<()> {
        let report = &done.report;
        let (n, before, after) = (report.n_messages, report.before, report.after);
        let line = format!(
            "    compacted: {n} messages of {before} tokens gave way to a summary of {after}"
        );
        self.spending.add_compaction(done);
        let mark = self.output.palette.mark;
        self.output.line(format_args!("{mark}{}{mark:#}", cut(&line, self.width)))
    }

    fn room(&self) -> usize {
        self.width.saturating_sub(BESIDE).max(10)
    }
}

/// What an answer says and calls.
fn did(message: &Message) -> String {
    let calls: Vec<String> = message.calls().map(called).collect();
    let text = message.text();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match (text.is_empty(), calls.is_empty()) {
        (_, true) => text,
        (true, false) => format!("→ {}", calls.join(" ")),
        (false, false) => format!("→ {} · {text}", calls.join(" ")),
    }
}

/// A call in a few letters.
fn called(call: &ToolCall) -> String {
    let arguments: Value = call.arguments.parse().unwrap_or_default();
    let values = arguments.as_object().into_iter().flat_map(|fields| fields.values());
    let values: Vec<String> = values.map(said).collect();
    format!("{}({})", call.name, cut(&values.join(", "), LONGEST_ARGUMENT))
}

/// An argument in one line.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.lines().next().unwrap_or_default().trim().to_owned(),
        Value::Array(values) => values.iter().map(said).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
