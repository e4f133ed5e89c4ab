//! The results, then what the user said.

use interleaf_model::{Body, Entry, Json};

use super::blocks::{Blocks, message_rest, placeholder, report_merge};
use super::fields;
use super::parts::{IN_MESSAGE, Side, content_block};
use super::results::result_block;
use crate::anthropic::OWNER;
use crate::anthropic::wire::Rest;
use crate::encode::Context;
use crate::raw::Fields;

pub(super) fn turn<'a, 'p: 'a>(
    cx: &mut Context<'p>,
    results: &'a [Entry],
    said: &'a [Entry],
) -> Blocks<'a> {
    let mut blocks = Blocks::default();
    for entry in results {
        let message = &*entry.message;
        blocks.list.extend(result_block(cx, message));
        if let Some(inner) = message.extra.get(OWNER).and_then(in_message) {
            blocks.attach(inner);
        }
        blocks.end_message();
    }
    report_merge(cx, said);
    for entry in said {
        let message = &*entry.message;
        if let Body::User(parts) = &message.body {
            for part in parts.iter() {
                blocks.list.extend(content_block(cx, part, message, Side::User));
            }
        }
        blocks.attach(message_rest(message, cx.options.cache));
        blocks.end_message();
    }
    if blocks.list.is_empty() {
        blocks.push_placeholder(placeholder(cx, said));
    }
    blocks
}

fn in_message(own: &Json) -> Option<Rest<'_>> {
    let inner = fields(own)?.peek(IN_MESSAGE)?;
    let inner = Fields::read(inner).ok()?;
    Some(Rest::of_fields(&inner, &["role", "content"]))
}
