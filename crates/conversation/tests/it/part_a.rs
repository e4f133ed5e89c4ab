//! Part A of the mission, row by row, as examples worked by hand.

mod asking;
mod changing;
mod forms;
mod ids;

use interleaf_conversation::{Conversation, ErrorKind, Operated, Operation, Query, Truncate};
use interleaf_model::{Message, notation};

/// A conversation of these lines of notation.
pub(super) fn conversation(lines: &str) -> Conversation {
    let mut conversation = Conversation::new();
    for message in notation::parse(lines).unwrap() {
        conversation.append(message).unwrap();
    }
    conversation
}

/// Five user messages, `1` to `5`.
pub(super) fn five() -> Conversation {
    conversation("u 1\nu 2\nu 3\nu 4\nu 5\n")
}

/// A turn with one block of two calls.
pub(super) fn one_block() -> Conversation {
    conversation(
        "s be brief\nu go\na [call c1 ls] [call c2 pwd]\nt c1= src\nt c2= /work\na done\nu thanks\n",
    )
}

/// Eight turns of a user and an assistant.
pub(super) fn eight_turns() -> Conversation {
    let turns = (1..=8).map(|n| format!("u question {n}\na answer {n}\n"));
    conversation(&format!("s one\ns two\n{}", turns.collect::<String>()))
}

/// The texts of the view.
pub(super) fn shown(conversation: &Conversation) -> Vec<String> {
    conversation.visible().map(|message| message.text().into_owned()).collect()
}

pub(super) fn view(conversation: &Conversation) -> Vec<u32> {
    conversation.view().collect()
}

/// The texts that answer a query.
pub(super) fn found(conversation: &Conversation, query: Query) -> Vec<String> {
    let hits = conversation.query(&query).unwrap();
    hits.iter().map(|hit| hit.message.text().into_owned()).collect()
}

pub(super) fn truncate(conversation: &mut Conversation, truncate: Truncate) -> Operated {
    conversation.operate(Operation::Truncate(truncate)).unwrap()
}

pub(super) fn keep_last(n: usize) -> Truncate {
    Truncate { keep_last: Some(n), ..Truncate::default() }
}

pub(super) fn parsed(line: &str) -> Message {
    notation::parse(line).unwrap().remove(0)
}

/// The operation is refused with this text and nothing has changed.
#[track_caller]
pub(super) fn refused(
    conversation: &Conversation,
    operation: Operation,
    kind: ErrorKind,
    text: &str,
) {
    let mut changed = conversation.fork();
    let error = changed.operate(operation).unwrap_err();
    assert_eq!(error.to_string(), text);
    assert_eq!(error.kind(), kind);
    assert_eq!(changed, *conversation);
}
