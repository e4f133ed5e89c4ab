//! Why two requests differ where they do.

use std::cmp::Ordering;
use std::collections::HashSet;

use interleaf_assemble::{Cause, ElementForm, Finding, FindingKind, Rebase};
use interleaf_model::{Carried, ContextKind, Entry, MessageId, Provenance, Role};
use serde_json::Value;
use smol_str::{SmolStr, ToSmolStr};

use super::bodies::{Found, Seen};
use super::frame::tools_changed;
use super::place::has_summary_at_head;
use super::trace::{MadeBy, Named, carrier, said, text_tools};
use super::{Before, BreakCause, ContextChange, Now};

/// Why a request is not the one before. `entry` is the message where they differ.
pub(super) fn of(
    now: &Now<'_>,
    before: &Before,
    found: &Found,
    entry: Option<&Entry>,
) -> BreakCause {
    let (vendor, model) = (&now.target.vendor.name, &now.target.options.model);
    let named = |from: &str, to: &str| (SmolStr::new(from), SmolStr::new(to));
    if before.vendor != vendor.as_str() {
        let (from, to) = named(&before.vendor, vendor);
        return BreakCause::Vendor { from, to };
    }
    if before.model != model.as_str() {
        let (from, to) = named(&before.model, model);
        return BreakCause::Model { from, to };
    }
    match &found.seen {
        Seen::Nowhere => BreakCause::Same,
        Seen::Frame(change) => match &change.cause {
            setting @ BreakCause::Setting { .. } => setting.clone(),
            cause => as_text(now, before).unwrap_or_else(|| match cause {
                BreakCause::System if is_summary(now, before, change.byte) => BreakCause::Summary,
                cause => cause.clone(),
            }),
        },
        Seen::List { appended: true, .. } => BreakCause::Appended,
        Seen::List { before: at, .. } => {
            let old = before.trace.made_at(*at as i64);
            in_list(now, before, old, entry)
        }
    }
}

/// What became of the tools that are written into the system text, or were so.
fn as_text(now: &Now<'_>, before: &Before) -> Option<BreakCause> {
    let (old, new) = (before.trace.text_tools.as_deref(), now.text_tools.map(text_tools));
    let valued = |tools: &[Named]| {
        let tools = tools.iter().map(|(name, says)| (name.clone(), Value::from(says.as_str())));
        tools.collect::<Vec<_>>()
    };
    match (old, new.as_deref()) {
        (None, None) => None,
        (Some(old), Some(new)) => (old != new).then(|| tools_changed(&valued(old), &valued(new))),
        _ => Some(BreakCause::Setting { name: "text tools".into() }),
    }
}

/// What changed of a block that would have stayed where it was: the first source that says
/// something else, is gone or is new.
fn unsettled(now: &Now<'_>, before: &Before) -> Option<BreakCause> {
    let (old, new) = (&before.trace.said, said(now));
    if old.is_empty() || new.is_empty() {
        return None;
    }
    let is_in = |all: &[Named], name: &SmolStr| all.iter().any(|(other, _)| other == name);
    let changed = |(name, _): &Named| match is_in(&new, name) {
        true => (name.clone(), ContextChange::Changed),
        false => (name.clone(), ContextChange::Removed),
    };
    let said: HashSet<&Named> = new.iter().collect();
    let gone = old.iter().find(|source| !said.contains(source)).map(changed);
    let added = || {
        let old: HashSet<&SmolStr> = old.iter().map(|(name, _)| name).collect();
        let (name, _) = new.iter().find(|(name, _)| !old.contains(name))?;
        Some((name.clone(), ContextChange::Added))
    };
    let (source, change) = gone.or_else(added)?;
    Some(BreakCause::Context { source, change })
}

/// Whether a summary stood in the head from this byte on or, if none stood there, stands there
/// now.
fn is_summary(now: &Now<'_>, before: &Before, byte: u64) -> bool {
    let at = byte as i64 - before.trace.list.start as i64;
    let mut made = before.trace.made.iter();
    let stood = made.find(|part| part.origin == MadeBy::Summary && part.bytes.0 < 0);
    if let Some(stood) = stood {
        return at >= stood.bytes.0;
    }
    has_summary_at_head(now.prompt.entries())
}

