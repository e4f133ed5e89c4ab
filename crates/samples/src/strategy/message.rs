//! Any message that the model allows, whether or not it makes sense.

use proptest::option;
use proptest::prelude::*;

use interleaf_model::{AgentName, Body, Message, MessageId, Origin, Status, Timestamp, ToolResult};

use super::part::{assistant_parts, content_parts, extra, system_parts};
use super::text::{call_id, name, tool_name};

/// Microseconds of the years -7000 and 9000, inside what a timestamp can hold.
const EARLIEST: i64 = -283_000_000_000_000_000;
const LATEST: i64 = 222_000_000_000_000_000;

/// Any message: every role, every kind of part, envelopes full and empty.
///
/// It stands for itself; as part of a conversation it would be nonsense.
pub fn message() -> impl Strategy<Value = Message> {
    let id = prop_oneof![Just(String::new()), name()].prop_map(MessageId::new);
    (id, option::of(timestamp()), origin(), body(), extra())
        .prop_map(|(id, at, origin, body, extra)| Message { id, at, origin, body, extra })
        .boxed()
}

pub(super) fn timestamp() -> impl Strategy<Value = Timestamp> {
    let this_century = 946_684_800_000_000..4_102_444_800_000_000_i64;
    prop_oneof![
        3 => this_century,
        1 => Just(0_i64),
        1 => EARLIEST..LATEST,
    ]
    .prop_filter_map("an instant", |micros| Timestamp::from_microseconds(micros).ok())
}

pub(super) fn origin() -> impl Strategy<Value = Origin> {
    prop_oneof![
        4 => Just(Origin::Main),
        1 => name().prop_map(|agent| Origin::SubAgent(AgentName::new(agent))),
        1 => Just(Origin::Internal),
    ]
}

fn body() -> impl Strategy<Value = Body> {
    let status = prop_oneof![Just(Status::Ok), Just(Status::Error)];
    let result = (call_id(), option::of(tool_name()), status, content_parts())
        .prop_map(|(call, name, status, parts)| ToolResult { call, name, status, parts });
    prop_oneof![
        system_parts().prop_map(Body::System),
        content_parts().prop_map(Body::User),
        assistant_parts().prop_map(Body::Assistant),
        result.prop_map(Body::Tool),
    ]
}
