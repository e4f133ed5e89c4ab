//! A summary that no model wrote (F5): it says less, and loses nothing that was to be kept.

use std::sync::Arc;

use interleaf_model::{Message, Role};

use super::facts::{Fact, list};

/// As much of a user's text is repeated.
const LINE: usize = 160;

/// A summary of these messages without a model: a notice, the facts, what the summary before
/// said, and the first line of what users said, the newest first, as far as there is room.
pub(crate) fn digest(
    messages: &[Arc<Message>],
    earlier: Option<&str>,
    facts: &[Fact],
    (count, most): (impl Fn(&str) -> u64, u64),
) -> String {
    let n = messages.len();
    let mut text = format!(
        "[{n} older messages are not shown. This was put together without a model: it has what \
         had to be kept, word for word, and the beginnings of what the user said.]\n"
    );
    text += &list(facts);
    let mut room = most.saturating_sub(count(&text));
    if let Some(earlier) = earlier {
        let part = format!("\nEarlier:\n{earlier}\n");
        let tokens = count(&part);
        if tokens <= room {
            (room, text) = (room - tokens, text + &part);
        }
    }
    let said = messages.iter().rev().filter(|message| message.role() == Role::User);
    let mut lines = Vec::new();
    for message in said {
        let line = format!("- {}\n", first_line(&message.text()));
        let tokens = count(&line);
        if tokens > room {
            break;
        }
        room -= tokens;
        lines.push(line);
    }
    // Texts side by side may count as more than each by itself.
    loop {
        let said = match lines.is_empty() {
            true => String::new(),
            false => {
                format!("\nThe user said:\n{}", lines.iter().rev().cloned().collect::<String>())
            }
        };
        let whole = format!("{text}{said}");
        if count(&whole) <= most || lines.pop().is_none() {
            return whole;
        }
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
