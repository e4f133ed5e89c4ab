//! The facts in what was said, by the rules of a policy.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{Message, MessageId, PartRef, Role, ToolCall};
use regex::Regex;
use serde_json::Value;
use smol_str::SmolStr;

use super::changes::changed;
use super::facts::{Fact, FactLimit, FactRule, FactSource, Facts, PastLimit};
use crate::Error;

/// The facts in these messages, which a summary covers or is to cover, and in the text of the
/// summary before. What a summary says in other words is still found where it was said.
pub(crate) fn find<'a>(
    rules: &[FactRule],
    messages: impl DoubleEndedIterator<Item = &'a Arc<Message>> + Clone,
    earlier: Option<&str>,
) -> Result<Facts, Error> {
    let mut found = Found::default();
    for rule in rules {
        let regex = rule.regex()?;
        let mut of_rule = OfRule { n: 0, past_most: BTreeSet::new(), too_long: BTreeSet::new() };
        for message in messages.clone().rev() {
            for part in message.parts() {
                for text in rule.from.texts(message, &part) {
                    found.add(rule, &regex, &text, Some(&message.id), &mut of_rule);
                }
            }
        }
        if let Some(earlier) = earlier.filter(|_| rule.from.hears_summaries()) {
            found.add(rule, &regex, earlier, None, &mut of_rule);
        }
        let limits = [
            (FactLimit::Most(rule.most), of_rule.past_most.len()),
            (FactLimit::Longest(rule.longest), of_rule.too_long.len()),
        ];
        for (limit, n) in limits.into_iter().filter(|(_, n)| *n > 0) {
            found.facts.left_out.push(PastLimit { rule: rule.name.clone(), limit, n });
        }
    }
    Ok(found.facts)
}

#[derive(Default)]
struct Found {
    facts: Facts,
    /// What is kept, by whichever rule.
    seen: BTreeSet<SmolStr>,
}

/// What one rule found.
struct OfRule {
    /// How many are kept.
    n: usize,
    past_most: BTreeSet<SmolStr>,
    too_long: BTreeSet<SmolStr>,
}

impl Found {
    fn add(
        &mut self,
        rule: &FactRule,
        regex: &Regex,
        text: &str,
        message: Option<&MessageId>,
        of_rule: &mut OfRule,
    ) {
        for found in regex.captures_iter(text) {
            let group = (1..found.len()).find_map(|n| found.get(n));
            let Some(fact) = group.or_else(|| found.get(0)) else { continue };
            let fact = fact.as_str().trim();
            if fact.is_empty() || self.seen.contains(fact) {
                continue;
            }
            let text = SmolStr::new(fact);
            if fact.len() > rule.longest {
                of_rule.too_long.insert(text);
            } else if of_rule.n >= rule.most {
                of_rule.past_most.insert(text);
            } else {
                of_rule.n += 1;
                self.seen.insert(text.clone());
                let (rule, message) = (rule.name.clone(), message.cloned());
                self.facts.kept.push(Fact { rule, text, message });
            }
        }
    }
}

impl FactSource {
    /// Whether a summary says what it looks for. Who said what stands in it is not known, and
    /// it is a text of an assistant.
    fn hears_summaries(&self) -> bool {
        match self {
            Self::Said | Self::Assistant | Self::All => true,
            Self::User | Self::Calls | Self::Changes | Self::Results | Self::Tool(_) => false,
        }
    }

    /// The texts of a part in which facts are looked for.
    fn texts<'a>(&self, message: &Message, part: &PartRef<'a>) -> Vec<Cow<'a, str>> {
        let role = message.role();
        let hears = match self {
            Self::Said => matches!(role, Role::User | Role::Assistant),
            Self::User => role == Role::User,
            Self::Assistant => role == Role::Assistant,
            Self::Calls | Self::Changes => false,
            Self::Results => role == Role::Tool,
            Self::Tool(name) => {
                let said = message.as_result().and_then(|result| result.name.as_ref());
                said.is_some_and(|tool| tool.as_str() == name)
            }
            Self::All => true,
        };
        match part {
            PartRef::Text(text) if hears => vec![Cow::Borrowed(&*text.text)],
            PartRef::Call(call) => match self {
                Self::Calls | Self::All => owned(argument_texts(call)),
                Self::Changes => owned(changed(call)),
                Self::Said | Self::User | Self::Assistant | Self::Results | Self::Tool(_) => {
                    Vec::new()
                }
            },
            PartRef::Text(_)
            | PartRef::Thinking(_)
            | PartRef::Image(_)
            | PartRef::File(_)
            | PartRef::Opaque(_) => Vec::new(),
        }
    }
}

fn owned<'a>(texts: Vec<String>) -> Vec<Cow<'a, str>> {
    texts.into_iter().map(Cow::Owned).collect()
}

/// What the arguments of a call say: their texts and numbers, without the escapes of JSON.
pub(super) fn argument_texts(call: &ToolCall) -> Vec<String> {
    let whole = call.arguments.as_str();
    let mut texts = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(whole) {
        let mut open = vec![&value];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => texts.push(text.clone()),
                Value::Number(number) => texts.push(number.to_string()),
                Value::Array(some) => open.extend(some.iter().rev()),
                Value::Object(fields) => open.extend(fields.values().rev()),
                Value::Null | Value::Bool(_) => {}
            }
        }
    } else {
        texts.push(whole.to_owned());
    }
    texts
}
