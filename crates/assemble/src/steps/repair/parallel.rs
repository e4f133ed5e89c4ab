//! Calls that were made side by side, in several messages.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashMap;
use interleaf_model::{Body, Entry, Message, MessageId, Parts, Provenance};

use super::pairing::Pairing;
use crate::brief::Brief;
use crate::draft::entry;

/// A draft in which calls that were made side by side stand in one message.
pub(super) struct Joined<'a> {
    pub(super) entries: Cow<'a, [Entry]>,
    pub(super) pairing: Pairing,
    /// By their position, the messages that took others in.
    hosts: HashMap<usize, Host>,
}

/// A message that took others in.
struct Host {
    /// As it was.
    before: Entry,
    taken_in: Vec<MessageId>,
}

impl<'a> Joined<'a> {
    /// Joins messages with calls that follow each other, where a result shows that the
    /// calls were parallel: it came when the calls of the next message were made already.
    /// Without such a result the earlier call may have been given up, and stays alone.
    pub(super) fn of(brief: &Brief<'_>, entries: &'a [Entry]) -> Self {
        let pairing = Pairing::of(entries);
        let runs = runs(brief, entries, &pairing);
        if runs.is_empty() {
            return Self { entries: Cow::Borrowed(entries), pairing, hosts: HashMap::new() };
        }
        let mut hosts = HashMap::new();
        let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
        let mut from = 0;
        for run in runs {
            out.extend_from_slice(&entries[from..run.start]);
            let taken_in = entries[run.start + 1..run.end].iter().map(|e| e.message.id.clone());
            let before = entries[run.start].clone();
            hosts.insert(out.len(), Host { before, taken_in: taken_in.collect() });
            out.extend(one(&entries[run.clone()]));
            from = run.end;
        }
        out.extend_from_slice(&entries[from..]);
        let pairing = Pairing::of(&out);
        Self { entries: Cow::Owned(out), pairing, hosts }
    }

    /// The messages that stand in the one at this position now.
    pub(super) fn taken_in(&self, position: usize) -> &[MessageId] {
        self.hosts.get(&position).map_or(&[], |host| &host.taken_in)
    }

    /// The message at this position as it was before, if nothing that it took in is left.
    pub(super) fn or_before(&self, position: usize, opener: Entry) -> Entry {
        match self.hosts.get(&position) {
            Some(host) if host.before.message.body == opener.message.body => host.before.clone(),
            Some(_) | None => opener,
        }
    }
}

/// The runs of at least two messages whose calls are parallel.
fn runs(brief: &Brief<'_>, entries: &[Entry], pairing: &Pairing) -> Vec<Range<usize>> {
    let last_answer = |at: usize| pairing.answers(at).iter().flatten().copied().max();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < entries.len() {
        let start = at;
        let mut answered = last_answer(start);
        at += 1;
        while at < entries.len()
            && answered.is_some_and(|answer| answer > at)
            && entries[at].message.has_calls()
            && is_one_voice(brief, &entries[start].message, &entries[at].message)
        {
            answered = answered.max(last_answer(at));
            at += 1;
        }
        if at - start > 1 {
            runs.push(start..at);
        }
    }
    runs
}

/// Whether the first message can say what the next one says. A pinned message keeps its
/// name, and what a vendor attached to a message stays with it.
fn is_one_voice(brief: &Brief<'_>, first: &Message, next: &Message) -> bool {
    first.origin == next.origin
        && (next.extra.is_empty() || next.extra == first.extra)
        && !brief.pinned.contains(&next.id)
}

/// The first message of a run with the parts of all.
fn one(run: &[Entry]) -> Option<Entry> {
    let parts = run.iter().filter_map(|entry| match &entry.message.body {
        Body::Assistant(parts) => Some(parts.iter().cloned()),
        Body::System(_) | Body::User(_) | Body::Tool(_) => None,
    });
    let body = Body::Assistant(Parts::new(parts.flatten().collect()).ok()?);
    let first = Message::clone(&run.first()?.message);
    Some(entry(Message { body, ..first }, Provenance::Altered))
}
