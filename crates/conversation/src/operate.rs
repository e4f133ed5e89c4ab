//! What an operation does to the view, worked out before anything is changed.

use std::collections::HashSet;
use std::fmt;

use interleaf_model::{Blocks, CallId, Message, MessageId, Ranges, Role};

use crate::conversation::{PINNED, check_message};
use crate::query::says_one_of;
use crate::{
    Conversation, Error, ErrorKind, Event, Filter, Insert, Operation, Others, Replace, Span,
    Truncate,
};

/// What an operation did.
#[derive(Debug, Clone, PartialEq)]
pub struct Operated {
    /// What happened, to be stored; nothing, if the view stays as it was.
    pub event: Option<Event>,
    /// Log indices that were visible and are not any more, in the old view's order.
    pub hidden: Vec<u32>,
    /// Log indices of the messages that came in.
    pub added: Vec<u32>,
    /// Where the outcome differs from the letter of the operation, and why.
    pub notes: Vec<Note>,
}

/// A place where the outcome differs from the letter of the operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The messages concerned, by log index.
    pub indices: Vec<u32>,
    /// Why.
    pub reason: Reason,
}

/// Why the outcome differs from the letter of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// These would have been hidden, but are pinned, or in a block with a pinned one.
    Pinned,
    /// These would have been hidden, but are system messages.
    System,
    /// These would have been hidden, but most of their tool block stays.
    BlockKept,
    /// These would have stayed, but most of their tool block is hidden.
    BlockHidden,
    /// These were to go inside a tool block and went before it.
    MovedBeforeBlock,
    /// With this the tool loop that is running begins now: the thinking that it began with
    /// is hidden.
    ThinkingHidden,
}

impl Reason {
    /// The reason in a word, for programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::System => "system",
            Self::BlockKept => "block_kept",
            Self::BlockHidden => "block_hidden",
            Self::MovedBeforeBlock => "moved_before_block",
            Self::ThinkingHidden => "thinking_hidden",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pinned => "kept: pinned, or in a tool block with a pinned message",
            Self::System => "kept: system messages stay, unless keep_system is false",
            Self::BlockKept => {
                "kept: a tool block stays whole, and at least half of it was to stay"
            }
            Self::BlockHidden => {
                "hidden: a tool block is hidden whole, and more than half of it was to go"
            }
            Self::MovedBeforeBlock => "moved before a tool block, which stays whole",
            Self::ThinkingHidden => {
                "the running tool loop begins here now: its thinking is hidden, and some models \
                 go on without thinking"
            }
        })
    }
}

/// The view after an operation, and the operation as it is to be recorded.
struct Effect {
    operation: Operation,
    view: Vec<u32>,
    hidden: Vec<u32>,
    added: Vec<u32>,
    notes: Vec<Note>,
}

/// Works out what `operation` does to `conversation`.
pub(crate) fn operated(
    conversation: &Conversation,
    operation: Operation,
) -> Result<Operated, Error> {
    let effect = match operation {
        Operation::Truncate(ref truncate) => {
            let mut wanted = truncated(conversation, truncate)?;
            let spared = spare_system(conversation, truncate, &mut wanted)?;
            let pinned = Pinning::Stays;
            let split = truncate.split_blocks;
            let mut effect = hide(conversation, wanted, pinned, split, operation);
            effect.notes.extend(spared);
            effect
        }
        Operation::Filter(ref filter) => {
            let wanted = filtered(conversation, filter)?;
            let split = filter.split_blocks;
            hide(conversation, wanted, Pinning::Ignored, split, operation)
        }
        Operation::Clear(ref clear) => {
            let stays = |m: &Message| clear.keep_system && m.role() == Role::System;
            let wanted = conversation.visible().map(|m| stays(m)).collect();
            hide(conversation, wanted, Pinning::Ignored, true, operation)
        }
        Operation::Insert(insert) => inserted(conversation, insert)?,
        Operation::Replace(replace) => replaced(conversation, replace)?,
    };
    Ok(outcome(effect))
}

fn outcome(effect: Effect) -> Operated {
    let Effect { operation, view, hidden, added, notes } = effect;
    let changed = !hidden.is_empty() || !added.is_empty();
    let event =
        changed.then(|| Event::Operated { operation, view: view.into_iter().collect::<Ranges>() });
    Operated { event, hidden, added, notes }
}

/// Whether a hiding operation respects the pinned mark.
#[derive(Clone, Copy, PartialEq)]
enum Pinning {
    Stays,
    Ignored,
}

