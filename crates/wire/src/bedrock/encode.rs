//! From a prompt to the body of a request.

mod assistant;
mod documents;
mod media;
mod parts;
mod results;
mod settings;
mod system;
mod tools;
mod user;

use interleaf_model::Entry;

use self::assistant::assistant_message;
use self::system::system;
use self::user::user_messages;
use super::wire::{Block, Head, Message, Rest};
use crate::Error;
use crate::adjustment::AdjustmentKind;
use crate::anthropic::refuses_prefill;
use crate::encode::{Context, Elements, TurnPlace, Writer, json};
use crate::turns::{Turn, Turns};

pub(super) use self::documents::MOST_DOCUMENTS;
pub(super) use self::settings::MOST_STOPS;

pub(crate) const WRITER: Writer = Writer { head, turn, tail: settings::tail };

/// What stands where something must.
const PLACEHOLDER: &str = ".";

fn head(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let tool_config = tools::tool_config(cx)?;
    let system = system(cx, turns.system);
    let mut text = json(&Head { tool_config, system })?;
    text.pop();
    if text.len() > 1 {
        text.push(',');
    }
    text.push_str(r#""messages":["#);
    Ok(text)
}

fn turn(
    cx: &mut Context<'_>,
    turn: Turn<'_>,
    place: TurnPlace,
    elements: &mut Elements<'_>,
) -> Result<(), Error> {
    match turn {
        Turn::Assistant { said, start } => {
            elements.push(&assistant_message(cx, said, start, place))?;
            if place.last && refuses_prefill(&cx.options.model) {
                let content = vec![Block::text(cx.closing_words())];
                elements.push(&Message { role: "user", content, rest: Rest::NONE })?;
            }
            Ok(())
        }
        Turn::User { results, said, start } => {
            let messages = user_messages(cx, results, said, start, place);
            messages.iter().try_for_each(|message| elements.push(message))
        }
    }
}

/// Puts a placeholder into a turn that would be empty.
fn fill(cx: &mut Context<'_>, content: &mut Vec<Block<'_>>, entries: &[Entry]) {
    if content.is_empty() {
        content.push(Block::text(PLACEHOLDER));
        if let Some(entry) = entries.last() {
            cx.adjustments.add(
                AdjustmentKind::BlankText,
                &entry.message.id,
                "a placeholder takes its place",
            );
        }
    }
}

fn report_merge(cx: &mut Context<'_>, said: &[Entry]) {
    if let [_, .., last] = said {
        cx.adjustments.add(AdjustmentKind::TurnsMerged, &last.message.id, "");
    }
}

/// Puts a cache breakpoint after the last block from `first` on that may have one.
fn mark(blocks: &mut Vec<Block<'_>>, first: usize) {
    let markable = |block: &Block<'_>| {
        matches!(block.kind(), "text" | "image" | "toolUse" | "toolResult" | "guardContent")
    };
    let Some(last) = blocks.iter().skip(first).rposition(markable) else { return };
    blocks.insert(first + last + 1, Block::cache_point());
}
