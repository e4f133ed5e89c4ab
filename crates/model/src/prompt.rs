//! The prompt: a request in neutral form that is known to be valid.
//!
//! A [`Prompt`] can only be made by [`Prompt::check`], so whoever holds one may
//! rely on every [`Law`] (B6). Each entry knows where it came from.

use hashbrown::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::{
    Body, CallId, ContentPart, Message, MessageId, Parts, Requirements, Role, Settled,
    SystemInPlace, Tool,
};

/// A valid request, not yet in any vendor's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What stands between the system head and the rest, if the prompt continues
    /// another.
    settled: Option<Arc<Settled>>,
    entries: Vec<Entry>,
    context: Option<Range<usize>>,
    tools: Arc<[Tool]>,
    requires: Requirements,
}

/// A message of a request, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What is sent.
    pub message: Arc<Message>,
    /// Where it came from.
    pub provenance: Provenance,
}

/// Where a message of a request came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provenance {
    /// The conversation, as it was said.
    Original,
    /// The conversation, but shown otherwise than it was said: shortened, cleared,
    /// renamed. The log keeps the original under the same id.
    Altered,
    /// The system prompts, joined.
    System,
    /// A summary of messages that are not sent.
    Summary,
    /// A context source, made fresh for this request.
    Context(ContextKind),
    /// A context source, said once: it stays where it was shown.
    Element(ContextKind),
    /// A message with texts of the engine's at its end (C16).
    Carrying(Arc<Carrying>),
    /// Made to mend the history: a result that was never recorded, or a user turn
    /// that must open the conversation.
    Made,
    /// A notice that messages were left out.
    Notice,
}

/// A message that carries texts of the engine's: each is a part at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Carrying {
    /// Where the message itself came from.
    pub bearer: Provenance,
    /// The texts, in order.
    pub texts: Vec<Carried>,
}

/// A text at the end of a message that is not a part of what was said there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Carried {
    /// A context source, made fresh for this request.
    Context(ContextKind),
    /// A context source, said once: it stays where it was shown.
    Element(ContextKind),
    /// A system message of the conversation.
    System,
}

/// How many texts messages carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CarriedTexts {
    /// Of the context.
    pub context: usize,
    /// System messages.
    pub system: usize,
}

impl std::iter::Sum for CarriedTexts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self {
            context: a.context + b.context,
            system: a.system + b.system,
        })
    }
}

impl Carrying {
    /// A message from `bearer` with these texts at its end.
    pub fn new(bearer: Provenance, texts: Vec<Carried>) -> Self {
        Self { bearer, texts }
    }
}

impl Provenance {
    /// Whether it is, or carries, context that was made fresh for this request.
    pub fn is_fresh_context(&self) -> bool {
        match self {
            Self::Context(_) => true,
            Self::Carrying(carrying) => {
                carrying.texts.iter().any(|text| matches!(text, Carried::Context(_)))
            }
            Self::Original
            | Self::Altered
            | Self::System
            | Self::Summary
            | Self::Element(_)
            | Self::Made
            | Self::Notice => false,
        }
    }
}

/// What a context message is about. The order of the variants is the order in
/// which they are sent (C1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// The agent's role definition.
    Role,
    /// The TODO list.
    Todo,
    /// Useful information.
    Info,
    /// Folder notes.
    Notes,
    /// A further source, by name; these keep the order in which they are given.
    Other(SmolStr),
}

/// What is always true of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Law {
    /// There is a message beside the system's.
    NotEmpty,
    /// System messages stand at the head: the prompt, then a summary. Elsewhere only where
    /// the target takes one.
    SystemAtHead,
    /// A user message stands before the first assistant message.
    UserFirst,
    /// A tool result stands in the block of the assistant message that called it,
    /// never at the head.
    ResultAfterCall,
    /// Every call has its result, in the order of the calls, with nothing between.
    EveryCallAnswered,
    /// No call id occurs twice.
    UniqueCallIds,
    /// The context block is contiguous and stands outside every tool block, or one message
    /// carries all of it.
    ContextTogether,
    /// The last message is not the assistant's, if the target takes no prefill.
    NoTrailingAssistant,
    /// Every user message says something, if the target asks for that.
    NoBlankUser,
    /// What continues settled turns begins with the assistant's: their last turn is
    /// the user's, and it is whole.
    SettledTurns,
}

