//! JSON values as text, so that nothing in them is rounded.
//!
//! A parsed value has no room for an integer of more than 64 bits. What a model wrote is
//! kept as it wrote it; only the schema is checked on a parsed copy.

use std::fmt;

use interleaf_model::Json;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::schema::Kinds;

/// The value that a text is, if it is JSON that can be held in memory.
pub(crate) fn read(text: &str) -> Option<Json> {
    Json::parse(text).ok().filter(Json::is_readable)
}

/// A string.
pub(crate) fn string(text: &str) -> Json {
    Json::from(Value::from(text))
}

/// The empty object.
pub(crate) fn empty() -> Json {
    Json::from(Value::Object(serde_json::Map::new()))
}

/// An object of these fields.
pub(crate) fn object<'a>(fields: impl IntoIterator<Item = (&'a str, &'a Json)>) -> Json {
    let field = |(name, value): (&str, &Json)| format!("{}:{}", Value::from(name), value.as_str());
    let fields: Vec<String> = fields.into_iter().map(field).collect();
    Json::parse(format!("{{{}}}", fields.join(","))).unwrap_or_else(|_| empty())
}

/// An array of these items.
pub(crate) fn array<'a>(items: impl IntoIterator<Item = &'a Json>) -> Json {
    let items: Vec<&str> = items.into_iter().map(Json::as_str).collect();
    Json::parse(format!("[{}]", items.join(","))).unwrap_or_else(|_| Json::from(Value::Null))
}

/// The fields of an object, in order; a name that comes twice is there twice. None of
/// anything else.
pub(crate) fn fields(value: &Json) -> Option<Vec<(String, Json)>> {
    serde_json::from_str::<Fields>(value.as_str()).ok().map(|fields| fields.0)
}

/// The items of an array; none of anything else.
pub(crate) fn items(value: &Json) -> Option<Vec<Json>> {
    serde_json::from_str(value.as_str()).ok()
}

/// The text of a string; none of anything else.
pub(crate) fn text(value: &Json) -> Option<String> {
    serde_json::from_str(value.as_str()).ok()
}

/// The kind of a value.
pub(crate) fn kind(value: &Json) -> Kinds {
    match value.as_str().as_bytes().first() {
        Some(b'"') => Kinds::STRING,
        Some(b'{') => Kinds::OBJECT,
        Some(b'[') => Kinds::ARRAY,
        Some(b't' | b'f') => Kinds::BOOLEAN,
        Some(b'n') => Kinds::NULL,
        _ => Kinds::NUMBER,
    }
}

/// A value on one line, without blanks between its tokens.
pub(crate) fn compact(value: &Json) -> String {
    let (mut in_string, mut is_escaped) = (false, false);
    let keep = move |c: &char| {
        if in_string {
            in_string = is_escaped || *c != '"';
            is_escaped = *c == '\\' && !is_escaped;
            return true;
        }
        in_string = *c == '"';
        !c.is_ascii_whitespace()
    };
    value.as_str().chars().filter(keep).collect()
}

/// A value over several lines, indented.
pub(crate) fn pretty(value: &Json) -> String {
    let mut out = String::new();
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let indent = |out: &mut String, depth: usize| *out += &format!("\n{}", "  ".repeat(depth));
    let mut chars = value.as_str().chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
                if let Some(close) = chars.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    indent(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                indent(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                indent(&mut out, depth);
            }
            ':' => out += ": ",
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

/// Whether two values are the same: strings by what they say, others by how they are
/// written.
pub(crate) fn is_same(a: &Json, b: &Json) -> bool {
    a == b || (kind(a) == Kinds::STRING && text(a) == text(b))
}

/// Whether two values are equal, however they are laid out.
pub(crate) fn is_equal(a: &Json, b: &Json) -> bool {
    a == b || key(a) == key(b)
}

/// A text that equal values share, however they are laid out.
pub(crate) fn key(value: &Json) -> String {
    let mut sorted = value.to_value();
    sorted.sort_all_objects();
    let mut wide: Vec<&str> = wide_integers(value.as_str()).collect();
    wide.sort_unstable();
    format!("{sorted} {}", wide.join(" "))
}

/// A value that was mended, with the integers of its original that a parsed value cannot
/// hold. None if two of them would be the same there.
pub(crate) fn restored(mended: &Value, original: &Json) -> Option<Json> {
    let mut wide: Vec<(f64, &str)> = Vec::new();
    for literal in wide_integers(original.as_str()) {
        let rounded: f64 = literal.parse().ok()?;
        match wide.iter().find(|(known, _)| *known == rounded) {
            Some((_, known)) if *known != literal => return None,
            Some(_) => {}
            None => wide.push((rounded, literal)),
        }
    }
    if wide.is_empty() {
        return Some(Json::from(mended));
    }
    let mut text = String::new();
    write(mended, &wide, &mut text);
    Json::parse(text).ok()
}

/// The integers in a text, also those inside strings, that do not fit 64 bits.
fn wide_integers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | 'e' | 'E' | '+');
    let runs = text.split(move |c| !is_part(c)).filter(|run| run.len() > 18);
    runs.filter(|run| {
        let digits = run.strip_prefix('-').unwrap_or(run);
        let is_integer = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        is_integer && run.parse::<i64>().is_err() && run.parse::<u64>().is_err()
    })
}

fn write(value: &Value, wide: &[(f64, &str)], out: &mut String) {
    match value {
        Value::Number(number) => {
            let rounded = number.as_f64().filter(|_| number.is_f64());
            let exact = rounded.and_then(|n| wide.iter().find(|(known, _)| *known == n));
            match exact {
                Some((_, literal)) => *out += literal,
                None => *out += &number.to_string(),
            }
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                *out += if i > 0 { "," } else { "" };
                write(item, wide, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (i, (name, own)) in fields.iter().enumerate() {
                *out += if i > 0 { "," } else { "" };
                *out += &format!("{}:", Value::from(name.as_str()));
                write(own, wide, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::String(_) => *out += &value.to_string(),
    }
}

struct Fields(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = object.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}
