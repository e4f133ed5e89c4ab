//! Which messages give way to a summary, and which stay (F2).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use interleaf_assemble::Agent;
use interleaf_model::{Blocks, CallId, Message, MessageId, Role};
use serde::Serialize;

use super::CompactionPolicy;

/// What a compaction is planned on.
pub(crate) struct Ground<'a> {
    /// The messages that are visible, in order, also those that the main agent does not hear.
    pub(crate) messages: Vec<&'a Arc<Message>>,
    pub(crate) glances: Vec<Glance>,
    pub(crate) pinned: BTreeSet<MessageId>,
    /// The tokens of each: none, if it is not shown.
    pub(crate) tokens: Vec<Option<u64>>,
    /// Messages that have much to do with the current request, the most first.
    pub(crate) relevant: Vec<MessageId>,
    pub(crate) policy: &'a CompactionPolicy,
}

/// What is asked of a message time and again. It is read once, as the messages of a long
/// conversation lie far apart in memory.
#[derive(Clone, Copy)]
pub(crate) struct Glance {
    pub(crate) role: Role,
    /// Whether the main agent hears it.
    pub(crate) is_heard: bool,
}

impl Glance {
    pub(crate) fn at(message: &Message) -> Self {
        Self { role: message.role(), is_heard: Agent::Main.hears(message) }
    }
}

/// What goes and what stays.
pub(crate) struct Cover {
    /// The positions that give way, ascending.
    pub(crate) gone: Vec<usize>,
    pub(crate) spared: Vec<Spared>,
    /// Those of the newest that could not go either.
    pub(crate) newest: Vec<Spared>,
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
    /// No user has spoken, and this was said last: a request needs something to go on from.
    LatestAnswer,
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
    let (blocks, turns) = (Members::of(messages), turn_starts(&ground.glances));
    let mut spared = spared(ground, &blocks, &turns);
    let is_shown = |at: usize| ground.tokens[at].is_some();
    let tokens = |at: usize| ground.tokens[at].unwrap_or(0);
    let starts = starts(&ground.glances, &turns);
    let floor = floor(ground, &turns, &starts);
    let pinned: u64 = (0..floor).filter(|&at| spared[at].is_some()).map(tokens).sum();
    let newest: u64 = (floor..messages.len()).map(tokens).sum();
    let least = pinned + newest;
    let (mut stays, mut cut) = (least, floor);
    let first_kept = starts.partition_point(|&start| start < floor);
    for &start in starts[..first_kept].iter().rev() {
        let own = (start..cut).filter(|&at| spared[at].is_none()).map(tokens);
        let more: u64 = own.sum();
        if stays + more > room {
            break;
        }
        (stays, cut) = (stays + more, start);
    }
    // A block whose results came late may lie on both sides of the cut.
    for (_, block) in blocks.iter() {
        let goes = |at: usize| at < cut && spared[at].is_none();
        if block.iter().all(|&at| goes(at as usize)) {
            continue;
        }
        for at in block.iter().map(|&at| at as usize) {
            if at < cut && spared[at].is_none() {
                stays += tokens(at);
                spared[at] = Some(SparedCause::Block);
            }
        }
    }
    let gone = (0..cut).filter(|&at| spared[at].is_none() && is_shown(at)).collect();
    let named = |at: usize| Some(Spared { message: messages[at].id.clone(), cause: spared[at]? });
    let left = (0..cut).filter(|&at| is_shown(at)).filter_map(named).collect();
    let newest = (cut..messages.len()).filter(|&at| is_shown(at)).filter_map(named);
    let newest = newest.filter(|spared| protected_name(spared.cause).is_some()).collect();
    Cover { gone, spared: left, newest, stays, least }
}

/// What a message is called that no summary may take from the model.
fn protected_name(cause: SparedCause) -> Option<&'static str> {
    match cause {
        SparedCause::Pinned => Some("pinned message"),
        SparedCause::Open => Some("open call"),
        SparedCause::LatestUser => Some("current request"),
        SparedCause::System
        | SparedCause::Block
        | SparedCause::Unheard
        | SparedCause::LatestAnswer
        | SparedCause::Role
        | SparedCause::UserText
        | SparedCause::Relevant => None,
    }
}

/// The messages that no summary may take from the model, and what they are.
pub(crate) fn protected<'a>(ground: &Ground<'a>) -> Vec<(&'a Arc<Message>, &'static str)> {
    let (blocks, turns) = (Members::of(&ground.messages), turn_starts(&ground.glances));
    let spared = spared(ground, &blocks, &turns).into_iter().enumerate();
    spared.filter_map(|(at, cause)| Some((ground.messages[at], protected_name(cause?)?))).collect()
}

