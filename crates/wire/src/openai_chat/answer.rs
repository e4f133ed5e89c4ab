//! An answer, whole or in pieces: a whole one is one large piece.
//!
//! | in the answer | in the reply |
//! |---|---|
//! | `reasoning_content`, `reasoning`, a part `thinking` | one thought, first |
//! | `content`, text parts, `audio.transcript` | one text |
//! | `refusal` | an opaque part |
//! | `images`, parts of other types | pictures, opaque parts |
//! | `tool_calls`, `function_call` | the calls |
//! | any other field of the message | its extra |

mod attached;
mod calls;
mod usage;

use std::borrow::Cow;

use interleaf_model::{Extra, Finish, Image, Json, Seal};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use self::attached::Attached;
use self::calls::Calls;
use super::OPENAI;
use super::called::says_nothing;
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_list, is_object, is_text, list, text};
use crate::reply_builder::ReplyBuilder;
use crate::stream::ANOTHER;
use crate::{Delta, Error, Family, source};

const THOUGHT: u64 = 0;
const TEXT: u64 = 1;
const REFUSAL: u64 = 2;
/// The first key of other parts.
const PARTS: u64 = 3;
/// The first key of calls.
const CALLS: u64 = 1 << 32;

/// Whether a piece is all there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Whole,
    Chunk,
}

/// What a piece was.
pub(super) enum Read {
    /// A piece of an answer.
    Answer,
    /// An error of the API's.
    Error(Error),
    /// Something else.
    Unknown,
}

/// What of an answer has come so far, beside the reply itself.
#[derive(Default)]
pub(super) struct Answer {
    refusal: String,
    calls: Calls,
    n_parts: u64,
    attached: Attached,
}

/// Reads a whole answer.
pub(crate) fn decode_response(whole: &str) -> Result<ReplyBuilder, Error> {
    let raw: &RawValue = serde_json::from_str(whole).map_err(|e| Error::syntax(&e, whole))?;
    let mut reply = ReplyBuilder::default();
    let mut answer = Answer::default();
    let read = answer.read(raw, Piece::Whole, &mut reply, &mut Vec::new());
    match read.map_err(|fault| fault.locate(whole))? {
        Read::Answer => Ok(reply),
        Read::Error(error) => Err(error),
        Read::Unknown => {
            Err(Fault::form(raw, "an answer needs `choices` with one choice").locate(whole))
        }
    }
}

