//! A1: ids are unique.

use interleaf_conversation::{Conversation, ErrorKind, Event, Insert, Operation, Replace};
use interleaf_model::{Message, MessageId, Transcript};

use super::{five, refused};

fn named(id: &str) -> Message {
    Message::user(id).with_id(MessageId::new(id))
}

fn ids(conversation: &Conversation) -> Vec<String> {
    conversation.log().map(|message| message.id.to_string()).collect()
}

#[test]
fn a1_an_id_that_is_taken_is_refused() {
    let mut conversation = five();
    let error = conversation.append(named("m1")).unwrap_err();
    assert_eq!(error.to_string(), "message.id: \"m1\" is the id of message 1");
    assert_eq!(error.kind(), ErrorKind::Message);
    assert_eq!(conversation, five());

    let replace =
        Operation::Replace(Replace { index: 2, message: named("m2"), split_blocks: false });
    let rule = "replace.message.id: \"m2\" is the id of message 2";
    refused(&conversation, replace, ErrorKind::Message, rule);
    let insert =
        |messages| Operation::Insert(Insert { position: 0, messages, split_blocks: false });
    let rule = "insert.messages[0].id: \"m4\" is the id of message 4";
    refused(&conversation, insert(vec![named("m4")]), ErrorKind::Message, rule);
    let rule = "insert.messages[1].id: \"x\" is the id of a message before it";
    refused(&conversation, insert(vec![named("x"), named("x")]), ErrorKind::Message, rule);
}

#[test]
fn a1_a_made_id_is_never_one_that_was_given() {
    let mut conversation = Conversation::new();
    for message in [named("m1"), Message::user("unnamed"), named("m3"), named("m1_3")] {
        conversation.append(message).unwrap();
    }
    assert_eq!(ids(&conversation), ["m1", "m1_2", "m3", "m1_3"]);
    let messages = vec![Message::user("unnamed"), named("m4")];
    let insert = Insert { position: 0, messages, split_blocks: false };
    conversation.operate(Operation::Insert(insert)).unwrap();
    assert_eq!(ids(&conversation)[4..], ["m4_2", "m4"]);
}

#[test]
fn a1_a_history_from_elsewhere_gets_its_doubles_renamed() {
    let came = Transcript::of(vec![named("a"), named("a"), Message::user("unnamed"), named("m2")]);
    let conversation = Conversation::from_transcript(&came).unwrap();
    assert_eq!(ids(&conversation), ["a", "m1", "m2_2", "m2"]);
    let appended = |message: &std::sync::Arc<Message>| Event::Appended { message: message.clone() };
    let events: Vec<Event> = came.messages[..2].iter().map(appended).collect();
    assert_eq!(ids(&Conversation::replay(&events).unwrap()), ["a", "m1"]);
}
