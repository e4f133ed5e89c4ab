//! Thinking that is bound to what stands before it (C15).
//!
//! Some models take a thought back only if everything before it is as it was when the
//! thought was made. So each answer is kept with the hash of what it was made after, and a
//! thought is sent only while a request repeats exactly that. A context block that moves, a
//! summary, or a message that gives way costs the thinking after it.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{
    AssistantPart, Body, ENGINE, Entry, Extra, Link, Message, MessageId, Origin, Parts, Prompt,
    Provenance, Role, Tool,
};
use serde::Serialize;
use smol_str::SmolStr;

use crate::neutral::write_tool;

/// What stands before a place of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prefix(blake3::Hash);

impl Prefix {
    /// Nothing but the tools: they come before every message.
    fn of(tools: &[Tool]) -> Self {
        let mut hasher = blake3::Hasher::new();
        tools.iter().for_each(|tool| hash(&mut hasher, &write_tool(tool)));
        Self(hasher.finalize())
    }

    /// What stands before the next message. Thinking is no part of it: what was dropped
    /// changes nothing for what comes after.
    fn then(self, message: &Message) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.0.as_bytes());
        hash(&mut hasher, &said(message));
        Self(hasher.finalize())
    }

    /// As an answer keeps it.
    pub(crate) fn text(self) -> SmolStr {
        SmolStr::new(&self.0.to_hex()[..32])
    }
}

fn hash(hasher: &mut blake3::Hasher, value: &impl Serialize) {
    // Writing into a hasher cannot fail, nor can our own Serialize.
    let _ = serde_json::to_writer(&mut *hasher, value);
    hasher.update(b"\n");
}

/// What a message says to the model, without its thinking; nothing, if that is all.
fn said(message: &Message) -> Option<Message> {
    let body = match &message.body {
        Body::Assistant(parts) => {
            let is_said = |part: &&AssistantPart| !matches!(part, AssistantPart::Thinking(_));
            Body::Assistant(Parts::new(parts.iter().filter(is_said).cloned().collect()).ok()?)
        }
        body @ (Body::System(_) | Body::User(_) | Body::Tool(_)) => body.clone(),
    };
    let owners = message.extra.iter().filter(|(owner, _)| owner.as_str() != ENGINE);
    let owners = owners.map(|(owner, fields)| (owner.clone(), fields.clone())).collect();
    let extra = Extra::from_map(owners).unwrap_or_default();
    Some(Message { id: MessageId::default(), at: None, origin: Origin::Main, body, extra })
}

/// Whether a message holds thinking.
pub(crate) fn thinks(message: &Message) -> bool {
    match &message.body {
        Body::Assistant(parts) => {
            parts.iter().any(|part| matches!(part, AssistantPart::Thinking(_)))
        }
        Body::System(_) | Body::User(_) | Body::Tool(_) => false,
    }
}

/// What is known of an agent's last request, so that the next is held against the answers at
/// the cost of what is new.
#[derive(Default)]
pub(crate) struct Bound {
    head: Option<Prefix>,
    /// The settled links, each with the prefix after it.
    links: Vec<(Arc<Link>, Prefix)>,
    /// The messages in them whose thinking is not bound, each with the number of its link.
    unbound: Vec<(usize, MessageId)>,
}

impl Bound {
    /// The messages whose thinking was made after something else than what stands before
    /// them now, and what the answer to this request is made after. An answer that was not
    /// taken by a session is taken at its word.
    pub(crate) fn check(&mut self, prompt: &Prompt) -> (BTreeSet<MessageId>, Prefix) {
        let n_head = prompt.entries().iter().take_while(|entry| is_system(entry)).count();
        let (head, rest) = prompt.entries().split_at(n_head);
        let mut prefix = Prefix::of(prompt.tools());
        head.iter().for_each(|entry| prefix = prefix.then(&entry.message));
        let links: Vec<&Arc<Link>> =
            prompt.settled().map(|settled| settled.links().collect()).unwrap_or_default();
        let known = self.links.iter().zip(&links);
        let mut n_known = known.take_while(|((old, _), new)| Arc::ptr_eq(old, new)).count();
        if self.head != Some(prefix) {
            n_known = 0;
        }
        self.head = Some(prefix);
        self.links.truncate(n_known);
        self.unbound.retain(|(link, _)| *link < n_known);
        prefix = self.links.last().map_or(prefix, |(_, prefix)| *prefix);
        for link in links.into_iter().skip(n_known) {
            let at = self.links.len();
            let unbound = follow(&mut prefix, link.entries());
            self.unbound.extend(unbound.into_iter().map(|id| (at, id)));
            self.links.push((link.clone(), prefix));
        }
        let mut unbound: BTreeSet<MessageId> =
            self.unbound.iter().map(|(_, id)| id.clone()).collect();
        unbound.extend(follow(&mut prefix, rest));
        (unbound, prefix)
    }
}

/// Goes on over these messages; gives those whose thinking is not bound to what stands before
/// them.
fn follow(prefix: &mut Prefix, entries: &[Entry]) -> Vec<MessageId> {
    let mut unbound = Vec::new();
    for Entry { message, .. } in entries {
        let is_bound = |made_after: SmolStr| made_after == prefix.text();
        if thinks(message) && !made_after(message).is_none_or(is_bound) {
            unbound.push(message.id.clone());
        }
        *prefix = prefix.then(message);
    }
    unbound
}

fn made_after(message: &Message) -> Option<SmolStr> {
    message.answered().and_then(|answered| answered.prefix)
}

/// The messages of a single request whose thinking is not bound to what stands before them.
/// Where no hash was kept, the previous request tells: what changed since, and what stood in
/// it without its thinking.
pub(crate) fn unbound(prompt: &Prompt, previous: Option<&[Arc<Message>]>) -> BTreeSet<MessageId> {
    let (mut unbound, _) = Bound::default().check(prompt);
    let mut previous = previous.unwrap_or_default().iter();
    let mut is_repeated = true;
    for message in prompt.messages() {
        let old = previous.next();
        is_repeated &= old.is_none_or(|old| said(old) == said(message));
        let was_dropped = old.is_some_and(|old| !thinks(old));
        if thinks(message) && made_after(message).is_none() && (!is_repeated || was_dropped) {
            unbound.insert(message.id.clone());
        }
    }
    unbound
}

/// The same request without the thinking of these messages, where they say anything else.
pub(crate) fn without_thinking(prompt: &Prompt, unbound: &BTreeSet<MessageId>) -> Prompt {
    let entry = |entry: &Entry| {
        let body = said(&entry.message).map(|said| said.body);
        match body.filter(|_| thinks(&entry.message) && unbound.contains(&entry.message.id)) {
            Some(body) => Entry {
                message: Message { body, ..Message::clone(&entry.message) }.into(),
                provenance: Provenance::Altered,
            },
            None => entry.clone(),
        }
    };
    let entries = prompt.entries().iter().map(entry).collect();
    let without = Prompt::check_for(prompt.requirements(), entries, prompt.tools().into());
    without.unwrap_or_else(|_| prompt.clone())
}

fn is_system(entry: &Entry) -> bool {
    entry.message.role() == Role::System
}
