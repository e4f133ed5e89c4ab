//! A conversation with everything wrong at once.
#![expect(clippy::ptr_arg, reason = "every damage has the one type that stands in the table")]

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use interleaf_model::{
    AgentName, AssistantPart, Body, CallId, Message, Origin, Parts, Role, Status,
};

use super::conversation::conversation;

/// One way to break a conversation, at two places drawn at random.
type Damage = fn(&mut Vec<Message>, Places);

/// Every way. A result is meant where a tool message is named.
const DAMAGES: &[Damage] = &[
    drop_result,
    duplicate_result,
    move_result_late,
    swap_two_messages,
    add_orphan_result,
    result_before_its_call,
    interrupt_with_user,
    reuse_call_ids,
    repeat_message,
    add_blank_assistant,
    add_blank_user,
    give_to_sub_agent,
    make_internal,
    cut_head,
    cut_tail,
];

/// A conversation that was valid once and then broken, in several ways and often
/// in the same place: results dropped, doubled, moved late, swapped, orphaned or
/// before their calls; users inside blocks; call ids used again; blank messages;
/// sub-agents' and internal messages in between; head or tail cut off.
///
/// `len` is the length before it was broken. No message has an id.
pub fn broken_conversation(len: Range<usize>) -> impl Strategy<Value = Vec<Message>> {
    conversation(len)
        .prop_flat_map(|messages| {
            let most = messages.len().clamp(4, 24);
            let damage = (select(DAMAGES), any::<Index>(), any::<Index>());
            (Just(messages), vec(damage, 0..most)).prop_map(|(mut messages, damages)| {
                for (damage, first, second) in damages {
                    damage(&mut messages, Places { first, second });
                }
                messages
            })
        })
        .boxed()
}

/// Two places, whatever the length of the conversation is by then.
#[derive(Clone, Copy)]
struct Places {
    first: Index,
    second: Index,
}

impl Places {
    /// The place of some message with this role.
    fn of_role(self, messages: &[Message], role: Role) -> Option<usize> {
        let places: Vec<usize> =
            (0..messages.len()).filter(|&i| messages[i].role() == role).collect();
        (!places.is_empty()).then(|| places[self.first.index(places.len())])
    }

    /// The place of some message.
    fn any(self, messages: &[Message]) -> Option<usize> {
        (!messages.is_empty()).then(|| self.first.index(messages.len()))
    }

    /// A place to insert at, the end included.
    fn gap(self, messages: &[Message]) -> usize {
        self.second.index(messages.len() + 1)
    }
}

fn drop_result(messages: &mut Vec<Message>, places: Places) {
    if let Some(at) = places.of_role(messages, Role::Tool) {
        messages.remove(at);
    }
}

fn duplicate_result(messages: &mut Vec<Message>, places: Places) {
    if let Some(at) = places.of_role(messages, Role::Tool) {
        let result = messages[at].clone();
        messages.insert(places.gap(messages), result);
    }
}

fn move_result_late(messages: &mut Vec<Message>, places: Places) {
    if let Some(at) = places.of_role(messages, Role::Tool) {
        let result = messages.remove(at);
        let later = at + places.second.index(messages.len() - at + 1);
        messages.insert(later, result);
    }
}

fn swap_two_messages(messages: &mut Vec<Message>, places: Places) {
    if let Some(at) = places.any(messages) {
        let other = places.second.index(messages.len());
        messages.swap(at, other);
    }
}

fn add_orphan_result(messages: &mut Vec<Message>, places: Places) {
    if let Ok(call) = CallId::new(format!("orphan_{}", places.first.index(4))) {
        let orphan = Message::tool(call, Status::Ok, "nobody asked");
        messages.insert(places.gap(messages), orphan);
    }
}

fn result_before_its_call(messages: &mut Vec<Message>, places: Places) {
    if let Some(at) = places.of_role(messages, Role::Tool) {
        let result = messages.remove(at);
        messages.insert(places.second.index(at + 1), result);
    }
}

fn interrupt_with_user(messages: &mut Vec<Message>, places: Places) {
    // In front of a result is always inside a block.
    if let Some(at) = places.of_role(messages, Role::Tool) {
        messages.insert(at, Message::user("wait"));
    }
}

/// Puts the calls of one assistant message into another one.
fn reuse_call_ids(messages: &mut Vec<Message>, places: Places) {
    let reused: Vec<AssistantPart> = match places.of_role(messages, Role::Assistant) {
        Some(at) => messages[at].calls().cloned().map(AssistantPart::Call).collect(),
        None => return,
    };
    let other = Places { first: places.second, second: places.first };
    if let Some(at) = other.of_role(messages, Role::Assistant)
        && let Ok(parts) = Parts::new(reused)
    {
        messages[at].body = Body::Assistant(parts);
    }
}

fn repeat_message(messages: &mut Vec<Message>, places: Places) {
    if let Some(at) = places.any(messages) {
        let message = messages[at].clone();
        messages.insert(places.gap(messages), message);
    }
}

fn add_blank_assistant(messages: &mut Vec<Message>, places: Places) {
    let text = if places.first.index(2) == 0 { "" } else { " \n" };
    messages.insert(places.gap(messages), Message::assistant(text));
}

fn add_blank_user(messages: &mut Vec<Message>, places: Places) {
    let text = if places.first.index(2) == 0 { "" } else { "\t " };
    messages.insert(places.gap(messages), Message::user(text));
}

fn give_to_sub_agent(messages: &mut Vec<Message>, places: Places) {
    if let Some(at) = places.any(messages) {
        messages[at].origin = Origin::SubAgent(AgentName::new("scout"));
    }
}

fn make_internal(messages: &mut Vec<Message>, places: Places) {
    if let Some(at) = places.any(messages) {
        messages[at].origin = Origin::Internal;
    }
}

/// Cuts off a quarter at most, so that several cuts leave something.
fn cut_head(messages: &mut Vec<Message>, places: Places) {
    messages.drain(..places.first.index(messages.len() / 4 + 1));
}

fn cut_tail(messages: &mut Vec<Message>, places: Places) {
    let cut = places.first.index(messages.len() / 4 + 1);
    messages.truncate(messages.len() - cut);
}
