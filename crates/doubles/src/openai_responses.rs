//! OpenAI Responses.

use serde_json::{Value, json};

use crate::value::list;

/// The items of an input; a string is one message.
pub(crate) fn items(input: &Value) -> Vec<Value> {
    match input {
        Value::String(text) => vec![json!({"role": "user", "content": text})],
        input => list(input).to_vec(),
    }
}