/// A message that breaks a law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// The place in the request; absent if nothing is there.
    pub index: Option<usize>,
    /// The message at that place.
    pub message: Option<MessageId>,
}

impl Prompt {
    /// Makes a prompt of these entries, if they keep every law and suit every API.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(entries: Vec<Entry>, tools: Arc<[Tool]>) -> Result<Self, Violation> {
        Self::check_for(Requirements::STRICT, entries, tools)
    }

    /// Makes a prompt of these entries, if they keep every law and what a target
    /// requires.
    ///
    /// # Errors
    /// The first violation.
    pub fn check_for(
        requires: Requirements,
        entries: Vec<Entry>,
        tools: Arc<[Tool]>,
    ) -> Result<Self, Violation> {
        Self::check_after(None, requires, entries, tools)
    }

    fn check_after(
        settled: Option<Arc<Settled>>,
        requires: Requirements,
        entries: Vec<Entry>,
        tools: Arc<[Tool]>,
    ) -> Result<Self, Violation> {
        let broken = |law, index: usize| Violation {
            law,
            index: Some(index),
            message: entries.get(index).map(|entry| entry.message.id.clone()),
        };
        let head = entries.iter().take_while(|entry| entry.is_head()).count();
        let says_nothing = head == entries.len() && settled.is_none();
        if says_nothing && (requires.beside_system || head == 0) {
            return Err(Violation { law: Law::NotEmpty, index: None, message: None });
        }
        check_head(&entries[..head]).map_err(|index| broken(Law::SystemAtHead, index))?;
        let next = entries.get(head).map(|entry| entry.message.role());
        if settled.is_some() && next.is_some_and(|role| role != Role::Assistant) {
            return Err(broken(Law::SettledTurns, head));
        }
        let user_seen = settled.is_some() || !requires.user_first;
        check_turns(&entries, head, user_seen, requires.system_in_place)
            .map_err(|(law, index)| broken(law, index))?;
        check_target(&entries, requires).map_err(|(law, index)| broken(law, index))?;
        let context = context_of(&entries).map_err(|index| broken(Law::ContextTogether, index))?;
        Ok(Self { settled, entries, context, tools, requires })
    }

    /// Makes a prompt that continues settled turns: `entries` are the system head and
    /// what comes after them. Only they are checked.
    ///
    /// # Errors
    /// The first violation.
    pub fn check_continued(
        settled: Arc<Settled>,
        requires: Requirements,
        entries: Vec<Entry>,
        tools: Arc<[Tool]>,
    ) -> Result<Self, Violation> {
        Self::check_after(Some(settled), requires, entries, tools)
    }

    /// What it is said to keep. Who calls this has seen to the rest.
    pub(crate) fn require(&mut self, requires: Requirements) {
        self.requires = requires;
    }

    /// The messages, in order, each with its provenance; without the settled ones, if
    /// the prompt continues such.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The settled turns that it continues.
    pub fn settled(&self) -> Option<&Arc<Settled>> {
        self.settled.as_ref()
    }

    /// The same prompt with every message in one list.
    pub fn whole(&self) -> Self {
        let Some(settled) = &self.settled else { return self.clone() };
        let head = self.entries.iter().take_while(|entry| entry.is_head()).count();
        let mut entries: Vec<Entry> = self.entries[..head].to_vec();
        entries.extend(settled.entries().cloned());
        entries.extend_from_slice(&self.entries[head..]);
        let context = self.context.clone();
        let context = context.map(|c| c.start + settled.len()..c.end + settled.len());
        Self { settled: None, entries, context, ..self.clone() }
    }

    /// The messages, in order; without the settled ones, if the prompt continues such.
    pub fn messages(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.entries.iter().map(|entry| &entry.message)
    }

    /// Where the context block stands in [`entries`](Self::entries), if there is one.
    pub fn context(&self) -> Option<Range<usize>> {
        self.context.clone()
    }

    /// The tools that the model may call.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// What the target requires that it was made for.
    pub fn requirements(&self) -> Requirements {
        self.requires
    }

    /// The suggested cache breakpoint: the last message before the context block,
    /// which is the last that the next request repeats for certain (C11). Without
    /// a context block, the last message.
    pub fn breakpoint(&self) -> Option<usize> {
        self.context.as_ref().map_or(self.entries.len(), |context| context.start).checked_sub(1)
    }
}

