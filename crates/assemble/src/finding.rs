//! What a step changed, and why.

use std::fmt;

use interleaf_model::MessageId;
use serde::Serialize;

/// How many messages of a run are named one by one.
const NAMED: usize = 12;

/// One thing that a step did to a message, or to each of a run of messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// What was done.
    pub kind: FindingKind,
    /// To which message; of a run, the first.
    pub message: MessageId,
    /// The messages of a run between the first and the last, while there are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<MessageId>,
    /// The last message of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<MessageId>,
    /// How many messages it is about.
    #[serde(skip_serializing_if = "is_one")]
    pub count: usize,
    /// Why.
    pub cause: Cause,
    /// Particulars, such as an id or a count; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The tokens before and after, if that is its detail: a run has their sums.
    #[serde(skip)]
    tokens: Option<(u64, u64)>,
}

impl Finding {
    /// The messages that are named: all of a short run, the ends of a long one.
    pub fn messages(&self) -> impl Iterator<Item = &MessageId> {
        std::iter::once(&self.message).chain(&self.between).chain(&self.through)
    }

    /// The messages by their ids: `m1, m2`, or of a long run its ends, `m1 … m40 (40)`.
    pub fn names(&self) -> String {
        let ids: Vec<&str> = self.messages().map(MessageId::as_str).collect();
        match ids.as_slice() {
            [first, .., last] if ids.len() < self.count => {
                format!("{first} … {last} ({})", self.count)
            }
            ids => ids.join(", "),
        }
    }

    /// Takes another finding into the run, if it says the same.
    fn join(&mut self, next: &Self) -> bool {
        let is_plain = |finding: &Self| finding.detail.is_empty() || finding.tokens.is_some();
        let says_the_same = (self.kind, self.cause) == (next.kind, next.cause)
            && self.tokens.is_some() == next.tokens.is_some()
            && is_plain(self)
            && is_plain(next);
        if !says_the_same {
            return false;
        }
        self.count += next.count;
        let last = self.through.replace(next.through.as_ref().unwrap_or(&next.message).clone());
        if self.count > NAMED {
            self.between.clear();
        } else {
            self.between.extend(last);
            if next.through.is_some() {
                self.between.push(next.message.clone());
                self.between.extend_from_slice(&next.between);
            }
        }
        if let (Some((before, after)), Some((more, left))) = (&mut self.tokens, next.tokens) {
            *before += more;
            *after += left;
        }
        true
    }
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

/// What was done to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// It is not in the request.
    Dropped,
    /// It stands elsewhere.
    Moved,
    /// It was not in the conversation.
    Made,
    /// It is shown otherwise than it was said.
    Altered,
    /// It stayed, though it was to go.
    Spared,
    /// Nothing; the caller should know.
    Warned,
}

