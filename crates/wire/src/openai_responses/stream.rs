//! An answer that comes in pieces.
//!
//! | event | what is done |
//! |---|---|
//! | `response.created`, `.in_progress`, `.queued` | nothing: the last event says it all again |
//! | `output_item.added` of a call | the call is announced |
//! | `output_text.delta`, `reasoning_*.delta`, `*_arguments.delta`, `*_input.delta` | handed on |
//! | `output_item.done` | the item goes into the reply: it is the whole of it, sealed |
//! | `response.completed`, `.incomplete` | the end; items that had no `done` are taken from here, or from their pieces |
//! | `response.created` once there is something | an error: another answer begins |
//! | `response.failed`, `error` | an error in the API's words |
//! | `*.added`, `*.done` of parts | nothing: the item says it again |
//! | any other | handed on as it is |

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use interleaf_model::{AssistantPart, Extra, Finish};
use serde_json::value::RawValue;

use super::OWNER;
use super::answer::{api_error, failed, outcome, output_idx_of, part_key, put_item};
use super::decode::message_part;
use crate::error::Fault;
use crate::raw::{Fields, ObjectText};
use crate::reply_builder::ReplyBuilder;
use crate::sse::Event;
use crate::stream::{ANOTHER, Machine};
use crate::{Delta, Error, Family};

pub(crate) fn machine() -> Box<dyn Machine> {
    Box::new(Responses::default())
}

#[derive(Default)]
struct Responses {
    is_complete: bool,
    /// The items that are in the reply.
    done: BTreeSet<u64>,
    /// The pieces of those that are not, by the key of their part.
    pieces: BTreeMap<u64, Piece>,
    /// The part of a message that was whole last.
    ended: Option<(u64, AssistantPart)>,
}

enum Piece {
    Text(String),
    Thinking(String),
    Call { id: String, name: String, arguments: String },
}

/// What more there is of a part.
#[derive(Clone, Copy)]
enum More {
    Text,
    Thinking,
    Arguments,
}

