//! The parts of a turn.

use crate::gemini::wire::rest_without;
use std::borrow::Cow;

use interleaf_model::{ContentPart, Entry, Extra, Message, Opaque, Text};

use super::fields;
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::gemini::wire::{DATA, Data, Element, Part, Rest, take};
use crate::gemini::{GOOGLE, lint, schema};
use crate::raw::{Fields, nearest, text};

/// The parts of a turn, as they are written.
pub(super) struct Writing<'a, 'c, 'p> {
    pub(super) cx: &'c mut Context<'p>,
    pub(super) parts: Vec<Element<'a>>,
    pub(super) has_call: bool,
}

/// What Google attached to a part.
pub(super) struct Beside<'a> {
    pub(super) signature: Option<Cow<'a, str>>,
    /// Fields of the object in the part.
    pub(super) inner: Option<Fields<'a>>,
    pub(super) rest: Rest<'a>,
}

/// Takes apart what Google attached to a part; `inner` is the name of the object in it.
pub(super) fn beside<'a>(extra: &'a Extra, inner: &str) -> Beside<'a> {
    match fields(extra) {
        Some(fields) => split(fields, inner),
        None => Beside { signature: None, inner: None, rest: Rest::default() },
    }
}

pub(super) fn split<'a>(mut fields: Fields<'a>, inner: &str) -> Beside<'a> {
    let signature = take(&mut fields, "thoughtSignature").and_then(|raw| text(raw).ok());
    let signature = signature.filter(|signature| lint::is_signature(signature));
    let inner = take(&mut fields, inner).and_then(|raw| Fields::read(raw).ok());
    fields.take("thought");
    Beside { signature, inner, rest: rest_without(&fields, DATA) }
}

/// What the contents had that these messages came from.
pub(super) fn message_rest<'a>(entries: impl Iterator<Item = &'a Entry>) -> Rest<'a> {
    let mut rest = Rest::default();
    for entry in entries {
        if let Some(fields) = fields(&entry.message.extra) {
            rest.merge(rest_without(&fields, &["role", "parts", "part", "functionResponse"]));
        }
    }
    rest
}

/// A part that only its owner understands, if that is Google and Google will take it.
pub(super) fn kept<'a>(
    cx: &mut Context<'_>,
    opaque: &'a Opaque,
    message: &Message,
    is_signed: bool,
) -> Option<Element<'a>> {
    let value = nearest(&opaque.value);
    let reason = if opaque.owner.as_str() != GOOGLE {
        format!("a part of {}", opaque.owner)
    } else if !lint::is_sound_part(&value, cx.vendor) {
        "a part that is empty or not allowed there".to_owned()
    } else if !is_signed && schema::get(&value, "thoughtSignature").is_some() {
        "a part that another model signed".to_owned()
    } else {
        return Some(Element::Kept(&opaque.value));
    };
    cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, reason);
    None
}

impl<'a> Writing<'a, '_, '_> {
    pub(super) fn content(&mut self, part: &'a ContentPart, message: &'a Message) {
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
}

impl<'a, 'c, 'p> Writing<'a, 'c, 'p> {
    pub(super) fn new(cx: &'c mut Context<'p>) -> Self {
        Self { cx, parts: Vec::new(), has_call: false }
    }

    pub(super) fn report_placeholder(&mut self, said: &[Entry]) {
        if let Some(entry) = said.last() {
            self.cx.adjustments.add(
                AdjustmentKind::BlankText,
                &entry.message.id,
                "something must stand",
            );
        }
    }

    pub(super) fn report_merged(&mut self, said: &[Entry]) {
        for entry in said.iter().skip(1) {
            self.cx.adjustments.add(AdjustmentKind::TurnsMerged, &entry.message.id, "");
        }
    }
}

/// A text with what Google attached to it.
pub(super) fn said(text: &Text) -> Part<'_> {
    let beside = beside(&text.extra, "");
    Part {
        data: Data::Text(Cow::Borrowed(&text.text)),
        thought: false,
        thought_signature: beside.signature,
        rest: beside.rest,
    }
}

pub(super) fn plain(text: &str) -> Element<'_> {
    let data = Data::Text(Cow::Borrowed(text));
    Element::Part(Part { data, thought: false, thought_signature: None, rest: Rest::default() })
}
