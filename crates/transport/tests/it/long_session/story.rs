//! A conversation as a person reads it, without what the APIs force apart:
//!
//! - ids: each API makes its own, so calls and results are numbered;
//! - thinking: OpenAI's Chat shows none, and the others seal it in their own ways;
//! - what came of an answer that was cut: how much depends on how many bytes an API needs for
//!   what it says;
//! - half a call: Gemini sends none, the others a part of the arguments or an empty object.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use interleaf::model::{CallId, Finish, Message, PartRef, Role};

/// This much of a text is shown.
const WIDTH: usize = 60;

/// The story of these messages, without these calls.
pub(super) fn of(messages: &[&Arc<Message>], half: &HashSet<CallId>) -> String {
    let mut story = String::new();
    let mut calls = HashMap::new();
    for message in messages {
        if message.as_result().is_some_and(|result| half.contains(&result.call)) {
            continue;
        }
        story.push_str(match message.role() {
            Role::System => "s",
            Role::User => "u",
            Role::Assistant => "a",
            Role::Tool => "t",
        });
        if ended(message, Finish::Cut) {
            story.push_str(" [cut]\n");
            continue;
        }
        for part in message.parts() {
            match part {
                PartRef::Text(text) => write!(story, " {}", short(&text.text)).unwrap(),
                PartRef::Call(call) if half.contains(&call.id) => {}
                PartRef::Call(call) => {
                    let n = calls.len() + 1;
                    calls.insert(call.id.clone(), n);
                    write!(story, " [call {n} {} {}]", call.name, call.arguments.as_str()).unwrap();
                }
                PartRef::Thinking(_) => {}
                PartRef::Image(_) => story.push_str(" [image]"),
                _ => story.push_str(" [other]"),
            }
            if let Some(n) = message.as_result().and_then(|result| calls.get(&result.call)) {
                write!(story, " (of {n})").unwrap();
            }
        }
        story.push('\n');
    }
    story
}

fn ended(message: &Message, finish: Finish) -> bool {
    message.answered().is_some_and(|answered| answered.finish == Some(finish))
}

fn short(text: &str) -> String {
    let n = text.chars().count();
    let begin: String = text.chars().take(WIDTH).collect();
    if n > WIDTH { format!("{}… ({n})", begin.trim_end()) } else { begin }
}
