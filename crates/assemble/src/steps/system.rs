//! **Sees** a draft in which system messages may stand anywhere.
//! **Guarantees** at most one system message, first, with every system text in
//! order; a summary in the system role comes right after it. Later system messages stay, if
//! the recipe says so.
//! **Reports** what was moved to the head or joined there, and a role definition
//! that took the place of a missing prompt.

use std::borrow::Cow;
use std::sync::Arc;

use interleaf_model::{
    Body, ContextKind, Entry, Message, MessageId, PartRef, Parts, Provenance, Role, SystemPart,
    Text,
};

use crate::brief::Brief;
use crate::carry::stays_in_place;
use crate::draft::{Draft, entry};
use crate::finding::Findings;
use crate::{Cause, Error, FindingKind, LookAlikes, fence};

pub(super) fn run(
    brief: &Brief<'_>,
    draft: &mut Draft,
    findings: &mut Findings,
) -> Result<(), Error> {
    let mut before: Vec<Entry> = Vec::new();
    for (entry, is_at_head) in draft.prior.iter().flat_map(|prior| prior.systems()) {
        if !is_at_head && entry.provenance != Provenance::Summary {
            findings.add(FindingKind::Moved, &entry.message.id, Cause::SystemToHead);
        }
        before.push(entry.clone());
    }
    let mut at_head = draft.prior.is_none();
    let systems = draft.entries.extract_if(.., |entry| {
        let is_system = entry.message.role() == Role::System;
        at_head &= is_system;
        if !is_system || (!at_head && stays_in_place(brief, entry)) {
            return false;
        }
        if !at_head && entry.provenance != Provenance::Summary {
            findings.add(FindingKind::Moved, &entry.message.id, Cause::SystemToHead);
        }
        true
    });
    let is_summary = |entry: &Entry| entry.provenance == Provenance::Summary;
    let (summaries, said): (Vec<Entry>, Vec<Entry>) =
        before.into_iter().chain(systems).partition(is_summary);
    let system = system_entry(brief, said, findings);
    draft.entries.splice(0..0, system.into_iter().chain(summaries));
    Ok(())
}

fn system_entry(brief: &Brief<'_>, said: Vec<Entry>, findings: &mut Findings) -> Option<Entry> {
    let prompts: Vec<&Arc<str>> =
        brief.recipe.system.iter().filter(|p| !p.trim().is_empty()).collect();
    match (prompts.as_slice(), said.as_slice()) {
        ([], []) => {
            let role = brief.recipe.role_text()?;
            let id = MessageId::new("system");
            findings.add_with(
                FindingKind::Made,
                &id,
                Cause::RoleAsSystem,
                ContextKind::Role.as_str().to_owned(),
            );
            // It may hold what files say.
            let role = match brief.recipe.look_alikes {
                LookAlikes::Escape => fence::unlike(role),
                LookAlikes::Keep => Cow::Borrowed(&**role),
            };
            Some(made(brief, Message::system(&role)))
        }
        // One message that says it all goes out as it was said.
        ([], [only]) => Some(only.clone()),
        _ => {
            for old in &said {
                findings.add(FindingKind::Altered, &old.message.id, Cause::SystemToHead);
            }
            let body = joined(&prompts, said.iter().map(|entry| &entry.message))?;
            Some(made(brief, Message::from(body)))
        }
    }
}

fn made(brief: &Brief<'_>, message: Message) -> Entry {
    let mut message = message.with_id(MessageId::new("system"));
    message.origin = brief.own_origin();
    entry(message, Provenance::System)
}

/// The texts in one part, joined with a newline; parts that carry vendors' fields
/// stay parts of their own.
fn joined<'a>(prompts: &[&Arc<str>], said: impl Iterator<Item = &'a Arc<Message>>) -> Option<Body> {
    let mut parts: Vec<SystemPart> = Vec::new();
    let add = |parts: &mut Vec<SystemPart>, text: &str| match parts.last_mut() {
        Some(SystemPart::Text(last)) if last.extra.is_empty() => {
            last.text = format!("{}\n{text}", last.text).into();
        }
        _ => parts.push(SystemPart::Text(Text::new(text))),
    };
    for prompt in prompts {
        add(&mut parts, prompt);
    }
    for message in said {
        for part in message.parts() {
            match part {
                PartRef::Text(text) if text.extra.is_empty() => add(&mut parts, &text.text),
                PartRef::Text(text) => parts.push(SystemPart::Text(text.clone())),
                PartRef::Opaque(opaque) => parts.push(SystemPart::Opaque(opaque.clone())),
                // A system message holds nothing else.
                PartRef::Thinking(_) | PartRef::Call(_) | PartRef::Image(_) | PartRef::File(_) => {}
            }
        }
    }
    Parts::new(parts).ok().map(Body::System)
}
