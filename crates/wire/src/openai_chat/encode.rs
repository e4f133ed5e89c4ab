//! From a prompt to the body of a chat request.
//!
//! The body is the model and the tools, then the messages, then the settings.

mod assistant;
mod media;
mod parts;
mod results;
mod settings;
mod system;

use std::mem;

use interleaf_model::{Body, Entry};

use self::parts::{PLACEHOLDER, content, message_rest, user_parts};
use super::wire::{Content, Message, Part, Rest};
use crate::Error;
use crate::adjustment::AdjustmentKind;
use crate::encode::{Context, Elements, TurnPlace, Writer, json};
use crate::turns::{Turn, Turns};

pub(crate) const WRITER: Writer = Writer { head, turn, tail };

/// What the assistant says where an API wants a word of it between results and the user.
const BRIDGE: &str = "OK.";

fn head(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let head = settings::head(cx)?;
    let mut text = json(&head)?;
    text.pop();
    text.push_str(if text.len() > 1 { r#","messages":["# } else { r#""messages":["# });
    // Every prompt has a turn, and every turn a message.
    for message in system::messages(cx, turns.system) {
        text.push_str(&json(&message)?);
        text.push(',');
    }
    Ok(text)
}

fn turn(
    cx: &mut Context<'_>,
    turn: Turn<'_>,
    place: TurnPlace,
    elements: &mut Elements<'_>,
) -> Result<(), Error> {
    let messages = match turn {
        Turn::User { results, said, .. } => user_turn(cx, results, said),
        Turn::Assistant { said, start } => assistant::turn(cx, said, start, place),
    };
    messages.iter().try_for_each(|message| elements.push(message))
}

fn tail(cx: &mut Context<'_>, _: &Turns<'_>) -> Result<String, Error> {
    let fields = json(&settings::tail(cx))?;
    Ok(if fields == "{}" { "]}".to_owned() } else { format!("],{}", &fields[1..]) })
}

/// The results, then what they brought along, then what the user said.
fn user_turn<'a>(
    cx: &mut Context<'_>,
    results: &'a [Entry],
    said: &'a [Entry],
) -> Vec<Message<'a>> {
    let quirks = cx.vendor.quirks;
    let (mut messages, media) = results::messages(cx, results);
    let mut users: Vec<(Vec<Part<'a>>, Rest<'a>)> = Vec::new();
    if !media.is_empty() {
        users.push((media, Rest::default()));
    }
    for entry in said {
        let message = &*entry.message;
        let Body::User(parts) = &message.body else { continue };
        let parts = user_parts(cx, message, parts);
        if parts.is_empty() {
            continue;
        }
        let rest = message_rest(cx, message);
        match users.last_mut() {
            Some((before, rest_before)) if quirks.strict_alternation => {
                let detail = "it follows another message of the user's";
                cx.adjustments.add(AdjustmentKind::TurnsMerged, &message.id, detail);
                before.extend(parts);
                rest_before.merge(rest);
            }
            _ => users.push((parts, rest)),
        }
    }
    if messages.is_empty() && users.is_empty() {
        users.push((vec![Part::text(PLACEHOLDER)], Rest::default()));
    }
    if let Some(last) = results.last()
        && quirks.bridge_after_results
        && !users.is_empty()
    {
        let detail = "an answer between the results and what the user said";
        cx.adjustments.add(AdjustmentKind::TurnInserted, &last.message.id, detail);
        messages.push(Message::new("assistant", Content::Text(BRIDGE.into())));
    }
    messages.extend(users.into_iter().map(|(mut parts, rest)| {
        let content = content(mem::take(&mut parts), &quirks);
        Message { rest, ..Message::new("user", content) }
    }));
    messages
}
