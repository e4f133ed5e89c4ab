//! Facts: what a summary must repeat word for word.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{Message, MessageId, PartRef, Role, ToolCall};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smol_str::SmolStr;

use crate::Error;

/// The longest fact: a longer match is no fact but a text.
const LONGEST: usize = 300;

/// Which facts must survive: those that a pattern finds, in what some say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct FactRule {
    /// What such a fact is called, such as `path`.
    pub name: SmolStr,
    /// A regular expression. If it has a group, the group is the fact.
    pub pattern: Arc<str>,
    /// Where it is looked for.
    #[serde(default)]
    pub from: FactSource,
    /// At most this many, the newest.
    #[serde(default = "most")]
    pub most: usize,
}

interleaf_model::only_objects!(FactRule);

fn most() -> usize {
    100
}

/// Where a fact is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FactSource {
    /// In what users and the assistant say, not in calls and results.
    #[default]
    Said,
    /// In what users say.
    User,
    /// In what the assistant says.
    Assistant,
    /// In the arguments of calls.
    Calls,
    /// In results.
    Results,
    /// In the results of this tool.
    Tool(SmolStr),
    /// Everywhere.
    All,
}

/// A fact that must survive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fact {
    /// The name of the rule that found it.
    pub rule: SmolStr,
    /// The fact, as it was said.
    pub text: SmolStr,
    /// The newest message that says it; none, if only the summary before does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
}

impl FactRule {
    /// A rule that looks in what users and the assistant say.
    pub fn new(name: impl Into<SmolStr>, pattern: &str) -> Self {
        Self { name: name.into(), pattern: pattern.into(), from: FactSource::Said, most: most() }
    }

    /// The same rule for another place.
    #[must_use]
    pub fn from(self, from: FactSource) -> Self {
        Self { from, ..self }
    }

    /// Paths of files that are said, and lines that begin with `Decision:` or `Decided:`.
    pub fn usual() -> Vec<Self> {
        vec![Self::paths(), Self::decisions()]
    }

    /// Paths with a slash or a known ending.
    pub fn paths() -> Self {
        Self::new(
            "path",
            r"(?:^|[\s`'\x22(\[])((?:~|\.{1,2})?/?(?:[\w@.-]+/)+[\w@.-]*\w|[\w-]+\.(?:rs|py|js|ts|tsx|go|java|c|h|cpp|rb|md|toml|json|yaml|yml|html|css|sql|sh|txt))\b",
        )
    }

    /// Lines that state a decision.
    pub fn decisions() -> Self {
        Self::new("decision", r"(?im)^\s*[-*]?\s*\**deci(?:sion|ded)\**:\s*(.+)$")
    }

    /// Ids: hexadecimal ones of 7 digits or more with a digit among them, UUIDs, and names
    /// with a number such as `JIRA-123` or `#4711`.
    pub fn ids() -> Self {
        Self::new(
            "id",
            r"\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]*[0-9][0-9a-f]{6,39}|[A-Z][A-Z0-9]+-\d+)\b|(#\d+)\b",
        )
    }

    /// Numbers of two digits or more, with what is written onto them.
    pub fn numbers() -> Self {
        Self::new("number", r"(?:^|[\s(=:])(\d[\d.,:]*\d(?:\s?%|[a-zA-Zµ]{1,3}\b)?)")
    }

    /// Whether the pattern is one.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.regex().map(drop)
    }

    fn regex(&self) -> Result<Regex, Error> {
        Regex::new(&self.pattern).map_err(|e| {
            let name = &self.name;
            Error::rule(format!("the pattern of the facts {name:?} is none: {e}"))
        })
    }
}

impl FactSource {
    fn is_said_by(&self, message: &Message, part: &PartRef<'_>) -> bool {
        let role = message.role();
        let is_text = matches!(part, PartRef::Text(_));
        match self {
            Self::Said => is_text && matches!(role, Role::User | Role::Assistant),
            Self::User => is_text && role == Role::User,
            Self::Assistant => is_text && role == Role::Assistant,
            Self::Calls => matches!(part, PartRef::Call(_)),
            Self::Results => is_text && role == Role::Tool,
            Self::Tool(name) => {
                let said = message.as_result().and_then(|result| result.name.as_ref());
                is_text && said.is_some_and(|tool| tool.as_str() == name)
            }
            Self::All => is_text || matches!(part, PartRef::Call(_)),
        }
    }
}

/// Patterns that are ready to look.
pub(crate) struct Finder {
    rules: Vec<(FactRule, Regex)>,
}

impl Finder {
    pub(crate) fn of(rules: &[FactRule]) -> Result<Self, Error> {
        let ready = rules.iter().map(|rule| Ok((rule.clone(), rule.regex()?)));
        Ok(Self { rules: ready.collect::<Result<_, Error>>()? })
    }
}

/// The facts in these messages and in the text of the summary before, the newest first within
/// each rule, each once.
pub(crate) fn find<'a>(
    finder: &Finder,
    messages: impl DoubleEndedIterator<Item = &'a Arc<Message>> + Clone,
    earlier: Option<&str>,
) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (rule, regex) in &finder.rules {
        let mut seen: BTreeSet<SmolStr> = BTreeSet::new();
        let mut note = |fact: &str, message: Option<&MessageId>| {
            let fact = fact.trim();
            if fact.is_empty() || fact.len() > LONGEST || seen.len() >= rule.most {
                return;
            }
            let text = SmolStr::new(fact);
            if seen.insert(text.clone()) {
                facts.push(Fact { rule: rule.name.clone(), text, message: message.cloned() });
            }
        };
        let mut add = |text: &str, message: Option<&MessageId>| {
            for found in regex.captures_iter(text) {
                let group = (1..found.len()).find_map(|n| found.get(n));
                let Some(fact) = group.or_else(|| found.get(0)) else { continue };
                note(fact.as_str(), message);
            }
        };
        for message in messages.clone().rev() {
            for part in message.parts().filter(|part| rule.from.is_said_by(message, part)) {
                match part {
                    PartRef::Text(text) => add(&text.text, Some(&message.id)),
                    PartRef::Call(call) => {
                        argument_texts(call).iter().for_each(|text| add(text, Some(&message.id)));
                    }
                    PartRef::Thinking(_)
                    | PartRef::Image(_)
                    | PartRef::File(_)
                    | PartRef::Opaque(_) => {}
                }
            }
        }
        let earlier = earlier.unwrap_or_default();
        add(earlier, None);
        // A digest lists facts without the words around them by which they were found.
        listed(earlier, &rule.name).for_each(|fact| note(fact, None));
    }
    facts
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

/// The facts of a rule in a text that was made by [`list`].
fn listed<'a>(text: &'a str, rule: &str) -> impl Iterator<Item = &'a str> {
    let heading = format!("{rule}:");
    let mut is_listed = false;
    text.lines().filter_map(move |line| {
        let fact = line.strip_prefix(ITEM).filter(|_| is_listed);
        is_listed = fact.is_some() || line == heading;
        fact
    })
}

/// What stands before each fact of a list.
const ITEM: &str = "- ";

/// The facts under the names of their rules.
pub(super) fn list(facts: &[Fact]) -> String {
    let mut text = String::new();
    let mut rules: Vec<&str> = facts.iter().map(|fact| fact.rule.as_str()).collect();
    rules.dedup();
    for rule in rules {
        text += &format!("\n{rule}:\n");
        for fact in facts.iter().filter(|fact| fact.rule == rule) {
            text += &format!("{ITEM}{}\n", fact.text);
        }
    }
    text
}