/// Hides what is not wanted, without leaving half a block.
fn hide(
    conversation: &Conversation,
    mut keep: Vec<bool>,
    pinning: Pinning,
    split_blocks: bool,
    operation: Operation,
) -> Effect {
    let pinned: Vec<usize> = match pinning {
        Pinning::Ignored => Vec::new(),
        Pinning::Stays => conversation.positions_marked(PINNED),
    };
    let mut notes = if split_blocks && pinned.is_empty() {
        Vec::new()
    } else {
        spare(conversation, &mut keep, &pinned, split_blocks)
    };
    notes.extend(thinking_hidden(conversation, &keep));
    let (mut view, mut hidden) = (Vec::new(), Vec::new());
    for (index, kept) in conversation.view().zip(keep) {
        if kept { view.push(index) } else { hidden.push(index) }
    }
    Effect { operation, view, hidden, added: Vec::new(), notes }
}

/// Says so, if the tool loop that is running loses the thinking that it began with.
fn thinking_hidden(conversation: &Conversation, keep: &[bool]) -> Option<Note> {
    let visible: Vec<&Message> = conversation.visible().map(AsRef::as_ref).collect();
    let is_running = |last: &&&Message| last.has_calls() || last.role() == Role::Tool;
    visible.last().filter(is_running)?;
    let question = visible.iter().rposition(|message| message.role() == Role::User);
    let steps = question.map_or(0, |at| at + 1)..visible.len();
    let mut steps = steps.filter(|&at| visible[at].role() == Role::Assistant);
    let first = steps.next().filter(|&at| visible[at].begins_with_thinking() && !keep[at])?;
    let opener = steps.find(|&at| keep[at] && at > first)?;
    let index = conversation.view.index_at(opener)?;
    let note = Note { indices: vec![index], reason: Reason::ThinkingHidden };
    (!visible[opener].begins_with_thinking()).then_some(note)
}

/// What is to become of a tool block.
#[derive(Clone, Default)]
struct Fate {
    n_kept: usize,
    n_hidden: usize,
    is_pinned: bool,
    note: Option<usize>,
}

impl Fate {
    /// Whether the block is kept or hidden as a whole, and why; `None` leaves it as
    /// it is.
    fn decide(&self, split_blocks: bool) -> Option<(bool, Reason)> {
        if self.is_pinned {
            Some((true, Reason::Pinned))
        } else if split_blocks || self.n_kept == 0 || self.n_hidden == 0 {
            None
        // Of the two ways to keep the block in one piece the one that departs less
        // from what was asked; in doubt nothing is hidden.
        } else if self.n_kept >= self.n_hidden {
            Some((true, Reason::BlockKept))
        } else {
            Some((false, Reason::BlockHidden))
        }
    }
}

/// Keeps what is pinned, and blocks in one piece. Returns where that departs from
/// what was to be kept.
fn spare(
    conversation: &Conversation,
    keep: &mut [bool],
    pinned: &[usize],
    split_blocks: bool,
) -> Vec<Note> {
    let index = |position: usize| conversation.view.index_at(position);
    let blocks = Blocks::find(conversation.visible());
    let mut fates = vec![Fate::default(); blocks.count()];
    for (position, block) in blocks.members() {
        let fate = &mut fates[block];
        if keep[position] { fate.n_kept += 1 } else { fate.n_hidden += 1 }
    }
    let mut notes = Vec::new();
    for &position in pinned {
        if let Some(block) = blocks.of(position) {
            fates[block].is_pinned = true;
        } else if !std::mem::replace(&mut keep[position], true) {
            let indices = index(position).into_iter().collect();
            notes.push(Note { indices, reason: Reason::Pinned });
        }
    }
    for (position, block) in blocks.members() {
        let fate = &mut fates[block];
        let Some((to, reason)) = fate.decide(split_blocks) else { continue };
        if std::mem::replace(&mut keep[position], to) != to {
            let note = *fate.note.get_or_insert_with(|| {
                notes.push(Note { indices: Vec::new(), reason });
                notes.len() - 1
            });
            notes[note].indices.extend(index(position));
        }
    }
    notes
}

/// Which positions a truncation keeps, by its letter.
fn truncated(conversation: &Conversation, truncate: &Truncate) -> Result<Vec<bool>, Error> {
    let visible = conversation.view_len();
    let count = match truncate.role {
        Some(role) => conversation.count(crate::Scope::View, role),
        None => visible,
    };
    let kept = truncated_span(truncate, count)?;
    let others = match (truncate.role, truncate.others) {
        (None, Some(_)) => {
            return Err(Error::settings("truncate.others", "it has a meaning only with `role`"));
        }
        (_, others) => others.unwrap_or(Others::Hide) == Others::Keep,
    };
    let Some(role) = truncate.role else {
        return Ok((0..visible).map(kept).collect());
    };
    let mut keep = vec![others; visible];
    for (n, position) in conversation.view.roles().merged(&[role]).enumerate() {
        keep[position as usize] = kept(n);
    }
    Ok(keep)
}

