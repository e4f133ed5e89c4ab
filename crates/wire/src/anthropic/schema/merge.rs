//! A schema whose top level is one object.

use std::borrow::Cow;

use serde_json::value::RawValue;

use interleaf_model::Json;

use super::COMBINATORS;
use crate::raw::{Fields, ObjectText, is_list, is_object, list, text};

const OBJECT: &str = r#""object""#;
/// No honest tool has more alternatives; the stack holds as many.
const MOST_SCHEMAS: usize = 500;
const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// A tool's schema as the API takes it; borrowed if it is that already.
///
/// Alternatives become optional properties: what a property may be in any branch it
/// may be in the one object, and what every branch demands stays demanded.
pub(in crate::anthropic) fn object_schema(parameters: Option<&Json>) -> Cow<'_, RawValue> {
    let Some(raw) = parameters.and_then(|json| serde_json::from_str(json.as_str()).ok()) else {
        return owned(NO_ARGUMENTS.to_owned());
    };
    let Ok(fields) = Fields::read(raw) else {
        return owned(NO_ARGUMENTS.to_owned());
    };
    let is_combined = fields.iter().any(|(name, _)| COMBINATORS.contains(&name));
    let kind = fields.peek("type").map(RawValue::get);
    match kind {
        Some(OBJECT) if !is_combined => Cow::Borrowed(raw),
        Some(OBJECT) | None => owned(one_object(&fields, is_combined)),
        Some(kinds) if kinds.starts_with('[') && kinds.contains(OBJECT) => {
            owned(one_object(&fields, is_combined))
        }
        Some(_) => owned(NO_ARGUMENTS.to_owned()),
    }
}

fn owned(text: String) -> Cow<'static, RawValue> {
    Cow::Owned(RawValue::from_string(text).unwrap_or_default())
}

fn one_object(fields: &Fields<'_>, is_combined: bool) -> String {
    let mut out = ObjectText::default();
    out.push("type", OBJECT);
    let mut n_left = MOST_SCHEMAS;
    let merged = if is_combined { gather(fields, fields, &mut n_left) } else { Merged::default() };
    if is_combined {
        out.push("properties", &merged.properties_text());
        if !merged.required.is_empty() {
            let required = serde_json::to_string(&merged.required).unwrap_or_default();
            out.push("required", &required);
        }
    }
    for (name, value) in fields.iter() {
        let is_merged = is_combined
            && (matches!(name, "properties" | "required") || COMBINATORS.contains(&name));
        if name != "type" && !is_merged {
            out.push(name, value.get());
        }
    }
    match out.into_json() {
        Ok(Some(json)) => json.as_str().to_owned(),
        _ => NO_ARGUMENTS.to_owned(),
    }
}

/// The properties of several schemas, and what all of them demand.
#[derive(Default)]
struct Merged<'a> {
    properties: Vec<(String, Vec<&'a str>)>,
    required: Vec<String>,
}

impl<'a> Merged<'a> {
    fn add_property(&mut self, name: &str, schema: &'a str) {
        match self.properties.iter_mut().find(|(known, _)| known == name) {
            Some((_, schemas)) if schemas.contains(&schema) => {}
            Some((_, schemas)) => schemas.push(schema),
            None => self.properties.push((name.to_owned(), vec![schema])),
        }
    }

    fn add_required(&mut self, name: String) {
        if !self.required.contains(&name) {
            self.required.push(name);
        }
    }

    fn add(&mut self, other: Self) {
        for (name, schemas) in other.properties {
            for schema in schemas {
                self.add_property(&name, schema);
            }
        }
        for name in other.required {
            self.add_required(name);
        }
    }

    fn properties_text(&self) -> String {
        let mut out = ObjectText::default();
        for (name, schemas) in &self.properties {
            match schemas.as_slice() {
                [one] => out.push(name, one),
                several => out.push(name, &format!(r#"{{"anyOf":[{}]}}"#, several.join(","))),
            }
        }
        match out.into_json() {
            Ok(Some(json)) => json.as_str().to_owned(),
            _ => "{}".to_owned(),
        }
    }
}

/// Of a schema that refers to itself, or that is nested beyond reason, no more than
/// `n_left` schemas are looked at.
fn gather<'a>(schema: &Fields<'a>, root: &Fields<'a>, n_left: &mut usize) -> Merged<'a> {
    let mut merged = Merged::default();
    if *n_left == 0 {
        return merged;
    }
    *n_left -= 1;
    if let Some(target) = schema.peek("$ref").and_then(|reference| resolve(reference, root)) {
        merged.add(gather(&target, root, n_left));
    }
    if let Some(properties) = schema.peek("properties").and_then(|raw| Fields::read(raw).ok()) {
        for (name, value) in properties.iter() {
            merged.add_property(name, value.get());
        }
    }
    for name in elements(schema, "required") {
        if let Ok(name) = text(name) {
            merged.add_required(name.into_owned());
        }
    }
    for branch in branches(schema, "allOf") {
        merged.add(gather(&branch, root, n_left));
    }
    for combinator in ["anyOf", "oneOf"] {
        let branches = branches(schema, combinator);
        let mut of_all: Option<Vec<String>> = None;
        for branch in branches {
            let mut branch = gather(&branch, root, n_left);
            let required = std::mem::take(&mut branch.required);
            of_all = Some(match of_all {
                Some(names) => names.into_iter().filter(|name| required.contains(name)).collect(),
                None => required,
            });
            merged.add(branch);
        }
        for name in of_all.unwrap_or_default() {
            merged.add_required(name);
        }
    }
    merged
}

fn branches<'a>(schema: &Fields<'a>, name: &str) -> Vec<Fields<'a>> {
    elements(schema, name).into_iter().filter_map(|raw| Fields::read(raw).ok()).collect()
}

fn elements<'a>(schema: &Fields<'a>, name: &str) -> Vec<&'a RawValue> {
    let value = schema.peek(name).filter(|value| is_list(value));
    value.and_then(|value| list(value).ok()).unwrap_or_default()
}

/// The schema behind `#/$defs/name`.
fn resolve<'a>(reference: &RawValue, root: &Fields<'a>) -> Option<Fields<'a>> {
    let reference = text(reference).ok()?;
    let (folder, name) = reference.strip_prefix("#/")?.split_once('/')?;
    let folder = root.peek(folder).filter(|value| is_object(value))?;
    let target = Fields::read(folder).ok()?.peek(name)?;
    Fields::read(target).ok()
}
