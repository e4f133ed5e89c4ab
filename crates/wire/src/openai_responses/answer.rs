//! An answer that came whole, and what streams share with it.

use serde_json::value::RawValue;
use smol_str::SmolStr;

use interleaf_model::{AssistantPart, Finish, Json, Usage};

use super::decode::assistant_item;
use crate::count::{Count, both};
use crate::error::Fault;
use crate::raw::{Fields, nearest};
use crate::reply_builder::ReplyBuilder;
use crate::tree::Value;
use crate::{Error, ErrorKind, Family};

/// How many bits of a part's key say which part of its item it is.
const PART_BITS: u32 = 20;

/// Reads an answer that came whole.
///
/// # Errors
/// If the text is no answer, or is an error of the API's, or is not done yet.
pub(crate) fn decode_response(text: &str) -> Result<ReplyBuilder, Error> {
    let whole: &RawValue = serde_json::from_str(text).map_err(|e| Error::syntax(&e, text))?;
    let mut fields = Fields::read(whole).map_err(|fault| fault.locate(text))?;
    let mut reply = ReplyBuilder::default();
    outcome(&mut fields, &mut reply, text)?;
    let items = match fields.peek("output") {
        Some(_) => fields.take_list("output").map_err(|fault| fault.locate(text))?,
        None => {
            return Err(fields.incomplete("an answer needs `output`").locate(text));
        }
    };
    for (i, item) in items.into_iter().enumerate() {
        let put = put_item(&mut reply, i as u64, item);
        put.map_err(|fault| fault.under(&format!("output[{i}]")).locate(text))?;
    }
    Ok(reply)
}

/// Who answered, how it ended and what it cost; `whole` is the text around it.
pub(in crate::openai_responses) fn outcome(
    response: &mut Fields<'_>,
    reply: &mut ReplyBuilder,
    whole: &str,
) -> Result<(), Error> {
    if let Some(error) = response.peek("error") {
        return Err(api_error(error));
    }
    let placed = |fault: Fault<'_>| fault.locate(whole);
    reply.id = response.take_text("id").map_err(placed)?.map(SmolStr::new);
    reply.model = response.take_text("model").map_err(placed)?.map(SmolStr::new);
    reply.usage = response.take("usage").and_then(usage);
    let status = response.take_text("status").map_err(placed)?;
    let reason = response.take_object("incomplete_details").map_err(placed)?;
    let reason = reason.and_then(|mut details| details.take_text("reason").ok()?);
    reply.finish = Some(match (status.as_deref(), reason.as_deref()) {
        (None | Some("completed"), None) => Finish::Stop,
        (_, Some("max_output_tokens")) => Finish::Length,
        (_, Some("content_filter")) => Finish::ContentFilter,
        (_, Some(reason)) => Finish::Other(SmolStr::new(reason)),
        (Some("failed"), None) => {
            return Err(failed());
        }
        (Some(status @ ("queued" | "in_progress")), None) => {
            let rule = format!("the answer is not whole: its status is {status:?}");
            return Err(Error::new(ErrorKind::Cut, rule));
        }
        (Some(status), None) => Finish::Other(SmolStr::new(status)),
    });
    Ok(())
}

/// Tokens, as the API counts them: the cached ones are among those sent.
fn usage(raw: &RawValue) -> Option<Usage> {
    let fields = Fields::read(raw).ok()?;
    let main = |name| Count::Untold.then_main(&fields, name);
    let inner = |object, name| Count::Untold.then_inner(&fields, object, name).number();
    let (prompt, completion) = both(main("input_tokens"), main("output_tokens"))?;
    Some(Usage {
        prompt,
        cache_read: inner("input_tokens_details", "cached_tokens")?,
        cache_write: inner("input_tokens_details", "cache_write_tokens")?,
        cache_write_hour: 0,
        completion,
        reasoning: inner("output_tokens_details", "reasoning_tokens")?,
    })
}

/// Adds the item at this index of the output.
pub(in crate::openai_responses) fn put_item<'a>(
    reply: &mut ReplyBuilder,
    output_idx: u64,
    raw: &'a RawValue,
) -> Result<(), Fault<'a>> {
    let parts = assistant_item(usize::try_from(output_idx).unwrap_or_default(), raw)?;
    for (i, part) in parts.into_iter().enumerate() {
        let key = part_key(output_idx, i as u64);
        // The API ends a refusal like any other answer.
        let has_ended = reply.finish.as_ref().is_some_and(|end| *end != Finish::Stop);
        let refuses = |part: &AssistantPart| match part {
            AssistantPart::Opaque(opaque) => is_refusal(&opaque.value),
            _ => false,
        };
        if !has_ended && refuses(&part) {
            reply.finish = Some(Finish::ContentFilter);
        }
        reply.part(key, part);
    }
    Ok(())
}

/// Whether a part, or a message that is kept whole, refuses to answer.
fn is_refusal(value: &Json) -> bool {
    if !value.as_str().contains("refusal") {
        return false;
    }
    let value = nearest(value);
    let is_refusal = |part: &Value| part.get("type").is_some_and(|kind| kind == "refusal");
    let content = value.get("content").and_then(Value::as_array);
    is_refusal(&value) || content.is_some_and(|parts| parts.iter().any(is_refusal))
}

/// Where a part of an item stands among all parts.
pub(in crate::openai_responses) fn part_key(output_idx: u64, part_idx: u64) -> u64 {
    (output_idx << PART_BITS) | part_idx.min((1 << PART_BITS) - 1)
}

/// The index of the item that holds a part.
pub(in crate::openai_responses) fn output_idx_of(part_key: u64) -> u64 {
    part_key >> PART_BITS
}

/// The error of the API's that stands in a field `error`.
pub(in crate::openai_responses) fn api_error(raw: &RawValue) -> Error {
    Error::api(Family::OpenaiResponses, &format!(r#"{{"error":{}}}"#, raw.get()))
}

/// An answer that failed and does not say why.
pub(in crate::openai_responses) fn failed() -> Error {
    Error::api(Family::OpenaiResponses, r#"{"error":"the answer failed, without a reason"}"#)
}
