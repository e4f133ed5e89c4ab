//! A tool result shown head and tail.

use std::sync::Arc;

use interleaf_model::{Body, ContentPart, Message, Parts, Text};

use crate::fence;
use crate::tokens::Counting;

/// The result in at most `limit` tokens, or nothing if its texts are not what makes
/// it long.
pub(super) fn result(
    message: &Arc<Message>,
    limit: u64,
    counting: &Counting<'_>,
) -> Option<Arc<Message>> {
    let Body::Tool(result) = &message.body else { return None };
    let length = |part: &ContentPart| part.as_text().map_or(0, |text| text.text.len());
    let longest = result.parts.iter().enumerate().max_by_key(|(_, part)| length(part))?.0;
    let text = &result.parts.get(longest)?.as_text()?.text;
    let whole = counting.message(message);
    // The first guess keeps as much of the text as of the tokens; what else is in the
    // result, or a denser head or tail, may ask for less.
    let mut keep = (text.len() as u128 * u128::from(limit) / u128::from(whole.max(1))) as usize;
    loop {
        let mut parts = result.parts.to_vec();
        parts[longest] = ContentPart::Text(Text::new(head_and_tail(text, keep)));
        let shorter =
            interleaf_model::ToolResult { parts: Parts::new(parts).ok()?, ..result.clone() };
        let shorter = Arc::new(Message { body: Body::Tool(shorter), ..Message::clone(message) });
        if counting.message(&shorter) <= limit {
            return Some(shorter);
        }
        if keep == 0 {
            return None;
        }
        keep = keep * 3 / 4;
    }
}

/// About `keep` bytes of a longer text, half from its head and half from its tail,
/// with a note of what is missing.
fn head_and_tail(text: &str, keep: usize) -> String {
    let head = text.floor_char_boundary(keep / 2);
    let tail = text.ceil_char_boundary(text.len() - keep / 2);
    let left_out = text[head..tail].chars().count();
    format!("{}\n{}\n{}", &text[..head], fence::shortened(left_out), &text[tail..])
}
