//! From a prompt to a request body.

mod assistant;
mod media;
mod parts;
mod results;
mod settings;
mod system;
mod tools;
mod user;

use interleaf_model::Extra;
use serde_json::value::RawValue;

use super::GOOGLE;
use super::wire::Head;
use crate::Error;
use crate::encode::{Context, Elements, TurnPlace, Writer, json};
use crate::raw::Fields;
use crate::turns::{Turn, Turns};

pub(crate) const WRITER: Writer = Writer { head, turn, tail };

/// What stands where something must, and nothing was said.
const PLACEHOLDER: &str = ".";

fn head(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let system_instruction = system::instruction(cx, turns.system);
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
        Turn::User { results, said, start } => elements.push(&user::turn(cx, results, said, start)),
        Turn::Assistant { said, .. } => elements.push(&assistant::turn(cx, said, place)),
    }
}

fn tail(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let tail = json(&settings::tail(cx, turns)?)?;
    let inner = tail.strip_prefix('{').unwrap_or(&tail);
    let comma = if inner == "}" { "" } else { "," };
    Ok(format!("]{comma}{inner}"))
}

/// What Google attached.
fn fields(extra: &Extra) -> Option<Fields<'_>> {
    let raw: &RawValue = serde_json::from_str(extra.get(GOOGLE)?.as_str()).ok()?;
    Fields::read(raw).ok()
}
