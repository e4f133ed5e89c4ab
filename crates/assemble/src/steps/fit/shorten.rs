//! Messages shown in part.

use std::sync::Arc;

use interleaf_model::{
    AssistantPart, Body, ContentPart, Message, MessageId, Parts, Text, ToolCall, ToolResult,
};

use crate::fence;
use crate::tokens::Counting;

/// By at least this many bytes the next guess is shorter.
const LEAST_STEP: usize = 8;

/// The result in at most `limit` tokens, its texts head and tail; nothing, if its texts are
/// not what makes it long.
pub(super) fn result(
    message: &Arc<Message>,
    limit: u64,
    counting: &Counting<'_>,
) -> Option<Arc<Message>> {
    let Body::Tool(result) = &message.body else { return None };
    let lengths = result.parts.iter().filter_map(ContentPart::as_text).map(|text| text.text.len());
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    let length: usize = lengths.iter().sum();
    let tokens = |message: &Arc<Message>| counting.message(message);
    fitting(length, limit, tokens(message), tokens, |keep| {
        let longest = longest(&lengths, keep);
        let part = |part: &ContentPart| match part.as_text() {
            Some(text) if text.text.len() > longest => {
                let short = head_and_tail(&message.id, &text.text, longest);
                ContentPart::Text(Text { text: short.into(), extra: text.extra.clone() })
            }
            _ => part.clone(),
        };
        let parts = Parts::new(result.parts.iter().map(part).collect()).ok()?;
        let body = Body::Tool(ToolResult { parts, ..result.clone() });
        Some(Arc::new(Message { body, ..Message::clone(message) }))
    })
}

/// How long a text may be so that all of them, the longer ones cut, have this length
/// together. Short texts stay whole; what they leave of the room goes to the long ones.
fn longest(ascending: &[usize], mut room: usize) -> usize {
    for (at, &length) in ascending.iter().enumerate() {
        let share = room / (ascending.len() - at);
        if length > share {
            return share;
        }
        room -= length;
    }
    usize::MAX
}

/// About `keep` bytes of a longer text, half from its head and half from its tail,
/// with a note of what is missing and in which message it is.
fn head_and_tail(id: &MessageId, text: &str, keep: usize) -> String {
    let head = text.floor_char_boundary(keep / 2);
    let tail = text.ceil_char_boundary(text.len() - keep / 2);
    let left_out = text[head..tail].chars().count();
    fence::shortened(id, &text[..head], left_out, &text[tail..])
}

/// The message with the long arguments of its calls abridged; nothing, if none is long.
pub(crate) fn arguments(message: &Message) -> Option<Arc<Message>> {
    arguments_over(message, 0)
}

/// The message in at most `limit` tokens, the long arguments of its calls abridged as far as
/// that takes; nothing, if they are not what makes it long.
pub(super) fn arguments_to(
    message: &Arc<Message>,
    limit: u64,
    counting: &Counting<'_>,
) -> Option<Arc<Message>> {
    let mut lengths: Vec<usize> =
        message.calls().map(|call| call.arguments.as_str().len()).collect();
    lengths.sort_unstable();
    let length: usize = lengths.iter().sum();
    let tokens = |message: &Arc<Message>| counting.message(message);
    fitting(length, limit, tokens(message), tokens, |keep| {
        arguments_over(message, longest(&lengths, keep))
    })
}

/// The message with the arguments of more than `most` bytes abridged to about that; nothing,
/// if there are none.
fn arguments_over(message: &Message, most: usize) -> Option<Arc<Message>> {
    let Body::Assistant(parts) = &message.body else { return None };
    let abridged = |part: &AssistantPart| match part {
        AssistantPart::Call(call) => {
            let arguments = call.arguments.abridged_to(most)?;
            Some(AssistantPart::Call(ToolCall { arguments, ..call.clone() }))
        }
        AssistantPart::Text(_)
        | AssistantPart::Thinking(_)
        | AssistantPart::Image(_)
        | AssistantPart::File(_)
        | AssistantPart::Opaque(_) => None,
    };
    let mut is_abridged = false;
    let part = |part: &AssistantPart| {
        let short = abridged(part);
        is_abridged |= short.is_some();
        short.unwrap_or_else(|| part.clone())
    };
    let parts: Vec<AssistantPart> = parts.iter().map(part).collect();
    if !is_abridged {
        return None;
    }
    let body = Body::Assistant(Parts::new(parts).ok()?);
    Some(Arc::new(Message { body, ..message.clone() }))
}

/// What keeps the most of `length` bytes and takes at most `limit` of `whole` tokens.
///
/// The first guess keeps as much of the bytes as of the tokens; what else is in it, or a
/// denser head or tail, may ask for less.
pub(crate) fn fitting<T>(
    length: usize,
    limit: u64,
    whole: u64,
    tokens: impl Fn(&T) -> u64,
    shortened: impl Fn(usize) -> Option<T>,
) -> Option<T> {
    let mut keep = (length as u128 * u128::from(limit) / u128::from(whole.max(1))) as usize;
    loop {
        let shorter = shortened(keep);
        let tokens = shorter.as_ref().map_or(whole, &tokens);
        if tokens <= limit {
            return shorter;
        }
        if keep == 0 {
            return None;
        }
        let next = (keep as u128 * u128::from(limit) / u128::from(tokens)) as usize;
        keep = (next - next / 32).saturating_sub(LEAST_STEP);
    }
}
