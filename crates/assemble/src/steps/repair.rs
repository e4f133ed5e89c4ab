//! **Sees** messages that say something, in any order and any disorder.
//! **Guarantees** that every call has exactly one result, right behind its message
//! and in the order of the calls; that call ids are unique; that a user message
//! opens the conversation. No user text is lost or changes its order.
//! **Reports** every result dropped, moved or made, every call dropped or renamed.

mod pairing;

use std::collections::HashSet;

use interleaf_model::{
    AssistantPart, Body, CallId, Entry, Message, MessageId, Parts, Provenance, Role, Status,
    ToolCall, ToolName,
};

use self::pairing::{Answer, Pairing};
use super::filter;
use crate::draft::{Draft, entry};
use crate::finding::Findings;
use crate::{Cause, Change, Error, Input, MissingResult, OpenBlock};

/// What a result that was never recorded says.
const NO_RESULT: &str = "No result was recorded for this call.";
/// What opens a conversation whose beginning is not there.
const OPENING: &str = "[The conversation before this point is not shown.]";

pub(super) fn run(
    input: &Input<'_>,
    mut draft: Draft,
    findings: &mut Findings,
) -> Result<Draft, Error> {
    // A message that loses its last call may be left with nothing to say; dropping it
    // can not undo a pair. So the second round finds nothing, and ends it.
    loop {
        let before = draft.entries.len();
        draft = pair(input, draft, findings);
        draft = filter::run(input, draft, findings)?;
        if draft.entries.len() == before || draft.entries.is_empty() {
            break;
        }
    }
    open_with_user(&mut draft, findings);
    Ok(draft)
}

fn pair(input: &Input<'_>, mut draft: Draft, findings: &mut Findings) -> Draft {
    let pairing = Pairing::of(&draft.entries);
    draft.open = match input.settings.open_block {
        OpenBlock::Wait => pairing.open_at_end(&draft.entries),
        OpenBlock::Mend => Vec::new(),
    };
    pairing.report_unused(&draft.entries, findings);
    let mut used: HashSet<CallId> = HashSet::new();
    let mut out: Vec<Entry> = Vec::with_capacity(draft.entries.len());
    for (position, old) in draft.entries.iter().enumerate() {
        if old.message.role() == Role::Tool {
            continue;
        }
        let answers = pairing.answers(position);
        if answers.is_empty() {
            out.push(old.clone());
            continue;
        }
        let waits = pairing.is_last_block(position);
        let is_open = |id: &CallId| waits && draft.open.contains(id);
        let mut verdicts = Vec::with_capacity(answers.len());
        let mut results = Vec::with_capacity(answers.len());
        for (call, answer) in old.message.calls().zip(answers) {
            let result = match answer {
                Answer::At(at) => Some(*at),
                Answer::Missing => None,
            };
            let verdict = judge(input, call, result.is_none() && !is_open(&call.id), &mut used);
            report(&verdict, &old.message.id, call, findings);
            let id = match &verdict {
                Verdict::Keep => call.id.clone(),
                Verdict::Rename(id) => id.clone(),
                Verdict::Drop(cause) => {
                    if let Some(at) = result {
                        findings.add(Change::Dropped, &draft.entries[at].message.id, *cause);
                    }
                    verdicts.push(verdict);
                    continue;
                }
            };
            verdicts.push(verdict);
            if let Some(at) = result {
                let result = &draft.entries[at];
                if pairing.moved(at) {
                    findings.add(Change::Moved, &result.message.id, Cause::NotAtItsCall);
                }
                results.push(with_call_id(result, &id));
            } else if !is_open(&call.id) {
                let made = no_result(&old.message, &id, &call.name);
                let (change, cause) = (Change::Made, Cause::NoResult);
                findings.add_with(change, &made.message.id, cause, id.to_string());
                results.push(made);
            }
        }
        out.extend(opener(old, &verdicts));
        out.append(&mut results);
    }
    draft.entries = out;
    draft
}

/// What becomes of a call.
enum Verdict {
    Keep,
    Rename(CallId),
    Drop(Cause),
}

fn judge(input: &Input<'_>, call: &ToolCall, missing: bool, used: &mut HashSet<CallId>) -> Verdict {
    if call.name.as_str().trim().is_empty() {
        return Verdict::Drop(Cause::NoToolName);
    }
    if missing && input.settings.missing_result == MissingResult::DropCall {
        return Verdict::Drop(Cause::NoResult);
    }
    let id = fresh(&call.id, used);
    if id == call.id { Verdict::Keep } else { Verdict::Rename(id) }
}

fn report(verdict: &Verdict, opener: &MessageId, call: &ToolCall, findings: &mut Findings) {
    let (change, cause, detail) = match verdict {
        Verdict::Keep => return,
        Verdict::Rename(id) => {
            (Change::Altered, Cause::CallIdReused, format!("{} became {id}", call.id))
        }
        Verdict::Drop(cause) => (Change::Altered, *cause, format!("without the call {}", call.id)),
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

/// The id itself the first time, then `id_2`, `id_3`: a later turn never changes
/// how an earlier one is named.
fn fresh(id: &CallId, used: &mut HashSet<CallId>) -> CallId {
    let mut fresh = id.clone();
    let mut n = 2;
    while used.contains(&fresh) {
        // A non-empty id with a suffix is not empty.
        if let Ok(next) = CallId::new(format!("{id}_{n}")) {
            fresh = next;
        }
        n += 1;
    }
    used.insert(fresh.clone());
    fresh
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
fn no_result(opener: &Message, id: &CallId, name: &ToolName) -> Entry {
    let mut message = Message::tool(id.clone(), Status::Error, NO_RESULT);
    message.id = MessageId::new(format!("{}:{id}:missing", opener.id));
    message.at = opener.at;
    message.origin = opener.origin.clone();
    if let Body::Tool(result) = &mut message.body {
        result.name = Some(name.clone());
    }
    entry(message, Provenance::Made)
}

/// Puts a user message before an assistant message that nothing leads up to.
fn open_with_user(draft: &mut Draft, findings: &mut Findings) {
    let first = draft.entries.iter().position(|e| e.message.role() != Role::System);
    let Some(first) = first else { return };
    if draft.entries[first].message.role() != Role::Assistant {
        return;
    }
    let id = MessageId::new(format!("{}:opening", draft.entries[first].message.id));
    findings.add(Change::Made, &id, Cause::NoUserBefore);
    let message = Message::user(OPENING).with_id(id);
    draft.entries.insert(first, entry(message, Provenance::Made));
}
