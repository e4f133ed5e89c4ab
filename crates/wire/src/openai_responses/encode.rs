//! From a prompt to a body.

mod assistant;
mod own;
mod parts;
mod reasoning;
mod settings;
mod user;

use interleaf_model::{Entry, SystemPart};

use self::own::Own;
use self::parts::{Note, text_part};
use super::wire::{Content, Head, Message, Part, Raw};
use super::{CHAT_OWNER, OWNER};
use crate::Error;
use crate::adjustment::AdjustmentKind;
use crate::encode::{Context, Elements, TurnPlace, Writer, json};
use crate::turns::{Turn, Turns};

pub(crate) const WRITER: Writer = Writer { head, turn, tail: settings::tail };

/// Put where something must stand and there is nothing to say.
const PLACEHOLDER: &str = ".";

/// Put in front where the answer must be JSON and nobody has said so: the API wants
/// to hear the word.
const ASK_FOR_JSON: &str = "Answer in JSON.";

fn head(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let instructions = turns.system.first().and_then(instructions);
    let rest = if instructions.is_some() { &turns.system[1..] } else { turns.system };
    let tools = settings::tools(cx)?;
    let mut text = json(&Head { model: &cx.options.model, instructions, tools })?;
    text.pop();
    text.push_str(if text.len() > 1 { ",\"input\":[" } else { "\"input\":[" });
    let mut items = Vec::new();
    for entry in rest {
        items.extend(system_item(cx, entry));
    }
    if settings::must_ask_for_json(cx, rest) {
        cx.adjustments.add_general(AdjustmentKind::TurnInserted, "a message that asks for JSON");
        items.push(message("system", Content::Text(ASK_FOR_JSON.into()), Raw::default()));
    }
    // The first turn is the user's, and never empty: what follows is an item.
    for item in &items {
        text.push_str(&json(item)?);
        text.push(',');
    }
    Ok(text)
}

fn turn(
    cx: &mut Context<'_>,
    turn: Turn<'_>,
    place: TurnPlace,
    items: &mut Elements<'_>,
) -> Result<(), Error> {
    match turn {
        Turn::User { results, said, start } => user::write(cx, results, said, start, place, items),
        Turn::Assistant { said, start } => assistant::write(cx, said, start, place, items),
    }
}

/// The text of a system message that was read from `instructions`, and still is one
/// text.
fn instructions(entry: &Entry) -> Option<&str> {
    let own = Own::of(&entry.message.extra, OWNER);
    if own.peek_text("role").as_deref() != Some("instructions") {
        return None;
    }
    match &entry.message.body {
        interleaf_model::Body::System(parts) => match &**parts {
            [SystemPart::Text(text)] if !text.is_blank() => Some(&text.text),
            _ => None,
        },
        _ => None,
    }
}

fn system_item<'a>(cx: &mut Context<'_>, entry: &'a Entry) -> Option<Message<'a>> {
    let message_id = &entry.message.id;
    let interleaf_model::Body::System(system) = &entry.message.body else { return None };
    let mut parts = Vec::new();
    for part in system.iter() {
        match part {
            SystemPart::Text(text) if text.is_blank() => {
                cx.adjustments.add(AdjustmentKind::BlankText, message_id, "");
            }
            SystemPart::Text(text) => parts.push(text_part(text, "input_text")),
            SystemPart::Opaque(opaque) => {
                match parts::opaque_part(opaque, super::lint::Side::Input) {
                    Ok(part) => parts.push(part),
                    Err(Note(detail)) => {
                        cx.adjustments.add(AdjustmentKind::OpaqueDropped, message_id, detail)
                    }
                }
            }
        }
    }
    if parts.is_empty() {
        return None;
    }
    let mut own = Own::of(&entry.message.extra, OWNER);
    let chat = Own::of(&entry.message.extra, CHAT_OWNER);
    let is_developer = own.take_text("role").as_deref() == Some("developer")
        || chat.peek_text("role").as_deref() == Some("developer");
    let role = if is_developer { "developer" } else { "system" };
    Some(message(role, content(parts), own.rest(&["id", "type", "content"])))
}

/// A message item without an id.
fn message<'a>(role: &'static str, content: Content<'a>, extra: Raw<'a>) -> Message<'a> {
    Message { r#type: "message", id: None, role, content, extra }
}

/// One text that says it all is a plain string.
fn content(mut parts: Vec<Part<'_>>) -> Content<'_> {
    match parts.as_mut_slice() {
        [Part::Text(text)] if text.extra.0.is_empty() => {
            Content::Text(std::mem::take(&mut text.text))
        }
        _ => Content::Parts(parts),
    }
}