impl Answer {
    /// Takes a piece.
    pub(super) fn read<'a>(
        &mut self,
        raw: &'a RawValue,
        piece: Piece,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<Read, Fault<'a>> {
        let mut fields = Fields::read(raw)?;
        if fields.peek("error").is_some() {
            return Ok(Read::Error(Error::api(Family::OpenaiChat, raw.get())));
        }
        let choices = fields.peek("choices").filter(|choices| is_list(choices));
        let Some(choices) = choices else {
            return Ok(read_other(raw, &mut fields, reply, deltas));
        };
        // A call that was forced ends with an ordinary stop.
        reply.keeps_stop = true;
        let had_finished = reply.finish.is_some();
        let n_deltas = deltas.len();
        let is_other = !set_once(&mut reply.id, &mut fields, "id");
        set_once(&mut reply.model, &mut fields, "model");
        let mut found = false;
        for choice in list(choices)? {
            let raw = choice;
            let mut choice = Fields::read(raw).map_err(|fault| fault.under("choices"))?;
            if choice.peek("index").is_some_and(|index| index.get() != "0") {
                continue;
            }
            found = true;
            if choice.peek("error").is_some() {
                return Ok(Read::Error(Error::api(Family::OpenaiChat, raw.get())));
            }
            let place = if piece == Piece::Whole { "message" } else { "delta" };
            if let Some(message) = choice.take_object(place)? {
                self.message(message, piece, reply, deltas)?;
            }
            let reason = match choice.peek("finish_reason") {
                Some(raw) if !is_text(raw) => Some(raw.get().into()),
                _ => choice.take_text("finish_reason")?,
            };
            if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
                let finish = finish(&reason);
                deltas.push(Delta::Finish(finish.clone()));
                reply.finish = Some(finish);
            }
            usage::read(&mut choice, reply, deltas);
        }
        // Some servers give every piece an id of its own, and some every piece a reason to stop.
        if had_finished && is_other && deltas.iter().skip(n_deltas).any(is_said) {
            return Err(Fault::form(raw, ANOTHER));
        }
        usage::read(&mut fields, reply, deltas);
        Ok(if found || piece == Piece::Chunk { Read::Answer } else { Read::Unknown })
    }

    fn message<'a>(
        &mut self,
        mut message: Fields<'a>,
        piece: Piece,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        message.take("role");
        // Servers that send both names repeat the text.
        let thought = ["reasoning_content", "reasoning"].into_iter().find_map(|name| {
            let raw = message.peek(name).filter(|raw| is_text(raw) && raw.get() != r#""""#)?;
            Some((name, raw))
        });
        if let Some((_, raw)) = thought {
            think(&text(raw)?, reply, deltas);
        }
        message.take("reasoning_content");
        if message.peek("reasoning").is_none_or(is_text) {
            message.take("reasoning");
        }
        if let Some(content) = message.take("content") {
            self.content(content, reply, deltas).map_err(|fault| fault.under("content"))?;
        }
        if let Some(audio) = message.take_object("audio")? {
            self.audio(audio, reply, deltas)?;
        }
        for image in message.take_list("images")? {
            self.part(image, reply, deltas)?;
        }
        if let Some(more) = message.take_text("refusal")? {
            self.refuse(&more, reply)?;
        }
        for call in message.take_list("tool_calls")? {
            self.calls.add(call, piece, reply, deltas).map_err(|f| f.under("tool_calls"))?;
        }
        let is_empty = message.peek("function_call").is_some_and(says_nothing);
        if let Some(call) = message.take_object("function_call")?.filter(|_| !is_empty) {
            self.calls.add_function(call, reply, deltas)?;
        }
        for (name, value) in message.into_list() {
            self.attached.add(&name, value);
        }
        reply.extra = self.attached.to_extra()?;
        Ok(())
    }

    fn content<'a>(
        &mut self,
        content: &'a RawValue,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        if is_list(content) {
            for part in list(content)? {
                self.part(part, reply, deltas)?;
            }
            return Ok(());
        }
        say(&text(content)?, reply, deltas);
        Ok(())
    }

    fn part<'a>(
        &mut self,
        raw: &'a RawValue,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let mut part = Fields::read(raw)?;
        let kind = part.take_text("type")?.unwrap_or_default();
        match &*kind {
            "text" => say(&part.take_text("text")?.unwrap_or_default(), reply, deltas),
            "refusal" => self.refuse(&part.take_text("refusal")?.unwrap_or_default(), reply)?,
            "thinking" => {
                think(&thought_text(&mut part)?, reply, deltas);
                if let Some(signature) = part.take_text("signature")? {
                    reply.seal(THOUGHT, Seal::Signature(signature.into()));
                }
            }
            "image_url" => {
                let url = match part.peek("image_url").is_some_and(is_object) {
                    true => match part.take_object("image_url")? {
                        Some(mut image) => image.take_text("url")?,
                        None => None,
                    },
                    false => part.take_text("image_url")?,
                };
                let (source, media_type) = source::of_url(&url.unwrap_or_default());
                let key = self.next_part();
                reply.image(key, Image { source, media_type, extra: Extra::NONE });
            }
            _ => reply.opaque(self.next_part(), OPENAI, Json::from(raw)),
        }
        Ok(())
    }

    fn next_part(&mut self) -> u64 {
        self.n_parts += 1;
        PARTS + self.n_parts - 1
    }

    /// The API knows the sound by its id; what was said is text.
    fn audio<'a>(
        &mut self,
        mut audio: Fields<'a>,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        if let Some(transcript) = audio.take_text("transcript")? {
            say(&transcript, reply, deltas);
        }
        if let Some(id) = audio.take("id") {
            let mut own = ObjectText::default();
            own.push("id", id.get());
            if let Some(own) = own.into_json()? {
                self.attached.set("audio", own.as_str());
            }
        }
        Ok(())
    }

    fn refuse(
        &mut self,
        more: &str,
        reply: &mut ReplyBuilder,
    ) -> Result<(), interleaf_model::Error> {
        if more.is_empty() {
            return Ok(());
        }
        self.refusal.push_str(more);
        let mut part = ObjectText::default();
        part.push("type", r#""refusal""#);
        part.push("refusal", &serde_json::Value::from(&*self.refusal).to_string());
        if let Some(value) = part.into_json()? {
            reply.opaque(REFUSAL, OPENAI, value);
        }
        Ok(())
    }
}

