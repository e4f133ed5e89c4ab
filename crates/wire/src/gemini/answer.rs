//! From answers to a reply: whole ones, lists of pieces, and streams.
//!
//! Each event is a whole answer in form, with the pieces that are new.
//!
//! | what comes | what it becomes |
//! |---|---|
//! | `text` without a signature, after another | added to that text |
//! | `text` with a signature | a text of its own |
//! | an empty `text` with a signature | an opaque part, to go back as it is |
//! | `text` with `thought` | thinking; a signature seals and ends it |
//! | `functionCall` | a call; one that continues grows until a piece does not |
//! | `inlineData`, `fileData` | a picture or a file |
//! | any other part | an opaque part |
//! | `usageMetadata` | the usage; each number replaces the one before |
//! | `finishReason` | the end |
//! | another `responseId` after the end | an error: another answer begins |
//! | `promptFeedback.blockReason` | the end, by a filter |
//! | `error` | an error with the API's words |
//! | a candidate but the first | nothing |

mod partial;
mod words;

use interleaf_model::{ContentPart, Finish, Json, Seal};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use self::partial::Growing;
use self::words::{Spent, finish, numbered, refusal};
use super::GOOGLE;
use super::decode::{Call, Form, Part, media_part, read_part};
use super::wire::{peek, take};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_list, is_object, list, text};
use crate::reply_builder::ReplyBuilder;
use crate::stream::ANOTHER;
use crate::{Delta, Error, ErrorKind};

/// Reads an answer that came whole, or as a list of pieces.
pub(crate) fn decode_response(text: &str) -> Result<ReplyBuilder, Error> {
    let whole: &RawValue = serde_json::from_str(text).map_err(|e| Error::syntax(&e, text))?;
    let mut reply = ReplyBuilder::default();
    let mut answer = Answer::default();
    let outcome = answer.take(whole, &mut reply, &mut Vec::new());
    match outcome.map_err(|fault| fault.locate(text))? {
        Taken::Refused(error) => return Err(error),
        Taken::Unknown => {
            let rule = "an answer needs `candidates`, or a `promptFeedback` that says why not";
            return Err(Fault::form(whole, rule).locate(text));
        }
        Taken::Known => {}
    }
    if is_list(whole) && !answer.is_complete {
        let rule = "the last piece has no `finishReason`: the answer is cut off";
        return Err(Error::new(ErrorKind::Cut, rule));
    }
    Ok(reply)
}

/// An answer that arrives.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The part that more text can be added to.
    open: Option<Open>,
    /// The call whose arguments arrive piece by piece.
    growing: Option<Growing>,
    spent: Spent,
    pub(super) is_complete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Text(u64),
    Thinking(u64),
}

/// What an event was.
pub(super) enum Taken {
    Known,
    /// Nothing that we have a word for.
    Unknown,
    /// The API's own error.
    Refused(Error),
}

impl Answer {
    /// Takes a piece, or a list of pieces.
    pub(super) fn take<'a>(
        &mut self,
        raw: &'a RawValue,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<Taken, Fault<'a>> {
        if is_list(raw) {
            let mut taken = Taken::Unknown;
            for (i, raw) in list(raw)?.into_iter().enumerate() {
                let piece = self.piece(raw, reply, deltas);
                match piece.map_err(|fault| fault.under(&format!("[{i}]")))? {
                    refused @ Taken::Refused(_) => return Ok(refused),
                    Taken::Known => taken = Taken::Known,
                    Taken::Unknown => {}
                }
            }
            return Ok(taken);
        }
        if is_object(raw) { self.piece(raw, reply, deltas) } else { Ok(Taken::Unknown) }
    }

