//! Facts: what a summary must repeat word for word.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use interleaf_model::MessageId;
use regex::Regex;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::Error;

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
    /// No match of more bytes than this: it is no fact but a text.
    #[serde(default = "longest")]
    pub longest: usize,
}

interleaf_model::only_objects!(FactRule);

fn most() -> usize {
    100
}

fn longest() -> usize {
    300
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
    /// The files that calls write: what the names of files are in the arguments of tools whose
    /// names say that they write, edit, move or delete, and in patches.
    Changes,
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
        let (from, most, longest) = (FactSource::Said, most(), longest());
        Self { name: name.into(), pattern: pattern.into(), from, most, longest }
    }

    /// The same rule for another place.
    #[must_use]
    pub fn from(self, from: FactSource) -> Self {
        Self { from, ..self }
    }

    /// Paths of files that are said, files that calls write, and lines that begin with
    /// `Decision:` or `Decided:`. What a call merely reads or lists is not kept: a folder may
    /// have thousands.
    pub fn usual() -> Vec<Self> {
        vec![Self::paths(), Self::changes(), Self::decisions()]
    }

    /// Files that calls write, by the whole name that the call has for them.
    pub fn changes() -> Self {
        Self::new("changed file", r".+").from(FactSource::Changes)
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

    /// The pattern, ready to look. To make it so takes longer than to plan a compaction, and
    /// the same few are asked for again and again.
    pub(super) fn regex(&self) -> Result<Regex, Error> {
        static READY: Mutex<BTreeMap<Arc<str>, Regex>> = Mutex::new(BTreeMap::new());
        const MOST: usize = 64;
        let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = ready.get(&self.pattern) {
            return Ok(known.clone());
        }
        let made = Regex::new(&self.pattern).map_err(|e| {
            let name = &self.name;
            Error::rule(format!("the pattern of the facts {name:?} is none: {e}"))
        })?;
        if ready.len() >= MOST {
            ready.clear();
        }
        ready.insert(self.pattern.clone(), made.clone());
        Ok(made)
    }
}

/// The facts in what gives way to a summary.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Facts {
    /// Those that must survive, the newest first within each rule, each once.
    pub kept: Vec<Fact>,
    /// Those that need not, for they are past a limit of their rule.
    pub left_out: Vec<PastLimit>,
}

/// Facts that need not survive, for they are past a limit of their rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PastLimit {
    /// The name of the rule.
    pub rule: SmolStr,
    /// Past which limit.
    pub limit: FactLimit,
    /// How many.
    pub n: usize,
}

/// A limit of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FactLimit {
    /// It keeps this many at most, the newest.
    Most(usize),
    /// It keeps none of more bytes than this.
    Longest(usize),
}

impl Facts {
    /// How many need not survive.
    pub fn n_left_out(&self) -> usize {
        self.left_out.iter().map(|left_out| left_out.n).sum()
    }
}

impl fmt::Display for PastLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, limit, n } = self;
        match limit {
            FactLimit::Most(most) => write!(f, "{rule}: {n} beyond the newest {most}"),
            FactLimit::Longest(bytes) => write!(f, "{rule}: {n} of more than {bytes} bytes"),
        }
    }
}

/// The facts under the names of their rules.
pub(super) fn list(facts: &[Fact]) -> String {
    let mut text = String::new();
    let mut rules: Vec<&str> = facts.iter().map(|fact| fact.rule.as_str()).collect();
    rules.dedup();
    for rule in rules {
        // A line of its own that no rule takes for a fact, such as "decision: …".
        text += &format!("\nFacts ({rule}):\n");
        for fact in facts.iter().filter(|fact| fact.rule == rule) {
            text += &format!("- {}\n", fact.text);
        }
    }
    text
}