/// For each position, why it stays, if so.
fn spared(ground: &Ground<'_>, blocks: &Members, turns: &[usize]) -> Vec<Option<SparedCause>> {
    let Ground { messages, glances, policy, .. } = ground;
    let mut spared: Vec<Option<SparedCause>> =
        (0..messages.len()).map(|at| own_cause(ground, at)).collect();
    let latest = |by: Role| {
        let speaks = |at: &usize| {
            let Glance { role, is_heard } = glances[*at];
            role == by && is_heard && !messages[*at].is_blank()
        };
        (0..messages.len()).rev().find(speaks)
    };
    if let Some(latest) = latest(Role::User) {
        spared[latest].get_or_insert(SparedCause::LatestUser);
    } else if let Some(latest) = latest(Role::Assistant) {
        spared[latest].get_or_insert(SparedCause::LatestAnswer);
    }
    for (number, block) in blocks.iter() {
        let own = || block.iter().filter_map(|&at| spared[at as usize]);
        let cause = if own().any(|cause| cause == SparedCause::Pinned) {
            SparedCause::Pinned
        } else if !is_answered(ground, blocks, (number, block)) {
            SparedCause::Open
        } else if own().next().is_some() {
            SparedCause::Block
        } else {
            continue;
        };
        block.iter().for_each(|&at| _ = spared[at as usize].get_or_insert(cause));
    }
    if policy.keep_relevant > 0 && !ground.relevant.is_empty() {
        spare_relevant(ground, turns, &mut spared);
    }
    spared
}

/// Whether every call of a tool block has a result in it that is heard.
fn is_answered(ground: &Ground<'_>, blocks: &Members, (number, block): (usize, &[u32])) -> bool {
    let is_heard = |at: &&u32| ground.glances[**at as usize].is_heard;
    // Nearly always each call is answered once, in order.
    if blocks.found.is_answered_in_order(number) && block.iter().all(|at| is_heard(&at)) {
        return true;
    }
    let heard = || block.iter().filter(is_heard).map(|&at| ground.messages[at as usize]);
    let results: BTreeSet<&CallId> =
        heard().filter_map(|message| message.as_result()).map(|result| &result.call).collect();
    heard().flat_map(|message| message.calls()).all(|call| results.contains(&call.id))
}

fn own_cause(ground: &Ground<'_>, at: usize) -> Option<SparedCause> {
    let (policy, Glance { role, is_heard }) = (ground.policy, ground.glances[at]);
    if !is_heard {
        Some(SparedCause::Unheard)
    } else if role == Role::System {
        Some(SparedCause::System)
    } else if !ground.pinned.is_empty() && ground.pinned.contains(&ground.messages[at].id) {
        Some(SparedCause::Pinned)
    } else if policy.keep_user_texts && role == Role::User {
        Some(SparedCause::UserText)
    } else {
        policy.keep_roles.contains(&role).then_some(SparedCause::Role)
    }
}

/// Spares the turns of the messages that have most to do with the current request.
fn spare_relevant(ground: &Ground<'_>, turns: &[usize], spared: &mut [Option<SparedCause>]) {
    let messages = &ground.messages;
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

/// Where turns begin: where a user speaks after another. What is said to a sub-agent begins
/// none.
fn turn_starts(glances: &[Glance]) -> Vec<usize> {
    let (mut starts, mut was_user) = (Vec::new(), false);
    for (at, glance) in glances.iter().enumerate() {
        if at > 0 && !glance.is_heard {
            continue;
        }
        let is_user = glance.role == Role::User;
        if at == 0 || is_user && !was_user {
            starts.push(at);
        }
        was_user = is_user;
    }
    starts
}

/// Where units begin: turns, and in the running turn steps.
fn starts(glances: &[Glance], turns: &[usize]) -> Vec<usize> {
    let mut starts = turns.to_vec();
    let running = starts.last().copied().unwrap_or(0);
    starts.extend(steps(glances, running));
    starts.dedup();
    starts
}

/// Where the steps of a turn begin.
fn steps(glances: &[Glance], turn: usize) -> impl Iterator<Item = usize> {
    let is_step = |glance: Glance| glance.role == Role::Assistant && glance.is_heard;
    (turn + 1..glances.len()).filter(move |&at| is_step(glances[at]))
}

/// From here on all stays.
fn floor(ground: &Ground<'_>, turns: &[usize], starts: &[usize]) -> usize {
    let (glances, policy) = (&ground.glances, ground.policy);
    let running = turns.last().copied().unwrap_or(0);
    if policy.keep_turns > 0 {
        let first = turns.len().saturating_sub(policy.keep_turns).saturating_sub(1);
        return turns.get(first).copied().unwrap_or(0);
    }
    let steps: Vec<usize> = steps(glances, running).collect();
    match policy.keep_steps.min(steps.len()) {
        0 => glances.len(),
        kept if kept == steps.len() => running,
        kept => {
            let first = steps[steps.len() - kept];
            starts.iter().copied().find(|&start| start >= first).unwrap_or(first)
        }
    }
}

/// The positions of the messages of each tool block, ascending, all in one list.
struct Members {
    found: Blocks,
    positions: Vec<u32>,
    /// Where each block ends in it.
    ends: Vec<usize>,
}

impl Members {
    fn of(messages: &[&Arc<Message>]) -> Self {
        let found = Blocks::find(messages.iter().copied());
        let mut ends = vec![0; found.count()];
        found.members().for_each(|(_, block)| ends[block] += 1);
        let mut next = 0;
        for end in &mut ends {
            // First where a block begins; it ends where its last position is put.
            (*end, next) = (next, next + *end);
        }
        let mut positions = vec![0; next];
        for (position, block) in found.members() {
            positions[ends[block]] = position as u32;
            ends[block] += 1;
        }
        Self { found, positions, ends }
    }

    /// Each block with its number; none is empty.
    fn iter(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.positions[begin..end]).enumerate()
    }
}
