//! OpenAI Responses.

mod input;
mod pairing;
mod read;
mod say;
mod settings;
mod stream;
mod tools;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::family::{Family, Incoming, Rule, Spoken};
use crate::refusal::Refusal;
use crate::value::list;
use crate::{Asked, openai};

pub(crate) struct OpenAiResponses;

impl Family for OpenAiResponses {
    fn rules(&self) -> Vec<&'static [Rule]> {
        vec![settings::FIRST, input::RULES, pairing::RULES, tools::RULES, settings::RULES]
    }

    fn read(&self, incoming: &Incoming<'_>) -> Asked {
        read::asked(incoming)
    }

    fn call_prefix(&self) -> &'static str {
        "call_"
    }

    fn whole(&self, spoken: &Spoken<'_>) -> Value {
        say::whole(spoken)
    }

    fn events(&self, spoken: &Spoken<'_>) -> Vec<Bytes> {
        stream::events(spoken)
    }

    fn counted(&self, tokens: u64) -> Value {
        json!({"object": "response.input_tokens", "input_tokens": tokens})
    }

    fn refused(&self, refusal: &Refusal, _: &str) -> (Value, Vec<(&'static str, String)>) {
        (openai::refused(refusal), Vec::new())
    }

    fn overflow(&self, _: u64, _: u64) -> Refusal {
        let message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
        Refusal::new(message).at("input").code("context_length_exceeded")
    }

    fn no_key(&self, is_missing: bool) -> Refusal {
        openai::no_key(is_missing)
    }
}

/// The items of an input; a string is one message.
pub(crate) fn items(input: &Value) -> Vec<Value> {
    match input {
        Value::String(text) => vec![json!({"role": "user", "content": text})],
        input => list(input).to_vec(),
    }
}

/// What an item is; a message need not say it.
fn kind(item: &Value) -> &str {
    match item["type"].as_str() {
        Some(kind) => kind,
        None if item["role"].is_string() => "message",
        None => "",
    }
}
