//! The rules of placement: each a small function from the layout to a position.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use interleaf_model::Role;

use super::{Fallback, Layout, Memory, Spot};
use crate::delta::Amending;
use crate::{Error, Placement};

/// After which tool result from the end the block goes if nothing else is said (C3).
const RESULTS: usize = 3;

/// The same for a block that then stays where it is: it falls back by itself.
pub(crate) const STAYING: usize = 2;

/// How many messages may follow a block that stays where it was, if nothing else is said:
/// about five rounds.
const FOLLOWING: usize = 14;

/// After how many changes of a source a rule that amends shows it whole again, if nothing
/// else is said.
const CHANGES: usize = 24;

/// How many messages may follow the last whole copy of the TODO list when a question is
/// asked, if nothing else is said.
const NEAR: usize = 8;

/// That many times as many may follow any source.
const LOOP: usize = 18;

/// Where the context block goes (C6).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PlacementRule {
    /// Right after the nth tool result from the end; while there are fewer, right after the
    /// last user message, and so after the first question (C5).
    AfterToolResult(usize),
    /// Before the nth assistant message from the end; while there are fewer, right after the
    /// last user message.
    BeforeAssistant(usize),
    /// So that n messages follow it; while there are fewer, at the end.
    FromEnd(usize),
    /// Right after the system head.
    AfterSystem,
    /// At the end; right before the last message, if that is a user's, so that the
    /// question stays last.
    Tail,
    /// Where it was, byte for byte, while it says the same and no more than this many
    /// messages follow it; else right after the second-last tool result.
    Sticky(usize),
    /// The whole block once, at the tail; then at the tail only what changed, and after
    /// this many changes of a source the whole of it. What was shown stays as it was.
    Delta(usize),
    /// As `Delta`, and the TODO list is shown whole again before a message that is to be
    /// answered if more than this many messages follow its last whole copy; at any time, a
    /// source that eighteen times as many follow. What was shown is dropped as soon as it costs
    /// more than a fresh copy.
    Auto(usize),
    /// Wherever a function says.
    Custom(CustomRule),
}

/// A rule of the caller's own. Whatever position it gives is made safe.
#[derive(Clone)]
pub struct CustomRule {
    name: Arc<str>,
    position: Arc<Position>,
}

type Position = dyn Fn(&Layout<'_>, Option<&Placement>) -> usize + Send + Sync;

impl CustomRule {
    /// A rule with a name for the report. It is given the layout and, if there was
    /// one, the placement of the session's previous request, which names the message
    /// that the block stood after:
    ///
    /// ```
    /// use interleaf_assemble::{CustomRule, PlacementRule};
    ///
    /// // Where it was, for as long as that message is there; else at the end.
    /// let rule = CustomRule::new("stay", |layout, previous| {
    ///     let stood_after = previous.and_then(|previous| previous.after.as_ref());
    ///     stood_after.and_then(|id| layout.after(id)).unwrap_or(layout.len())
    /// });
    /// assert_eq!(PlacementRule::Custom(rule).to_string(), "custom(stay)");
    /// ```
    pub fn new(
        name: &str,
        position: impl Fn(&Layout<'_>, Option<&Placement>) -> usize + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), position: Arc::new(position) }
    }
}

impl Default for PlacementRule {
    fn default() -> Self {
        Self::AfterToolResult(RESULTS)
    }
}

impl PlacementRule {
    /// Checks that the rule can be followed at all.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Self::AfterToolResult(0) | Self::BeforeAssistant(0) | Self::Delta(0) => Err(
                Error::settings(format!("the rule {self} counts from 1: its n must be at least 1")),
            ),
            _ => Ok(()),
        }
    }

    /// Whether what it shows of the context stays where it was shown, and is amended.
    pub fn amends(&self) -> bool {
        self.amending().is_some()
    }

    /// When a source is shown whole again, if the rule amends what was shown.
    pub(crate) fn amending(&self) -> Option<Amending> {
        let never = usize::MAX;
        match self {
            Self::Delta(every) => Some(Amending { every: *every, within: never, near: never }),
            Self::Auto(near) => {
                let within = near.saturating_mul(LOOP);
                Some(Amending { every: CHANGES, within, near: *near })
            }
            Self::AfterToolResult(_)
            | Self::BeforeAssistant(_)
            | Self::FromEnd(_)
            | Self::AfterSystem
            | Self::Tail
            | Self::Sticky(_)
            | Self::Custom(_) => None,
        }
    }

    /// Where the block goes in a layout, which may begin with the system head or later.
    pub(crate) fn spot(&self, layout: &Layout<'_>, memory: &Memory<'_>, has_head: bool) -> Spot {
        match self {
            Self::AfterToolResult(n) => after_tool_result(layout, *n),
            Self::BeforeAssistant(n) => before_assistant(layout, *n),
            Self::FromEnd(n) => from_end(layout, *n),
            Self::AfterSystem => at(0),
            Self::Tail | Self::Delta(_) | Self::Auto(_) => tail(layout),
            Self::Sticky(limit) => match memory.stood(layout, has_head).flatten() {
                Some(position) if layout.len() - position <= *limit => at(position),
                Some(_) | None => after_tool_result(layout, STAYING),
            },
            Self::Custom(custom) => at((custom.position)(layout, memory.previous)),
        }
    }
}

