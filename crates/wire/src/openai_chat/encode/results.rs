//! What tools answered.

use std::borrow::Cow;

use interleaf_model::{Body, ContentPart, Entry, Message, Status};

use super::media;
use super::parts::{TEXT_FIELDS, input_content, message_rest, opaque_part, set_mark, text_part};
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::failed::stated;
use crate::names::call_id;
use crate::openai_chat::wire::{self, Content, Part};

/// A message for each result; and the pictures and files of all of them, which can
/// not stand in a result and follow the last one. The one of this number is marked.
pub(super) fn messages<'a>(
    cx: &mut Context<'_>,
    results: &'a [Entry],
    marked: Option<usize>,
) -> (Vec<wire::Message<'a>>, Vec<Part<'a>>) {
    let quirks = cx.vendor.quirks;
    let mut media = Vec::new();
    let mut messages = Vec::new();
    for (number, entry) in results.iter().enumerate() {
        let message = &*entry.message;
        let Body::Tool(result) = &message.body else { continue };
        let id = call_id(&result.call, &quirks.call_ids);
        let mut parts = parts(cx, message, &result.parts, &id, &mut media);
        if result.status == Status::Error {
            mark_failed(cx, message, &mut parts);
        }
        if marked == Some(number) {
            set_mark(&mut parts);
        }
        let name = result.name.as_ref().map(|name| cx.tool_name(name));
        let mut rest = message_rest(cx, message);
        rest.take("name");
        let content =
            if parts.is_empty() { Content::Text("".into()) } else { input_content(cx, parts) };
        messages.push(wire::Message {
            tool_call_id: Some(id),
            name,
            rest,
            ..wire::Message::new("tool", content)
        });
    }
    (messages, media)
}

fn parts<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    parts: &'a [ContentPart],
    id: &str,
    media: &mut Vec<Part<'a>>,
) -> Vec<Part<'a>> {
    let mut list = Vec::new();
    let (mut n_images, mut n_files) = (0, 0);
    for part in parts {
        let (what, moved) = match part {
            ContentPart::Text(text) => {
                list.extend(text_part(cx, message, text, TEXT_FIELDS));
                continue;
            }
            ContentPart::Opaque(opaque) => {
                list.extend(opaque_part(cx, message, opaque));
                continue;
            }
            ContentPart::Image(image) => {
                n_images += 1;
                (format!("image {n_images}"), media::image_or_note(cx, message, image))
            }
            ContentPart::File(file) => {
                n_files += 1;
                (format!("file {n_files}"), media::file_or_note(cx, message, file))
            }
        };
        if matches!(moved, Part::Text { .. }) {
            list.push(moved);
            continue;
        }
        cx.adjustments.add(AdjustmentKind::MediaMoved, &message.id, format!("{what} of call {id}"));
        list.push(Part::text(format!("[{what} of call {id} follows]")));
        media.push(Part::text(format!("[{what} of call {id}]")));
        media.push(moved);
    }
    list
}

/// There is no flag for it, so the text says it.
fn mark_failed(cx: &mut Context<'_>, message: &Message, parts: &mut Vec<Part<'_>>) {
    let said = parts.iter_mut().find_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    });
    match said {
        Some(text) => match stated(text) {
            Cow::Borrowed(_) => return,
            Cow::Owned(told) => *text = Cow::Owned(told),
        },
        None => parts.insert(0, Part::text(stated("").into_owned())),
    }
    cx.adjustments.add(AdjustmentKind::ErrorInText, &message.id, "");
}
