//! Bedrock Converse.

mod blocks;
mod frame;
mod marks;
mod messages;
mod pairing;
mod read;
mod say;
mod settings;
mod tools;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::Asked;
use crate::family::{Family, Incoming, Rule, Spoken};
use crate::refusal::Refusal;

pub(crate) struct Bedrock;

impl Family for Bedrock {
    fn rules(&self) -> Vec<&'static [Rule]> {
        vec![
            settings::FIRST,
            messages::RULES,
            blocks::RULES,
            pairing::RULES,
            tools::RULES,
            marks::RULES,
            settings::RULES,
        ]
    }

    fn unwrapped(&self, body: Value, counts: bool) -> Value {
        let inner = body["input"].get("converse").filter(|_| counts).cloned();
        inner.unwrap_or(body)
    }

    fn read(&self, incoming: &Incoming<'_>) -> Asked {
        read::asked(incoming)
    }

    fn call_prefix(&self) -> &'static str {
        "tooluse_"
    }

    fn whole(&self, spoken: &Spoken<'_>) -> Value {
        say::whole(spoken)
    }

    fn events(&self, spoken: &Spoken<'_>) -> Vec<Bytes> {
        say::events(spoken)
    }

    fn stream_type(&self) -> &'static str {
        "application/vnd.amazon.eventstream"
    }

    fn counted(&self, tokens: u64) -> Value {
        json!({"inputTokens": tokens})
    }

    fn refused(&self, refusal: &Refusal, _: &str) -> (Value, Vec<(&'static str, String)>) {
        let kind = match (refusal.rule, refusal.status) {
            ("key", _) if refusal.message.starts_with("Missing") => {
                "MissingAuthenticationTokenException"
            }
            ("key", _) => "UnrecognizedClientException",
            (_, 403) => "AccessDeniedException",
            (_, 404) => "ResourceNotFoundException",
            (_, 408) => "ModelTimeoutException",
            (_, 424) => "ModelErrorException",
            (_, 429) => "ThrottlingException",
            (_, 503 | 529) => "ServiceUnavailableException",
            (_, 500..) => "InternalServerException",
            _ => "ValidationException",
        };
        (json!({"message": refusal.message}), vec![("x-amzn-errortype", kind.to_owned())])
    }

    fn overflow(&self, _: u64, _: u64) -> Refusal {
        Refusal::new(
            "The model returned the following errors: Input is too long for requested model.",
        )
    }

    fn no_key(&self, is_missing: bool) -> Refusal {
        let message = match is_missing {
            true => "Missing Authentication Token",
            false => "The security token included in the request is invalid.",
        };
        Refusal::with_status(403, message)
    }

    fn malformed(&self) -> Bytes {
        frame::malformed()
    }
}
