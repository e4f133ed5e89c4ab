//! When a session is compacted, and what must stay.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use interleaf_model::Role;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::facts::FactRule;
use crate::Error;

/// When a session is compacted, and what must stay. It is data: a user's file may say it.
///
/// ```
/// use interleaf::compaction::{CompactionPolicy, Trigger};
///
/// let policy: CompactionPolicy =
///     serde_json::from_str(r#"{"when": {"any": [{"fill": 0.7}, {"messages": 400}]}}"#)?;
/// assert_eq!(policy.when, Some(Trigger::Any(vec![Trigger::Fill(0.7), Trigger::Messages(400)])));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CompactionPolicy {
    /// When it is due by itself. Nothing: only on request.
    pub when: Option<Trigger>,
    /// When a summary is written in the background, to be at hand when it is due. Nothing: not
    /// before. It is for whoever sends requests: the engine itself sends none.
    pub prepare: Option<Trigger>,
    /// How full the window may be afterwards.
    pub down_to: f64,
    /// The most tokens that the summary may take.
    pub summary_tokens: u64,
    /// The summary must be smaller than what it covers by at least this part of it.
    pub margin: f64,
    /// How many of the newest steps of the running turn stay. A step is what the assistant
    /// says, with the results of its calls.
    pub keep_steps: usize,
    /// How many turns before the running one stay whole.
    pub keep_turns: usize,
    /// Messages of these roles stay.
    pub keep_roles: BTreeSet<Role>,
    /// Whether all that users said stays.
    pub keep_user_texts: bool,
    /// How many of the older turns stay that have most to do with the current request.
    pub keep_relevant: usize,
    /// What the summary must repeat word for word, unless a message that stays says it.
    pub facts: Vec<FactRule>,
    /// The language of the summary, as a code of ISO 639-1 or 639-3. Nothing: that of the
    /// conversation.
    pub language: Option<SmolStr>,
    /// What the model is told instead of the usual instructions.
    pub instructions: Option<Arc<str>>,
}

interleaf_model::only_objects!(CompactionPolicy);

/// The most tokens that a policy may leave a summary: more than any model writes at once.
const MOST_SUMMARY_TOKENS: u64 = 1_000_000;

/// When a compaction is due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "TriggerForm")]
#[non_exhaustive]
pub enum Trigger {
    /// The request takes this part of what the window leaves for it, or more.
    Fill(f64),
    /// The request takes this many tokens or more.
    Tokens(u64),
    /// This many messages or more are shown.
    Messages(usize),
    /// All of these.
    All(Vec<Trigger>),
    /// Any of these.
    Any(Vec<Trigger>),
}

/// A trigger as it is written: whoever names two things is told so.
#[derive(Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
struct TriggerForm {
    fill: Option<f64>,
    tokens: Option<u64>,
    messages: Option<usize>,
    all: Option<Vec<Trigger>>,
    any: Option<Vec<Trigger>>,
}

interleaf_model::only_objects!(read: TriggerForm);

impl TryFrom<TriggerForm> for Trigger {
    type Error = &'static str;

    fn try_from(form: TriggerForm) -> Result<Self, Self::Error> {
        let TriggerForm { fill, tokens, messages, all, any } = form;
        let named = [
            fill.map(Self::Fill),
            tokens.map(Self::Tokens),
            messages.map(Self::Messages),
            all.map(Self::All),
            any.map(Self::Any),
        ];
        let mut named = named.into_iter().flatten();
        match (named.next(), named.next()) {
            (Some(trigger), None) => Ok(trigger),
            (None, _) => {
                Err("a trigger names one of `fill`, `tokens`, `messages`, `all` and `any`")
            }
            (Some(_), Some(_)) => Err("a trigger names one thing: `all` or `any` joins several"),
        }
    }
}