impl Entry {
    /// Whether it belongs to the system head.
    pub(crate) fn is_head(&self) -> bool {
        self.message.role() == Role::System
    }

    /// How many texts it carries.
    pub fn carried(&self) -> CarriedTexts {
        let Provenance::Carrying(carrying) = &self.provenance else { return Default::default() };
        let is_system = |text: &&Carried| matches!(text, Carried::System);
        let system = carrying.texts.iter().filter(is_system).count();
        CarriedTexts { context: carrying.texts.len() - system, system }
    }

    /// The message without what it carries, then each text that it carries as a message of
    /// its own under the same id; nothing, if it carries none.
    pub fn apart(&self) -> Option<Vec<Self>> {
        let Provenance::Carrying(carrying) = &self.provenance else { return None };
        let n = carrying.texts.len();
        let mut message = Message::clone(&self.message);
        let parts = match &mut message.body {
            Body::User(parts) => parts,
            Body::Tool(result) => &mut result.parts,
            Body::System(_) | Body::Assistant(_) => return None,
        };
        let (own, carried) = parts.split_at(parts.len().checked_sub(n)?);
        let text = |(text, part): (&Carried, &ContentPart)| {
            let provenance = match text {
                Carried::Context(kind) => Provenance::Context(kind.clone()),
                Carried::Element(kind) => Provenance::Element(kind.clone()),
                Carried::System => Provenance::Altered,
            };
            let message = Message::from(Body::User(Parts::one(part.clone())));
            Self { message: message.with_id(self.message.id.clone()).into(), provenance }
        };
        let texts: Vec<Self> = carrying.texts.iter().zip(carried).map(text).collect();
        *parts = Parts::new(own.to_vec()).ok()?;
        let own = Self { message: message.into(), provenance: carrying.bearer.clone() };
        Some(std::iter::once(own).chain(texts).collect())
    }

    /// Whether it carries nothing, or is a message that can: a user's or a tool's, with a text
    /// for each that it carries.
    fn may_carry(&self) -> bool {
        let Provenance::Carrying(carrying) = &self.provenance else { return true };
        let parts = match &self.message.body {
            Body::User(parts) => parts,
            Body::Tool(result) => &result.parts,
            Body::System(_) | Body::Assistant(_) => return false,
        };
        let n_texts = parts.iter().rev().take_while(|part| part.as_text().is_some()).count();
        !carrying.texts.is_empty()
            && n_texts >= carrying.texts.len()
            && parts.len() > carrying.texts.len()
    }
}

/// The head is at most one system prompt and one summary.
fn check_head(head: &[Entry]) -> Result<(), usize> {
    let mut rest = head.iter().enumerate().peekable();
    rest.next_if(|(_, entry)| entry.provenance != Provenance::Summary);
    rest.next_if(|(_, entry)| entry.provenance == Provenance::Summary);
    match rest.next() {
        Some((index, _)) => Err(index),
        None => Ok(()),
    }
}