fn after_tool_result(layout: &Layout<'_>, n: usize) -> Spot {
    match layout.nth_last(Role::Tool, n) {
        Some(result) => Spot { anchor: Some(result), ..at(result + 1) },
        None => after_last_user(layout),
    }
}

fn before_assistant(layout: &Layout<'_>, n: usize) -> Spot {
    match layout.nth_last(Role::Assistant, n) {
        Some(assistant) => Spot { anchor: Some(assistant), ..at(assistant) },
        None => after_last_user(layout),
    }
}

fn from_end(layout: &Layout<'_>, n: usize) -> Spot {
    match layout.len().checked_sub(n) {
        Some(position) => {
            let anchor = (position < layout.len()).then_some(position);
            Spot { anchor, ..at(position) }
        }
        None => Spot { fallback: Some(Fallback::AtEnd), ..at(layout.len()) },
    }
}

fn tail(layout: &Layout<'_>) -> Spot {
    let question = layout.question();
    Spot { anchor: question, ..at(question.unwrap_or(layout.len())) }
}

fn after_last_user(layout: &Layout<'_>) -> Spot {
    match layout.nth_last(Role::User, 1) {
        Some(user) => {
            Spot { anchor: Some(user), fallback: Some(Fallback::AfterLastUser), ..at(user + 1) }
        }
        None => Spot { fallback: Some(Fallback::AtEnd), ..at(layout.len()) },
    }
}

fn at(position: usize) -> Spot {
    Spot { position, anchor: None, fallback: None }
}

impl fmt::Display for PlacementRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AfterToolResult(n) => write!(f, "after_tool_result({n})"),
            Self::BeforeAssistant(n) => write!(f, "before_assistant({n})"),
            Self::FromEnd(n) => write!(f, "from_end({n})"),
            Self::AfterSystem => f.write_str("after_system"),
            Self::Tail => f.write_str("tail"),
            Self::Sticky(limit) => write!(f, "sticky({limit})"),
            Self::Delta(every) => write!(f, "delta({every})"),
            Self::Auto(near) => write!(f, "auto({near})"),
            Self::Custom(custom) => write!(f, "custom({})", custom.name),
        }
    }
}

impl FromStr for PlacementRule {
    type Err = Error;

    /// Reads `after_tool_result(3)`, `before_assistant(2)`, `from_end(5)`,
    /// `after_system`, `tail`, `sticky(14)`, `delta(24)` or `auto(8)`; `name:n` says the
    /// same as `name(n)`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || {
            Error::settings(format!(
                "{text:?} is not a placement rule: after_tool_result(n), before_assistant(n), \
                 from_end(n), after_system, tail, sticky(n), delta(n) and auto(n) are known"
            ))
        };
        let (name, n) = match (text.split_once('('), text.split_once(':')) {
            (Some((name, n)), _) => {
                (name, Some(n.trim_end().strip_suffix(')').ok_or_else(unknown)?))
            }
            (None, Some((name, n))) => (name, Some(n)),
            (None, None) => (text, None),
        };
        let n = n.map(|n| n.trim().parse::<usize>()).transpose().map_err(|_| unknown())?;
        let rule = match (name.trim(), n) {
            ("after_tool_result", n) => Self::AfterToolResult(n.unwrap_or(RESULTS)),
            ("before_assistant", Some(n)) => Self::BeforeAssistant(n),
            ("from_end", Some(n)) => Self::FromEnd(n),
            ("after_system", None) => Self::AfterSystem,
            ("tail", None) => Self::Tail,
            ("sticky", n) => Self::Sticky(n.unwrap_or(FOLLOWING)),
            ("delta", n) => Self::Delta(n.unwrap_or(CHANGES)),
            ("auto", n) => Self::Auto(n.unwrap_or(NEAR)),
            _ => return Err(unknown()),
        };
        rule.check()?;
        Ok(rule)
    }
}

impl fmt::Debug for CustomRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.name)
    }
}

impl PartialEq for CustomRule {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.position, &other.position)
    }
}
