//! Thinking that is sent back.

use std::collections::HashSet;

use super::Parsed;
use super::rules::{FOREIGN, LOOP, OFF, SIGNED, THOUGHT_LAST, UNCHANGED};
use crate::anthropic::is_blank;
use crate::base64;
use crate::lint::Faults;

pub(super) fn check(parsed: &Parsed<'_>, faults: &mut Faults) {
    for message in &parsed.messages {
        let mut seen = HashSet::new();
        for block in message.blocks.iter().filter(|block| block.is_thinking()) {
            let is_redacted = block.kind == "redacted_thinking";
            let name = if is_redacted { "data" } else { "signature" };
            let seal = block.field(name).unwrap_or_default();
            if is_blank(seal) {
                faults.add(&SIGNED, format!("{}/{name}", block.at), "");
            } else if !is_redacted && !base64::could_be(seal) {
                faults.add(&FOREIGN, format!("{}/{name}", block.at), "");
            } else if !seen.insert(seal) {
                faults.add(&UNCHANGED, block.at.as_str(), "");
            }
        }
        if let Some(last) = message.blocks.last().filter(|last| last.is_thinking()) {
            faults.add(&THOUGHT_LAST, last.at.as_str(), "");
        }
    }
    check_loop(parsed, faults);
    let is_on = matches!(parsed.thinking(), Some("enabled" | "adaptive" | "between_tools"));
    if parsed.is_prefilled()
        && !is_on
        && let Some(last) = parsed.messages.last()
        && let Some(block) = last.blocks.iter().find(|block| block.is_thinking())
    {
        faults.add(&OFF, block.at.as_str(), "");
    }
}

/// The loop is what stands after the last message of the user's that gives no results: what is
/// said beside results does not end it.
fn check_loop(parsed: &Parsed<'_>, faults: &mut Faults) {
    if parsed.thinking() != Some("enabled") {
        return;
    }
    let is_said = |message: &&super::Message<'_>| {
        message.role == "user" && message.blocks.iter().all(|block| block.kind != "tool_result")
    };
    let running = parsed.messages.iter().rev().take_while(|message| !is_said(message));
    let opener = running.filter(|message| message.role == "assistant").last();
    if let Some(first) = opener.and_then(|opener| opener.blocks.first())
        && !first.is_thinking()
    {
        faults.add(&LOOP, first.at.as_str(), first.kind);
    }
}
