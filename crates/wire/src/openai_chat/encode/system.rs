//! The messages at the head.

use interleaf_model::{Body, Entry, SystemPart};

use super::media;
use super::parts::{
    TEXT_FIELDS, input_content, message_rest, opaque_part, own_type, set_mark, text_part,
};
use crate::ResponseFormat;
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::openai_chat::OPENAI;
use crate::openai_chat::wire::{Message, Part, Rest};

/// Asked for where the API answers in JSON only if the word is said.
const ASK_FOR_JSON: &str = "Answer in JSON.";

/// One message for each entry, or one for all.
pub(super) fn messages<'a>(cx: &mut Context<'_>, system: &'a [Entry]) -> Vec<Message<'a>> {
    let quirks = cx.vendor.quirks;
    let mut said: Vec<Said<'a>> = Vec::new();
    for entry in system {
        let Some((role, parts, rest)) = said_by(cx, entry) else { continue };
        match said.last_mut() {
            Some((_, before, rest_before)) if quirks.one_system => {
                let detail = "there may be only one system message";
                cx.adjustments.add(AdjustmentKind::TurnsMerged, &entry.message.id, detail);
                before.extend(parts);
                rest_before.merge(rest);
            }
            _ => said.push((role, parts, rest)),
        }
    }
    if quirks.native && asks_for_json(cx) && !says_json(cx) {
        cx.adjustments
            .add_general(AdjustmentKind::TurnInserted, "a system message that asks for JSON");
        said.push(("system", vec![Part::text(ASK_FOR_JSON)], Rest::default()));
    }
    let _ = cx.sets_marks && said.iter_mut().rev().any(|(_, parts, _)| set_mark(parts));
    said.into_iter().map(|said| written(cx, said)).collect()
}

/// A system message between the others.
pub(super) fn in_place<'a>(
    cx: &mut Context<'_>,
    entry: &'a Entry,
    is_marked: bool,
) -> Option<Message<'a>> {
    let mut said = said_by(cx, entry)?;
    if is_marked {
        set_mark(&mut said.1);
    }
    Some(written(cx, said))
}

/// The role of a message, what it says, and what else belongs to it.
type Said<'a> = (&'static str, Vec<Part<'a>>, Rest<'a>);

/// What a system message says; nothing, if that is nothing.
fn said_by<'a>(cx: &mut Context<'_>, entry: &'a Entry) -> Option<Said<'a>> {
    let message = &*entry.message;
    let Body::System(parts) = &message.body else { return None };
    let parts: Vec<_> = parts.iter().filter_map(|part| system_part(cx, entry, part)).collect();
    if parts.is_empty() {
        return None;
    }
    let mut own = Rest::of(&message.extra, OPENAI, &[]);
    let is_developer = own.take("role").is_some_and(|role| role.get() == r#""developer""#);
    let role = if is_developer && cx.vendor.quirks.native { "developer" } else { "system" };
    Some((role, parts, message_rest(cx, message)))
}

fn written<'a>(cx: &Context<'_>, (role, parts, rest): Said<'a>) -> Message<'a> {
    Message { rest, ..Message::new(role, input_content(cx, parts)) }
}

fn system_part<'a>(
    cx: &mut Context<'_>,
    entry: &'a Entry,
    part: &'a SystemPart,
) -> Option<Part<'a>> {
    let message = &entry.message;
    match part {
        SystemPart::Text(text) => text_part(cx, message, text, TEXT_FIELDS),
        SystemPart::Opaque(opaque) => match own_type(opaque).as_deref() {
            Ok("image_url") => Some(media::note(cx, message, "image", "the system has only text")),
            Ok("file" | "input_audio") => {
                Some(media::note(cx, message, "file", "the system has only text"))
            }
            _ => opaque_part(cx, message, opaque),
        },
    }
}

fn asks_for_json(cx: &Context<'_>) -> bool {
    cx.options.response_format == Some(ResponseFormat::Json)
}

fn says_json(cx: &Context<'_>) -> bool {
    let settled = cx.prompt.settled().into_iter().flat_map(|settled| settled.entries());
    let says = |text: &str| text.to_ascii_lowercase().contains("json");
    settled.chain(cx.prompt.entries()).any(|entry| entry.message.texts().any(says))
}
