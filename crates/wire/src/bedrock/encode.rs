//! From a prompt to the body of a request.

mod content;
mod documents;
mod settings;
mod tools;

use interleaf_model::{Entry, SystemPart};
use serde::Serialize;

use self::content::{assistant_blocks, result_block, said_blocks};
use self::documents::Documents;
pub(super) use self::documents::MOST_DOCUMENTS;
pub(super) use self::settings::MOST_STOPS;
use super::wire::{Block, Head, Message, Rest};
use crate::change::ChangeKind;
use crate::encode::{Context, TurnPlace, Writer};
use crate::turns::{Turn, Turns};
use crate::{CacheMarks, Error, ErrorKind};

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

fn system<'a>(cx: &mut Context<'_>, entries: &'a [Entry]) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for message in entries.iter().map(|entry| &*entry.message) {
        let interleaf_model::Body::System(parts) = &message.body else { continue };
        for part in parts.iter() {
            match part {
                SystemPart::Text(text) if text.is_blank() => {
                    cx.changes.add(ChangeKind::BlankText, &message.id, "");
                }
                SystemPart::Text(text) => {
                    let kind = super::wire::Kind::Text((&*text.text).into());
                    blocks.push(Block::with(kind, &text.extra));
                }
                SystemPart::Opaque(opaque) => {
                    let place = content::Place::System;
                    if let Some(block) = content::own(cx, opaque, &message.id, place, &blocks) {
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

fn turn(cx: &mut Context<'_>, turn: Turn<'_>, place: TurnPlace) -> Result<Vec<String>, Error> {
    match turn {
        Turn::Assistant { said, start } => {
            let message = assistant_message(cx, said, start, place);
            Ok(vec![json(&message)?])
        }
        Turn::User { results, said, start } => user_messages(cx, results, said, start, place),
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
        rest.join(Rest::of(&entry.message.extra, content::MESSAGE_FIELDS));
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
            cx.changes.add(ChangeKind::BlankText, &entry.message.id, detail);
        }
    }
    fill(cx, &mut content, said);
    Message { role: "assistant", content, rest }
}

fn user_messages(
    cx: &mut Context<'_>,
    results: &[Entry],
    said: &[Entry],
    start: usize,
    place: TurnPlace,
) -> Result<Vec<String>, Error> {
    let mut documents = Documents::default();
    let (mut answers, mut answers_rest) = (Vec::new(), Rest::NONE);
    let (mut content, mut rest) = (Vec::new(), Rest::NONE);
    for (index, entry) in (start..).zip(results) {
        let first = answers.len();
        result_block(cx, &entry.message, &mut documents, &mut answers, &mut content);
        if place.breakpoint == Some(index) {
            mark(&mut answers, first);
        }
        answers_rest.join(Rest::of(&entry.message.extra, content::MESSAGE_FIELDS));
    }
    for (index, entry) in (start + results.len()..).zip(said) {
        let first = content.len();
        said_blocks(cx, &entry.message, &mut documents, &mut content);
        if place.breakpoint == Some(index) {
            mark(&mut content, first);
        }
        rest.join(Rest::of(&entry.message.extra, content::MESSAGE_FIELDS));
    }
    report_merge(cx, said);
    let has_bulky = content.iter().any(is_bulky);
    if content.iter().any(|block| block.kind() == "document")
        && !content.iter().any(|block| block.kind() == "text")
    {
        content.push(Block::text(PLACEHOLDER));
        let detail = "a document needs a text beside it";
        cx.changes.add_general(ChangeKind::BlankText, detail);
    }
    if answers.is_empty() || content.is_empty() {
        answers.append(&mut content);
        answers_rest.join(rest);
        fill(cx, &mut answers, said);
        return Ok(vec![json(&Message { role: "user", content: answers, rest: answers_rest })?]);
    }
    if !has_bulky && !results_stand_alone(&cx.options.model) {
        answers.append(&mut content);
        answers_rest.join(rest);
        return Ok(vec![json(&Message { role: "user", content: answers, rest: answers_rest })?]);
    }
    let bridge = vec![Block::text(PLACEHOLDER)];
    cx.changes.add_general(
        ChangeKind::TurnInserted,
        "an assistant turn between results and what the user said",
    );
    Ok(vec![
        json(&Message { role: "user", content: answers, rest: answers_rest })?,
        json(&Message { role: "assistant", content: bridge, rest: Rest::NONE })?,
        json(&Message { role: "user", content, rest })?,
    ])
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
            cx.changes.add(ChangeKind::BlankText, &entry.message.id, "a placeholder stands for it");
        }
    }
}

fn report_merge(cx: &mut Context<'_>, said: &[Entry]) {
    if let [_, .., last] = said {
        cx.changes.add(ChangeKind::TurnsMerged, &last.message.id, "");
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

fn json(value: &impl Serialize) -> Result<String, Error> {
    // Nothing that is written here can fail to be.
    serde_json::to_string(value).map_err(|e| Error::new(ErrorKind::Rule, e.to_string()))
}
