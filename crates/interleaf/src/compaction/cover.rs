//! Which messages give way to a summary, and which stay (F2).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use interleaf_assemble::Agent;
use interleaf_model::{Blocks, CallId, Message, MessageId, Role};
use serde::Serialize;

use super::CompactionPolicy;

/// What a compaction is planned on.
pub(crate) struct Ground<'a> {
    /// The messages that are visible, in order.
    pub(crate) messages: Vec<&'a Arc<Message>>,
    /// Whose request it is: what it does not hear is not shown to it.
    pub(crate) agent: &'a Agent,
    pub(crate) pinned: BTreeSet<MessageId>,
    /// The tokens of each: none, if it is not shown.
    pub(crate) tokens: Vec<Option<u64>>,
    /// Messages that have much to do with the current request, the most first.
    pub(crate) relevant: Vec<MessageId>,
    /// A sub-agent's task.
    pub(crate) task: Option<MessageId>,
    pub(crate) policy: &'a CompactionPolicy,
}

/// What goes and what stays.
pub(crate) struct Cover {
    /// The positions that give way, ascending.
    pub(crate) gone: Vec<usize>,
    pub(crate) spared: Vec<Spared>,
    /// The tokens of the messages that stay.
    pub(crate) stays: u64,
    /// The tokens of those that may not go, whatever the room.
    pub(crate) least: u64,
}

/// A message that stays among those that give way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spared {
    /// Which.
    pub message: MessageId,
    /// Why.
    pub cause: SparedCause,
}

/// Why a message stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SparedCause {
    /// It is a system message.
    System,
    /// It is pinned, or in a tool block with one that is.
    Pinned,
    /// A call of its tool block has no result yet.
    Open,
    /// Another message of its tool block stays.
    Block,
    /// Another agent's: it is not shown to this one.
    Unheard,
    /// The user said it last.
    LatestUser,
    /// It is the task of the sub-agent.
    Task,
    /// The policy keeps its role.
    Role,
    /// The policy keeps what users said.
    UserText,
    /// Its turn has much to do with the current request.
    Relevant,
}

/// Which messages give way, so that those that stay take no more than the room, as far as they
/// may go. The oldest go first: whole turns, and of the running turn its oldest steps.
pub(crate) fn cover(ground: &Ground<'_>, room: u64) -> Cover {
    let messages = &ground.messages;
    let blocks = Blocks::find(messages.iter().copied()).positions();
    let (mut spared, mut cut_off) = (spared(ground, &blocks), Vec::new());
    let is_shown = |at: usize| ground.tokens[at].is_some();
    let tokens = |at: usize| ground.tokens[at].unwrap_or(0);
    let starts = starts(messages);
    let floor = floor(ground, &starts);
    let pinned: u64 = (0..floor).filter(|&at| spared[at].is_some()).map(tokens).sum();
    let newest: u64 = (floor..messages.len()).map(tokens).sum();
    let least = pinned + newest;
    let (mut stays, mut cut) = (least, floor);
    let units: Vec<usize> = starts.iter().copied().filter(|&start| start < floor).collect();
    for start in units.into_iter().rev() {
        let own = (start..cut).filter(|&at| spared[at].is_none()).map(tokens);
        let more: u64 = own.sum();
        if stays + more > room {
            break;
        }
        (stays, cut) = (stays + more, start);
    }
    let goes = |at: usize| at < cut && spared[at].is_none();
    // A block whose results came late may lie on both sides of the cut.
    for block in blocks.iter().filter(|block| block.iter().any(|&at| !goes(at))) {
        for &at in block.iter().filter(|&&at| goes(at)) {
            stays += tokens(at);
            cut_off.push(at);
        }
    }
    for at in cut_off {
        spared[at] = Some(SparedCause::Block);
    }
    let gone = (0..cut).filter(|&at| spared[at].is_none() && is_shown(at)).collect();
    let left = (0..cut).filter(|&at| is_shown(at));
    let left =
        left.filter_map(|at| Some(Spared { message: messages[at].id.clone(), cause: spared[at]? }));
    Cover { gone, spared: left.collect(), stays, least }
}

/// The messages that no summary may take from the model, and what they are.
pub(crate) fn protected<'a>(ground: &Ground<'a>) -> Vec<(&'a Arc<Message>, &'static str)> {
    let blocks = Blocks::find(ground.messages.iter().copied()).positions();
    let named = spared(ground, &blocks).into_iter().enumerate().filter_map(|(at, cause)| {
        let name = match cause? {
            SparedCause::Pinned => "pinned message",
            SparedCause::Open => "open call",
            SparedCause::LatestUser => "current request",
            SparedCause::System
            | SparedCause::Block
            | SparedCause::Unheard
            | SparedCause::Task
            | SparedCause::Role
            | SparedCause::UserText
            | SparedCause::Relevant => return None,
        };
        Some((ground.messages[at], name))
    });
    named.collect()
}