    fn piece<'a>(
        &mut self,
        raw: &'a RawValue,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<Taken, Fault<'a>> {
        let mut fields = Fields::read(raw)?;
        if let Some(error) = fields.take("error") {
            return Ok(Taken::Refused(refusal(error)));
        }
        let mut taken = Taken::Unknown;
        if let Some(raw) = take(&mut fields, "modelVersion") {
            reply.model = Some(SmolStr::new(text(raw).map_err(|f| f.under("modelVersion"))?));
            taken = Taken::Known;
        }
        if let Some(raw) = take(&mut fields, "responseId") {
            let id = SmolStr::new(text(raw).map_err(|f| f.under("responseId"))?);
            if self.is_complete && reply.id.as_ref().is_some_and(|before| *before != id) {
                return Err(Fault::form(raw, ANOTHER).under("responseId"));
            }
            reply.id = Some(id);
            taken = Taken::Known;
        }
        for (i, raw) in fields.take_list("candidates")?.into_iter().enumerate() {
            taken = Taken::Known;
            let place = format!("candidates[{i}]");
            self.candidate(raw, reply, deltas).map_err(|fault| fault.under(&place))?;
        }
        if let Some(raw) = take(&mut fields, "usageMetadata") {
            taken = Taken::Known;
            reply.usage = self.spent.take(raw);
            deltas.extend(reply.usage.map(Delta::Usage));
        }
        if let Some(raw) = take(&mut fields, "promptFeedback") {
            taken = Taken::Known;
            let feedback = Fields::read(raw).map_err(|fault| fault.under("promptFeedback"))?;
            if peek(&feedback, "blockReason").is_some() {
                self.finish(Finish::ContentFilter, reply, deltas);
            }
        }
        Ok(taken)
    }