/// What a trigger looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Figures {
    /// The tokens of the next request, as near as they are known.
    pub tokens: u64,
    /// The tokens of it that no summary makes less: tools, system texts, context.
    pub fixed: u64,
    /// The most tokens that a request may take.
    pub limit: u64,
    /// The messages of the agent that are shown.
    pub messages: usize,
}

impl Default for CompactionPolicy {
    fn default() -> Self {
        Self {
            when: Some(Trigger::Fill(0.8)),
            prepare: None,
            down_to: 0.4,
            summary_tokens: 2_000,
            margin: 0.2,
            keep_steps: 2,
            keep_turns: 0,
            keep_roles: BTreeSet::new(),
            keep_user_texts: false,
            keep_relevant: 0,
            facts: FactRule::usual(),
            language: None,
            instructions: None,
        }
    }
}

impl CompactionPolicy {
    /// Checks what it says.
    ///
    /// # Errors
    /// If a part is not one from 0 to 1, the summary may have no token or too many, a pattern
    /// is none, or a language is not known.
    pub fn check(&self) -> Result<(), Error> {
        for (name, part) in [("down_to", self.down_to), ("margin", self.margin)] {
            if !(0.0..=1.0).contains(&part) {
                let part = short(part);
                return Err(Error::rule(format!("`{name}` is {part}: it must be from 0 to 1")));
            }
        }
        if self.summary_tokens == 0 {
            return Err(Error::rule("`summary_tokens` is 0: a summary must say something"));
        }
        if self.summary_tokens > MOST_SUMMARY_TOKENS {
            return Err(Error::rule(format!(
                "`summary_tokens` is {}: it must be at most {MOST_SUMMARY_TOKENS}",
                self.summary_tokens
            )));
        }
        self.when.iter().chain(&self.prepare).try_for_each(Trigger::check)?;
        self.facts.iter().try_for_each(FactRule::check)?;
        self.language.as_deref().map_or(Ok(()), super::language::known)
    }
}

impl Trigger {
    fn check(&self) -> Result<(), Error> {
        match self {
            Self::Fill(part) if !(*part > 0.0 && *part <= 1.0) => {
                let part = short(*part);
                let rule = format!("the trigger `fill` is {part}: it must be above 0, up to 1");
                Err(Error::rule(rule))
            }
            Self::Fill(_) | Self::Tokens(_) | Self::Messages(_) => Ok(()),
            Self::All(all) if all.is_empty() => {
                Err(Error::rule("the trigger `all` names none: it would always be due"))
            }
            Self::All(some) | Self::Any(some) => some.iter().try_for_each(Self::check),
        }
    }

    /// Whether it is due.
    pub fn is_due(&self, figures: &Figures) -> bool {
        match self {
            Self::Fill(part) => figures.fill() >= *part,
            Self::Tokens(n) => figures.tokens >= *n,
            Self::Messages(n) => figures.messages >= *n,
            Self::All(all) => all.iter().all(|trigger| trigger.is_due(figures)),
            Self::Any(any) => any.iter().any(|trigger| trigger.is_due(figures)),
        }
    }
}

/// A number as it is told, without hundreds of digits.
fn short(part: f64) -> String {
    match part.abs() < 1e6 {
        true => part.to_string(),
        false => format!("{part:e}"),
    }
}

impl Figures {
    /// Which part of what the window leaves the request takes.
    pub fn fill(&self) -> f64 {
        self.tokens as f64 / self.limit.max(1) as f64
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, some: &[Self], word: &str| {
            let texts: Vec<String> = some.iter().map(Self::to_string).collect();
            f.write_str(&texts.join(word))
        };
        match self {
            Self::Fill(part) => write!(f, "{:.0} % of the window are taken", part * 100.0),
            Self::Tokens(n) => write!(f, "the request has {n} tokens"),
            Self::Messages(n) => write!(f, "{n} messages are shown"),
            Self::All(all) => join(f, all, " and "),
            Self::Any(any) => join(f, any, " or "),
        }
    }
}
