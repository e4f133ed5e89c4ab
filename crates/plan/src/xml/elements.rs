//! Objects and arrays that a model wrote as elements in place of JSON.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::tag::{TagKind, next_tag, tag_at};
use super::value::{DEEPEST, read_at};
use crate::schema::{Kinds, resolve};

/// Reads elements as an array, in order, or as an object, if the schema wants one and
/// there is nothing but elements.
pub(super) fn read(
    raw: &str,
    schema: &Value,
    root: &Value,
    kinds: Kinds,
    depth: usize,
) -> Option<Value> {
    static ANYTHING: Value = Value::Bool(true);
    let wants = |kind| kinds.contains(kind) && kinds != Kinds::ANY;
    if depth >= DEEPEST || !(wants(Kinds::ARRAY) || wants(Kinds::OBJECT)) {
        return None;
    }
    let children = children(raw)?;
    let schema = resolve(schema, root);
    if wants(Kinds::ARRAY) {
        let items = schema.get("items").unwrap_or(&ANYTHING);
        let item = |(_, inner): &(&str, &str)| read_at(inner, items, root, None, depth + 1);
        return Some(Value::Array(children.iter().map(item).collect()));
    }
    let declared = schema.get("properties").and_then(Value::as_object);
    let mut object = Map::new();
    for (name, inner) in children {
        let own = declared.and_then(|declared| {
            let same = |own: &&String| own.eq_ignore_ascii_case(name);
            declared
                .get_key_value(name)
                .or_else(|| declared.get_key_value(declared.keys().find(same)?))
        });
        let (name, schema) =
            own.map_or((name, &ANYTHING), |(name, schema)| (name.as_str(), schema));
        object.insert(name.to_owned(), read_at(inner, schema, root, None, depth + 1));
    }
    Some(Value::Object(object))
}

/// The elements that a text consists of: name and inside of each. An element is named by
/// its attribute `name`, or by its tag.
fn children(raw: &str) -> Option<Vec<(&str, &str)>> {
    let patience = Patience::with(raw);
    let mut found = Vec::new();
    let mut at = raw.len() - raw.trim_start().len();
    while at < raw.trim_end().len() {
        if let Some(comment) = raw[at..].strip_prefix("<!--") {
            at = raw.len() - comment.len() + comment.find("-->")? + 3;
        } else {
            let tag = tag_at(raw, at)
                .filter(|tag| raw[at..].starts_with('<') && tag.kind != TagKind::Close)?;
            let name = tag.value.unwrap_or(tag.name);
            if tag.kind == TagKind::Empty {
                found.push((name, ""));
                at = tag.span.end;
            } else {
                let (end, after) = close_of(raw, tag.span.end, tag.name, &patience)?;
                found.push((name, &raw[tag.span.end..end]));
                at = after;
            }
        }
        at += raw[at..].len() - raw[at..].trim_start().len();
    }
    (!found.is_empty()).then_some(found)
}

/// How many tags may still be looked at while ends are searched for. A text of start tags
/// without ends would be read over and over; a real one needs a fraction of this.
pub(super) struct Patience(Cell<usize>);

impl Patience {
    pub(super) fn with(text: &str) -> Self {
        Self(Cell::new(1_000 + text.len()))
    }

    /// Takes one look; false if there is none left.
    pub(super) fn look(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

/// Where the end tag of an element stands, and what is after it.
pub(super) fn close_of(
    raw: &str,
    from: usize,
    name: &str,
    patience: &Patience,
) -> Option<(usize, usize)> {
    let mut depth = 0_usize;
    let mut at = from;
    while patience.look() {
        let tag = next_tag(raw, at)?;
        at = tag.span.end;
        if !tag.is(name) {
            continue;
        }
        match tag.kind {
            TagKind::Open => depth += 1,
            TagKind::Close if depth == 0 => return Some((tag.span.start, tag.span.end)),
            TagKind::Close => depth -= 1,
            TagKind::Empty => {}
        }
    }
    None
}
