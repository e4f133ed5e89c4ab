//! Anthropic Messages.

mod blocks;
mod marks;
mod messages;
mod pairing;
mod read;
mod say;
mod settings;
mod thinking;
mod tools;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::Asked;
use crate::family::{Family, Incoming, Rule, Spoken};
use crate::refusal::Refusal;

pub(crate) struct Anthropic;

impl Family for Anthropic {
    fn rules(&self) -> Vec<&'static [Rule]> {
        vec![
            settings::FIRST,
            messages::RULES,
            blocks::RULES,
            pairing::RULES,
            thinking::RULES,
            tools::RULES,
            marks::RULES,
            settings::RULES,
        ]
    }

    fn read(&self, incoming: &Incoming<'_>) -> Asked {
        read::asked(incoming)
    }

    fn call_prefix(&self) -> &'static str {
        "toolu_"
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

    fn refused(&self, refusal: &Refusal, id: &str) -> (Value, Vec<(&'static str, String)>) {
        let kind = match refusal.status {
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            408 | 504 => "timeout_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        let error = json!({"type": kind, "message": refusal.message});
        (json!({"type": "error", "error": error, "request_id": id}), Vec::new())
    }

    fn overflow(&self, tokens: u64, window: u64) -> Refusal {
        Refusal::new(format!("prompt is too long: {tokens} tokens > {window} maximum"))
    }

    fn no_key(&self, is_missing: bool) -> Refusal {
        let message = match is_missing {
            true => "x-api-key header is required",
            false => "invalid x-api-key",
        };
        Refusal::with_status(401, message)
    }

    fn malformed(&self) -> Bytes {
        Bytes::from_static(
            b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"ind\n\n",
        )
    }
}