fn in_list(
    now: &Now<'_>,
    before: &Before,
    old: Option<&MadeBy>,
    entry: Option<&Entry>,
) -> BreakCause {
    if let Some(cause) = rebased(now, before, entry) {
        return cause;
    }
    let new = entry.and_then(MadeBy::of);
    let context = |source: &SmolStr, usual: ContextChange| {
        let is_there = matches!(usual, ContextChange::Changed | ContextChange::Moved);
        let usual =
            if is_there && is_carried(now, before) { ContextChange::Carried } else { usual };
        let change = element_change(now, before, source).unwrap_or(usual);
        BreakCause::Context { source: source.clone(), change }
    };
    match (old, new.as_ref()) {
        (Some(MadeBy::Context(_)), _) | (_, Some(MadeBy::Context(_)))
            if let Some(cause) = unsettled(now, before) =>
        {
            cause
        }
        (Some(MadeBy::Context(old)), Some(MadeBy::Context(new))) if old == new => {
            context(old, ContextChange::Changed)
        }
        (Some(MadeBy::Context(_)), Some(MadeBy::Context(new))) if !before.trace.has_source(new) => {
            context(new, ContextChange::Added)
        }
        (Some(MadeBy::Context(old)), _) => match has_source(now, old) {
            true => context(old, ContextChange::Moved),
            false => context(old, ContextChange::Removed),
        },
        (_, Some(MadeBy::Context(new))) => match before.trace.has_source(new) {
            // It stands where something stood that an operation took away.
            true if is_operated(now, before) => operated(now, before),
            true => context(new, ContextChange::Moved),
            false => context(new, ContextChange::Added),
        },
        (Some(MadeBy::Summary), _) | (_, Some(MadeBy::Summary)) => BreakCause::Summary,
        (_, Some(MadeBy::Fitting(_) | MadeBy::Repair(_)) | None) if is_operated(now, before) => {
            operated(now, before)
        }
        (_, Some(MadeBy::Fitting(id) | MadeBy::Repair(id)))
        | (Some(MadeBy::Fitting(id) | MadeBy::Repair(id)), None) => {
            let is_gone = new.is_none();
            let is_notice =
                || matches!(new, Some(MadeBy::Fitting(_))) && now.conversation.find(id).is_none();
            match (old, fitted(now, before, entry)) {
                (Some(MadeBy::Repair(_)), _) => mended(now, id, true),
                // A notice stands for the messages that are left out.
                (_, Some(cause)) if is_gone || is_notice() => cause,
                _ if is_gone && !is_found(now, id) => BreakCause::Restored { message: id.clone() },
                _ => mended(now, id, false),
            }
        }
        (None, None) => as_said(now, before, entry),
    }
}

/// Why all of the context is shown anew, if what it stood after is gone: then whatever differs
/// first follows from that.
fn rebased(now: &Now<'_>, before: &Before, entry: Option<&Entry>) -> Option<BreakCause> {
    match now.report.elements.as_ref()?.rebased? {
        Rebase::PlaceGone if is_operated(now, before) => Some(operated(now, before)),
        Rebase::PlaceGone => fitted(now, before, entry),
        Rebase::LeftOut => fitted(now, before, entry).or_else(|| {
            let mut findings = now.report.findings().map(|(_, finding)| finding);
            findings.find(|finding| gives_way(finding.cause)).map(shortened)
        }),
        _ => None,
    }
}

/// Whether a message is shown shorter, or not at all, for want of room.
fn gives_way(cause: Cause) -> bool {
    matches!(cause, Cause::Budget | Cause::LongResult | Cause::LongArguments)
}

fn shortened(finding: &Finding) -> BreakCause {
    let (message, why) = (finding.message.clone(), finding.cause.to_smolstr());
    BreakCause::Shortened { message, why }
}

/// What became of the messages that the window has no room for, if they are more or fewer than
/// in the request before. `entry` is the message where the two differ.
fn fitted(now: &Now<'_>, before: &Before, entry: Option<&Entry>) -> Option<BreakCause> {
    let (had, n) = (before.trace.left_out, n_left_out(now));
    let left_out = now.report.findings().map(|(_, finding)| finding).find(|it| is_left_out(it));
    // The oldest are left out first, so that the first ones are those of both requests.
    let said = || now.conversation.visible().filter(|message| message.role() != Role::System);
    let first = left_out.map(|finding| &finding.message);
    let nth = |n: usize| {
        let mut from = said().skip_while(|message| first.is_some_and(|id| *id != message.id));
        from.nth(n).map(|message| message.id.clone())
    };
    match n.cmp(&had) {
        Ordering::Equal => None,
        Ordering::Less => {
            let is_said = |entry: &&Entry| entry.provenance == Provenance::Original;
            let there = entry.filter(is_said).map(|entry| entry.message.id.clone());
            Some(BreakCause::Restored { message: there.or_else(|| nth(n))? })
        }
        Ordering::Greater => {
            let finding = left_out?;
            let new = nth(had).filter(|_| n == finding.count);
            let last = finding.through.as_ref().unwrap_or(&finding.message);
            let message = new.unwrap_or_else(|| last.clone());
            Some(BreakCause::Shortened { message, why: finding.cause.to_smolstr() })
        }
    }
}

