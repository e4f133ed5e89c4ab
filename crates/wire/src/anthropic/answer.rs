//! An answer that came whole, and the pieces that a stream is put together from.

use serde_json::value::RawValue;
use smol_str::SmolStr;

use interleaf_model::{Extra, Finish, Json, Seal, Usage};

use super::decode::extra_of;
use crate::anthropic::OWNER;
use crate::count::{Count, both};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_list, is_nothing};
use crate::reply_builder::ReplyBuilder;
use crate::{Error, Family};

/// Reads an answer that came whole.
///
/// # Errors
/// If the text is no message, or is an error of the API's.
pub(crate) fn decode_response(text: &str) -> Result<ReplyBuilder, Error> {
    let whole: &RawValue = serde_json::from_str(text).map_err(|e| Error::syntax(&e, text))?;
    if Fields::read(whole).is_ok_and(|fields| is_error(&fields)) {
        return Err(Error::api(Family::Anthropic, text));
    }
    read_answer(whole).map_err(|fault| fault.locate(text))
}

fn read_answer(whole: &RawValue) -> Result<ReplyBuilder, Fault<'_>> {
    let mut fields = Fields::read(whole)?;
    if fields.peek("content").is_none() {
        return Err(fields.incomplete("an answer needs `content`"));
    }
    let mut reply = ReplyBuilder::default();
    reply.id = fields.take_text("id")?.map(SmolStr::new);
    reply.model = fields.take_text("model")?.map(SmolStr::new);
    reply.finish = fields.take_text("stop_reason")?.map(|reason| finish(&reason));
    reply.usage = fields.take("usage").and_then(|usage| Tokens::default().read(usage));
    for (key, raw) in (0..).zip(fields.take_list("content")?) {
        let read = read_block(&mut reply, key, raw, None);
        read.map_err(|fault| fault.under(&format!("content[{key}]")))?;
    }
    Ok(reply)
}

/// Whether an answer is an error.
fn is_error(fields: &Fields<'_>) -> bool {
    let is_error = fields.peek("type").is_some_and(|kind| kind.get() == r#""error""#);
    is_error || (fields.peek("error").is_some() && fields.peek("content").is_none())
}

/// Adds a block to a reply. `input` is what a stream said of a call's arguments.
pub(in crate::anthropic) fn read_block<'a>(
    reply: &mut ReplyBuilder,
    key: u64,
    raw: &'a RawValue,
    input: Option<&str>,
) -> Result<(), Fault<'a>> {
    let mut fields = Fields::read(raw)?;
    let Some(kind) = fields.take_text("type")? else {
        return Err(fields.incomplete("a block needs `type`"));
    };
    match &*kind {
        "text" => reply.text(key, &fields.take_text("text")?.unwrap_or_default()),
        "thinking" => {
            reply.thinking(key, &fields.take_text("thinking")?.unwrap_or_default());
            let signature = fields.take_text("signature")?;
            if let Some(signature) = signature.filter(|signature| !signature.is_empty()) {
                reply.sign(key, &signature);
            }
        }
        "redacted_thinking" => {
            let data = fields.take_text("data")?.unwrap_or_default();
            reply.seal(key, Seal::Encrypted(data.into()));
        }
        "tool_use" => {
            let id = fields.take_text("id")?.unwrap_or_default();
            let name = fields.take_text("name")?.unwrap_or_default();
            reply.call(key, &id, &name);
            let whole = fields.take("input").map(RawValue::get);
            reply.arguments(key, input.or(whole).unwrap_or_default());
            reply.end_call(key);
        }
        _ => {
            reply.opaque(key, OWNER, Json::from(raw));
            return Ok(());
        }
    }
    reply.attach(key, block_extra(&fields)?);
    Ok(())
}

/// What the API attached to a block; what it left empty is nothing.
pub(super) fn block_extra(fields: &Fields<'_>) -> Result<Extra, interleaf_model::Error> {
    let mut own = ObjectText::default();
    for (name, value) in fields.iter() {
        if value.get() != "null" && !(is_list(value) && is_nothing(value)) {
            own.push(name, value.get());
        }
    }
    extra_of(own)
}

/// Why the model stopped.
pub(in crate::anthropic) fn finish(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "tool_use" => Finish::ToolCalls,
        "pause_turn" => Finish::Paused,
        "refusal" => Finish::ContentFilter,
        other => Finish::Other(SmolStr::new(other)),
    }
}

/// The counts of a usage object, each as it was told last.
#[derive(Debug, Default)]
pub(in crate::anthropic) struct Tokens {
    uncached: Count,
    cache_read: Count,
    cache_write: Count,
    cache_write_hour: Count,
    output: Count,
    thinking: Count,
}

impl Tokens {
    /// Takes what an object says, if it is one; what it does not say stays. Gives the counts
    /// in the model's words: cached tokens were sent too.
    pub(in crate::anthropic) fn read(&mut self, usage: &RawValue) -> Option<Usage> {
        let usage = &Fields::read(usage).ok()?;
        let Self { uncached, cache_read, cache_write, cache_write_hour, output, thinking } = self;
        *uncached = uncached.then_main(usage, "input_tokens");
        *cache_read = cache_read.then(usage.peek("cache_read_input_tokens"));
        *cache_write = cache_write.then(usage.peek("cache_creation_input_tokens"));
        *cache_write_hour =
            cache_write_hour.then_inner(usage, "cache_creation", "ephemeral_1h_input_tokens");
        *output = output.then_main(usage, "output_tokens");
        *thinking = thinking.then_inner(usage, "output_tokens_details", "thinking_tokens");
        let (fresh, completion) = both(*uncached, *output)?;
        let (cache_read, cache_write) = (cache_read.number()?, cache_write.number()?);
        Some(Usage {
            prompt: fresh.saturating_add(cache_read).saturating_add(cache_write),
            cache_read,
            cache_write,
            cache_write_hour: cache_write_hour.number()?.min(cache_write),
            completion,
            reasoning: thinking.number()?,
        })
    }
}
