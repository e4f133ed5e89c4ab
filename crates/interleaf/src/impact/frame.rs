//! What stands around the turns of a body: tools, system text, settings.

use std::collections::HashMap;
use std::ops::Range;

use interleaf_store::Pieces;
use serde_json::Value;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::BreakCause;
use crate::cache_marks::{SCHEMAS, unmark_json};

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
    /// The first byte of this body that differs for the model, in its head or at its end.
    pub(super) byte: u64,
    /// The same in the body before.
    pub(super) byte_before: u64,
    /// Where the last mark in the head of the body before ends, if all before that stays.
    pub(super) mark: Option<u64>,
    /// Whether nothing that the model sees comes before it, wherever the body has it.
    pub(super) is_first: bool,
    /// Whether a setting differs, if only among others: then no cache finds anything.
    pub(super) has_setting: bool,
}

/// What the model sees otherwise in two bodies beside the list of turns, which is given as a
/// range of each. `first` is the first byte that differs. With it where the heads of the two
/// bodies have what differs.
pub(super) fn change(
    first: u64,
    bodies: [(&Pieces, Range<u64>); 2],
) -> Option<(FrameChange, Option<[Range<u64>; 2]>)> {
    let [(old, old_list), (new, new_list)] = &bodies;
    let same_head = old_list.start == new_list.start && first >= new_list.start;
    let [tail, new_tail] = [old.bytes(old_list.end..old.len()), new.bytes(new_list.end..new.len())];
    if same_head && tail == new_tail {
        return None;
    }
    let [before, now] = [Frame::of(old, old_list)?, Frame::of(new, new_list)?];
    let byte = first.min(new_list.start).min(old_list.start);
    let at = |frame: &Frame, places: &[&str]| -> Vec<Value> {
        places.iter().filter_map(|place| frame.value.pointer(place).cloned()).collect()
    };
    let differs = |place: &&&str| before.value.pointer(place) != now.value.pointer(place);
    let setting = SETTINGS.iter().find(differs);
    let (old, new) = (tools(&at(&before, &TOOLS)), tools(&at(&now, &TOOLS)));
    let (cause, place) = match setting {
        _ if old != new => (tools_changed(&old, &new), TOOLS.iter().find(differs)),
        _ if at(&before, &SYSTEM) != at(&now, &SYSTEM) => {
            (BreakCause::System, SYSTEM.iter().find(differs))
        }
        Some(name) => (BreakCause::Setting { name: SmolStr::new(name) }, None),
        None => return None,
    };
    let both = [&before, &now].map(|frame| place.and_then(|place| frame.range(place)));
    // Tools are put before all else, wherever a body has them.
    let is_late = |frame: &Frame, tools: &Option<Range<u64>>| {
        let system = SYSTEM.iter().find_map(|place| frame.range(place));
        system.zip(tools.clone()).is_some_and(|(system, tools)| system.start < tools.start)
    };
    let has_late_tools = matches!(cause, BreakCause::Tools { .. })
        && (is_late(&before, &both[0]) || is_late(&now, &both[1]));
    let ranges = match both {
        [Some(old), Some(new)] => Some([old, new]),
        _ => None,
    };
    let is_setting = matches!(cause, BreakCause::Setting { .. });
    let byte = if is_setting { 0 } else { byte };
    let change = FrameChange {
        cause,
        byte,
        byte_before: byte,
        mark: None,
        has_setting: setting.is_some(),
        is_first: is_setting || has_late_tools,
    };
    Some((change, ranges))
}

/// The bytes of the head of a body that have its tools, and those that have its system text.
pub(super) fn parts(body: &Pieces, list: &Range<u64>) -> Option<[Option<Range<u64>>; 2]> {
    let frame = Frame::of(body, list)?;
    Some([&TOOLS[..], &SYSTEM].map(|places| {
        let ranges = places.iter().filter_map(|place| frame.range(place));
        ranges.filter(|range| !range.is_empty()).min_by_key(|range| range.start)
    }))
}

/// A body without its turns.
struct Frame {
    /// Without its marks.
    value: Value,
    /// The bytes of the head that have each field: none of them, if it comes after the turns.
    fields: HashMap<String, Range<u64>>,
}

impl Frame {
    fn of(body: &Pieces, list: &Range<u64>) -> Option<Self> {
        let mut text = body.copy(0..list.start);
        if text.last() == Some(&b',') {
            text.pop();
        }
        let n_head = text.len();
        text.extend_from_slice(&body.bytes(list.end..body.len()));
        let mut value = serde_json::from_slice(&text).ok()?;
        unmark_json(&mut value);
        unlist(&mut value);
        let raw: HashMap<String, &RawValue> = serde_json::from_slice(&text).ok()?;
        let range = |value: &RawValue| {
            let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
            let end = start + value.get().len();
            start.min(n_head) as u64..end.min(n_head) as u64
        };
        let fields = raw.into_iter().map(|(name, value)| (name, range(value))).collect();
        Some(Self { value, fields })
    }

    /// The bytes of the head that have the field of a place.
    fn range(&self, place: &str) -> Option<Range<u64>> {
        self.fields.get(place.split('/').nth(1)?).cloned()
    }
}

/// Writes each list that has nothing but a text as that text, which is the same to a model: only
/// a list can have marks.
fn unlist(value: &mut Value) {
    match value {
        Value::Array(items) => match items.as_mut_slice() {
            [Value::Object(part)] if part.len() == 2 && part.contains_key("type") => {
                if let Some(text @ Value::String(_)) = part.get_mut("text") {
                    *value = text.take();
                }
            }
            items => items.iter_mut().for_each(unlist),
        },
        Value::Object(fields) => {
            // What a schema has is no list of parts.
            let others = fields.iter_mut().filter(|(name, _)| !SCHEMAS.contains(&name.as_str()));
            others.for_each(|(_, value)| unlist(value));
        }
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
