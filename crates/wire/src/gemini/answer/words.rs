//! What the API says of an answer beside its parts.

use interleaf_model::{Finish, Usage};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::error::Fault;
use crate::gemini::wire::peek;
use crate::raw::Fields;
use crate::{Error, Family};

/// Numbers of tokens, as far as they were told.
#[derive(Debug, Default)]
pub(super) struct Spent {
    prompt: u64,
    cached: u64,
    tool_prompt: u64,
    candidates: u64,
    thoughts: u64,
}

impl Spent {
    /// Takes what is told, and gives the sum so far.
    pub(super) fn take<'a>(&mut self, raw: &'a RawValue) -> Result<Usage, Fault<'a>> {
        let fields = Fields::read(raw)?;
        let told = |name: &str| peek(&fields, name).and_then(|raw| raw.get().parse::<u64>().ok());
        let numbers = [
            (&mut self.prompt, "promptTokenCount"),
            (&mut self.cached, "cachedContentTokenCount"),
            (&mut self.tool_prompt, "toolUsePromptTokenCount"),
            (&mut self.candidates, "candidatesTokenCount"),
            (&mut self.thoughts, "thoughtsTokenCount"),
        ];
        for (number, name) in numbers {
            *number = told(name).unwrap_or(*number);
        }
        Ok(Usage {
            prompt: self.prompt.saturating_add(self.tool_prompt),
            cache_read: self.cached,
            cache_write: 0,
            cache_write_hour: 0,
            completion: self.candidates.saturating_add(self.thoughts),
            reasoning: self.thoughts,
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
