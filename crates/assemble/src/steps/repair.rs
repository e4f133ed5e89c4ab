//! **Sees** messages that say something, in any order and any disorder.
//! **Guarantees** that every call has exactly one result, right after its message
//! and in the order of the calls; that parallel calls stand in one message; that call
//! ids are unique; that a user message opens the conversation, if the target asks for
//! one. No user text is lost or changes its order.
//! **Reports** every result dropped, moved or made, every call dropped, moved or renamed.

pub(crate) mod pairing;
mod parallel;

use std::ptr;

use hashbrown::{HashMap, HashSet};
use interleaf_model::{
    AssistantPart, Body, CallId, Entry, Message, MessageId, Parts, Provenance, Role, Status,
    ToolCall, ToolName,
};

use self::parallel::Joined;
use super::filter;
use crate::brief::Brief;
use crate::draft::{Draft, entry};
use crate::fence;
use crate::finding::Findings;
use crate::{Cause, Error, FindingKind, MissingResult};

pub(crate) fn run(
    brief: &Brief<'_>,
    draft: &mut Draft,
    findings: &mut Findings,
) -> Result<(), Error> {
    let before = draft.prior.as_ref().map(|prior| prior.used_ids());
    if !is_whole(&draft.entries, before) {
        pair(brief, draft, findings);
    }
    if brief.requires.user_first && draft.prior.is_none() {
        open_with_user(brief, draft, findings);
    }
    Ok(())
}

/// Whether there is nothing to mend.
fn is_whole(entries: &[Entry], before: Option<&HashMap<CallId, usize>>) -> bool {
    let is_used = |id: &CallId| before.is_some_and(|before| before.contains_key(id));
    let mut ids: HashSet<&CallId> = HashSet::with_capacity(entries.len() / 2);
    let mut rest = entries.iter();
    while let Some(entry) = rest.next() {
        match &entry.message.body {
            Body::System(_) | Body::User(_) => {}
            Body::Tool(_) => return false,
            Body::Assistant(parts) => {
                for part in parts.iter() {
                    let AssistantPart::Call(call) = part else { continue };
                    let result = rest.next().and_then(|entry| entry.message.as_result());
                    let is_answered = result.is_some_and(|result| result.call == call.id);
                    let is_new = ids.insert(&call.id) && !is_used(&call.id);
                    if !is_answered || is_nameless(call) || !is_new {
                        return false;
                    }
                }
            }
        }
    }
    true
}

fn pair(brief: &Brief<'_>, draft: &mut Draft, findings: &mut Findings) {
    let joined = Joined::of(brief, &draft.entries);
    let (entries, pairing) = (&joined.entries, &joined.pairing);
    let waits = pairing.last_opener().filter(|_| !brief.open.is_empty());
    let before = draft.prior.as_ref().map(|prior| prior.used_ids());
    let mut used = UsedIds { before, own: HashMap::new() };
    let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
    for (position, old) in entries.iter().enumerate() {
        for id in joined.taken_in(position) {
            findings.add(FindingKind::Moved, id, Cause::ParallelCalls);
        }
        if old.message.role() == Role::Tool {
            if let Some(cause) = pairing.unused(position) {
                findings.add(FindingKind::Dropped, &old.message.id, cause);
            }
            continue;
        }
        let answers = pairing.answers(position);
        if answers.is_empty() {
            out.push(old.clone());
            continue;
        }
        let mut verdicts = Vec::with_capacity(answers.len());
        let mut results = Vec::with_capacity(answers.len());
        for (call, answer) in old.message.calls().zip(answers) {
            let is_open = answer.is_none() && waits == Some(position);
            let verdict = judge(brief, call, answer.is_none() && !is_open, &mut used);
            report(&verdict, &old.message.id, call, findings);
            let id = match &verdict {
                Verdict::Keep => Some(&call.id),
                Verdict::Rename(id) => Some(id),
                Verdict::Drop(_) => None,
            };
            match (id, answer.map(|at| (at, &entries[at]))) {
                (Some(id), Some((at, result))) => {
                    if pairing.moved(at) {
                        findings.add(FindingKind::Moved, &result.message.id, Cause::NotAtItsCall);
                    }
                    results.push(with_call_id(result, id));
                }
                (Some(_), None) if is_open => {}
                (Some(id), None) => {
                    let is_cut = old.message.cut_call().is_some_and(|cut| ptr::eq(cut, call));
                    let (cause, text) = match is_cut {
                        true => (Cause::CallCutOff, fence::CUT_OFF),
                        false => (Cause::NoResult, fence::NO_RESULT),
                    };
                    let made = no_result(&old.message, id, &call.name, text);
                    findings.add_with(FindingKind::Made, &made.message.id, cause, id.to_string());
                    results.push(made);
                }
                (None, Some((_, result))) => {
                    findings.add(FindingKind::Dropped, &result.message.id, Cause::NoToolName);
                }
                (None, None) => {}
            }
            verdicts.push(verdict);
        }
        // A message that lost its last call may be left with nothing to say. Dropping it
        // cannot undo a pair, so this is a fixed point.
        let says = |opener: &Entry| filter::unheard(&brief.recipe.agent, &opener.message).is_none();
        match opener(old, &verdicts).filter(says) {
            Some(opener) => out.push(joined.or_before(position, opener)),
            None => findings.add(FindingKind::Dropped, &old.message.id, Cause::Blank),
        }
        out.append(&mut results);
    }
    draft.used = Some(used.own);
    draft.entries = out;
}