/// Keeps the system messages, if a truncation does, and tells which it would have hidden.
fn spare_system(
    conversation: &Conversation,
    truncate: &Truncate,
    keep: &mut [bool],
) -> Result<Option<Note>, Error> {
    match (truncate.role, truncate.keep_system) {
        (Some(_), Some(_)) => {
            let rule = "it has a meaning only without `role`; `others` is for the other roles";
            return Err(Error::settings("truncate.keep_system", rule));
        }
        (Some(_), None) | (None, Some(false)) => return Ok(None),
        (None, None | Some(true)) => {}
    }
    let system = conversation.view.roles().merged(&[Role::System]);
    let spared = system.filter(|&at| !std::mem::replace(&mut keep[at as usize], true));
    let indices: Vec<u32> =
        spared.filter_map(|at| conversation.view.index_at(at as usize)).collect();
    Ok((!indices.is_empty()).then_some(Note { indices, reason: Reason::System }))
}

/// Which of `count` messages stay, as a test of their number.
fn truncated_span(truncate: &Truncate, count: usize) -> Result<impl Fn(usize) -> bool, Error> {
    let Truncate { keep_first, keep_last, remove_first, remove_last, range, .. } = *truncate;
    let keeps = keep_first.is_some() || keep_last.is_some();
    let removes = remove_first.is_some() || remove_last.is_some();
    if !keeps && !removes && range.is_none() {
        let rule = "it needs one of keep_first, keep_last, remove_first, remove_last, range";
        return Err(Error::settings("truncate", rule));
    }
    if range.is_some() && (keeps || removes) {
        let rule = "it says what stays, so keep_* and remove_* cannot be given with it";
        return Err(Error::settings("truncate.range", rule));
    }
    if keeps && removes {
        let field = if remove_first.is_some() { "remove_first" } else { "remove_last" };
        let rule = "keep_* and remove_* contradict each other: use one kind";
        return Err(Error::settings(format!("truncate.{field}"), rule));
    }
    let (head, tail) = if keeps {
        let head = keep_first.unwrap_or(0).min(count);
        (0..head, count - keep_last.unwrap_or(0).min(count)..count)
    } else if removes {
        let first = remove_first.unwrap_or(0);
        let last = remove_last.unwrap_or(0);
        for (field, n) in [("remove_first", first), ("remove_last", last)] {
            if n > count {
                let rule = format!("{n} cannot be removed: there are {count}");
                return Err(Error::out_of_range(format!("truncate.{field}"), rule));
            }
        }
        if first + last > count {
            let rule = format!("{first} and {last} cannot be removed: there are {count}");
            return Err(Error::out_of_range("truncate.remove_last", rule));
        }
        (first..count - last, 0..0)
    } else {
        let Span { start, end } = range.unwrap_or(Span { start: 0, end: 0 });
        if start > end {
            let rule = format!("it starts at {start}, after its end {end}");
            return Err(Error::settings("truncate.range", rule));
        }
        if end > count {
            let rule = format!("it ends at {end}, but there are {count}");
            return Err(Error::out_of_range("truncate.range", rule));
        }
        (start..end, 0..0)
    };
    Ok(move |n| head.contains(&n) || tail.contains(&n))
}

/// Which positions a filter keeps, by its letter.
fn filtered(conversation: &Conversation, filter: &Filter) -> Result<Vec<bool>, Error> {
    if filter.roles.is_none() && filter.contains.is_none() && filter.excludes.is_none() {
        let rule = "it needs one of roles, contains, excludes";
        return Err(Error::settings("filter", rule));
    }
    if filter.roles.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::settings(
            "filter.roles",
            "an empty list would hide everything: use clear",
        ));
    }
    for (field, texts) in [("contains", &filter.contains), ("excludes", &filter.excludes)] {
        if let Some(texts) = texts
            && (texts.is_empty() || texts.iter().any(String::is_empty))
        {
            let rule = "it needs at least one text, and none of them empty";
            return Err(Error::settings(format!("filter.{field}"), rule));
        }
    }
    let matches = |message: &Message| {
        filter.roles.as_ref().is_none_or(|roles| roles.contains(&message.role()))
            && filter.contains.as_ref().is_none_or(|texts| says_one_of(message, texts))
            && filter.excludes.as_ref().is_none_or(|texts| !says_one_of(message, texts))
    };
    Ok(conversation.visible().map(|message| matches(message)).collect())
}