/// Why a step did what it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// The summary stands for it.
    Summarised,
    /// The message with which the summary begins is not in the view.
    SummaryStartGone,
    /// Nothing that the summary covers may be swallowed.
    SummaryStandsForNothing,
    /// The latest user message is never summarised.
    LatestUser,
    /// A sub-agent's task is never summarised.
    Task,
    /// Pinned messages, and the tool block around one, are never summarised or left out.
    Pinned,
    /// A tool block is summarised whole or not at all, and only when it is answered.
    BlockNotCovered,
    /// System messages are never summarised.
    SystemMessage,
    /// It says nothing.
    Blank,
    /// A line of it looks like one of the engine's own.
    LookAlike,
    /// It is internal to another agent.
    OtherAgent,
    /// It is the program's own note.
    Internal,
    /// Its call is not in the conversation.
    NoCall,
    /// Its call has a result already.
    SecondResult,
    /// It did not stand at its place after its call.
    NotAtItsCall,
    /// Its calls were made beside those of the message before it, and stand there.
    ParallelCalls,
    /// The call has no result.
    NoResult,
    /// The call was cut off, and so not run.
    CallCutOff,
    /// The call names no tool.
    NoToolName,
    /// Its call id was used before.
    CallIdReused,
    /// A conversation must be opened by a user message.
    NoUserBefore,
    /// System messages stand at the head.
    SystemToHead,
    /// The target takes a system message in its place.
    SystemInPlace,
    /// The target takes no system message in its place.
    SystemAsText,
    /// There is no system prompt, so the role definition takes its place.
    RoleAsSystem,
    /// It is longer than a single result may be.
    LongResult,
    /// The request does not fit the window, and the call is old.
    LongArguments,
    /// The request does not fit the window.
    Budget,
    /// Its part of the request would take more than it may.
    Share,
    /// The tool loop that is running is cut off from the thinking that it began with.
    ThinkingLeftOut,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Dropped => "dropped",
            Self::Moved => "moved",
            Self::Made => "made",
            Self::Altered => "altered",
            Self::Spared => "spared",
            Self::Warned => "warned",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Summarised => "the summary stands for it",
            Self::SummaryStartGone => {
                "the message with which the summary begins is not in the view: sent without the summary"
            }
            Self::SummaryStandsForNothing => {
                "nothing that the summary covers may be left out: sent without the summary"
            }
            Self::LatestUser => "the latest user message is never summarised",
            Self::Task => "a sub-agent's task is never summarised",
            Self::Pinned => "it is pinned, or in a tool block with a pinned message",
            Self::BlockNotCovered => {
                "a tool block is summarised whole, and only once it is answered"
            }
            Self::SystemMessage => "system messages are never summarised",
            Self::Blank => "it says nothing",
            Self::LookAlike => {
                "a line of it looks like one of the engine's own: a backslash goes before it"
            }
            Self::OtherAgent => "it is internal to another agent",
            Self::Internal => "it is the program's own note",
            Self::NoCall => "its call is not in the conversation",
            Self::SecondResult => "its call already has a result",
            Self::NotAtItsCall => "it was not in its place after its call",
            Self::ParallelCalls => {
                "its calls were made beside those of the message before it, and stand there"
            }
            Self::NoResult => "no result was recorded for the call",
            Self::CallCutOff => "the call was cut off, and so not run",
            Self::NoToolName => "the call names no tool",
            Self::CallIdReused => "its call id was used before",
            Self::NoUserBefore => "there was no user message before the first assistant message",
            Self::SystemToHead => "system messages are joined at the head",
            Self::SystemInPlace => "the target takes a system message here: it stays in its place",
            Self::SystemAsText => {
                "the target takes no system message here: it stays in its place as a text"
            }
            Self::RoleAsSystem => {
                "there is no system prompt: the role definition is the system message"
            }
            Self::LongResult => "it is longer than a single tool result may be",
            Self::LongArguments => {
                "the request would not fit the window, and its arguments are long and old"
            }
            Self::Budget => "the request would not fit the window",
            Self::Share => "its part of the request would take more than it may",
            Self::ThinkingLeftOut => {
                "the running tool loop begins here now, after its thinking: some models go on without thinking"
            }
        })
    }
}

/// Where a step puts what it found. Neighbours that say the same become one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    pub(crate) fn add(&mut self, kind: FindingKind, message: &MessageId, cause: Cause) {
        self.add_with(kind, message, cause, String::new());
    }

    pub(crate) fn add_with(
        &mut self,
        kind: FindingKind,
        message: &MessageId,
        cause: Cause,
        detail: String,
    ) {
        self.push(&one(kind, message, cause, detail, None));
    }

    /// A message that takes fewer tokens now.
    pub(crate) fn add_tokens(&mut self, message: &MessageId, cause: Cause, tokens: (u64, u64)) {
        self.push(&one(FindingKind::Altered, message, cause, String::new(), Some(tokens)));
    }

    /// A text that is not shown, with what it takes.
    pub(crate) fn add_dropped(&mut self, message: &MessageId, cause: Cause, tokens: u64) {
        self.push(&one(FindingKind::Dropped, message, cause, String::new(), Some((tokens, 0))));
    }

    /// Forgets what was found of other messages.
    pub(crate) fn retain(&mut self, keep: impl Fn(&MessageId) -> bool) {
        self.0.retain(|finding| keep(&finding.message));
    }

    /// Adds what was found further on. Whether the parts were joined before makes no
    /// difference.
    pub(crate) fn extend(&mut self, later: &Self) {
        later.0.iter().for_each(|finding| self.push(finding));
    }

    fn push(&mut self, finding: &Finding) {
        if !self.0.last_mut().is_some_and(|last| last.join(finding)) {
            self.0.push(finding.clone());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The findings, with their particulars in words.
    pub(crate) fn into_list(mut self) -> Vec<Finding> {
        for finding in &mut self.0 {
            if let Some((before, after)) = finding.tokens {
                finding.detail = format!("{before} tokens, {after} of them stay");
            }
        }
        self.0
    }
}

fn one(
    kind: FindingKind,
    message: &MessageId,
    cause: Cause,
    detail: String,
    tokens: Option<(u64, u64)>,
) -> Finding {
    let message = message.clone();
    Finding { kind, message, between: Vec::new(), through: None, count: 1, cause, detail, tokens }
}
