//! The results, then what the user said.

use crate::bedrock::wire::OWNER;
use interleaf_model::Entry;

use super::documents::Documents;
use super::parts::{self, said_blocks};
use super::results::result_block;
use super::{PLACEHOLDER, fill, mark, report_merge};
use crate::adjustment::AdjustmentKind;
use crate::bedrock::models::results_stand_alone;
use crate::bedrock::wire::{Block, Message, Rest};
use crate::encode::{Context, TurnPlace};

pub(super) fn user_messages<'a>(
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
        answers_rest.merge(Rest::of(&entry.message.extra, OWNER, parts::MESSAGE_FIELDS));
    }
    for (index, entry) in (start + results.len()..).zip(said) {
        let first = content.len();
        said_blocks(cx, &entry.message, &mut documents, &mut content);
        if place.breakpoint == Some(index) {
            mark(&mut content, first);
        }
        rest.merge(Rest::of(&entry.message.extra, OWNER, parts::MESSAGE_FIELDS));
    }
    report_merge(cx, said);
    if content.iter().any(|block| block.kind() == "document")
        && !content.iter().any(|block| block.kind() == "text")
    {
        content.push(Block::text(PLACEHOLDER));
        let detail = "a document needs a text beside it";
        cx.adjustments.add_general(AdjustmentKind::BlankText, detail);
    }
    if answers.is_empty() || content.is_empty() {
        answers.append(&mut content);
        answers_rest.merge(rest);
        fill(cx, &mut answers, said);
        return vec![Message { role: "user", content: answers, rest: answers_rest }];
    }
    if !results_stand_alone(&cx.options.model) {
        answers.append(&mut content);
        answers_rest.merge(rest);
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