/// For each position, why it stays, if so.
fn spared(ground: &Ground<'_>, blocks: &[Vec<usize>]) -> Vec<Option<SparedCause>> {
    let (messages, policy) = (&ground.messages, ground.policy);
    let mut spared: Vec<Option<SparedCause>> =
        messages.iter().map(|m| own_cause(ground, m)).collect();
    let speaks = |message: &&Arc<Message>| is_spoken(message) && ground.agent.hears(message);
    if let Some(latest) = messages.iter().rposition(speaks) {
        spared[latest].get_or_insert(SparedCause::LatestUser);
    }
    for block in blocks {
        let has_pin = block.iter().any(|&at| spared[at] == Some(SparedCause::Pinned));
        let heard = block.iter().map(|&at| &**messages[at]);
        let heard = heard.filter(|message| ground.agent.hears(message));
        let cause = if has_pin {
            SparedCause::Pinned
        } else if !is_answered(heard) {
            SparedCause::Open
        } else if block.iter().any(|&at| spared[at].is_some()) {
            SparedCause::Block
        } else {
            continue;
        };
        block.iter().for_each(|&at| spared[at] = spared[at].or(Some(cause)));
    }
    if policy.keep_relevant > 0 && !ground.relevant.is_empty() {
        spare_relevant(ground, &mut spared);
    }
    spared
}

/// Whether every call of a tool block has a result in it.
fn is_answered<'a>(block: impl Iterator<Item = &'a Message> + Clone) -> bool {
    let results = block.clone().filter_map(Message::as_result);
    let results: BTreeSet<&CallId> = results.map(|result| &result.call).collect();
    block.flat_map(Message::calls).all(|call| results.contains(&call.id))
}

fn own_cause(ground: &Ground<'_>, message: &Message) -> Option<SparedCause> {
    let (policy, role) = (ground.policy, message.role());
    if !ground.agent.hears(message) {
        Some(SparedCause::Unheard)
    } else if role == Role::System {
        Some(SparedCause::System)
    } else if ground.pinned.contains(&message.id) {
        Some(SparedCause::Pinned)
    } else if ground.task.as_ref() == Some(&message.id) {
        Some(SparedCause::Task)
    } else if policy.keep_user_texts && role == Role::User {
        Some(SparedCause::UserText)
    } else {
        policy.keep_roles.contains(&role).then_some(SparedCause::Role)
    }
}

/// Spares the turns of the messages that have most to do with the current request.
fn spare_relevant(ground: &Ground<'_>, spared: &mut [Option<SparedCause>]) {
    let messages = &ground.messages;
    let turns = turn_starts(messages);
    let places: HashMap<&MessageId, usize> =
        messages.iter().enumerate().map(|(at, message)| (&message.id, at)).collect();
    let mut chosen = BTreeSet::new();
    let turn_of = |at: &usize| turns.partition_point(|start| start <= at).checked_sub(1);
    let relevant = ground.relevant.iter().filter_map(|id| turn_of(places.get(id)?));
    // The running turn has to do with itself.
    for turn in relevant.filter(|turn| turn + 1 < turns.len()) {
        if chosen.len() < ground.policy.keep_relevant {
            chosen.insert(turn);
        }
    }
    for turn in chosen {
        let end = turns.get(turn + 1).copied().unwrap_or(messages.len());
        for cause in &mut spared[turns[turn]..end] {
            cause.get_or_insert(SparedCause::Relevant);
        }
    }
}

fn is_spoken(message: &Message) -> bool {
    message.role() == Role::User && !message.is_blank()
}

/// Where turns begin: where a user speaks after another.
fn turn_starts(messages: &[&Arc<Message>]) -> Vec<usize> {
    let is_user = |at: usize| messages[at].role() == Role::User;
    let begins = |at: &usize| *at == 0 || is_user(*at) && !is_user(*at - 1);
    (0..messages.len()).filter(begins).collect()
}

/// Where units begin: turns, and in the running turn steps.
fn starts(messages: &[&Arc<Message>]) -> Vec<usize> {
    let mut starts = turn_starts(messages);
    let running = starts.last().copied().unwrap_or(0);
    starts.extend(steps(messages, running));
    starts.dedup();
    starts
}

/// Where the steps of a turn begin.
fn steps<'a>(messages: &'a [&Arc<Message>], turn: usize) -> impl Iterator<Item = usize> + 'a {
    (turn + 1..messages.len()).filter(|&at| messages[at].role() == Role::Assistant)
}

/// From here on all stays.
fn floor(ground: &Ground<'_>, starts: &[usize]) -> usize {
    let (messages, policy) = (&ground.messages, ground.policy);
    let turns = turn_starts(messages);
    let running = turns.last().copied().unwrap_or(0);
    if policy.keep_turns > 0 {
        let first = turns.len().saturating_sub(policy.keep_turns + 1);
        return turns.get(first).copied().unwrap_or(0);
    }
    let steps: Vec<usize> = steps(messages, running).collect();
    match policy.keep_steps.min(steps.len()) {
        0 => messages.len(),
        kept if kept == steps.len() => running,
        kept => {
            let first = steps[steps.len() - kept];
            starts.iter().copied().find(|&start| start >= first).unwrap_or(first)
        }
    }
}
