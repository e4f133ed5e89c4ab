//! Who speaks after whom, where a vendor has an opinion.

use super::facts::Facts;
use super::{pairing, rules};
use crate::lint::Faults;
use crate::tree::Value;

pub(super) fn check(list: &[Value], facts: &Facts, faults: &mut Faults) {
    let quirks = &facts.quirks;
    if quirks.one_system {
        check_system(list, faults);
    }
    if quirks.strict_alternation {
        check_alternation(list, faults);
    } else if quirks.bridge_after_results {
        check_bridges(list, faults);
    }
    if quirks.prefix_last {
        check_ends(list, faults);
    }
}

fn role(message: &Value) -> &str {
    message["role"].as_str().unwrap_or_default()
}

fn check_system(list: &[Value], faults: &mut Faults) {
    for (i, message) in list.iter().enumerate().skip(1) {
        if matches!(role(message), "system" | "developer") {
            faults.add(&rules::ONE_SYSTEM, format!("/messages/{i}"), "");
        }
    }
}

/// As chat templates do it: calls and results are passed over, the rest must take
/// turns, the user first.
fn check_alternation(list: &[Value], faults: &mut Faults) {
    let mut expected = "user";
    let mut before = "";
    for (i, message) in list.iter().enumerate() {
        let role = role(message);
        let is_counted = role == "user" || (role == "assistant" && !pairing::has_any(message));
        let is_neighbour = matches!(role, "user" | "assistant") && role == before;
        if is_neighbour || (is_counted && role != expected) {
            let detail = format!("{role} after {before}");
            faults.add(&rules::ALTERNATION, format!("/messages/{i}"), detail);
        }
        if is_counted {
            expected = if role == "user" { "assistant" } else { "user" };
        }
        before = role;
    }
}

fn check_bridges(list: &[Value], faults: &mut Faults) {
    for (i, pair) in list.windows(2).enumerate() {
        let at = format!("/messages/{}", i + 1);
        match (role(&pair[0]), role(&pair[1])) {
            ("tool", "user") => faults.add(&rules::AFTER_RESULT, at, ""),
            (before @ ("tool" | "assistant"), "system") => {
                faults.add(&rules::SYSTEM_LATE, at, format!("it follows {before}"));
            }
            _ => {}
        }
    }
}

fn check_ends(list: &[Value], faults: &mut Faults) {
    if let Some(first) = list.first()
        && !matches!(role(first), "user" | "system")
    {
        faults.add(&rules::FIRST, "/messages/0", role(first));
    }
    let last_idx = list.len().saturating_sub(1);
    for (i, message) in list.iter().enumerate() {
        let is_prefix = message["prefix"] == true;
        let is_answer = role(message) == "assistant" && !pairing::has_any(message);
        if is_prefix != (is_answer && i == last_idx) {
            // A mark in the middle, or none at the end.
            let detail = if is_prefix { "a prefix in the middle" } else { "it is not a prefix" };
            if is_prefix || (is_answer && i == last_idx) {
                faults.add(&rules::LAST, format!("/messages/{i}"), detail);
            }
        }
    }
}
