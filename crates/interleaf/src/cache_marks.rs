//! Marks for the cache, as they stand in bodies. They move from request to request and say
//! nothing to a model.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use interleaf_model::{
    AssistantPart, Body, ContentPart, Extra, Json, Message, Opaque, Parts, SystemPart, Tool,
    ToolResult, json_text,
};
use interleaf_wire::Family;
use memchr::memmem::{Finder, find};
use serde_json::Value;
use serde_json::value::RawValue;

/// Fields that mark what they stand on.
const FIELDS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// A part that is nothing but a mark, by its one field.
const POINT: &str = "cachePoint";

/// Where tools have the schemas of their arguments.
pub(crate) const SCHEMAS: [&str; 4] =
    ["input_schema", "parameters", "inputSchema", "parametersJsonSchema"];

/// The longest mark that a body has.
pub(crate) const LONGEST: u64 = 96;

/// How a mark of ours is written after something else.
pub(crate) struct Written {
    begins: Finder<'static>,
    ends: &'static [u8],
}

impl Written {
    /// That of a family. Quotes inside of a text have a backslash, so that no text looks like
    /// one.
    pub(crate) fn of(family: Family) -> Option<&'static Self> {
        static ALL: LazyLock<[Option<Written>; Family::ALL.len()]> = LazyLock::new(|| {
            Family::ALL.map(|family| {
                let name = family.cache_mark()?;
                let (begins, ends) = match name == POINT {
                    true => (format!(",{{\"{name}\":{{"), &b"}}"[..]),
                    false => (format!(",\"{name}\":{{"), &b"}"[..]),
                };
                Some(Written { begins: Finder::new(&begins).into_owned(), ends })
            })
        });
        let at = Family::ALL.iter().position(|one| *one == family)?;
        ALL[at].as_ref()
    }

    /// Where the last one stands that begins at most at this byte.
    pub(crate) fn last_in(&self, bytes: &[u8], at: usize) -> Option<Range<usize>> {
        let len = self.begins.needle().len();
        let upto = &bytes[..bytes.len().min(at.saturating_add(len))];
        // From the front, many bytes are looked at in one step.
        let begin = self.begins.find_iter(upto).last()?;
        let value = begin + len;
        Some(begin..value + find(&bytes[value..], self.ends)? + self.ends.len())
    }
}

