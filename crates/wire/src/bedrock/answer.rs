//! An answer that came whole, and what streams share with it.

use serde_json::value::RawValue;
use smol_str::SmolStr;

use interleaf_model::{AssistantPart, Finish, Usage};

use super::decode::{assistant_part, each, own};
use crate::count::{Count, both};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, list};
use crate::reply_builder::ReplyBuilder;
use crate::{Error, Family};

/// Reads an answer that came whole.
pub(crate) fn decode_response(whole: &str) -> Result<ReplyBuilder, Error> {
    let raw = serde_json::from_str(whole).map_err(|e| Error::syntax(&e, whole))?;
    if is_error(raw) {
        return Err(Error::api(Family::Bedrock, whole));
    }
    read_response(raw).map_err(|fault| fault.locate(whole))
}

/// Whether this is what the API says instead of an answer: `{"message": "…"}`, perhaps
/// with its type.
fn is_error(raw: &RawValue) -> bool {
    let Ok(fields) = Fields::read(raw) else { return false };
    let has = |name: &str| fields.peek(name).is_some();
    !has("output") && ["message", "Message", "__type"].into_iter().any(has)
}

fn read_response(whole: &RawValue) -> Result<ReplyBuilder, Fault<'_>> {
    let mut fields = Fields::read(whole)?;
    let Some(mut output) = fields.take_object("output")? else {
        return Err(fields.incomplete("an answer needs `output`"));
    };
    let Some(message) = output.take("message") else {
        return Err(output.incomplete("an answer needs `message`"));
    };
    let mut reply = ReplyBuilder::default();
    read_answer(message, &mut reply).map_err(|fault| fault.under("output.message"))?;
    reply.finish = fields.take_text("stopReason")?.map(|reason| finish(&reason));
    reply.usage = fields.take("usage").and_then(usage);
    Ok(reply)
}

fn read_answer<'a>(raw: &'a RawValue, reply: &mut ReplyBuilder) -> Result<(), Fault<'a>> {
    let mut message = Fields::read(raw)?;
    message.take("role");
    let Some(content) = message.take("content") else {
        return Err(message.incomplete("a message needs `content`"));
    };
    for (key, part) in (0..).zip(each(content, "content", assistant_part)?) {
        match part {
            // A stream says nothing of an empty text.
            AssistantPart::Text(text) if text.text.is_empty() => {}
            part => reply.part(key, part),
        }
    }
    let mut rest = ObjectText::default();
    rest.push_all(&message);
    reply.extra = own(rest)?;
    Ok(())
}

/// Why the model stopped, in our words.
pub(super) fn finish(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_use" => Finish::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "guardrail_intervened" | "content_filtered" => Finish::ContentFilter,
        other => Finish::Other(SmolStr::new(other)),
    }
}

/// How many of the tokens written to the cache are kept for an hour.
fn written_for_an_hour(fields: &Fields<'_>) -> Option<u64> {
    let Some(details) = fields.peek("cacheDetails") else { return Some(0) };
    let mut sum = 0_u64;
    for detail in list(details).ok()? {
        let detail = Fields::read(detail).ok()?;
        if detail.peek("ttl").is_some_and(|ttl| ttl.get() == r#""1h""#) {
            let count = Count::Untold.then(detail.peek("inputTokens"));
            sum = sum.saturating_add(count.number()?);
        }
    }
    Some(sum)
}

/// What the answer cost. The API counts cached tokens apart from the others.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    let fields = &Fields::read(raw).ok()?;
    let main = |name| Count::Untold.then_main(fields, name);
    let other = |name| Count::Untold.then(fields.peek(name)).number();
    let (fresh, completion) = both(main("inputTokens"), main("outputTokens"))?;
    let cache_read = other("cacheReadInputTokens")?;
    let cache_write = other("cacheWriteInputTokens")?;
    let prompt = fresh.saturating_add(cache_read).saturating_add(cache_write);
    let cache_write_hour = written_for_an_hour(fields)?.min(cache_write);
    Some(Usage { prompt, cache_read, cache_write, cache_write_hour, completion, reasoning: 0 })
}
