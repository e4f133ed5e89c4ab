//! Changes of a conversation, several at once.

use std::collections::HashSet;
use std::fmt;

use interleaf_conversation::{
    Conversation, Error, Event, Note, Operation, Reason, Scope, Span, Truncate,
};

/// One change of a conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Edit {
    /// Put a mark on the message at a log index.
    Mark(u32, String),
    /// Take a mark off the message at a log index.
    Unmark(u32, String),
    /// Take the view back to the end of a batch.
    RollBack(u32),
    /// Change the view.
    Operate(Operation),
    /// A truncation from this position up to the last message, wherever that is.
    KeepFrom(usize, Truncate),
}

/// What a list of changes did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Edited {
    /// What happened, for whoever keeps it.
    pub events: Vec<Event>,
    /// Visible before and not now, in the old order.
    pub hidden: Vec<u32>,
    /// Visible now and not before, in the new order.
    pub added: Vec<u32>,
    /// Where the outcome differs from the letter of a change.
    pub notes: Vec<Note>,
}

/// Makes changes in order: all of them, or none.
///
/// ```
/// use interleaf::{Edit, edit};
///
/// let chat = r#"[{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]"#;
/// let mut conversation = interleaf::read::conversation(chat)?.conversation;
/// let cut = interleaf::read::operation(r#"{"truncate": {"keep_last": 1}}"#)?;
/// let edited = edit(&mut conversation, vec![Edit::Mark(0, "seen".into()), Edit::Operate(cut)]);
/// assert_eq!(edited.unwrap().hidden, [0]);
/// # Ok::<(), interleaf::Error>(())
/// ```
///
/// # Errors
/// If a change does not fit.
pub fn edit(conversation: &mut Conversation, edits: Vec<Edit>) -> Result<Edited, Error> {
    let mut changed = conversation.fork();
    let (mut events, mut notes) = (Vec::new(), Vec::new());
    for edit in edits {
        let (made, more) = edit.make(&mut changed)?;
        events.extend(made);
        notes.extend(more);
    }
    let before: Vec<u32> = conversation.view().collect();
    let after: Vec<u32> = changed.view().collect();
    *conversation = changed;
    let (hidden, added) = (missing(&before, &after), missing(&after, &before));
    Ok(Edited { events, hidden, added, notes })
}

fn missing(list: &[u32], from: &[u32]) -> Vec<u32> {
    let from: HashSet<u32> = from.iter().copied().collect();
    list.iter().copied().filter(|index| !from.contains(index)).collect()
}

impl Edit {
    fn make(self, conversation: &mut Conversation) -> Result<(Vec<Event>, Vec<Note>), Error> {
        let operation = match self {
            Self::Mark(index, mark) => return Ok((vec![conversation.mark(index, &mark)?], vec![])),
            Self::Unmark(index, mark) => {
                return Ok((vec![conversation.unmark(index, &mark)?], vec![]));
            }
            Self::RollBack(batch) => return Ok((conversation.roll_back(batch)?, vec![])),
            Self::Operate(operation) => operation,
            Self::KeepFrom(start, truncate) => {
                let count = |role| conversation.count(Scope::View, role);
                let end = truncate.role.map_or(conversation.view_len(), count);
                Operation::Truncate(Truncate { range: Some(Span { start, end }), ..truncate })
            }
        };
        let operated = conversation.operate(operation)?;
        Ok((operated.event.into_iter().collect(), operated.notes))
    }
}

/// What the change is called.
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark(index, mark) => write!(f, "mark {index}={mark}"),
            Self::Unmark(index, mark) => write!(f, "unmark {index}={mark}"),
            Self::RollBack(batch) => write!(f, "roll back to batch {batch}"),
            Self::Operate(operation) => f.write_str(operation.name()),
            Self::KeepFrom(..) => f.write_str("truncate"),
        }
    }
}

impl Edited {
    /// Whether the view stays as it was.
    pub fn is_nothing(&self) -> bool {
        self.hidden.is_empty() && self.added.is_empty() && self.notes.is_empty()
    }

    /// The messages that are noted, one entry for each reason.
    pub fn reasons(&self) -> Vec<(Reason, Vec<u32>)> {
        let mut merged: Vec<(Reason, Vec<u32>)> = Vec::new();
        for note in &self.notes {
            match merged.iter_mut().find(|(reason, _)| *reason == note.reason) {
                Some((_, indices)) => indices.extend(&note.indices),
                None => merged.push((note.reason, note.indices.clone())),
            }
        }
        merged
    }
}