fn say(more: &str, reply: &mut ReplyBuilder, deltas: &mut Vec<Delta>) {
    if !more.is_empty() {
        reply.text(TEXT, more);
        deltas.push(Delta::Text { part: TEXT, text: more.to_owned() });
    }
}

fn think(more: &str, reply: &mut ReplyBuilder, deltas: &mut Vec<Delta>) {
    if !more.is_empty() {
        reply.thinking(THOUGHT, more);
        deltas.push(Delta::Thinking { part: THOUGHT, text: more.to_owned() });
    }
}

/// A thought of Mistral's is a list of texts; elsewhere it is a text.
fn thought_text<'a>(part: &mut Fields<'a>) -> Result<Cow<'a, str>, Fault<'a>> {
    if part.peek("thinking").is_some_and(is_text) {
        return Ok(part.take_text("thinking")?.unwrap_or_default());
    }
    let mut all = String::new();
    for piece in part.take_list("thinking")? {
        all.push_str(&Fields::read(piece)?.take_text("text")?.unwrap_or_default());
    }
    Ok(Cow::Owned(all))
}

/// An object without choices: an error in another form, a report of usage, or
/// something unknown.
fn read_other(
    raw: &RawValue,
    fields: &mut Fields<'_>,
    reply: &mut ReplyBuilder,
    deltas: &mut Vec<Delta>,
) -> Read {
    let is_error = fields.peek("object").is_some_and(|object| object.get() == r#""error""#);
    let is_told = fields.peek("message").is_some_and(is_text) || fields.peek("detail").is_some();
    if is_error || is_told {
        return Read::Error(Error::api(Family::OpenaiChat, raw.get()));
    }
    if usage::read(fields, reply, deltas) { Read::Answer } else { Read::Unknown }
}

/// Sets what has not been set, and says whether it is as the field says.
fn set_once(slot: &mut Option<SmolStr>, fields: &mut Fields<'_>, name: &str) -> bool {
    let value = fields.take_text(name).ok().flatten().filter(|value| !value.is_empty());
    match (&slot, value) {
        (_, None) => true,
        (Some(before), Some(value)) => **before == *value,
        (None, Some(value)) => {
            *slot = Some(SmolStr::new(value));
            true
        }
    }
}

/// Whether a delta is of something that the model said.
fn is_said(delta: &Delta) -> bool {
    matches!(
        delta,
        Delta::Text { .. } | Delta::Thinking { .. } | Delta::Call { .. } | Delta::Arguments { .. }
    )
}

/// Servers in front of other models hand on these models' words, in any case.
fn finish(reason: &str) -> Finish {
    match &*reason.to_ascii_lowercase() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Finish::Stop,
        "length" | "model_length" | "max_tokens" => Finish::Length,
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => Finish::ToolCalls,
        "content_filter" | "safety" => Finish::ContentFilter,
        _ => Finish::Other(SmolStr::new(reason)),
    }
}
