//! A role, pieces, a reason to stop, the usage, `[DONE]`.

use serde_json::Value;

use super::{Checked, ensure};

#[derive(PartialEq)]
enum State {
    New,
    Open,
    Finished,
    Told,
    Done,
}

pub(super) fn check(events: &[String]) -> Checked {
    let mut state = State::New;
    let mut n_calls = 0;
    let mut head = None;
    for data in events {
        if data == "[DONE]" {
            ensure(matches!(state, State::Finished | State::Told), "done too early")?;
            state = State::Done;
            continue;
        }
        let chunk: Value = serde_json::from_str(data).map_err(|e| format!("{e}: {data}"))?;
        ensure(chunk["object"] == "chat.completion.chunk", "no chunk")?;
        let names = (chunk["id"].clone(), chunk["model"].clone(), chunk["created"].clone());
        ensure(head.get_or_insert_with(|| names.clone()) == &names, "another head")?;
        state = match (chunk["choices"].as_array().map(Vec::as_slice), state) {
            (Some([]), State::Finished) => {
                ensure(chunk["usage"]["total_tokens"].is_u64(), "no usage")?;
                State::Told
            }
            (Some([choice]), State::New) => {
                ensure(choice["delta"]["role"] == "assistant", "no role at the start")?;
                ensure(choice["finish_reason"].is_null(), "it ends at the start")?;
                State::Open
            }
            (Some([choice]), State::Open) if choice["finish_reason"].is_string() => {
                ensure(choice["delta"] == serde_json::json!({}), "a piece at the end")?;
                State::Finished
            }
            (Some([choice]), State::Open) => {
                piece(&choice["delta"], &mut n_calls)?;
                State::Open
            }
            _ => return Err(format!("a chunk may not stand here: {data}")),
        };
    }
    ensure(state == State::Done, "it is not done")
}

/// Calls begin one after the other, each with its id and name.
fn piece(delta: &Value, n_calls: &mut u64) -> Checked {
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        let index = call["index"].as_u64().ok_or("a call without an index")?;
        if index == *n_calls {
            *n_calls += 1;
            ensure(call["id"].is_string() && call["type"].is_string(), "a call without an id")?;
            let place = call["type"].as_str().unwrap_or_default();
            ensure(call[place]["name"].is_string(), "a call without a name")?;
        } else {
            ensure(index + 1 == *n_calls, "a piece of a call that is not the last")?;
            ensure(call.get("id").is_none(), "an id comes twice")?;
        }
    }
    Ok(())
}
