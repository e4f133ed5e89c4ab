//! From a prompt to a request body.

mod media;
mod parts;
mod settings;
mod tools;

use std::borrow::Cow;

use interleaf_model::{AssistantPart, Body, ContentPart, Entry, Extra, Message, SystemPart, Text};
use serde_json::value::RawValue;

use self::parts::{Writing, kept, message_rest};
use super::GOOGLE;
use super::wire::{Content, Data, Element, Head, Part, Rest, SystemInstruction};
use crate::Error;
use crate::adjustment::AdjustmentKind;
use crate::encode::{Context, Elements, TurnPlace, Writer, json};
use crate::raw::Fields;
use crate::turns::{Turn, Turns};

pub(crate) const WRITER: Writer = Writer { head, turn, tail };

/// What stands where something must, and nothing was said.
const PLACEHOLDER: &str = ".";

/// What the user says where the model had the last word.
const GO_ON: &str = "Continue.";

fn head(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let mut parts = Vec::new();
    let mut rest = Rest::default();
    for entry in turns.system {
        let message = &*entry.message;
        let Body::System(all) = &message.body else {
            continue;
        };
        if let Some(fields) = fields(&message.extra) {
            rest.add(&fields, &["parts"]);
        }
        for part in all.iter() {
            match part {
                SystemPart::Text(text) if text.is_blank() => {
                    cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "left out");
                }
                SystemPart::Text(text) => parts.push(Element::Part(said(text))),
                SystemPart::Opaque(opaque) => {
                    let reason = format!("a part of {} in the system text", opaque.owner);
                    cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, reason);
                }
            }
        }
    }
    let system_instruction = (!parts.is_empty()).then_some(SystemInstruction { parts, rest });
    let head = json(&Head { system_instruction, tools: tools::groups(cx)? })?;
    let inner = head.strip_suffix('}').unwrap_or(&head);
    let comma = if inner == "{" { "" } else { "," };
    Ok(format!(r#"{inner}{comma}"contents":["#))
}

fn turn(
    cx: &mut Context<'_>,
    turn: Turn<'_>,
    place: TurnPlace,
    elements: &mut Elements<'_>,
) -> Result<(), Error> {
    match turn {
        Turn::User { results, said, start } => elements.push(&user(cx, results, said, start)),
        Turn::Assistant { said, start } => {
            elements.push(&model(cx, said, start, place))?;
            if place.last {
                cx.adjustments.add_general(AdjustmentKind::TurnInserted, "a user turn at the end");
                let parts = vec![plain(GO_ON)];
                elements.push(&Content { role: "user", parts, rest: Rest::default() })?;
            }
            Ok(())
        }
    }
}

fn tail(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let tail = json(&settings::tail(cx, turns)?)?;
    let inner = tail.strip_prefix('{').unwrap_or(&tail);
    let comma = if inner == "}" { "" } else { "," };
    Ok(format!("]{comma}{inner}"))
}

/// The results, then what the user said.
fn user<'a, 'p: 'a>(
    cx: &mut Context<'p>,
    results: &'a [Entry],
    said: &'a [Entry],
    start: usize,
) -> Content<'a> {
    let prompt = cx.prompt;
    // Results follow the message that called.
    let caller = start.checked_sub(1).and_then(|at| prompt.entries().get(at));
    let mut writing = Writing::new(cx);
    for entry in results {
        writing.result(&entry.message, caller.map(|caller| &*caller.message));
    }
    let n_results = writing.parts.len();
    for entry in said {
        let Body::User(all) = &entry.message.body else {
            continue;
        };
        for part in all.iter() {
            writing.content(part, &entry.message);
        }
    }
    if !said.is_empty() && writing.parts.len() == n_results {
        let text = placeholder(writing.vendor(), said, n_results);
        writing.parts.push(plain(text));
        writing.report_placeholder(said);
    }
    writing.report_merged(said);
    let parts = writing.parts;
    let rest = message_rest(results.iter().chain(said));
    Content { role: "user", parts, rest }
}

/// What stands for a user turn that says nothing. Google AI takes a blank text; behind
/// results it must be told from a turn of results alone, and Vertex refuses it.
fn placeholder<'a>(vendor: &str, said: &'a [Entry], n_results: usize) -> &'a str {
    let blank = said.iter().flat_map(|entry| entry.message.texts()).next();
    match blank {
        Some(blank) if n_results == 0 && vendor != "vertex" => blank,
        _ => PLACEHOLDER,
    }
}

fn model<'a>(
    cx: &mut Context<'_>,
    said: &'a [Entry],
    start: usize,
    place: TurnPlace,
) -> Content<'a> {
    let mut writing = Writing::new(cx);
    for (i, entry) in said.iter().enumerate() {
        let message = &*entry.message;
        let Body::Assistant(all) = &message.body else {
            continue;
        };
        let is_signed = writing.keeps_signatures(message);
        for part in all.iter() {
            writing.assistant(part, message, (start + i, place), is_signed);
        }
    }
    if writing.parts.is_empty() {
        writing.parts.push(plain(PLACEHOLDER));
        writing.report_placeholder(said);
    }
    writing.report_merged(said);
    let parts = writing.parts;
    Content { role: "model", parts, rest: message_rest(said.iter()) }
}

impl<'a> Writing<'a, '_, '_> {
    fn content(&mut self, part: &'a ContentPart, message: &'a Message) {
        match part {
            ContentPart::Text(text) if text.is_blank() => {
                self.cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "left out");
            }
            ContentPart::Text(text) => self.parts.push(Element::Part(said(text))),
            ContentPart::Image(image) => self.image(image, message, true),
            ContentPart::File(file) => self.file(file, message, true),
            ContentPart::Opaque(opaque) => {
                let element = kept(self.cx, opaque, message, true);
                self.parts.extend(element);
            }
        }
    }

    fn assistant(
        &mut self,
        part: &'a AssistantPart,
        message: &'a Message,
        (index, place): (usize, TurnPlace),
        is_signed: bool,
    ) {
        match part {
            AssistantPart::Text(text) => {
                let mut part = said(text);
                if !is_signed {
                    part.thought_signature = None;
                }
                if text.is_blank() && part.thought_signature.is_none() {
                    self.cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "left out");
                } else {
                    self.parts.push(Element::Part(part));
                }
            }
            AssistantPart::Thinking(thinking) => self.thinking(thinking, message, index, place),
            AssistantPart::Call(call) => self.call(call, message, place, is_signed),
            AssistantPart::Image(image) => self.image(image, message, is_signed),
            AssistantPart::File(file) => self.file(file, message, is_signed),
            AssistantPart::Opaque(opaque) => {
                let element = kept(self.cx, opaque, message, is_signed);
                self.parts.extend(element);
            }
        }
    }
}

/// A text with what Google attached to it.
fn said(text: &Text) -> Part<'_> {
    let beside = parts::beside(&text.extra, "");
    Part {
        data: Data::Text(Cow::Borrowed(&text.text)),
        thought: false,
        thought_signature: beside.signature,
        rest: beside.rest,
    }
}

fn plain(text: &str) -> Element<'_> {
    let data = Data::Text(Cow::Borrowed(text));
    Element::Part(Part { data, thought: false, thought_signature: None, rest: Rest::default() })
}

/// What Google attached.
fn fields(extra: &Extra) -> Option<Fields<'_>> {
    let raw: &RawValue = serde_json::from_str(extra.get(GOOGLE)?.as_str()).ok()?;
    Fields::read(raw).ok()
}
