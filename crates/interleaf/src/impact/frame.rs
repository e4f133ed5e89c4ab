//! What stands around the turns of a body: tools, system text, settings.

use std::ops::Range;

use interleaf_store::Pieces;
use serde_json::Value;
use smol_str::SmolStr;

use super::BreakCause;
use crate::cache_marks::unmark_json;

/// Where a body has its tools.
const TOOLS: [&str; 2] = ["/tools", "/toolConfig/tools"];

/// Where a body has its system text, which may be the first elements of the list of turns.
const SYSTEM: [&str; 6] =
    ["/system", "/systemInstruction", "/instructions", "/messages", "/input", "/contents"];

/// Settings that the prompt which the model sees depends on, or that a cache is kept by.
/// Anthropic: tool choice and thinking. OpenAI: the schema of the answer is part of the prompt,
/// and the key decides which machine is asked.
const SETTINGS: [&str; 14] = [
    "/tool_choice",
    "/toolConfig/toolChoice",
    "/toolConfig/functionCallingConfig",
    "/thinking",
    "/reasoning",
    "/reasoning_effort",
    "/response_format",
    "/text",
    "/output_config",
    "/generationConfig/responseSchema",
    "/generationConfig/responseJsonSchema",
    "/generationConfig/thinkingConfig",
    "/additionalModelRequestFields",
    "/prompt_cache_key",
];

/// What differs beside the turns.
pub(super) struct FrameChange {
    pub(super) cause: BreakCause,
    /// The first byte that differs in the head of both bodies, if the change is there.
    pub(super) byte: u64,
    /// Whether a setting differs, if only among others: then no cache finds anything.
    pub(super) has_setting: bool,
}

/// What the model sees otherwise in two bodies beside the list of turns, which is given as a
/// range of each. `first` is the first byte that differs.
pub(super) fn change(first: u64, bodies: [(&Pieces, Range<u64>); 2]) -> Option<FrameChange> {
    let [(old, old_list), (new, new_list)] = &bodies;
    let same_head = old_list.start == new_list.start && first >= new_list.start;
    let tail = |(body, list): &(&Pieces, Range<u64>)| body.copy(list.end..body.len());
    if same_head && tail(&bodies[0]) == tail(&bodies[1]) {
        return None;
    }
    let [before, now] = [frame(old, old_list)?, frame(new, new_list)?];
    let byte = first.min(new_list.start).min(old_list.start);
    let at = |frame: &Value, places: &[&str]| -> Vec<Value> {
        places.iter().filter_map(|place| frame.pointer(place).cloned()).collect()
    };
    let differs = |place: &&&str| before.pointer(place) != now.pointer(place);
    let setting = SETTINGS.iter().find(differs);
    let (old, new) = (tools(&at(&before, &TOOLS)), tools(&at(&now, &TOOLS)));
    let cause = match setting {
        _ if old != new => tools_changed(&old, &new),
        _ if at(&before, &SYSTEM) != at(&now, &SYSTEM) => BreakCause::System,
        Some(name) => BreakCause::Setting { name: SmolStr::new(name) },
        None => return None,
    };
    let byte = if matches!(cause, BreakCause::Setting { .. }) { 0 } else { byte };
    Some(FrameChange { cause, byte, has_setting: setting.is_some() })
}

/// A body without its turns and marks.
fn frame(body: &Pieces, list: &Range<u64>) -> Option<Value> {
    let mut text = body.copy(0..list.start);
    if text.last() == Some(&b',') {
        text.pop();
    }
    text.extend(body.copy(list.end..body.len()));
    let mut frame = serde_json::from_slice(&text).ok()?;
    unmark_json(&mut frame);
    unlist(&mut frame);
    Some(frame)
}

/// Writes each list that has nothing but a text as that text, which is the same to a model: only
/// a list can have marks.
fn unlist(value: &mut Value) {
    match value {
        Value::Array(items) => match items.as_mut_slice() {
            [Value::Object(part)] if part.len() == 2 && part.contains_key("type") => {
                if let Some(text @ Value::String(_)) = part.get_mut("text").map(Value::take) {
                    *value = text;
                }
            }
            items => items.iter_mut().for_each(unlist),
        },
        Value::Object(fields) => fields.values_mut().for_each(unlist),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The tools with their names; some APIs have groups of them.
fn tools(lists: &[Value]) -> Vec<(SmolStr, Value)> {
    let items = lists.iter().filter_map(Value::as_array).flatten();
    let mut tools = Vec::new();
    for item in items {
        match item.get("functionDeclarations").and_then(Value::as_array) {
            Some(group) => tools.extend(group.iter().map(|tool| (name(tool), tool.clone()))),
            None => tools.push((name(item), item.clone())),
        }
    }
    tools
}

fn name(tool: &Value) -> SmolStr {
    let places = ["/name", "/function/name", "/custom/name", "/toolSpec/name", "/type"];
    let own = places.iter().find_map(|place| tool.pointer(place)?.as_str());
    let only_key = || tool.as_object()?.keys().next().map(String::as_str);
    SmolStr::new(own.or_else(only_key).unwrap_or("a tool"))
}

/// What became of the tools, given with their names.
pub(super) fn tools_changed(old: &[(SmolStr, Value)], new: &[(SmolStr, Value)]) -> BreakCause {
    let has = |tools: &[(SmolStr, Value)], name: &SmolStr| tools.iter().any(|(n, _)| n == name);
    let names = |tools: &[(SmolStr, Value)], others: &[(SmolStr, Value)], stays: bool| {
        let names = tools.iter().map(|(name, _)| name.clone());
        names.filter(|name| has(others, name) == stays).collect::<Vec<_>>()
    };
    let is_changed = |(name, tool): &&(SmolStr, Value)| {
        has(old, name) && !old.iter().any(|(n, old)| n == name && old == tool)
    };
    BreakCause::Tools {
        added: names(new, old, false),
        removed: names(old, new, false),
        changed: new.iter().filter(is_changed).map(|(name, _)| name.clone()).collect(),
        reordered: names(new, old, true) != names(old, new, true),
    }
}
