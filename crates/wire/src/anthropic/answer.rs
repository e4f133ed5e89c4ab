//! An answer that came whole, and the pieces that a stream is put together from.

use serde_json::value::RawValue;
use smol_str::SmolStr;

use interleaf_model::{Extra, Finish, Json, Seal, Usage};

use super::decode::extra_of;
use crate::anthropic::OWNER;
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
    if let Some(usage) = fields.take_object("usage")? {
        let mut tokens = Tokens::default();
        tokens.read(usage);
        reply.usage = Some(tokens.usage());
    }
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
    uncached: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_hour: u64,
    output: u64,
    thinking: u64,
}

impl Tokens {
    /// Takes what an object says; what it does not say stays.
    pub(in crate::anthropic) fn read(&mut self, mut usage: Fields<'_>) {
        let mut take = |name: &str, count: &mut u64| {
            if let Some(new) = usage.take(name).and_then(|raw| raw.get().parse().ok()) {
                *count = new;
            }
        };
        take("input_tokens", &mut self.uncached);
        take("cache_read_input_tokens", &mut self.cache_read);
        take("cache_creation_input_tokens", &mut self.cache_write);
        take("output_tokens", &mut self.output);
        if let Ok(Some(mut written)) = usage.take_object("cache_creation")
            && let Some(new) = written
                .take("ephemeral_1h_input_tokens")
                .and_then(|raw| raw.get().parse::<u64>().ok())
        {
            self.cache_write_hour = new;
        }
        if let Ok(Some(mut details)) = usage.take_object("output_tokens_details")
            && let Some(new) =
                details.take("thinking_tokens").and_then(|raw| raw.get().parse().ok())
        {
            self.thinking = new;
        }
    }

    /// The counts in the model's words: cached tokens were sent too.
    pub(in crate::anthropic) fn usage(&self) -> Usage {
        let prompt = self.uncached.saturating_add(self.cache_read).saturating_add(self.cache_write);
        Usage {
            prompt,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_hour: self.cache_write_hour.min(self.cache_write),
            completion: self.output,
            reasoning: self.thinking,
        }
    }
}
