//! OpenAI Chat Completions.

mod messages;
mod pairing;
mod read;
mod say;
mod settings;
mod tools;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::family::{Family, Incoming, Rule, Spoken};
use crate::refusal::Refusal;
use crate::{Asked, openai};

pub(crate) struct OpenAiChat;

impl Family for OpenAiChat {
    fn rules(&self) -> Vec<&'static [Rule]> {
        vec![settings::FIRST, messages::RULES, pairing::RULES, tools::RULES, settings::RULES]
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
        say::events(spoken)
    }

    fn counted(&self, tokens: u64) -> Value {
        json!({"input_tokens": tokens})
    }

    fn refused(&self, refusal: &Refusal, _: &str) -> (Value, Vec<(&'static str, String)>) {
        (openai::refused(refusal), Vec::new())
    }

    fn overflow(&self, tokens: u64, window: u64) -> Refusal {
        let message = format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. Please reduce the length of the messages."
        );
        Refusal::new(message).at("messages").code("context_length_exceeded")
    }

    fn no_key(&self, is_missing: bool) -> Refusal {
        openai::no_key(is_missing)
    }
}
