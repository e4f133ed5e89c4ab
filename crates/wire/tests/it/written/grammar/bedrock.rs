//! `messageStart`, blocks one after the other, `messageStop`, `metadata`.

use serde_json::Value;

use super::{Checked, Event, ensure};

#[derive(PartialEq)]
enum State {
    New,
    /// Between blocks.
    Open,
    /// In a block of this kind; none is known before a first delta.
    Block(Option<String>),
    Stopped,
    Ended,
}

pub(super) fn check(events: &[Event]) -> Checked {
    let mut state = State::New;
    let mut index = 0;
    for (name, data) in events {
        let is_here = data["contentBlockIndex"] == index;
        state = match (name.as_str(), state) {
            ("messageStart", State::New) => {
                ensure(data["role"] == "assistant", "another role")?;
                State::Open
            }
            ("contentBlockStart", State::Open) if is_here => {
                let kind = only_key(&data["start"])?;
                let known = ["toolUse", "toolResult", "image"].contains(&&*kind);
                ensure(known, "a start of another kind")?;
                State::Block(Some(kind))
            }
            ("contentBlockDelta", State::Open) if is_here => {
                let kind = only_key(&data["delta"])?;
                let known = ["text", "reasoningContent", "citation"].contains(&&*kind);
                ensure(known, "a block that must be started is not")?;
                State::Block(None)
            }
            ("contentBlockDelta", State::Block(started)) if is_here => {
                let kind = only_key(&data["delta"])?;
                ensure(started.as_ref().is_none_or(|started| *started == kind), "another kind")?;
                State::Block(started)
            }
            ("contentBlockStop", State::Block(_)) if is_here => {
                index += 1;
                State::Open
            }
            ("messageStop", State::Open) => {
                ensure(data["stopReason"].is_string(), "no reason to stop")?;
                State::Stopped
            }
            ("metadata", State::Stopped) => {
                ensure(data["usage"]["totalTokens"].is_u64(), "no usage")?;
                ensure(data["metrics"]["latencyMs"].is_u64(), "no metrics")?;
                State::Ended
            }
            (name, _) => return Err(format!("{name} may not stand here")),
        };
    }
    ensure(state == State::Ended, "the message does not stop")
}

/// The key of a union.
fn only_key(value: &Value) -> Result<String, String> {
    let fields = value.as_object().ok_or("no object")?;
    ensure(fields.len() == 1, "a union of several kinds")?;
    Ok(fields.keys().next().cloned().unwrap_or_default())
}