impl Machine for Responses {
    fn event(
        &mut self,
        event: &Event,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let unreadable = |fault: Fault<'_>| event.faulty(fault);
        let raw = event.json()?;
        let mut fields = Fields::read(raw).map_err(unreadable)?;
        let kind = fields.take_text("type").map_err(unreadable)?;
        let kind = kind.unwrap_or(Cow::Borrowed(&event.name));
        match &*kind {
            "response.output_item.added" => self.begin(fields, reply, deltas).map_err(unreadable),
            "response.output_text.delta" => {
                self.more(fields, "content_index", More::Text, deltas).map_err(unreadable)
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.more(fields, "", More::Thinking, deltas).map_err(unreadable)
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.more(fields, "", More::Arguments, deltas).map_err(unreadable)
            }
            "response.content_part.added" => {
                if let Some((key, part)) = self.ended.take() {
                    reply.tell(key, part, deltas);
                }
                Ok(())
            }
            "response.content_part.done" => self.end_part(fields).map_err(unreadable),
            "response.output_item.done" => {
                let output_idx = number(&mut fields, "output_index");
                match fields.take("item") {
                    Some(item) => {
                        self.end(output_idx, item, reply).map_err(unreadable)?;
                        reply.all_whole(deltas);
                        Ok(())
                    }
                    None => Err(event.corrupt("it has no `item`")),
                }
            }
            "response.completed" | "response.incomplete" => {
                let response = fields.take_object("response").map_err(unreadable)?;
                let response = response.ok_or_else(|| event.corrupt("it has no `response`"))?;
                self.complete(response, event, reply, deltas)
            }
            "response.failed" => Err(failure(fields, event)),
            "error" => Err(match fields.peek("error") {
                Some(error) => api_error(error),
                None => Error::api(Family::OpenaiResponses, raw.get()),
            }),
            "response.created" if self.has_begun() => Err(event.corrupt(ANOTHER)),
            "response.created"
            | "response.in_progress"
            | "response.queued"
            | "response.output_text.done"
            | "response.refusal.done"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done"
            | "response.reasoning_summary_text.done"
            | "response.reasoning_text.done"
            | "response.function_call_arguments.done"
            | "response.custom_tool_call_input.done" => Ok(()),
            // A server that gives up before it begins answers as to any request.
            "" if fields.peek("error").is_some() => Err(fields
                .peek("error")
                .map_or_else(|| event.corrupt("it has no `error`"), api_error)),
            _ => {
                let (event, data) = (kind.into_owned(), event.data.clone());
                deltas.push(Delta::Unknown { event, data });
                Ok(())
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn put_open(&self, reply: &mut ReplyBuilder) {
        for (&part, piece) in &self.pieces {
            match piece {
                Piece::Text(text) => reply.text(part, text),
                Piece::Thinking(text) => reply.thinking(part, text),
                Piece::Call { .. } => {}
            }
        }
    }
}

impl Responses {
    fn has_begun(&self) -> bool {
        !self.done.is_empty() || !self.pieces.is_empty()
    }

    /// An item begins: calls are announced.
    fn begin<'a>(
        &mut self,
        mut event: Fields<'a>,
        reply: &ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let part = part_key(number(&mut event, "output_index"), 0);
        let Some(mut item) = event.take_object("item")? else { return Ok(()) };
        reply.begins(part, attached(&item)?, deltas);
        let kind = item.take_text("type")?.unwrap_or_default();
        if kind == "function_call" || kind == "custom_tool_call" {
            let id = item.take_text("call_id")?.unwrap_or_default().into_owned();
            let name = item.take_text("name")?.unwrap_or_default().into_owned();
            let (for_delta, arguments) = ((id.clone(), name.clone()), String::new());
            self.pieces.insert(part, Piece::Call { id, name, arguments });
            let (id, name) = for_delta;
            deltas.push(Delta::Call { part, id, name });
        }
        Ok(())
    }

    /// More of a part.
    fn more<'a>(
        &mut self,
        mut event: Fields<'a>,
        inner: &str,
        what: More,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let inner = if inner.is_empty() { 0 } else { number(&mut event, inner) };
        let part = part_key(number(&mut event, "output_index"), inner);
        let text = event.take_text("delta")?.unwrap_or_default().into_owned();
        let begin = || match what {
            More::Text => Piece::Text(String::new()),
            More::Thinking => Piece::Thinking(String::new()),
            More::Arguments => {
                Piece::Call { id: String::new(), name: String::new(), arguments: String::new() }
            }
        };
        match self.pieces.entry(part).or_insert_with(begin) {
            Piece::Text(said) | Piece::Thinking(said) | Piece::Call { arguments: said, .. } => {
                said.push_str(&text);
            }
        }
        deltas.push(match what {
            More::Text => Delta::Text { part, text },
            More::Thinking => Delta::Thinking { part, text },
            More::Arguments => Delta::Arguments { part, text },
        });
        Ok(())
    }

    /// A part of a message is whole; its message may have more to say of the last one.
    fn end_part<'a>(&mut self, mut event: Fields<'a>) -> Result<(), Fault<'a>> {
        let output_idx = number(&mut event, "output_index");
        let key = part_key(output_idx, number(&mut event, "content_index"));
        self.ended = event.take("part").and_then(message_part).map(|part| (key, part));
        Ok(())
    }

    /// An item is whole.
    fn end<'a>(
        &mut self,
        output_idx: u64,
        item: &'a RawValue,
        reply: &mut ReplyBuilder,
    ) -> Result<(), Fault<'a>> {
        self.ended = None;
        if self.done.insert(output_idx) {
            // Many items may be open: only this one's pieces are looked at.
            let own = part_key(output_idx, 0)..;
            let own = self.pieces.range(own).map(|(&part, _)| part);
            let own: Vec<u64> = own.take_while(|&part| output_idx_of(part) == output_idx).collect();
            own.iter().for_each(|part| _ = self.pieces.remove(part));
            put_item(reply, output_idx, item)?;
        }
        Ok(())
    }

    /// The answer is whole.
    fn complete(
        &mut self,
        mut response: Fields<'_>,
        event: &Event,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let unreadable = |fault: Fault<'_>| event.faulty(fault);
        for (i, item) in response.take_list("output").map_err(unreadable)?.into_iter().enumerate() {
            self.end(i as u64, item, reply).map_err(unreadable)?;
        }
        for (part, piece) in std::mem::take(&mut self.pieces) {
            match piece {
                Piece::Text(text) => reply.text(part, &text),
                Piece::Thinking(text) => reply.thinking(part, &text),
                Piece::Call { id, name, arguments } => {
                    reply.call(part, &id, &name);
                    reply.arguments(part, &arguments);
                }
            }
        }
        let refused = reply.finish == Some(Finish::ContentFilter);
        outcome(&mut response, reply, &event.data)?;
        if refused && reply.finish == Some(Finish::Stop) {
            reply.finish = Some(Finish::ContentFilter);
        }
        deltas.extend(reply.usage.map(Delta::Usage));
        let finish = match reply.finish.clone() {
            Some(Finish::Stop) if reply.has_calls() => Finish::ToolCalls,
            Some(finish) => finish,
            None => Finish::Stop,
        };
        deltas.push(Delta::Finish(finish));
        self.is_complete = true;
        Ok(())
    }
}

/// What is attached to an item that begins.
fn attached(item: &Fields<'_>) -> Result<Extra, interleaf_model::Error> {
    const KNOWN: [&str; 10] = [
        "type",
        "role",
        "status",
        "content",
        "summary",
        "encrypted_content",
        "call_id",
        "name",
        "arguments",
        "input",
    ];
    let mut own = ObjectText::default();
    let kind = item.peek("type").map(RawValue::get);
    if kind == Some(r#""custom_tool_call""#) {
        own.push("type", r#""custom_tool_call""#);
    }
    for (name, value) in item.iter().filter(|(name, _)| !KNOWN.contains(name)) {
        own.push(name, value.get());
    }
    let own = match kind {
        Some(r#""message""#) => {
            let mut around = ObjectText::default();
            if let Some(own) = own.into_json()? {
                around.push("item", own.as_str());
            }
            around
        }
        Some(r#""reasoning""# | r#""function_call""# | r#""custom_tool_call""#) => own,
        _ => ObjectText::default(),
    };
    own.into_json()?.map_or(Ok(Extra::NONE), |own| Extra::of(OWNER.into(), own))
}

fn number(fields: &mut Fields<'_>, name: &str) -> u64 {
    fields.take(name).and_then(|raw| raw.get().parse().ok()).unwrap_or_default()
}

/// Why an answer failed.
fn failure(mut event: Fields<'_>, whole: &Event) -> Error {
    match event.take_object("response") {
        Ok(Some(response)) => match response.peek("error") {
            Some(error) => api_error(error),
            None => failed(),
        },
        _ => whole.corrupt("it has no `response`"),
    }
}
