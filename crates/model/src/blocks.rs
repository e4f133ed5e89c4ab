//! Tool blocks: an assistant message with calls, and the results that answer it.

use hashbrown::HashMap;
use std::borrow::Borrow;

use crate::{AssistantPart, Body, CallId, Message, Origin};

/// The tool blocks of a list of messages, by position.
///
/// A result belongs to the nearest assistant message before it that made its call,
/// also when a broken history has set the two apart. Agents name their calls by
/// themselves, so the message of another agent counts only if its own agent made no such
/// call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// For each position the number of its block, if it is in one.
    of: Vec<Option<u32>>,
    /// For each block, whether its calls are answered once each, in their order.
    in_order: Vec<bool>,
}

impl Blocks {
    /// Finds the blocks.
    pub fn find<'a, M: Borrow<Message> + 'a>(messages: impl Iterator<Item = &'a M>) -> Self {
        let mut callers = Callers::default();
        let mut of = Vec::with_capacity(messages.size_hint().0);
        for message in messages {
            let message: &Message = message.borrow();
            of.push(match &message.body {
                Body::Tool(result) => callers.answered(&message.origin, &result.call),
                Body::Assistant(parts) if calls(parts).next().is_some() => {
                    Some(callers.push(&message.origin, parts))
                }
                Body::System(_) | Body::User(_) | Body::Assistant(_) => None,
            });
        }
        let in_order = callers.said.iter().map(Caller::is_answered_in_order).collect();
        Self { of, in_order }
    }

    /// How many blocks there are.
    pub fn count(&self) -> usize {
        self.in_order.len()
    }

    /// Whether a block's calls are answered once each, in their order, whoever heard the results.
    pub fn is_answered_in_order(&self, block: usize) -> bool {
        self.in_order.get(block).copied().unwrap_or(false)
    }

    /// The number of the block that this position is in.
    pub fn of(&self, position: usize) -> Option<usize> {
        self.of.get(position).copied().flatten().map(|block| block as usize)
    }

    /// The positions that are in a block, ascending, each with the number of its block.
    pub fn members(&self) -> impl Iterator<Item = (usize, usize)> {
        let members = self.of.iter().enumerate();
        members.filter_map(|(position, block)| Some((position, (*block)? as usize)))
    }

    /// The positions of each block, ascending; the first is the message with the calls.
    pub fn positions(&self) -> Vec<Vec<usize>> {
        let mut blocks = vec![Vec::new(); self.count()];
        for (position, block) in self.members() {
            blocks[block].push(position);
        }
        blocks
    }

    /// The start of the unbroken block that a message put at `position` would cut,
    /// if it would cut one.
    pub fn cut_at(&self, position: usize) -> Option<usize> {
        let block = self.of(position)?;
        (0..position).rev().take_while(|&p| self.of(p) == Some(block)).last()
    }
}

/// What the messages that made calls say; the number of one is that of its block.
#[derive(Default)]
struct Callers<'a> {
    said: Vec<Caller<'a>>,
    /// Who last made each call, among the first `n_indexed` of them: of an agent, and of all.
    by_agent: HashMap<(&'a Origin, &'a CallId), u32>,
    by_call: HashMap<&'a CallId, u32>,
    n_indexed: usize,
}

/// A message that made calls.
struct Caller<'a> {
    origin: &'a Origin,
    parts: &'a [AssistantPart],
    /// What follows the last call that was answered in its turn; none, once a result came out
    /// of turn.
    rest: Option<&'a [AssistantPart]>,
}

impl<'a> Callers<'a> {
    fn push(&mut self, origin: &'a Origin, parts: &'a [AssistantPart]) -> u32 {
        self.said.push(Caller { origin, parts, rest: Some(parts) });
        self.said.len() as u32 - 1
    }

    /// The block that a result belongs to, which is noted there.
    fn answered(&mut self, origin: &Origin, call: &CallId) -> Option<u32> {
        let block = self.nearest(origin, call)?;
        if let Some(caller) = self.said.get_mut(block as usize) {
            caller.note(call);
        }
        Some(block)
    }

    /// Nearly always the last one, which seldom has many calls; for all else there is an
    /// index.
    fn nearest(&mut self, origin: &Origin, call: &CallId) -> Option<u32> {
        const FEW: usize = 8;
        let last = self.said.last()?;
        if last.origin == origin && calls(last.parts).take(FEW).any(|id| id == call) {
            return Some(self.said.len() as u32 - 1);
        }
        for (number, caller) in self.said.iter().enumerate().skip(self.n_indexed) {
            let Caller { origin, parts, .. } = *caller;
            self.by_agent.extend(calls(parts).map(|id| ((origin, id), number as u32)));
            self.by_call.extend(calls(parts).map(|id| (id, number as u32)));
        }
        self.n_indexed = self.said.len();
        self.by_agent.get(&(origin, call)).or_else(|| self.by_call.get(call)).copied()
    }
}

impl<'a> Caller<'a> {
    /// Notes a result.
    fn note(&mut self, answered: &CallId) {
        let after = |parts: &'a [AssistantPart]| {
            let next = parts.iter().position(|part| call_of(part).is_some())?;
            (call_of(&parts[next]) == Some(answered)).then(|| &parts[next + 1..])
        };
        self.rest = self.rest.and_then(after);
    }

    fn is_answered_in_order(&self) -> bool {
        self.rest.is_some_and(|rest| calls(rest).next().is_none())
    }
}

fn calls(parts: &[AssistantPart]) -> impl Iterator<Item = &CallId> {
    parts.iter().filter_map(call_of)
}

fn call_of(part: &AssistantPart) -> Option<&CallId> {
    match part {
        AssistantPart::Call(call) => Some(&call.id),
        AssistantPart::Text(_)
        | AssistantPart::Thinking(_)
        | AssistantPart::Image(_)
        | AssistantPart::File(_)
        | AssistantPart::Opaque(_) => None,
    }
}
