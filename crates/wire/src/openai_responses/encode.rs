//! From a prompt to a body.

mod assistant;
mod marks;
mod media;
mod own;
mod parts;
mod results;
mod settings;
mod system;
mod tools;
mod user;

use self::marks::{input_content, set_mark};
use self::parts::{Note, note_part};
pub(super) use self::system::instructions;
use self::system::{ASK_FOR_JSON, system_item};
use super::wire::{Content, Head, Message, Part, Rest};
use crate::Error;
use crate::adjustment::AdjustmentKind;
use crate::encode::{Context, Elements, TurnPlace, Writer, json};
use crate::turns::{Turn, Turns};

pub(crate) const WRITER: Writer = Writer { head, turn, tail: settings::tail };

/// Put where something must stand and there is nothing to say.
const PLACEHOLDER: &str = ".";

fn head(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let instructions = turns.system.first().and_then(instructions);
    let rest = if instructions.is_some() { &turns.system[1..] } else { turns.system };
    let tools = tools::tools(cx)?;
    let mut text = json(&Head { model: &cx.options.model, instructions, tools })?;
    text.pop();
    text.push_str(if text.len() > 1 { ",\"input\":[" } else { "\"input\":[" });
    let mut items = Vec::new();
    for entry in rest {
        items.extend(system_item(cx, entry, false));
    }
    if settings::must_ask_for_json(cx, rest) {
        cx.adjustments.add_general(AdjustmentKind::TurnInserted, "a message that asks for JSON");
        let asked = vec![note_part(Note(ASK_FOR_JSON.to_owned()), "input_text")];
        items.push(message("system", input_content(cx, asked, false), Rest::NONE));
    }
    let _ = cx.sets_marks && items.iter_mut().rev().any(|item| set_mark(&mut item.content));
    text.push_str(&cx.before_turns(&items, turns)?);
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
        Turn::Assistant { said, .. } => assistant::write(cx, said, items),
    }
}

/// A message item without an id.
fn message<'a>(role: &'static str, content: Content<'a>, extra: Rest<'a>) -> Message<'a> {
    Message { r#type: "message", id: None, role, content, extra }
}

/// One text that says it all is a plain string.
fn content(mut parts: Vec<Part<'_>>) -> Content<'_> {
    match parts.as_mut_slice() {
        [Part::Text(text)] if text.extra.is_empty() => {
            Content::Text(std::mem::take(&mut text.text))
        }
        _ => Content::Parts(parts),
    }
}