/// Whether the context is sent in another carrier than before.
fn is_carried(now: &Now<'_>, before: &Before) -> bool {
    before.trace.carrier.zip(carrier(now)).is_some_and(|(old, new)| old != new)
}

/// What became of a source of which this request says something that stays where it stands.
fn element_change(now: &Now<'_>, before: &Before, source: &SmolStr) -> Option<ContextChange> {
    let new = &now.report.elements.as_ref()?.new;
    let element = new.iter().find(|element| element.kind.as_str() == source)?;
    Some(match (element.form, now.shown.says(&element.kind, element.nth)) {
        (ElementForm::Withdrawn, _) => ContextChange::Removed,
        (ElementForm::Whole, None) if before.trace.has_source(source) => ContextChange::Moved,
        (ElementForm::Whole, None) => ContextChange::Added,
        (ElementForm::Whole, said) if said == element.says.as_ref() => ContextChange::Again,
        _ => ContextChange::Changed,
    })
}

fn has_source(now: &Now<'_>, source: &SmolStr) -> bool {
    let is_it = |kind: &ContextKind| kind.as_str() == source;
    let has_it = |entry: &Entry| match &entry.provenance {
        Provenance::Context(kind) | Provenance::Element(kind) => is_it(kind),
        Provenance::Carrying(carrying) => carrying.texts.iter().any(|text| match text {
            Carried::Context(kind) | Carried::Element(kind) => is_it(kind),
            Carried::System => false,
        }),
        Provenance::Original
        | Provenance::System
        | Provenance::Summary
        | Provenance::Altered
        | Provenance::Notice
        | Provenance::Made => false,
    };
    now.prompt.entries().iter().any(has_it)
}

/// Whether the report tells of a message.
fn is_found(now: &Now<'_>, message: &MessageId) -> bool {
    now.report.findings().any(|(_, finding)| finding.messages().any(|m| m == message))
}

/// A message that assembly altered or made, now or before.
fn mended(now: &Now<'_>, message: &MessageId, was_made: bool) -> BreakCause {
    let found = now.report.findings().find(|(_, finding)| finding.messages().any(|m| m == message));
    let message = message.clone();
    let cause = found.map(|(_, finding)| finding.cause);
    match cause {
        cause if !was_made && cause.is_none_or(gives_way) => {
            let why = cause.unwrap_or(Cause::Budget).to_smolstr();
            BreakCause::Shortened { message, why }
        }
        cause => {
            let why = cause.map_or_else(
                || "what stood in for it is no longer needed".into(),
                |c| c.to_smolstr(),
            );
            BreakCause::Repaired { message, why }
        }
    }
}

/// Whether what is visible was changed since the request before. What had to be mended then
/// follows from that.
fn is_operated(now: &Now<'_>, before: &Before) -> bool {
    let (conversation, batch) = (now.conversation, before.trace.batch);
    conversation.current_batch() > batch && !conversation.goes_on_from(batch)
}

fn operated(now: &Now<'_>, before: &Before) -> BreakCause {
    let batches = now.conversation.batches().skip(before.trace.batch as usize + 1);
    BreakCause::Operation { names: batches.map(|batch| SmolStr::new(&batch.cause)).collect() }
}

/// How many messages the window has no room for.
pub(super) fn n_left_out(now: &Now<'_>) -> usize {
    let findings = now.report.findings().map(|(_, finding)| finding);
    findings.filter(|finding| is_left_out(finding)).map(|finding| finding.count).sum()
}

fn is_left_out(finding: &Finding) -> bool {
    finding.kind == FindingKind::Dropped && finding.cause == Cause::Budget
}

/// What stands there is as it was said, and was so before.
fn as_said(now: &Now<'_>, before: &Before, entry: Option<&Entry>) -> BreakCause {
    if let Some(cause) = fitted(now, before, entry) {
        return cause;
    }
    let id = entry.map(|entry| entry.message.id.clone());
    let is_moved = |kind: FindingKind| matches!(kind, FindingKind::Moved | FindingKind::Dropped);
    let mut findings = now.report.findings();
    let moved = id.as_ref().and_then(|id| {
        findings.find(|(_, finding)| is_moved(finding.kind) && finding.messages().any(|m| m == id))
    });
    match (moved, id) {
        (Some((_, finding)), Some(message)) => {
            BreakCause::Repaired { message, why: finding.cause.to_smolstr() }
        }
        (_, message) => BreakCause::Form { message },
    }
}
