//! What the API says of an answer beside its parts.

use interleaf_model::{Finish, Usage};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::count::{Count, both};
use crate::gemini::wire::peek;
use crate::raw::Fields;
use crate::{Error, Family};

/// Numbers of tokens, as far as they were told.
#[derive(Debug, Default)]
pub(super) struct Spent {
    prompt: Count,
    cached: Count,
    tool_prompt: Count,
    candidates: Count,
    thoughts: Count,
}

impl Spent {
    /// Takes what is told, and gives the sum so far.
    pub(super) fn take(&mut self, raw: &RawValue) -> Option<Usage> {
        let fields = Fields::read(raw).ok()?;
        let Self { prompt, cached, tool_prompt, candidates, thoughts } = self;
        let numbers = [
            (&mut *prompt, "promptTokenCount"),
            (&mut *cached, "cachedContentTokenCount"),
            (&mut *tool_prompt, "toolUsePromptTokenCount"),
            (&mut *candidates, "candidatesTokenCount"),
            (&mut *thoughts, "thoughtsTokenCount"),
        ];
        for (number, name) in numbers {
            *number = number.then(peek(&fields, name));
        }
        let (sent, said) = both(*prompt, *candidates)?;
        let thought = thoughts.number()?;
        Some(Usage {
            prompt: sent.saturating_add(tool_prompt.number()?),
            cache_read: cached.number()?,
            cache_write: 0,
            cache_write_hour: 0,
            completion: said.saturating_add(thought),
            reasoning: thought,
        })
    }
}

/// The reason of a number: Vertex sends some in this way.
pub(super) fn numbered(number: &str) -> Option<&'static str> {
    const REASONS: [&str; 10] = [
        "FINISH_REASON_UNSPECIFIED",
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "RECITATION",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "MALFORMED_FUNCTION_CALL",
    ];
    let number: usize = number.parse().ok()?;
    Some(REASONS.get(number).copied().unwrap_or("OTHER"))
}

/// Why the model stopped.
pub(super) fn finish(reason: &str) -> Finish {
    match reason {
        "STOP" => Finish::Stop,
        "MAX_TOKENS" => Finish::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Finish::ContentFilter,
        other => Finish::Other(SmolStr::new(other)),
    }
}

/// The error of the API's that stands in a field `error`.
pub(super) fn refusal(raw: &RawValue) -> Error {
    Error::api(Family::Gemini, &format!(r#"{{"error":{}}}"#, raw.get()))
}
