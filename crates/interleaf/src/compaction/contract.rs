//! The contract of a summary: what must be so before it is taken in (F4, H7).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use interleaf_model::{Message, MessageId, PartRef};
use serde::Serialize;
use smol_str::SmolStr;

use super::facts::Fact;
use super::find::argument_texts;
use super::language;
use super::whole_words::has;

/// How many of the missing facts a sentence names.
const NAMED: usize = 5;

/// Why a text is not taken in as a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// It says nothing.
    Empty,
    /// The answer ended before it did.
    CutOff,
    /// It calls a tool, and is no summary yet.
    Calls,
    /// A filter stopped it, or the model would not write it.
    Filtered,
    /// It is longer than it may be.
    TooLong {
        /// Its tokens.
        tokens: u64,
        /// The most that it may have.
        most: u64,
    },
    /// It is in another language.
    Language {
        /// The one that was asked for.
        asked: SmolStr,
        /// The one that it is in.
        found: SmolStr,
    },
    /// What must survive is neither in it nor in what stays.
    Missing(Vec<Missing>),
    /// What it was written for has changed since.
    Outdated,
}

/// A fact that would be lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Missing {
    /// The name of the rule that keeps it.
    pub rule: SmolStr,
    /// The fact, as it was said.
    pub text: SmolStr,
    /// The newest message that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
}

/// What a text is held against.
pub(crate) struct Held<'a> {
    pub(crate) facts: &'a [Fact],
    /// The messages that stay.
    pub(crate) stays: &'a [Arc<Message>],
    /// The most tokens that it may have.
    pub(crate) most: u64,
    pub(crate) language: Option<&'a str>,
}

/// Why a text of this many tokens breaks the contract; nothing, if it keeps it.
pub(crate) fn check(text: &str, tokens: u64, held: &Held<'_>) -> Vec<Refusal> {
    if text.trim().is_empty() {
        return vec![Refusal::Empty];
    }
    let mut refused = Vec::new();
    if tokens > held.most {
        refused.push(Refusal::TooLong { tokens, most: held.most });
    }
    if let Some(asked) = held.language
        && let Some(found) = language::other(text, asked)
    {
        let (asked, found) = (SmolStr::new(language::name(asked)), SmolStr::new(found));
        refused.push(Refusal::Language { asked, found });
    }
    let missing = missing(text, held);
    if !missing.is_empty() {
        refused.push(Refusal::Missing(missing));
    }
    refused
}

fn missing(text: &str, held: &Held<'_>) -> Vec<Missing> {
    let lost = held.facts.iter().filter(|fact| !has(text, &fact.text)).cloned();
    let lost = unsaid(lost.collect(), held.stays).into_iter();
    lost.map(|Fact { rule, text, message }| Missing { rule, text, message }).collect()
}

/// The facts that none of these messages says.
pub(crate) fn unsaid(facts: Vec<Fact>, messages: &[Arc<Message>]) -> Vec<Fact> {
    if facts.is_empty() {
        return facts;
    }
    let texts: Vec<Cow<'_, str>> = messages.iter().flat_map(|message| texts(message)).collect();
    let is_said = |fact: &Fact| texts.iter().any(|text| has(text, &fact.text));
    facts.into_iter().filter(|fact| !is_said(fact)).collect()
}

fn texts(message: &Message) -> Vec<Cow<'_, str>> {
    let mut texts = Vec::new();
    for part in message.parts() {
        match part {
            PartRef::Text(text) => texts.push(Cow::Borrowed(&*text.text)),
            PartRef::Call(call) => texts.extend(argument_texts(call).into_iter().map(Cow::Owned)),
            PartRef::Thinking(_) | PartRef::Image(_) | PartRef::File(_) | PartRef::Opaque(_) => {}
        }
    }
    texts
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it says nothing"),
            Self::CutOff => f.write_str("it was cut off before its end"),
            Self::Calls => f.write_str("it calls a tool, and there is none to call"),
            Self::Filtered => f.write_str("the model would not write it, or a filter stopped it"),
            Self::TooLong { tokens, most } => {
                write!(f, "it has {tokens} tokens, and may have {most}")
            }
            Self::Language { asked, found } => write!(f, "it is in {found}, not in {asked}"),
            Self::Outdated => f.write_str("what it was written for has changed since"),
            Self::Missing(missing) => {
                let named = missing.iter().take(NAMED);
                let named: Vec<String> =
                    named.map(|fact| format!("{} {:?}", fact.rule, fact.text)).collect();
                write!(f, "it leaves out {}", named.join(", "))?;
                match missing.len().checked_sub(NAMED) {
                    Some(more) if more > 0 => write!(f, " and {more} more"),
                    _ => Ok(()),
                }
            }
        }
    }
}
