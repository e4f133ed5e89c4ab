//! Objects and arrays that a model wrote as elements in place of JSON.

use std::borrow::Cow;
use std::cell::Cell;

use interleaf_model::Json;
use serde_json::Value;

use super::tag::{TagKind, Tags, tag_at};
use super::value::{DEEPEST, read_at};
use crate::exact;
use crate::schema::{Kinds, resolve};

/// Reads elements as an array, in order, or as an object, if the schema wants one and
/// there is nothing but elements. Where it does not say, parameters inside a parameter
/// are an object.
pub(crate) fn read(
    raw: &str,
    schema: &Value,
    root: &Value,
    kinds: Kinds,
    depth: usize,
) -> Option<Json> {
    static ANYTHING: Value = Value::Bool(true);
    let wants = |kind| kinds.contains(kind) && kinds != Kinds::ANY;
    if depth >= DEEPEST || kinds == Kinds::STRING {
        return None;
    }
    let children = children(raw)?;
    let are_parameters = children.iter().all(|child| child.is_parameter);
    if !(wants(Kinds::ARRAY) || wants(Kinds::OBJECT) || (kinds == Kinds::ANY && are_parameters)) {
        return None;
    }
    let schema = resolve(schema, root);
    let is_object = wants(Kinds::OBJECT) && are_parameters;
    if wants(Kinds::ARRAY) && !is_object {
        let items = schema.get("items").unwrap_or(&ANYTHING);
        let item = |child: &Child<'_>| read_at(child.inner, items, root, None, depth + 1);
        return Some(exact::array(&children.iter().map(item).collect::<Vec<_>>()));
    }
    let declared = schema.get("properties").and_then(Value::as_object);
    let mut groups: Vec<(&str, &Value, Vec<&str>)> = Vec::new();
    for child in &children {
        let written = child.name.as_ref();
        let own = declared.and_then(|declared| {
            let same = |own: &&String| own.eq_ignore_ascii_case(written);
            declared
                .get_key_value(written)
                .or_else(|| declared.get_key_value(declared.keys().find(same)?))
        });
        let (name, schema) =
            own.map_or((written, &ANYTHING), |(name, schema)| (name.as_str(), schema));
        match groups.iter_mut().find(|(known, ..)| *known == name) {
            Some((.., group)) => group.push(child.inner),
            None => groups.push((name, schema, vec![child.inner])),
        }
    }
    let value = |(name, schema, group): (&str, &Value, Vec<&str>)| {
        let value = match group.as_slice() {
            [only] => read_at(only, schema, root, None, depth + 1),
            several => {
                let items = resolve(schema, root).get("items").unwrap_or(&ANYTHING);
                let item = |inner: &&str| read_at(inner, items, root, None, depth + 1);
                exact::array(&several.iter().map(item).collect::<Vec<_>>())
            }
        };
        (name.to_owned(), value)
    };
    let fields: Vec<(String, Json)> = groups.into_iter().map(value).collect();
    Some(exact::object(fields.iter().map(|(name, value)| (name.as_str(), value))))
}

/// An element inside a value.
struct Child<'r> {
    name: Cow<'r, str>,
    is_parameter: bool,
    inner: &'r str,
}

/// The elements that a text consists of. An element is named by its attribute `name` if
/// it is a parameter, and otherwise by its tag.
fn children(raw: &str) -> Option<Vec<Child<'_>>> {
    let start = raw.trim_start();
    if !start.starts_with('<') || !raw.trim_end().ends_with('>') {
        return None;
    }
    let (tags, patience) = (Tags::of(raw), Patience::with(raw));
    let mut found = Vec::new();
    let mut at = raw.len() - start.len();
    while at < raw.trim_end().len() {
        if let Some(comment) = raw[at..].strip_prefix("<!--") {
            at = raw.len() - comment.len() + comment.find("-->")? + 3;
        } else {
            let tag = tag_at(raw, at)
                .filter(|tag| raw[at..].starts_with('<') && tag.kind != TagKind::Close)?;
            let subject = tag.parameter().map(str::to_owned);
            let is_parameter = subject.is_some();
            let name = subject.map_or(Cow::Borrowed(tag.value.unwrap_or(tag.name)), Cow::Owned);
            let (inner, after) = if tag.kind == TagKind::Empty {
                ("", tag.span.end)
            } else {
                let (end, after) = close_of(&tags, tag.span.end, tag.name, &patience)?;
                (&raw[tag.span.end..end], after)
            };
            found.push(Child { name, is_parameter, inner });
            at = after;
        }
        at += raw[at..].len() - raw[at..].trim_start().len();
    }
    (!found.is_empty()).then_some(found)
}

/// How many tags may still be looked at while ends are searched for. A text of start tags
/// without ends would be read over and over; a real one needs a fraction of this.
pub(crate) struct Patience(Cell<usize>);

impl Patience {
    pub(crate) fn with(text: &str) -> Self {
        Self(Cell::new(1_000 + text.len()))
    }

    /// Whether it is at its end: what was found may not be all.
    pub(crate) fn is_lost(&self) -> bool {
        self.0.get() == 0
    }

    /// Takes one look; false if there is none left.
    pub(crate) fn look(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

/// Where the end tag of an element stands, and what is after it.
pub(crate) fn close_of(
    tags: &Tags<'_>,
    from: usize,
    name: &str,
    patience: &Patience,
) -> Option<(usize, usize)> {
    let mut depth = 0_usize;
    let mut at = from;
    while patience.look() {
        let tag = tags.next(at)?;
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
