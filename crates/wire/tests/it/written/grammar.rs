//! What each API's streams look like, checked event by event.

mod anthropic;
mod bedrock;
mod chat;
mod gemini;
mod responses;

use aws_smithy_eventstream::frame::read_message_from;
use bytes::Bytes;
use interleaf_wire::Family;
use serde_json::Value;

/// What is wrong, in words.
type Checked = Result<(), String>;

/// One event: its name, which may be empty, and its data.
pub(crate) type Event = (String, Value);

/// Whether a stream is one of this API, from its first event to its last.
pub(super) fn check(family: Family, bytes: &[u8]) -> Checked {
    match family {
        Family::OpenaiChat => chat::check(&lines(bytes)?),
        Family::OpenaiResponses => responses::check(&named(bytes)?),
        Family::Anthropic => anthropic::check(&named(bytes)?),
        Family::Gemini => gemini::check(&lines(bytes)?),
        Family::Bedrock => bedrock::check(&frames(bytes)?),
    }
}

fn ensure(is_so: bool, rule: &str) -> Checked {
    if is_so { Ok(()) } else { Err(rule.to_owned()) }
}

/// The data of server-sent events without names, each on one line.
fn lines(bytes: &[u8]) -> Result<Vec<String>, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let body = text.strip_suffix("\n\n").ok_or("the last event has no end")?;
    let line = |event: &str| {
        let data = event.strip_prefix("data: ").ok_or(format!("no data in {event:?}"))?;
        ensure(!data.contains(['\n', '\r']), "data of several lines").map(|()| data.to_owned())
    };
    body.split("\n\n").map(line).collect()
}

/// Server-sent events with names, each the type of its data.
fn named(bytes: &[u8]) -> Result<Vec<Event>, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let body = text.strip_suffix("\n\n").ok_or("the last event has no end")?;
    let event = |event: &str| {
        let (name, data) = event.split_once("\ndata: ").ok_or("an event of other lines")?;
        let name = name.strip_prefix("event: ").ok_or("an event without a name")?;
        let data: Value = serde_json::from_str(data).map_err(|e| format!("{e}: {data}"))?;
        ensure(data["type"] == name, "the name is not the type")?;
        Ok((name.to_owned(), data))
    };
    body.split("\n\n").map(event).collect()
}

/// The frames of an event stream, as AWS's decoder reads them.
pub(crate) fn frames(bytes: &[u8]) -> Result<Vec<Event>, String> {
    let mut rest = Bytes::copy_from_slice(bytes);
    let mut events = Vec::new();
    while !rest.is_empty() {
        let message = read_message_from(&mut rest).map_err(|e| e.to_string())?;
        let header = |name: &str| {
            let header = message.headers().iter().find(|header| header.name().as_str() == name);
            let value = header.and_then(|header| header.value().as_string().ok());
            value.map(|value| value.as_str().to_owned()).unwrap_or_default()
        };
        ensure(header(":message-type") == "event", "no event")?;
        ensure(header(":content-type") == "application/json", "no JSON")?;
        let data = serde_json::from_slice(message.payload()).map_err(|e| e.to_string())?;
        events.push((header(":event-type"), data));
    }
    Ok(events)
}
