//! **Sees** the whole request.
//! **Guarantees** that it fits the window less the reserve, or is refused with the
//! figures; a tool block is never cut.
//! **Reports** every result shortened or cleared, every message left out.
//!
//! Measures, in this order, each only as far as needed:
//!
//! | measure | what it touches |
//! |---|---|
//! | shorten | any single tool result over its limit: head and tail stay (always) |
//! | clear | the oldest tool results, but not the newest few: a placeholder stays |
//! | leave out | the oldest whole turns: one notice stands for them |
//! | refuse | nothing |
//!
//! The latest turn's messages, pinned messages with their blocks, the system
//! message, the summary and the context block are never left out.

mod leave_out;
mod shorten;

use std::collections::HashSet;
use std::sync::Arc;

use interleaf_model::{Blocks, Body, ContentPart, Message, Parts, Provenance, Role, Text};

use super::place;
use crate::draft::{Draft, entry};
use crate::finding::Findings;
use crate::{Budget, Cause, Change, Error, Input, Ledger, Tokens};

/// What is freed is rounded up to so many parts of the limit. The same history
/// then loses the same messages for many requests in a row, and their common
/// prefix stays cached. A change of this number moves cached bytes.
const STEPS_PER_LIMIT: u64 = 5;

pub(super) fn run(
    input: &Input<'_>,
    mut draft: Draft,
    findings: &mut Findings,
) -> Result<Draft, Error> {
    let Some(ledger) = input.ledger else {
        return match input.settings.budget {
            Some(_) => Err(Error::settings("a budget needs something that counts tokens")),
            None => Ok(draft),
        };
    };
    let tools = ledger.tools(&input.tools);
    if let Some(budget) = input.settings.budget {
        shorten_results(&mut draft, &budget, ledger, findings);
        let limit = budget.limit();
        let excess = by_part(&draft, tools, ledger).total().saturating_sub(limit);
        let freed = clear_results(input, &mut draft, &budget, excess, ledger, findings);
        if freed < excess {
            let step = (limit / STEPS_PER_LIMIT).max(1);
            if leave_out::run(input, &mut draft, excess - freed, step, ledger, findings) {
                draft = place::again(input, draft, findings)?;
            }
        }
        let tokens = by_part(&draft, tools, ledger);
        if tokens.total() > limit {
            return Err(Error::too_large(limit, tokens));
        }
    }
    draft.tokens = Some(by_part(&draft, tools, ledger));
    Ok(draft)
}

fn by_part(draft: &Draft, tools: u64, ledger: &Ledger) -> Tokens {
    let counter = ledger.counter().name().to_owned();
    let mut tokens = Tokens { counter, tools, ..Tokens::default() };
    for entry in &draft.entries {
        let part = match entry.provenance {
            Provenance::Summary => &mut tokens.summary,
            Provenance::Context(_) => &mut tokens.context,
            _ if entry.message.role() == Role::System => &mut tokens.system,
            Provenance::Original
            | Provenance::Altered
            | Provenance::System
            | Provenance::Made
            | Provenance::Notice => &mut tokens.history,
        };
        *part += ledger.message(&entry.message);
    }
    tokens
}

fn shorten_results(draft: &mut Draft, budget: &Budget, ledger: &Ledger, findings: &mut Findings) {
    for old in draft.entries.iter_mut().filter(|e| e.message.role() == Role::Tool) {
        let tokens = ledger.message(&old.message);
        if tokens > budget.longest_result
            && let Some(shorter) = shorten::result(&old.message, budget.longest_result, ledger)
        {
            let detail = format!("{tokens} tokens, of which {} stay", ledger.message(&shorter));
            findings.add_with(Change::Altered, &old.message.id, Cause::LongResult, detail);
            *old = entry(shorter, Provenance::Altered);
        }
    }
}

/// Clears the oldest results until `excess` tokens are free; says how many are.
fn clear_results(
    input: &Input<'_>,
    draft: &mut Draft,
    budget: &Budget,
    excess: u64,
    ledger: &Ledger,
    findings: &mut Findings,
) -> u64 {
    if excess == 0 {
        return 0;
    }
    let step = (budget.limit() / STEPS_PER_LIMIT).max(1);
    let wanted = excess.div_ceil(step) * step;
    let held = held_places(input, draft);
    let results: Vec<usize> = (0..draft.entries.len())
        .filter(|&place| draft.entries[place].message.role() == Role::Tool)
        .collect();
    let old = results.len().saturating_sub(budget.newest_results);
    let mut freed = 0;
    for &place in results[..old].iter().filter(|place| !held.contains(place)) {
        if freed >= wanted {
            break;
        }
        let message = &draft.entries[place].message;
        let cleared = cleared(message);
        let (before, after) = (ledger.message(message), ledger.message(&cleared));
        if after < before {
            freed += before - after;
            let detail = format!("{before} tokens, of which {after} stay");
            findings.add_with(Change::Altered, &message.id, Cause::Budget, detail);
            draft.entries[place] = entry(cleared, Provenance::Altered);
        }
    }
    freed
}

/// A result that says only that it was there.
fn cleared(message: &Message) -> Arc<Message> {
    let mut message = message.clone();
    if let Body::Tool(result) = &mut message.body {
        let text = "[This old tool result was cleared to save space.]";
        result.parts = Parts::one(ContentPart::Text(Text::new(text)));
    }
    Arc::new(message)
}

/// The places of what is never touched: pinned messages with the tool blocks around
/// them, and a block that still waits for results.
fn held_places(input: &Input<'_>, draft: &Draft) -> HashSet<usize> {
    let entries = &draft.entries;
    let mut held = HashSet::new();
    if !draft.open.is_empty() {
        // It is the last one, for nothing but its results came since.
        let opener = entries.iter().rposition(|entry| entry.message.has_calls());
        held.extend(opener.unwrap_or(entries.len())..entries.len());
    }
    if !input.pinned.is_empty() {
        let blocks = Blocks::find(draft.messages());
        let is_pinned = |place: &usize| input.pinned.contains(&entries[*place].message.id);
        for place in (0..entries.len()).filter(is_pinned) {
            match blocks.around(place) {
                Some(block) => held.extend(block.positions.iter().copied()),
                None => _ = held.insert(place),
            }
        }
    }
    held
}
