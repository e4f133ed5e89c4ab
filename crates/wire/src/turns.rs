//! A prompt as the turns that APIs think in.

use interleaf_model::{Body, ContentPart, Entry, Prompt, Role, ToolCall};

/// A prompt, taken apart.
pub(crate) struct Turns<'a> {
    /// The system message and a summary in the system role.
    pub(crate) system: &'a [Entry],
    /// The rest, user and assistant in turn; the first is the user's.
    pub(crate) turns: Vec<Turn<'a>>,
}

/// What one side said until the other did.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Turn<'a> {
    /// The results of the assistant's calls, then what the user said, with system messages
    /// in between where the target takes them. Either may be empty, not both.
    User { results: &'a [Entry], said: &'a [Entry], start: usize },
    /// The assistant's messages; only the last of them has calls.
    Assistant { said: &'a [Entry], start: usize },
}

impl Turn<'_> {
    /// Whether the user says something in it beside results.
    pub(crate) fn is_spoken(&self) -> bool {
        match self {
            Self::User { said, .. } => said.iter().any(|entry| entry.message.role() == Role::User),
            Self::Assistant { .. } => false,
        }
    }

    /// The indices of its messages in the prompt.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        match self {
            Self::User { results, said, start } => *start..start + results.len() + said.len(),
            Self::Assistant { said, start } => *start..start + said.len(),
        }
    }
}

impl<'a> Turns<'a> {
    /// Whether the user says something beside results in the turn before this one, and in
    /// the one after it. Before the first it is as `asked` says.
    pub(crate) fn around(&self, number: usize, asked: bool) -> (bool, bool) {
        let asked = number.checked_sub(1).map_or(asked, |before| self.turns[before].is_spoken());
        (asked, self.turns.get(number + 1).is_some_and(Turn::is_spoken))
    }

    pub(crate) fn of(prompt: &'a Prompt) -> Self {
        let entries = prompt.entries();
        let role = |at: usize| entries.get(at).map(|entry: &Entry| entry.message.role());
        let run = |from: usize, wanted: Role| {
            from + entries[from..].iter().take_while(|e| e.message.role() == wanted).count()
        };
        let head = run(0, Role::System);
        let mut turns = Vec::new();
        let mut at = head;
        while let Some(speaker) = role(at) {
            let start = at;
            if speaker == Role::Assistant {
                // Results end the turn of the message that asked for them.
                at = run(start, Role::Assistant);
                turns.push(Turn::Assistant { said: &entries[start..at], start });
            } else {
                let results = run(start, Role::Tool);
                let is_said =
                    |entry: &&Entry| matches!(entry.message.role(), Role::User | Role::System);
                at = results + entries[results..].iter().take_while(is_said).count();
                let (results, said) = (&entries[start..results], &entries[results..at]);
                turns.push(Turn::User { results, said, start });
            }
        }
        Self { system: &entries[..head], turns }
    }
}

/// The results of a turn that begins at `start`, each with its call: the message before
/// them made the calls, in the order of the results.
pub(crate) fn answered<'a>(
    prompt: &'a Prompt,
    results: &'a [Entry],
    start: usize,
) -> impl Iterator<Item = (&'a Entry, Option<&'a ToolCall>)> {
    let caller = start.checked_sub(1).and_then(|at| prompt.entries().get(at));
    let calls = caller.into_iter().flat_map(|caller| caller.message.calls()).map(Some);
    results.iter().zip(calls.chain(std::iter::repeat(None)))
}

/// The first text of a user turn that is blank texts and nothing else.
pub(crate) fn only_blank<'a>(results: &[Entry], said: &'a [Entry]) -> Option<&'a str> {
    let is_blank = |part: &ContentPart| part.as_text().is_some_and(|text| text.is_blank());
    let is_silent = |entry: &Entry| match &entry.message.body {
        Body::User(parts) => parts.iter().all(is_blank),
        Body::System(_) | Body::Assistant(_) | Body::Tool(_) => false,
    };
    let is_only_blank = results.is_empty() && said.iter().all(is_silent);
    said.iter().flat_map(|entry| entry.message.texts()).next().filter(|_| is_only_blank)
}
