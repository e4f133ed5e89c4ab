//! From a prompt to the body of a request.

mod documents;
mod parts;
mod settings;
mod tools;

use interleaf_model::{Entry, SystemPart};

use self::documents::Documents;
pub(super) use self::documents::MOST_DOCUMENTS;
use self::parts::{assistant_blocks, result_block, said_blocks};
pub(super) use self::settings::MOST_STOPS;
use super::wire::{Block, Head, Message, Rest};
use crate::adjustment::AdjustmentKind;
use crate::anthropic::refuses_prefill;
use crate::encode::{Context, Elements, TurnPlace, Writer, json};
use crate::turns::{Turn, Turns};
use crate::{CacheMarks, Error};

pub(crate) const WRITER: Writer = Writer { head, turn, tail: settings::tail };

/// What stands where something must.
const PLACEHOLDER: &str = ".";
/// What a user says to have the model go on.
const GO_ON: &str = "Continue.";

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

fn system<'a>(cx: &mut Context<'_>, entries: &'a [Entry]) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for message in entries.iter().map(|entry| &*entry.message) {
        let interleaf_model::Body::System(parts) = &message.body else { continue };
        for part in parts.iter() {
            match part {
                SystemPart::Text(text) if text.is_blank() => {
                    cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "");
                }
                SystemPart::Text(text) => {
                    let kind = super::wire::Kind::Text((&*text.text).into());
                    blocks.push(Block::with(kind, &text.extra));
                }
                SystemPart::Opaque(opaque) => {
                    let place = parts::Place::System;
                    if let Some(block) = parts::own(cx, opaque, &message.id, place, &blocks) {
                        blocks.push(block);
                    }
                }
            }
        }
    }
    if cx.options.cache == CacheMarks::On {
        mark(&mut blocks, 0);
    }
    blocks
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
                let detail = "the model does not go on with its own words";
                cx.adjustments.add_general(AdjustmentKind::TurnInserted, detail);
                let content = vec![Block::text(GO_ON)];
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

fn assistant_message<'a>(
    cx: &mut Context<'_>,
    said: &'a [Entry],
    start: usize,
    place: TurnPlace,
) -> Message<'a> {
    let (mut content, mut rest) = (Vec::new(), Rest::NONE);
    for (index, entry) in (start..).zip(said) {
        let first = content.len();
        assistant_blocks(cx, &entry.message, index, place, &mut content);
        if place.breakpoint == Some(index) {
            mark(&mut content, first);
        }
        rest.join(Rest::of(&entry.message.extra, parts::MESSAGE_FIELDS));
    }
    report_merge(cx, said);
    if place.last
        && let Some(Block::Known(known)) = content.last_mut()
        && let super::wire::Kind::Text(text) = &mut known.kind
        && text.ends_with(char::is_whitespace)
    {
        // The models of Anthropic refuse to continue such a text.
        *text = text.trim_end().to_owned().into();
        if let Some(entry) = said.last() {
            let detail = "white space at the end of the last turn";
            cx.adjustments.add(AdjustmentKind::BlankText, &entry.message.id, detail);
        }
    }
    fill(cx, &mut content, said);
    Message { role: "assistant", content, rest }
}

fn user_messages<'a>(
    cx: &mut Context<'_>,
    results: &'a [Entry],
    said: &'a [Entry],
    start: usize,
    place: TurnPlace,
) -> Vec<Message<'a>> {
    let mut documents = Documents::default();
    let (mut answers, mut answers_rest) = (Vec::new(), Rest::NONE);
    let (mut content, mut rest) = (Vec::new(), Rest::NONE);
    for (index, entry) in (start..).zip(results) {
        let first = answers.len();
        result_block(cx, &entry.message, &mut documents, &mut answers, &mut content);
        if place.breakpoint == Some(index) {
            mark(&mut answers, first);
        }
        answers_rest.join(Rest::of(&entry.message.extra, parts::MESSAGE_FIELDS));
    }
    for (index, entry) in (start + results.len()..).zip(said) {
        let first = content.len();
        said_blocks(cx, &entry.message, &mut documents, &mut content);
        if place.breakpoint == Some(index) {
            mark(&mut content, first);
        }
        rest.join(Rest::of(&entry.message.extra, parts::MESSAGE_FIELDS));
    }
    report_merge(cx, said);
    let has_bulky = content.iter().any(is_bulky);
    if content.iter().any(|block| block.kind() == "document")
        && !content.iter().any(|block| block.kind() == "text")
    {
        content.push(Block::text(PLACEHOLDER));
        let detail = "a document needs a text beside it";
        cx.adjustments.add_general(AdjustmentKind::BlankText, detail);
    }
    if answers.is_empty() || content.is_empty() {
        answers.append(&mut content);
        answers_rest.join(rest);
        fill(cx, &mut answers, said);
        return vec![Message { role: "user", content: answers, rest: answers_rest }];
    }
    if !has_bulky && !results_stand_alone(&cx.options.model) {
        answers.append(&mut content);
        answers_rest.join(rest);
        return vec![Message { role: "user", content: answers, rest: answers_rest }];
    }
    let bridge = vec![Block::text(PLACEHOLDER)];
    cx.adjustments.add_general(
        AdjustmentKind::TurnInserted,
        "an assistant turn between results and what the user said",
    );
    vec![
        Message { role: "user", content: answers, rest: answers_rest },
        Message { role: "assistant", content: bridge, rest: Rest::NONE },
        Message { role: "user", content, rest },
    ]
}

/// Whether a block may not stand beside results on any model.
fn is_bulky(block: &Block<'_>) -> bool {
    matches!(block.kind(), "document" | "video" | "audio")
}

/// Whether a model refuses everything else beside results.
pub(super) fn results_stand_alone(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    ["llama", "mistral", "mixtral", "pixtral"].iter().any(|name| model.contains(name))
}

/// Puts a placeholder into a turn that would be empty.
fn fill(cx: &mut Context<'_>, content: &mut Vec<Block<'_>>, entries: &[Entry]) {
    if content.is_empty() {
        content.push(Block::text(PLACEHOLDER));
        if let Some(entry) = entries.last() {
            cx.adjustments.add(
                AdjustmentKind::BlankText,
                &entry.message.id,
                "a placeholder stands for it",
            );
        }
    }
}

fn report_merge(cx: &mut Context<'_>, said: &[Entry]) {
    if let [_, .., last] = said {
        cx.adjustments.add(AdjustmentKind::TurnsMerged, &last.message.id, "");
    }
}

/// Puts a cache breakpoint behind the last block from `first` on that may have one.
fn mark(blocks: &mut Vec<Block<'_>>, first: usize) {
    let markable = |block: &Block<'_>| {
        matches!(block.kind(), "text" | "image" | "toolUse" | "toolResult" | "guardContent")
    };
    let Some(last) = blocks.iter().skip(first).rposition(markable) else { return };
    blocks.insert(first + last + 1, Block::cache_point());
}