    fn candidate<'a>(
        &mut self,
        raw: &'a RawValue,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let mut fields = Fields::read(raw)?;
        if fields.take("index").is_some_and(|index| index.get() != "0") {
            return Ok(());
        }
        if let Some(raw) = fields.take("content") {
            let mut content = Fields::read(raw).map_err(|fault| fault.under("content"))?;
            content.take("role");
            let parts = content.take_list("parts").map_err(|fault| fault.under("content"))?;
            for (i, raw) in parts.into_iter().enumerate() {
                let part = read_part(raw).and_then(|part| self.part(&part, reply, deltas));
                part.map_err(|fault| fault.under(&format!("content.parts[{i}]")))?;
            }
            let mut own = ObjectText::default();
            own.push_all(&content);
            if let Some(own) = own.into_json()? {
                reply.extra = interleaf_model::Extra::of(GOOGLE.into(), own)?;
            }
        }
        if let Some(raw) = take(&mut fields, "finishReason") {
            let reason = match numbered(raw.get()) {
                Some(name) => name.into(),
                None => text(raw).map_err(|fault| fault.under("finishReason"))?,
            };
            if reason != "FINISH_REASON_UNSPECIFIED" {
                self.finish(finish(&reason), reply, deltas);
            }
        }
        Ok(())
    }

    fn finish(&mut self, finish: Finish, reply: &mut ReplyBuilder, deltas: &mut Vec<Delta>) {
        self.end_growing(reply, deltas);
        let finish = match finish {
            // The API reports an ordinary stop when it wants results.
            Finish::Stop if reply.has_calls() => Finish::ToolCalls,
            finish => finish,
        };
        reply.finish = Some(finish.clone());
        deltas.push(Delta::Finish(finish));
        self.is_complete = true;
    }

    fn part<'a>(
        &mut self,
        part: &Part<'a>,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        if let Form::Call(call) = &part.form {
            self.open = None;
            return self.call(part, call, reply, deltas);
        }
        self.end_growing(reply, deltas);
        match &part.form {
            Form::Text(said) => self.said(part, said, reply, deltas),
            Form::Thought(thought) => self.thought(part, thought, reply, deltas),
            Form::Media(media) => {
                self.open = None;
                let key = next_key(reply, deltas);
                match media_part(part, media)? {
                    ContentPart::Image(image) => reply.image(key, image),
                    ContentPart::File(file) => reply.file(key, file),
                    ContentPart::Text(_) | ContentPart::Opaque(_) => {}
                }
                Ok(())
            }
            Form::Call(_) | Form::Response(_) | Form::Other => {
                self.keep(part, reply, deltas);
                Ok(())
            }
        }
    }

    fn said<'a>(
        &mut self,
        part: &Part<'a>,
        said: &str,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let is_plain = part.signature.is_none() && part.rest.iter().next().is_none();
        let key = match self.open {
            _ if said.is_empty() && is_plain => return Ok(()),
            _ if said.is_empty() => {
                self.keep(part, reply, deltas);
                return Ok(());
            }
            Some(Open::Text(key)) if is_plain => key,
            _ => next_key(reply, deltas),
        };
        if !is_plain {
            reply.begins(key, part.extra(None)?, deltas);
        }
        reply.text(key, said);
        deltas.push(Delta::Text { part: key, text: said.to_owned() });
        // What is attached belongs to these words alone.
        self.open = is_plain.then_some(Open::Text(key));
        if !is_plain {
            reply.attach(key, part.extra(None)?);
        }
        Ok(())
    }

    fn thought<'a>(
        &mut self,
        part: &Part<'a>,
        thought: &str,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let is_bare = part.rest.iter().next().is_none();
        let is_plain = part.signature.is_none() && is_bare;
        let key = match self.open {
            _ if thought.is_empty() && is_plain => return Ok(()),
            Some(Open::Thinking(key)) if is_bare => key,
            _ => next_key(reply, deltas),
        };
        reply.thinking(key, thought);
        deltas.push(Delta::Thinking { part: key, text: thought.to_owned() });
        self.open = is_plain.then_some(Open::Thinking(key));
        if let Some(raw) = part.signature {
            let signature = text(raw).map_err(|fault| fault.under("thoughtSignature"))?;
            reply.seal(key, Seal::Signature(signature.into()));
        }
        let mut own = ObjectText::default();
        own.push_all(&part.rest);
        if let Some(own) = own.into_json()? {
            reply.attach(key, interleaf_model::Extra::of(GOOGLE.into(), own)?);
        }
        Ok(())
    }

    fn call<'a>(
        &mut self,
        part: &Part<'a>,
        call: &Call<'a>,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let is_more = call.name.is_none() && self.growing.is_some();
        let key = match &self.growing {
            Some(growing) if is_more => growing.key,
            _ => {
                self.end_growing(reply, deltas);
                let Some(name) = call.name.as_deref() else {
                    let rule = "a call needs `name`, the tool that it wants to run";
                    return Err(call.rest.incomplete(rule).under("functionCall"));
                };
                let key = next_key(reply, deltas);
                let id = call.id.as_deref().unwrap_or_default();
                reply.call(key, id, name);
                let extra = part.extra(Some(("functionCall", &call.rest)))?;
                reply.begins(key, extra.clone(), deltas);
                reply.attach(key, extra);
                deltas.push(Delta::Call { part: key, id: id.to_owned(), name: name.to_owned() });
                key
            }
        };
        if let Some(args) = call.args {
            reply.arguments(key, args.get());
            deltas.push(Delta::Arguments { part: key, text: args.get().to_owned() });
        }
        if call.pieces.is_some() || call.will_continue {
            let growing = self.growing.get_or_insert_with(|| Growing::new(key));
            if let Some(pieces) = call.pieces {
                let added = growing.add(pieces);
                added.map_err(|fault| fault.under("functionCall.partialArgs"))?;
            }
        }
        if !call.will_continue {
            self.end_growing(reply, deltas);
            reply.end_call(key);
        }
        Ok(())
    }

    /// The arguments that grew are whole.
    fn end_growing(&mut self, reply: &mut ReplyBuilder, deltas: &mut Vec<Delta>) {
        if let Some(growing) = self.growing.take() {
            let arguments = growing.to_json();
            reply.arguments(growing.key, &arguments);
            deltas.push(Delta::Arguments { part: growing.key, text: arguments });
        }
    }

    /// Keeps a part as it came.
    fn keep(&mut self, part: &Part<'_>, reply: &mut ReplyBuilder, deltas: &mut Vec<Delta>) {
        self.open = None;
        let key = next_key(reply, deltas);
        reply.opaque(key, GOOGLE, Json::from(part.raw));
    }
}

/// The key of a part that begins: those before it are whole.
fn next_key(reply: &mut ReplyBuilder, deltas: &mut Vec<Delta>) -> u64 {
    reply.all_whole(deltas);
    reply.next_key()
}