/// Takes the marks out of a body.
pub(crate) fn unmark_json(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for mark in FIELDS {
                fields.shift_remove(mark);
            }
            // A tool may have a parameter of that name.
            let others = fields.iter_mut().filter(|(name, _)| !SCHEMAS.contains(&name.as_str()));
            others.for_each(|(_, value)| unmark_json(value));
        }
        Value::Array(items) => {
            items.retain(|item| item.get(POINT).is_none());
            items.iter_mut().for_each(unmark_json);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether something is marked that has these fields.
pub(crate) fn is_marked(extra: &Extra) -> bool {
    let has = |fields: &Json| FIELDS.iter().any(|field| fields.as_str().contains(field));
    extra.iter().any(|(_, fields)| has(fields))
}

/// Whether a part is nothing but a mark.
pub(crate) fn is_point(part: &Opaque) -> bool {
    let value = part.value.as_str().strip_prefix("{\"");
    value.is_some_and(|value| value.starts_with(POINT))
}

/// The message without marks, unless it is nothing but one, and whether it had any.
pub(crate) fn unmark(message: Message) -> (Option<Message>, bool) {
    let Message { id, at, origin, body, mut extra } = message;
    let mut was_marked = take(&mut extra);
    let body = match body {
        Body::System(parts) => unmarked(parts, &mut was_marked).map(Body::System),
        Body::User(parts) => unmarked(parts, &mut was_marked).map(Body::User),
        Body::Assistant(parts) => unmarked(parts, &mut was_marked).map(Body::Assistant),
        Body::Tool(ToolResult { call, name, status, parts }) => unmarked(parts, &mut was_marked)
            .map(|parts| Body::Tool(ToolResult { call, name, status, parts })),
    };
    (body.map(|body| Message { id, at, origin, body, extra }), was_marked)
}

/// A part of a message that may have a mark.
trait Marked {
    fn extra(&mut self) -> Option<&mut Extra>;
    fn as_opaque(&self) -> Option<&Opaque>;
}

impl Marked for SystemPart {
    fn extra(&mut self) -> Option<&mut Extra> {
        match self {
            Self::Text(text) => Some(&mut text.extra),
            Self::Opaque(_) => None,
        }
    }

    fn as_opaque(&self) -> Option<&Opaque> {
        if let Self::Opaque(opaque) = self { Some(opaque) } else { None }
    }
}

impl Marked for ContentPart {
    fn extra(&mut self) -> Option<&mut Extra> {
        match self {
            Self::Text(text) => Some(&mut text.extra),
            Self::Image(image) => Some(&mut image.extra),
            Self::File(file) => Some(&mut file.extra),
            Self::Opaque(_) => None,
        }
    }

    fn as_opaque(&self) -> Option<&Opaque> {
        if let Self::Opaque(opaque) = self { Some(opaque) } else { None }
    }
}

impl Marked for AssistantPart {
    fn extra(&mut self) -> Option<&mut Extra> {
        match self {
            Self::Text(text) => Some(&mut text.extra),
            Self::Thinking(thinking) => Some(&mut thinking.extra),
            Self::Call(call) => Some(&mut call.extra),
            Self::Image(image) => Some(&mut image.extra),
            Self::File(file) => Some(&mut file.extra),
            Self::Opaque(_) => None,
        }
    }

    fn as_opaque(&self) -> Option<&Opaque> {
        if let Self::Opaque(opaque) = self { Some(opaque) } else { None }
    }
}

/// The parts without marks; nothing, if there is no other part.
fn unmarked<T: Marked>(parts: Parts<T>, was_marked: &mut bool) -> Option<Parts<T>> {
    let mut rest = parts.into_vec();
    let n = rest.len();
    rest.retain(|part| !part.as_opaque().is_some_and(is_point));
    *was_marked |= rest.len() < n;
    for part in &mut rest {
        *was_marked |= part.extra().is_some_and(take);
    }
    Parts::new(rest).ok()
}

/// Takes the marks off a tool; whether there were any.
pub(crate) fn unmark_tool(tool: &mut Tool) -> bool {
    take(&mut tool.extra)
}

/// Takes the marks out of fields; whether there were any.
fn take(extra: &mut Extra) -> bool {
    if !is_marked(extra) {
        return false;
    }
    let mut found = false;
    let fields = extra.iter().filter_map(|(owner, fields)| {
        let Some(left) = without_marks(fields) else {
            return Some((owner.clone(), fields.clone()));
        };
        found = true;
        Some((owner.clone(), left)).filter(|(_, left)| left.as_str() != "{}")
    });
    let left = Extra::from_map(fields.collect()).unwrap_or_default();
    *extra = left;
    found
}

/// These fields without marks, each as it is written and in its order; nothing, if none is a mark.
fn without_marks(fields: &Json) -> Option<Json> {
    let order: serde_json::Map<String, Value> = serde_json::from_str(fields.as_str()).ok()?;
    let written: BTreeMap<String, &RawValue> = serde_json::from_str(fields.as_str()).ok()?;
    let is_mark = |name: &String| FIELDS.contains(&name.as_str());
    order.keys().any(is_mark).then_some(())?;
    let left = order.keys().filter(|name| !is_mark(name)).filter_map(|name| {
        let value = written.get(name)?;
        Some(format!("{}:{value}", json_text(name).ok()?))
    });
    Json::parse(format!("{{{}}}", left.collect::<Vec<_>>().join(","))).ok()
}

#[cfg(test)]
mod tests {
    use super::{unmark_json, without_marks};
    use interleaf_model::Json;
    use serde_json::json;

    #[test]
    fn fields_stay_as_they_are_written_and_in_their_order_without_a_mark() {
        let fields =
            r#"{"title":"a","cache_control":{"type":"ephemeral"},"context":1.50,"a\"b":[]}"#;
        let left = without_marks(&Json::parse(fields).unwrap()).unwrap();
        assert_eq!(left.as_str(), r#"{"title":"a","context":1.50,"a\"b":[]}"#);
        assert_eq!(without_marks(&left), None);
    }

    #[test]
    fn a_parameter_with_the_name_of_a_mark_is_no_mark() {
        let schema = json!({"properties": {"cache_control": {"type": "string"}}});
        let mut tool = json!({"name": "fetch", "input_schema": schema, "cache_control": {}});
        unmark_json(&mut tool);
        assert_eq!(tool, json!({"name": "fetch", "input_schema": schema}));
    }
}
