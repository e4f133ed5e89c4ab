//! Calls and their results.

use std::collections::HashSet;

use super::rules::{
    ANSWERED, CALL_ID, ONE_RESULT, ORPHAN, RESULTS_FIRST, SERVED, SERVER_ID, TOOL_NAME, UNIQUE,
    WAITING,
};
use super::{Block, Message, Parsed};
use crate::Vendor;
use crate::anthropic::{is_legal_id, is_server_id};
use crate::lint::Faults;

pub(super) fn check(parsed: &Parsed<'_>, vendor: &Vendor, faults: &mut Faults) {
    let mut known = HashSet::new();
    for (i, message) in parsed.messages.iter().enumerate() {
        let after = parsed.messages.get(i + 1).filter(|after| after.role == "user");
        let answered: HashSet<&str> = after.into_iter().flat_map(results).map(|r| r.0).collect();
        for (id, block) in calls(message) {
            if !is_legal_id(id) {
                faults.add(&CALL_ID, format!("{}/id", block.at), id);
            }
            if block.field("name").is_some_and(|name| !vendor.quirks.tool_names.takes(name)) {
                faults.add(&TOOL_NAME, format!("{}/name", block.at), "");
            }
            if !known.insert(id) {
                faults.add(&UNIQUE, format!("{}/id", block.at), id);
            }
            if !answered.contains(id) {
                faults.add(&ANSWERED, block.at.as_str(), id);
            }
        }
        let before = i.checked_sub(1).and_then(|before| parsed.messages.get(before));
        check_results(message, before, faults);
    }
    check_served(parsed, faults);
}

fn calls<'m, 'a>(message: &'m Message<'a>) -> impl Iterator<Item = (&'a str, &'m Block<'a>)> {
    let blocks = message.blocks.iter().filter(|block| block.kind == "tool_use");
    blocks.filter_map(|block| Some((block.field("id")?, block)))
}

fn results<'m, 'a>(message: &'m Message<'a>) -> impl Iterator<Item = (&'a str, &'m Block<'a>)> {
    let blocks = message.blocks.iter().filter(|block| block.kind == "tool_result");
    blocks.filter_map(|block| Some((block.field("tool_use_id")?, block)))
}

fn check_results(message: &Message<'_>, before: Option<&Message<'_>>, faults: &mut Faults) {
    let asked: HashSet<&str> = before
        .filter(|before| before.role == "assistant")
        .map(|before| calls(before).map(|(id, _)| id).collect())
        .unwrap_or_default();
    let mut answered = HashSet::new();
    for (id, block) in results(message) {
        if !asked.contains(id) {
            faults.add(&ORPHAN, format!("{}/tool_use_id", block.at), id);
        } else if !answered.insert(id) {
            faults.add(&ONE_RESULT, format!("{}/tool_use_id", block.at), id);
        }
    }
    let n_leading = message.blocks.iter().take_while(|block| block.kind == "tool_result").count();
    for block in &message.blocks[n_leading..] {
        if block.kind == "tool_result" {
            faults.add(&RESULTS_FIRST, block.at.as_str(), "");
        }
    }
}

/// Tools that the API runs itself: each use has its result after it, in its message
/// or, if the assistant also called, in the one that goes on.
fn check_served(parsed: &Parsed<'_>, faults: &mut Faults) {
    let mut uses: HashSet<&str> = HashSet::new();
    let mut results: HashSet<&str> = HashSet::new();
    for message in parsed.messages.iter().filter(|message| message.role == "assistant") {
        for block in message.blocks.iter().filter(|block| block.is_served()) {
            if block.kind.ends_with("_tool_use") {
                let id = block.field("id").unwrap_or_default();
                if block.kind == "server_tool_use" && !is_server_id(id) {
                    faults.add(&SERVER_ID, format!("{}/id", block.at), id);
                }
                uses.insert(id);
            } else if block.kind != "tool_result" {
                let id = block.field("tool_use_id").unwrap_or_default();
                if !uses.contains(id) {
                    faults.add(&SERVED, block.at.as_str(), id);
                }
                results.insert(id);
            }
        }
    }
    for pair in parsed.messages.windows(2) {
        let [message, after] = pair else { continue };
        let is_open = |block: &&Block<'_>| {
            message.role == "assistant"
                && block.kind.ends_with("_tool_use")
                && !results.contains(block.field("id").unwrap_or_default())
        };
        let mut open = message.blocks.iter().filter(is_open).peekable();
        if calls(message).next().is_none() {
            for block in open {
                let id = block.field("id").unwrap_or_default();
                faults.add(&SERVED, block.at.as_str(), id);
            }
        } else if open.peek().is_some()
            && after.blocks.iter().any(|block| block.kind != "tool_result")
        {
            faults.add(&WAITING, after.at.as_str(), "");
        }
    }
}
