//! The results, then what the user said.

use interleaf_model::{Body, Entry};

use super::parts::{PLACEHOLDER, input_content, message_rest, set_mark, user_parts};
use super::{results, system};
use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::openai_chat::wire::{Content, Message, Part, Rest};
use crate::turns::only_blank;

/// What the assistant says where an API wants a word of it between results and the user.
const BRIDGE: &str = "OK.";

/// The results, then what they brought along, then what the user said. The message of this
/// number is marked.
pub(super) fn turn<'a>(
    cx: &mut Context<'_>,
    results: &'a [Entry],
    said: &'a [Entry],
    marked: Option<usize>,
) -> Vec<Message<'a>> {
    let quirks = cx.vendor.quirks;
    if let Some(blank) = only_blank(results, said).filter(|_| quirks.native) {
        return vec![Message::new("user", Content::Text(blank.into()))];
    }
    let (mut messages, media) = results::messages(cx, results, marked);
    let mut users: Vec<Said<'a>> = Vec::new();
    if !media.is_empty() {
        users.push(Said::User(media, Rest::default()));
    }
    for (number, entry) in (results.len()..).zip(said) {
        let is_marked = marked == Some(number);
        let message = &*entry.message;
        let Body::User(parts) = &message.body else {
            users.extend(system::in_place(cx, entry, is_marked).map(Said::System));
            continue;
        };
        let mut parts = user_parts(cx, message, parts);
        if parts.is_empty() {
            continue;
        }
        if is_marked {
            set_mark(&mut parts);
        }
        let rest = message_rest(cx, message);
        match users.last_mut() {
            Some(Said::User(before, rest_before)) if quirks.strict_alternation => {
                let detail = "it follows another user message";
                cx.adjustments.add(AdjustmentKind::TurnsMerged, &message.id, detail);
                before.extend(parts);
                rest_before.merge(rest);
            }
            _ => users.push(Said::User(parts, rest)),
        }
    }
    if messages.is_empty() && users.is_empty() {
        users.push(Said::User(vec![Part::text(PLACEHOLDER)], Rest::default()));
    }
    if let Some(last) = results.last()
        && quirks.bridge_after_results
        && !users.is_empty()
    {
        let detail = "an answer between the results and what the user said";
        cx.adjustments.add(AdjustmentKind::TurnInserted, &last.message.id, detail);
        messages.push(Message::new("assistant", Content::Text(BRIDGE.into())));
    }
    messages.extend(users.into_iter().map(|said| match said {
        Said::User(parts, rest) => {
            Message { rest, ..Message::new("user", input_content(cx, parts)) }
        }
        Said::System(message) => message,
    }));
    messages
}

/// What is said after results.
enum Said<'a> {
    User(Vec<Part<'a>>, Rest<'a>),
    System(Message<'a>),
}