/// What becomes of a call.
enum Verdict {
    Keep,
    Rename(CallId),
    Drop(Cause),
}

fn judge(brief: &Brief<'_>, call: &ToolCall, missing: bool, used: &mut UsedIds<'_>) -> Verdict {
    if is_nameless(call) {
        return Verdict::Drop(Cause::NoToolName);
    }
    if missing && brief.recipe.missing_result == MissingResult::DropCall {
        return Verdict::Drop(Cause::NoResult);
    }
    let id = used.fresh(&call.id);
    if id == call.id { Verdict::Keep } else { Verdict::Rename(id) }
}

fn report(verdict: &Verdict, opener: &MessageId, call: &ToolCall, findings: &mut Findings) {
    let (change, cause, detail) = match verdict {
        Verdict::Keep => return,
        Verdict::Rename(id) => {
            (FindingKind::Altered, Cause::CallIdReused, format!("{} became {id}", call.id))
        }
        Verdict::Drop(cause) => {
            (FindingKind::Altered, *cause, format!("without the call {}", call.id))
        }
    };
    findings.add_with(change, opener, cause, detail);
}

/// The message with the calls as the verdicts leave them; none, if nothing is left.
fn opener(old: &Entry, verdicts: &[Verdict]) -> Option<Entry> {
    if verdicts.iter().all(|verdict| matches!(verdict, Verdict::Keep)) {
        return Some(old.clone());
    }
    let Body::Assistant(parts) = &old.message.body else { return Some(old.clone()) };
    let mut verdicts = verdicts.iter();
    let parts = parts.iter().filter_map(|part| match part {
        AssistantPart::Call(call) => match verdicts.next() {
            Some(Verdict::Drop(_)) => None,
            Some(Verdict::Rename(id)) => {
                Some(AssistantPart::Call(ToolCall { id: id.clone(), ..call.clone() }))
            }
            Some(Verdict::Keep) | None => Some(part.clone()),
        },
        AssistantPart::Text(_)
        | AssistantPart::Thinking(_)
        | AssistantPart::Image(_)
        | AssistantPart::File(_)
        | AssistantPart::Opaque(_) => Some(part.clone()),
    });
    let body = Body::Assistant(Parts::new(parts.collect()).ok()?);
    Some(entry(Message { body, ..Message::clone(&old.message) }, Provenance::Altered))
}

pub(crate) fn is_nameless(call: &ToolCall) -> bool {
    call.name.as_str().trim().is_empty()
}

/// The call ids so far, each with the next number to try if it comes again.
struct UsedIds<'a> {
    /// Those of the settled turns.
    before: Option<&'a HashMap<CallId, usize>>,
    own: HashMap<CallId, usize>,
}

impl UsedIds<'_> {
    fn next(&self, id: &CallId) -> Option<usize> {
        self.own.get(id).or_else(|| self.before?.get(id)).copied()
    }

    /// The id itself the first time, then `id_2`, `id_3`: a later turn never changes
    /// how an earlier one is named.
    fn fresh(&mut self, id: &CallId) -> CallId {
        let Some(first) = self.next(id) else {
            self.own.insert(id.clone(), 2);
            return id.clone();
        };
        for n in first.. {
            // A non-empty id with a suffix is not empty.
            let Ok(next) = CallId::new(format!("{id}_{n}")) else { continue };
            if self.next(&next).is_none() {
                self.own.insert(id.clone(), n + 1);
                self.own.insert(next.clone(), 2);
                return next;
            }
        }
        id.clone()
    }
}

fn with_call_id(result: &Entry, id: &CallId) -> Entry {
    match &result.message.body {
        Body::Tool(tool) if tool.call != *id => {
            let mut message = Message::clone(&result.message);
            let mut tool = tool.clone();
            tool.call = id.clone();
            message.body = Body::Tool(tool);
            entry(message, Provenance::Altered)
        }
        _ => result.clone(),
    }
}

/// A result that says that there is none, named and dated after its call.
fn no_result(opener: &Message, id: &CallId, name: &ToolName, text: &str) -> Entry {
    let mut message = Message::tool(id.clone(), Status::Error, text);
    message.id = MessageId::new(format!("{}:{id}:missing", opener.id));
    message.at = opener.at;
    message.origin = opener.origin.clone();
    if let Body::Tool(result) = &mut message.body {
        result.name = Some(name.clone());
    }
    entry(message, Provenance::Made)
}

/// Puts a user message before an assistant message that nothing leads up to.
fn open_with_user(brief: &Brief<'_>, draft: &mut Draft, findings: &mut Findings) {
    let first = draft.entries.iter().position(|e| e.message.role() != Role::System);
    let Some(first) = first else { return };
    if draft.entries[first].message.role() != Role::Assistant {
        return;
    }
    let id = MessageId::new(format!("{}:opening", draft.entries[first].message.id));
    // It stands before everything else that was found.
    let later = std::mem::take(findings);
    findings.add(FindingKind::Made, &id, Cause::NoUserBefore);
    findings.extend(&later);
    let mut message = Message::user(fence::OPENING).with_id(id);
    message.origin = brief.own_origin();
    draft.entries.insert(first, entry(message, Provenance::Made));
}
