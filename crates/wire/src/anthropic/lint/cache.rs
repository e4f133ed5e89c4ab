//! Cache marks, in the order of the prompt: tools, system, messages.

use super::rules::{MARK_COUNT, MARK_FORM, MARK_ORDER, MARK_PLACE};
use super::{Block, Parsed, blocks};
use crate::anthropic::{DEFER, MARK, is_blank, mark_fault};
use crate::lint::Rule;
use crate::tree::Value;

const MOST_MARKS: usize = 4;

type Found = (&'static Rule, String, String);

/// What is wrong with the marks of a body.
pub(super) fn faults(parsed: &Parsed<'_>) -> Vec<Found> {
    let mut faults = Vec::new();
    let mut marks = Vec::new();
    let tools = parsed.body.get("tools").and_then(Value::as_array);
    for (i, tool) in tools.into_iter().flatten().enumerate() {
        let is_deferred = tool.get(DEFER) == Some(&Value::Bool(true));
        let refused = is_deferred.then_some("Tools with defer_loading cannot use prompt caching");
        take(tool, &format!("/tools/{i}"), refused, &mut marks, &mut faults);
    }
    let system = parsed.body.get("system").map(|system| blocks(system, "")).unwrap_or_default();
    for block in system {
        let at = block.at.replacen("/content", "/system", 1);
        take(block.value, &at, refused(&block), &mut marks, &mut faults);
    }
    for message in &parsed.messages {
        let cleared = message.is_cleared.then_some("the message is cleared after its turn");
        for block in &message.blocks {
            for inner in block.inner() {
                take(inner.value, &inner.at, refused(&inner), &mut marks, &mut faults);
            }
            let refused = cleared.or_else(|| refused(block));
            take(block.value, &block.at, refused, &mut marks, &mut faults);
        }
    }
    let n_explicit = marks.len();
    let last = parsed.messages.last().and_then(|last| last.blocks.last()).map(|last| &last.value);
    let last_mark = last.and_then(|last| mark_of(last));
    if let Some(own) = mark_of(parsed.body) {
        let is_same = last_mark.is_some_and(|mark| lives_long(mark) == lives_long(own));
        if !is_same {
            take(parsed.body, "", None, &mut marks, &mut faults);
        } else if let Some(fault) = mark_fault(own) {
            faults.push((&MARK_FORM, format!("/{MARK}"), fault.to_owned()));
        }
        if n_explicit >= MOST_MARKS || last_mark.is_some() && !is_same {
            let detail = "no place is left for the automatic mark";
            faults.push((&MARK_COUNT, format!("/{MARK}"), detail.to_owned()));
        }
    }
    if n_explicit > MOST_MARKS {
        let at = marks[MOST_MARKS].0.clone();
        faults.push((&MARK_COUNT, at, format!("there are {}", marks.len())));
    }
    let first_short = marks.iter().position(|(_, is_long)| !is_long).unwrap_or(marks.len());
    for (at, is_long) in &marks[first_short..] {
        if *is_long {
            faults.push((&MARK_ORDER, at.clone(), String::new()));
        }
    }
    faults
}

fn mark_of(value: &Value) -> Option<&Value> {
    value.get(MARK).filter(|mark| !mark.is_null())
}

fn lives_long(mark: &Value) -> bool {
    mark.get("ttl").is_some_and(|ttl| ttl == "1h")
}

fn refused(block: &Block<'_>) -> Option<&'static str> {
    if block.is_thinking() {
        Some("it is thinking")
    } else if block.kind == "text" && block.text().is_none_or(is_blank) {
        Some("the text is empty")
    } else {
        None
    }
}

/// Takes the mark of what stands at `at`, if it has one.
fn take(
    value: &Value,
    at: &str,
    refused: Option<&'static str>,
    marks: &mut Vec<(String, bool)>,
    faults: &mut Vec<Found>,
) {
    let Some(mark) = mark_of(value) else { return };
    let at = format!("{at}/{MARK}");
    if let Some(refused) = refused {
        faults.push((&MARK_PLACE, at.clone(), refused.to_owned()));
    }
    if let Some(fault) = mark_fault(mark) {
        faults.push((&MARK_FORM, at.clone(), fault.to_owned()));
    }
    marks.push((at, lives_long(mark)));
}
