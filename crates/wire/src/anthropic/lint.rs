//! What can be seen in a body that the API will refuse.
//!
//! Signatures cannot be checked from outside: that a thought was made by another
//! model, or after another prefix, is seen only where its form tells.

mod cache;
mod fields;
mod messages;
mod pairing;
mod parts;
mod rules;
mod schemas;
mod settings;
mod thinking;
mod tools;

use self::rules::BODY;
use super::models::Model;
use super::{CLEAR_AT, clears};
use crate::lint::{Faults, Rule};
use crate::tree::Value;
use crate::{Family, Vendor, misplaced};

pub(super) use self::fields::is_known;
pub(super) use self::rules::RULES;

/// Finds what breaks a rule.
pub(crate) fn check(body: &Value, vendor: &Vendor, faults: &mut Faults) {
    if !body.is_object() {
        faults.add(&BODY, "", "it must be an object");
        return;
    }
    misplaced::check(Family::Anthropic, body, &rules::OTHER_FORM, faults);
    let parsed = Parsed::of(body);
    fields::check(&parsed, vendor, faults);
    settings::check(&parsed, vendor, faults);
    tools::check(&parsed, vendor, faults);
    schemas::check(&parsed, faults);
    messages::check(&parsed, faults);
    pairing::check(&parsed, vendor, faults);
    thinking::check(&parsed, faults);
    for (rule, pointer, detail) in cache::faults(&parsed) {
        faults.add(rule, pointer, detail);
    }
}

/// Whether the marks of a body are few enough and in order.
pub(super) fn has_legal_marks(body: &str) -> bool {
    let Ok(mut body) = serde_json::from_str::<Value>(body) else { return true };
    if body.is_array() {
        body = Value::under("messages", body);
    }
    let is_counted = |rule: &Rule| [rules::MARK_COUNT, rules::MARK_ORDER].contains(rule);
    !cache::faults(&Parsed::of(&body)).iter().any(|(rule, _, _)| is_counted(rule))
}

/// A body, taken apart as far as its form allows.
struct Parsed<'a> {
    body: &'a Value,
    model: Model,
    messages: Vec<Message<'a>>,
}

struct Message<'a> {
    role: &'a str,
    at: String,
    blocks: Vec<Block<'a>>,
    /// Whether it is a system message that is there for one turn only.
    is_cleared: bool,
}

/// A block; a string is one of text.
struct Block<'a> {
    kind: &'a str,
    at: String,
    value: &'a Value,
}

impl<'a> Parsed<'a> {
    fn of(body: &'a Value) -> Self {
        let model = Model::named(body.get("model").and_then(Value::as_str).unwrap_or_default());
        let list = body.get("messages").and_then(Value::as_array);
        let messages = list.into_iter().flatten().enumerate();
        let messages = messages.map(|(i, message)| {
            let at = format!("/messages/{i}");
            let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
            let blocks = message.get("content").map(|content| blocks(content, &at));
            let clears = |value: &Value| clears(&value.to_string());
            let is_cleared = role == "system" && message.get(CLEAR_AT).is_some_and(clears);
            Message { role, at, blocks: blocks.unwrap_or_default(), is_cleared }
        });
        Self { body, model, messages: messages.collect() }
    }

    /// The type of the `thinking` setting.
    fn thinking(&self) -> Option<&'a str> {
        self.body.get("thinking")?.get("type")?.as_str()
    }

    /// Whether the last message is an assistant message, for the model to go on with. One
    /// that the API paused among its own tools is not meant.
    fn is_prefilled(&self) -> bool {
        self.messages.last().is_some_and(|last| {
            let is_paused = last.blocks.last().is_some_and(Block::is_served);
            last.role == "assistant" && !is_paused
        })
    }
}

impl<'a> Block<'a> {
    fn text(&self) -> Option<&'a str> {
        self.value.as_str().or_else(|| self.value.get("text")?.as_str())
    }

    fn field(&self, name: &str) -> Option<&'a str> {
        self.value.get(name)?.as_str()
    }

    fn is_thinking(&self) -> bool {
        matches!(self.kind, "thinking" | "redacted_thinking")
    }

    /// Whether it is of a tool that the API runs itself.
    fn is_served(&self) -> bool {
        self.kind.ends_with("_tool_use") || self.kind.ends_with("_tool_result")
    }

    /// The blocks inside.
    fn inner(&self) -> Vec<Self> {
        self.value.get("content").map(|content| blocks(content, &self.at)).unwrap_or_default()
    }
}

/// The blocks of the `content` of what stands at `at`.
fn blocks<'a>(content: &'a Value, at: &str) -> Vec<Block<'a>> {
    match content {
        Value::String(_) => {
            vec![Block { kind: "text", at: format!("{at}/content"), value: content }]
        }
        Value::Array(list) => {
            let blocks = list.iter().enumerate().map(|(i, value)| Block {
                kind: value.get("type").and_then(Value::as_str).unwrap_or_default(),
                at: format!("{at}/content/{i}"),
                value,
            });
            blocks.collect()
        }
        _ => Vec::new(),
    }
}
