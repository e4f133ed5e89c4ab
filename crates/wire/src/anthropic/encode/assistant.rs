//! What the model said.

use std::borrow::Cow;
use std::collections::HashSet;

use interleaf_model::{AssistantPart, Body, Entry};

use super::blocks::{Blocks, message_rest, placeholder, report_merge};
use super::parts::{call_block, left_out, plain, text_block, thinking_block};
use super::served::{Served, is_paused, served_block};
use super::{mark, settings};
use crate::adjustment::AdjustmentKind;
use crate::anthropic::wire::{Block, Message as MessageForm, TextBlock};
use crate::encode::{Context, TurnPlace};

/// What comes after the assistant's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The user's next.
    Followed,
    /// The model's own: it is to go on with its words.
    Prefill,
    /// A turn that we put in.
    Closed,
    /// The rest of a turn that the API paused.
    Paused,
}

pub(super) fn turn<'a, 'p: 'a>(
    cx: &mut Context<'p>,
    said: &'a [Entry],
    start: usize,
    place: TurnPlace,
) -> Vec<MessageForm<'a>> {
    let ending = if !place.last {
        Ending::Followed
    } else if is_paused(said) {
        Ending::Paused
    } else if settings::needs_user_last(cx.options) {
        Ending::Closed
    } else {
        Ending::Prefill
    };
    let served = Served::of(said, place);
    let mut seen = HashSet::new();
    let mut blocks = Blocks::default();
    report_merge(cx, said);
    for entry in said {
        let message = &*entry.message;
        let Body::Assistant(parts) = &message.body else { continue };
        for part in parts.iter() {
            let block = match part {
                AssistantPart::Text(text) => text_block(cx, text, message),
                AssistantPart::Call(call) => Some(call_block(cx, call, message)),
                AssistantPart::Thinking(_)
                    if settings::hides_thinking(cx, place, ending == Ending::Prefill) =>
                {
                    let detail = "thinking is off";
                    cx.adjustments.add(AdjustmentKind::ThinkingDropped, &message.id, detail);
                    None
                }
                AssistantPart::Thinking(thought) => thinking_block(cx, thought, message, &mut seen),
                AssistantPart::Image(_) => {
                    let note = "[image not sent: the assistant cannot show one]";
                    Some(left_out(cx, message, note.to_owned()))
                }
                AssistantPart::File(_) => {
                    let note = "[file not sent: the assistant cannot show one]";
                    Some(left_out(cx, message, note.to_owned()))
                }
                AssistantPart::Opaque(opaque) => {
                    served_block(cx, opaque, message, &served, blocks.list.is_empty())
                }
            };
            blocks.list.extend(block);
        }
        blocks.attach(message_rest(message, cx.options.cache));
        blocks.end_message();
    }
    if blocks.list.is_empty() && place.last {
        return Vec::new();
    }
    // No message is empty, and none ends with a thought.
    if matches!(blocks.list.last(), None | Some(Block::Thinking(_) | Block::Redacted(_))) {
        blocks.push_placeholder(placeholder(cx, said));
    }
    if ending == Ending::Prefill {
        trim_end(&mut blocks.list);
    }
    if let Some(at) = place.breakpoint {
        blocks.set_mark(at - start, mark(cx.options));
    }
    let mut messages = vec![blocks.message("assistant", cx.options.cache)];
    if ending == Ending::Closed {
        let mut go_on = Blocks::default();
        go_on.list.push(plain(cx.closing_words()));
        messages.push(go_on.message("user", cx.options.cache));
    }
    messages
}

/// The last message of all may not end with white space.
fn trim_end(blocks: &mut [Block<'_>]) {
    if let Some(Block::Text(TextBlock { text, .. })) = blocks.last_mut() {
        let end = text.trim_end().len();
        match text {
            Cow::Borrowed(text) => *text = &text[..end],
            Cow::Owned(text) => text.truncate(end),
        }
    }
}
