//! What holds beside the rules of bodies: statuses, versions, and the most that may be said.

use crate::refusal::{Refusal, Verdict};
use crate::{Answer, Api, Finish, PER_CALL, Said, count};

/// The header with the id of a request.
pub(crate) fn request_id(api: Api) -> &'static str {
    match api {
        Api::OpenAiChat | Api::OpenAiResponses => "x-request-id",
        Api::Anthropic => "request-id",
        Api::Gemini => "x-goog-request-id",
        Api::Bedrock => "x-amzn-requestid",
    }
}

/// An error that was asked for.
pub(crate) fn status(api: Api, status: u16) -> Refusal {
    let message = match (api, status) {
        (Api::Anthropic, 429) => {
            "This request would exceed your organization's rate limit. Please try again later."
        }
        (Api::Anthropic, 529) => "Overloaded",
        (Api::Anthropic, 500..) => "Internal server error",
        (Api::Gemini, 429) => "Resource has been exhausted (e.g. check quota).",
        (Api::Gemini, 503 | 529) => "The model is overloaded. Please try again later.",
        (Api::Gemini, 500..) => {
            "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"
        }
        (Api::Bedrock, 429) => "Too many requests, please wait before trying again.",
        (Api::Bedrock, 503 | 529) => "Bedrock is unable to process your request.",
        (Api::Bedrock, 500..) => {
            "The system encountered an unexpected error during processing. Try your request again."
        }
        (_, 408) => "The request timed out. Please try again.",
        (_, 429) => "Rate limit reached for requests. Please try again later.",
        (_, 503 | 529) => {
            "That model is currently overloaded with other requests. You can retry your request."
        }
        (_, 500..) => "The server had an error while processing your request. Sorry about that!",
        _ => "The request was refused on purpose.",
    };
    Refusal::with_status(status, message)
}

/// A body that is not JSON.
pub(crate) fn not_json(api: Api, error: &serde_json::Error) -> Refusal {
    let message = match api {
        Api::OpenAiChat | Api::OpenAiResponses => {
            format!("We could not parse the JSON body of your request. ({error})")
        }
        Api::Anthropic => format!("The request body is not valid JSON: {error}"),
        Api::Gemini => format!("Invalid JSON payload received. {error}"),
        Api::Bedrock => format!("Unable to parse the request body: {error}"),
    };
    Refusal::new(message).rule("json")
}

/// Anthropic demands a version, and knows two.
pub(crate) fn version(api: Api, version: Option<&str>) -> Verdict {
    let refusal = match (api, version) {
        (Api::Anthropic, None) => "anthropic-version: header is required".to_owned(),
        (Api::Anthropic, Some("2023-06-01" | "2026-10-21")) => return Ok(()),
        (Api::Anthropic, Some(other)) => {
            format!(
                "anthropic-version: \"{other}\" is not a valid version. It must be an ISO date string of a known version."
            )
        }
        _ => return Ok(()),
    };
    Err(Refusal::new(refusal).rule("version"))
}

/// Cuts the last part in half and ends by length.
pub(crate) fn truncate(answer: &mut Answer) {
    if let Some(Said::Text(text) | Said::Thinking(text) | Said::Call { arguments: text, .. }) =
        answer.parts.last_mut()
    {
        *text = text.chars().take(text.chars().count() / 2).collect();
    }
    answer.finish = Some(Finish::Length);
}

/// Ends an answer where its tokens are used up, and says how many it has, and how many of them
/// are thoughts.
pub(crate) fn cap(answer: &mut Answer, most: Option<u64>) -> (u64, u64) {
    let most = most.unwrap_or(u64::MAX);
    let (mut output, mut reasoning, mut keeps) = (0, 0, 0);
    for part in &mut answer.parts {
        if output >= most {
            break;
        }
        keeps += 1;
        let (fixed, text) = match part {
            Said::Text(text) | Said::Thinking(text) => (0, text),
            Said::Call { name, arguments, .. } => (PER_CALL + count(name), arguments),
        };
        let room = (most - output).saturating_sub(fixed);
        let (mut tokens, mut is_cut) = (count(text), false);
        while tokens > room {
            // By the rule of three, so that it ends soon.
            let chars = text.chars().count();
            let kept = (chars as u64 * room / tokens).min(chars as u64 - 1);
            *text = text.chars().take(kept as usize).collect();
            tokens = count(text);
            is_cut = true;
        }
        output = (output + fixed + tokens).min(most);
        if matches!(part, Said::Thinking(_)) {
            reasoning += tokens;
        }
        if is_cut {
            answer.finish = Some(Finish::Length);
            break;
        }
    }
    if keeps < answer.parts.len() {
        answer.parts.truncate(keeps);
        answer.finish = Some(Finish::Length);
    }
    (output, reasoning)
}
