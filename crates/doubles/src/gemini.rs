//! Gemini `generateContent`.

mod contents;
mod names;
mod read;
mod say;
mod schema;
mod settings;
mod signatures;
mod turns;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::Asked;
use crate::family::{Family, Incoming, Rule, Spoken};
use crate::refusal::Refusal;

pub(crate) struct Gemini;

impl Family for Gemini {
    fn rules(&self) -> Vec<&'static [Rule]> {
        vec![
            settings::FIRST,
            contents::RULES,
            turns::RULES,
            schema::RULES,
            signatures::RULES,
            settings::RULES,
        ]
    }

    fn unwrapped(&self, body: Value, counts: bool) -> Value {
        let inner = body.get("generateContentRequest").filter(|_| counts).cloned();
        names::camel(inner.unwrap_or(body))
    }

    fn read(&self, incoming: &Incoming<'_>) -> Asked {
        read::asked(incoming)
    }

    fn call_prefix(&self) -> &'static str {
        "fc-"
    }

    fn whole(&self, spoken: &Spoken<'_>) -> Value {
        say::whole(spoken)
    }

    fn events(&self, spoken: &Spoken<'_>) -> Vec<Bytes> {
        say::events(spoken)
    }

    fn stream_type(&self) -> &'static str {
        "text/event-stream"
    }

    fn counted(&self, tokens: u64) -> Value {
        let details = json!([{"modality": "TEXT", "tokenCount": tokens}]);
        json!({"totalTokens": tokens, "promptTokensDetails": details})
    }

    fn refused(&self, refusal: &Refusal, _: &str) -> (Value, Vec<(&'static str, String)>) {
        let status = match refusal.status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 | 529 => "UNAVAILABLE",
            408 | 504 => "DEADLINE_EXCEEDED",
            500.. => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        };
        let mut error =
            json!({"code": refusal.status, "message": refusal.message, "status": status});
        // Google says when to try again in the body.
        if let Some(seconds) = refusal.retry_after {
            let kind = "type.googleapis.com/google.rpc.RetryInfo";
            error["details"] = json!([{"@type": kind, "retryDelay": format!("{seconds}s")}]);
        }
        (json!({ "error": error }), Vec::new())
    }

    fn overflow(&self, tokens: u64, window: u64) -> Refusal {
        Refusal::new(format!(
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
        ))
    }

    fn no_key(&self, is_missing: bool) -> Refusal {
        match is_missing {
            true => Refusal::with_status(
                403,
                "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
            ),
            false => Refusal::new("API key not valid. Please pass a valid API key."),
        }
    }
}

/// The events of a stream as the elements of one JSON list.
pub(crate) fn as_array(events: &[Bytes]) -> Vec<Bytes> {
    let n_events = events.len();
    let element = |(i, event): (usize, &Bytes)| {
        let text = String::from_utf8_lossy(event);
        let text = text.trim_start_matches("data: ").trim_end();
        let begin = if i == 0 { "[" } else { ",\r\n" };
        let end = if i + 1 == n_events { "]" } else { "" };
        Bytes::from(format!("{begin}{text}{end}"))
    };
    events.iter().enumerate().map(element).collect()
}

/// The generation of a model, such as 2.5 or 3.
fn generation(model: &str) -> f64 {
    let rest = model.rsplit('/').next().and_then(|name| name.strip_prefix("gemini-"));
    let number = rest.and_then(|rest| rest.split('-').next());
    number.and_then(|number| number.parse().ok()).unwrap_or_default()
}