fn check_turns(
    entries: &[Entry],
    head: usize,
    mut user_seen: bool,
    system_in_place: SystemInPlace,
) -> Result<(), (Law, usize)> {
    let mut ids: HashSet<&CallId> = HashSet::with_capacity(entries.len() / 2);
    let mut at = head;
    while let Some(entry) = entries.get(at) {
        let message = &entry.message;
        match message.role() {
            Role::System => {
                let spoken =
                    |entry: &Entry| Some(entry.message.role()).filter(|&r| r != Role::System);
                let before = entries[head..at].iter().rev().find_map(spoken);
                let after = entries[at..].iter().find_map(spoken);
                if !system_in_place.takes(before, after) {
                    return Err((Law::SystemAtHead, at));
                }
            }
            Role::Tool => return Err((Law::ResultAfterCall, at)),
            Role::User => user_seen = true,
            Role::Assistant if !user_seen => return Err((Law::UserFirst, at)),
            Role::Assistant => {
                let opener = at;
                for call in message.calls() {
                    if !ids.insert(&call.id) {
                        return Err((Law::UniqueCallIds, opener));
                    }
                    let result = entries.get(at + 1).and_then(|next| next.message.as_result());
                    if result.is_none_or(|result| result.call != call.id) {
                        return Err((Law::EveryCallAnswered, opener));
                    }
                    at += 1;
                }
            }
        }
        at += 1;
    }
    Ok(())
}

/// What the target asks for beside the order of the turns.
fn check_target(entries: &[Entry], requires: Requirements) -> Result<(), (Law, usize)> {
    if let Some(last) = entries.len().checked_sub(1)
        && requires.no_trailing_assistant
        && entries[last].message.role() == Role::Assistant
    {
        return Err((Law::NoTrailingAssistant, last));
    }
    let is_blank = |entry: &Entry| entry.message.role() == Role::User && entry.message.is_blank();
    match entries.iter().position(is_blank).filter(|_| requires.no_blank_user) {
        Some(blank) => Err((Law::NoBlankUser, blank)),
        None => Ok(()),
    }
}

/// The run of context messages, or the message that carries them. Results follow their calls
/// directly, so nothing that is contiguous and made of user and system messages can stand
/// inside a block.
fn context_of(entries: &[Entry]) -> Result<Option<Range<usize>>, usize> {
    if let Some(misplaced) = entries.iter().position(|entry| !entry.may_carry()) {
        return Err(misplaced);
    }
    let is_context = |entry: &Entry| entry.provenance.is_fresh_context();
    let is_apart = |entry: &Entry| matches!(entry.provenance, Provenance::Context(_));
    let Some(start) = entries.iter().position(is_context) else { return Ok(None) };
    let len = entries[start..].iter().take_while(|entry| is_apart(entry)).count().max(1);
    let end = start + len;
    let stray = entries[end..].iter().position(is_context).map(|at| end + at);
    let is_foreign = |at: &usize| {
        let role = entries[*at].message.role();
        is_apart(&entries[*at]) && !matches!(role, Role::User | Role::System)
    };
    match stray.or((start..end).find(is_foreign)) {
        Some(index) => Err(index),
        None => Ok(Some(start..end)),
    }
}

impl ContextKind {
    /// The kind's name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Role => "role",
            Self::Todo => "todo",
            Self::Info => "info",
            Self::Notes => "notes",
            Self::Other(name) => name,
        }
    }

    /// The place of the kind in the block; further sources share the last one.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Role => 0,
            Self::Todo => 1,
            Self::Info => 2,
            Self::Notes => 3,
            Self::Other(_) => 4,
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotEmpty => "a request needs at least one message that is not a system message",
            Self::SystemAtHead => {
                "system messages must be at the head, or where the target takes one"
            }
            Self::UserFirst => "a user message must come before the first assistant message",
            Self::ResultAfterCall => "a tool result must be in the block of its call",
            Self::EveryCallAnswered => {
                "every call must be followed by its result, in the order of the calls"
            }
            Self::UniqueCallIds => "no call id may appear twice",
            Self::ContextTogether => {
                "the context block must be one run of messages outside every tool block, or the end \
                 of one user message or tool result"
            }
            Self::NoTrailingAssistant => {
                "the last message must not be an assistant message: this model takes no prefill"
            }
            Self::NoBlankUser => "a user message must say something",
            Self::SettledTurns => {
                "what continues settled turns must begin with an assistant message"
            }
        })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.index, &self.message) {
            (Some(index), Some(id)) => write!(f, "message {index} ({id}): {}", self.law),
            (Some(index), None) => write!(f, "message {index}: {}", self.law),
            (None, _) => write!(f, "{}", self.law),
        }
    }
}

impl std::error::Error for Violation {}
