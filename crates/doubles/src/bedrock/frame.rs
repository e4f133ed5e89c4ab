//! AWS's event stream.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::Bytes;
use serde_json::Value;

/// An event: its name, and what it says.
pub(super) fn event(name: &str, payload: &Value) -> Bytes {
    framed(name, payload.to_string().into_bytes())
}

/// An event whose frame is good and whose payload is not JSON.
pub(super) fn malformed() -> Bytes {
    framed("contentBlockDelta", b"{\"this is not".to_vec())
}

fn framed(name: &str, payload: Vec<u8>) -> Bytes {
    let text = |value: &str| HeaderValue::String(value.to_owned().into());
    let headers = [
        Header::new(":event-type", text(name)),
        Header::new(":content-type", text("application/json")),
        Header::new(":message-type", text("event")),
    ];
    let message = Message::new_from_parts(headers.to_vec(), payload);
    let mut frame = Vec::new();
    match write_message_to(&message, &mut frame) {
        Ok(()) => Bytes::from(frame),
        // A frame has up to 16 MB, and no event of ours comes near.
        Err(_) => Bytes::new(),
    }
}
