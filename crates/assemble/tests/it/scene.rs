//! Inputs from notation, and requests printed so that a person can read them.

use std::fmt::Write as _;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use interleaf_assemble::{
    Assembly, ContextText, Error, Finding, Ledger, Outcome, Previous, Recipe, Report, Summary,
    TokenCounter, View, assemble,
};
use interleaf_model::{
    ContextKind, Entry, Message, MessageId, Prompt, Provenance, Requirements, notation,
};

/// All that a request is made of.
#[derive(Clone, Default)]
pub(crate) struct Scene {
    pub(crate) view: View,
    pub(crate) recipe: Recipe,
    pub(crate) requires: Requirements,
    pub(crate) previous: Option<Previous>,
}

impl Scene {
    /// These messages and nothing else.
    pub(crate) fn of(messages: impl IntoIterator<Item = Arc<Message>>) -> Self {
        Self { view: View::of(messages), ..Self::default() }
    }

    pub(crate) fn assemble(&self) -> Result<Assembly, Error> {
        assemble(&self.view, &self.recipe, self.requires, self.previous.as_ref())
    }
}

impl Deref for Scene {
    type Target = Recipe;

    fn deref(&self) -> &Recipe {
        &self.recipe
    }
}

impl DerefMut for Scene {
    fn deref_mut(&mut self) -> &mut Recipe {
        &mut self.recipe
    }
}

/// Messages from notation; those without an id are m0, m1 and so on.
pub(crate) fn view(text: &str) -> Vec<Arc<Message>> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    named(notation::parse(&lines.join("\n")).unwrap())
}

/// The messages with ids m0, m1 and so on, where they have none.
pub(crate) fn named(messages: Vec<Message>) -> Vec<Arc<Message>> {
    let name = |(i, mut message): (usize, Message)| {
        if message.id.is_unassigned() {
            message.id = MessageId::of_index(i);
        }
        Arc::new(message)
    };
    messages.into_iter().enumerate().map(name).collect()
}

/// An input with this view and nothing else.
pub(crate) fn input(text: &str) -> Scene {
    Scene::of(view(text))
}

/// The four built-in context texts.
pub(crate) fn four_texts() -> Vec<ContextText> {
    vec![
        ContextText::new(ContextKind::Role, "You review code."),
        ContextText::new(ContextKind::Todo, "1. read"),
        ContextText::new(ContextKind::Info, "src/lib.rs: 1-20"),
        ContextText::new(ContextKind::Notes, "src: generated"),
    ]
}

/// A summary of these messages, of which the first is its start.
pub(crate) fn summary(text: &str, covers: &[&str]) -> Option<Arc<Summary>> {
    let covers: Vec<MessageId> = covers.iter().map(|id| MessageId::new(*id)).collect();
    Some(Arc::new(Summary {
        text: text.into(),
        start: covers[0].clone(),
        covers: covers.into_iter().collect(),
    }))
}

/// The request, which must be ready, and the report.
pub(crate) fn ready(input: &Scene) -> (Prompt, Report) {
    match input.assemble().unwrap() {
        Assembly { outcome: Outcome::Ready(prompt), report } => (prompt, report),
        Assembly { outcome: Outcome::Waiting(calls), .. } => panic!("waits for {calls:?}"),
    }
}

/// The error, which must come.
pub(crate) fn refused(input: &Scene) -> Error {
    input.assemble().unwrap_err()
}

/// The request line by line, then what was found.
///
/// In front of a message stands where it came from: nothing for the conversation,
/// `~` altered, `+` made or a notice, `=` system prompts joined, `#` summary,
/// `*` context, `&` a message that carries context.
pub(crate) fn show(input: &Scene) -> String {
    let (prompt, report) = ready(input);
    format!("{}{}", lines(prompt.entries()), findings(&report))
}

/// Messages line by line.
pub(crate) fn lines(entries: &[Entry]) -> String {
    let mut out = String::new();
    for entry in entries {
        let mark = match entry.provenance {
            Provenance::Original => ' ',
            Provenance::Altered => '~',
            Provenance::System => '=',
            Provenance::Summary => '#',
            Provenance::Context(_) | Provenance::Element(_) => '*',
            Provenance::Made | Provenance::Notice => '+',
            Provenance::Carrying(_) => '&',
        };
        let line = notation::print_line(&entry.message, 110);
        writeln!(out, "{mark} {line}").unwrap();
    }
    out
}

/// What was found, by step.
pub(crate) fn findings(report: &Report) -> String {
    let mut out = String::new();
    for (step, finding) in report.findings() {
        let (kind, ids, cause) = (finding.kind, run(finding), finding.cause);
        write!(out, "> {step} {kind} {ids}: {cause}").unwrap();
        if !finding.detail.is_empty() {
            write!(out, " ({})", finding.detail).unwrap();
        }
        out.push('\n');
    }
    out
}

/// The messages of a finding.
fn run(finding: &Finding) -> String {
    let ids: Vec<&str> = finding.messages().map(MessageId::as_str).collect();
    match ids.as_slice() {
        [first, .., last] if ids.len() < finding.count => {
            format!("{first} … {last} ({})", finding.count)
        }
        ids => ids.join(", "),
    }
}

/// Counts one token for each word, so that figures can be checked by hand.
pub(crate) struct Words;

impl TokenCounter for Words {
    fn count(&self, text: &str) -> u64 {
        text.split_whitespace().count() as u64
    }

    fn name(&self) -> &str {
        "words"
    }
}

/// A ledger that counts words.
pub(crate) fn words() -> Arc<Ledger> {
    Arc::new(Ledger::new(Arc::new(Words)))
}