fn inserted(conversation: &Conversation, mut insert: Insert) -> Result<Effect, Error> {
    let visible = conversation.view_len();
    if insert.position > visible {
        let rule = format!("{} is past the end of the view, {visible}", insert.position);
        return Err(Error::out_of_range("insert.position", rule));
    }
    if insert.messages.is_empty() {
        return Err(Error::settings("insert.messages", "there is none"));
    }
    let log_len = conversation.log_len();
    let mut claimed: HashSet<MessageId> = HashSet::new();
    for (i, message) in insert.messages.iter().enumerate() {
        let field = format!("insert.messages[{i}]");
        check_message(message, &field)?;
        conversation.check_id(&message.id, &field)?;
        if !message.id.is_unassigned() && !claimed.insert(message.id.clone()) {
            let rule = format!("{:?} is the id of a message before it", message.id.as_str());
            return Err(Error::new(ErrorKind::Message, format!("{field}.id"), rule));
        }
    }
    for (i, message) in insert.messages.iter_mut().enumerate() {
        if message.id.is_unassigned() {
            message.id = conversation.free_id(log_len + i, |id| claimed.contains(id));
        }
    }
    let added: Vec<u32> = (log_len as u32..).take(insert.messages.len()).collect();
    let mut notes = Vec::new();
    let mut position = insert.position;
    let blocks = Blocks::find(conversation.visible());
    if !insert.split_blocks
        && let Some(start) = blocks.cut_at(position)
        && !completes(conversation, &blocks, start, &insert.messages)
    {
        position = start;
        notes.push(Note { indices: added.clone(), reason: Reason::MovedBeforeBlock });
    }
    let mut view: Vec<u32> = conversation.view().collect();
    view.splice(position..position, added.iter().copied());
    Ok(Effect { operation: Operation::Insert(insert), view, hidden: Vec::new(), added, notes })
}

/// Whether all of these messages are results that the block at `start` still lacks: they
/// belong inside it.
fn completes(
    conversation: &Conversation,
    blocks: &Blocks,
    start: usize,
    messages: &[Message],
) -> bool {
    let block = blocks.of(start);
    let members = blocks.members().filter(|&(_, of)| Some(of) == block);
    let said = members.filter_map(|(position, _)| conversation.visible_at(position));
    let (mut lacking, mut answered) = (HashSet::new(), HashSet::new());
    for message in said {
        lacking.extend(message.calls().map(|call| &call.id));
        answered.extend(message.as_result().map(|result| &result.call));
    }
    lacking.retain(|id| !answered.contains(id));
    messages.iter().all(|new| new.as_result().is_some_and(|result| lacking.remove(&result.call)))
}

fn replaced(conversation: &Conversation, mut replace: Replace) -> Result<Effect, Error> {
    let visible = conversation.view_len();
    let Some(old) = conversation.visible_at(replace.index) else {
        let rule = format!("there is no position {} in a view of {visible}", replace.index);
        return Err(Error::out_of_range("replace.index", rule));
    };
    check_message(&replace.message, "replace.message")?;
    if !replace.split_blocks {
        let blocks = Blocks::find(conversation.visible());
        let block = blocks.of(replace.index);
        let members = blocks.members().filter(|&(_, of)| Some(of) == block);
        let results = members.filter_map(|(p, _)| conversation.visible_at(p)?.as_result());
        let fits = match old.as_result() {
            Some(result) if block.is_some() => {
                replace.message.as_result().is_some_and(|new| new.call == result.call)
            }
            Some(_) => true,
            None => {
                let called = |id: &CallId| replace.message.calls().any(|call| call.id == *id);
                results.map(|result| &result.call).all(called)
            }
        };
        if !fits {
            let rule = format!(
                "position {} is in a tool block, and the new message would leave half of it: \
                 keep its call ids, or set split_blocks",
                replace.index
            );
            return Err(Error::new(ErrorKind::SplitsBlock, "replace.message", rule));
        }
    }
    let log_len = conversation.log_len();
    match replace.message.id.is_unassigned() {
        true => replace.message.id = conversation.free_id(log_len, |_| false),
        false => conversation.check_id(&replace.message.id, "replace.message")?,
    }
    let mut view: Vec<u32> = conversation.view().collect();
    let added = log_len as u32;
    let hidden = std::mem::replace(&mut view[replace.index], added);
    Ok(Effect {
        operation: Operation::Replace(replace),
        view,
        hidden: vec![hidden],
        added: vec![added],
        notes: Vec::new(),
    })
}
