//! The parts of a content.

use super::rules::*;
use super::{Field, is_misspelled};
use crate::gemini::NAMES;
use crate::gemini::wire::{DATA, SIBLINGS, is_name};
use crate::lint::{Faults, Rule};
use crate::tree::Value;
use crate::{Family, Vendor, base64, misplaced};

/// A rule that a part breaks, where, and the particulars.
type Found = (&'static Rule, String, String);

/// Whether a part that was kept as it came can stand in a content. Calls and results
/// cannot: they are counted.
pub(in crate::gemini) fn is_sound_part(part: &Value, vendor: &Vendor) -> bool {
    let field = Field { value: part, at: String::new() };
    field.get("functionCall").is_none()
        && field.get("functionResponse").is_none()
        && found(&field).is_empty()
        && !misplaced::is_foreign(Family::Gemini, part)
        && !(vendor.quirks.vertex && is_misspelled(&field))
}

/// Whether a text can be a signature: bytes in base64, in either alphabet.
pub(in crate::gemini) fn is_signature(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    let bare = text.trim_end_matches('=');
    !bare.is_empty() && text.len() - bare.len() <= 2 && bare.chars().all(legal)
}

pub(super) fn check(part: &Field<'_>, faults: &mut Faults) {
    for (rule, pointer, detail) in found(part) {
        faults.add(rule, pointer, detail);
    }
}

/// What is wrong with a part.
fn found(part: &Field<'_>) -> Vec<Found> {
    let Value::Object(fields) = part.value else {
        return vec![(&PART_DATA, part.at.clone(), "it is not an object".to_owned())];
    };
    let mut found = Vec::new();
    let is_one = |names: &[&str], field: &str| names.iter().any(|name| is_name(field, name));
    let held = fields.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name);
    let held: Vec<&str> = held.filter(|name| !is_one(SIBLINGS, name)).collect();
    let data: Vec<&&str> = held.iter().filter(|name| is_one(DATA, name)).collect();
    if held.is_empty() {
        found.push((&PART_DATA, part.at.clone(), String::new()));
    }
    if let [_, second, ..] = &*data {
        found.push((&PART_ONE_OF, format!("{}/{second}", part.at), String::new()));
    }
    if let Some(text) = part.get("text")
        && !text.value.is_string()
    {
        found.push((&PART_DATA, text.at, "a text is a string".to_owned()));
    }
    if let Some(signature) = part.get("thoughtSignature")
        && !signature.value.as_str().is_some_and(is_signature)
    {
        found.push((&SIGNATURE_FORM, signature.at, String::new()));
    }
    media(part, &mut found);
    call(part, &mut found);
    response(part, &mut found);
    found
}

fn media(part: &Field<'_>, found: &mut Vec<Found>) {
    let is_filled = |field: &Field<'_>, name: &str| field.text(name).is_some_and(|t| !t.is_empty());
    if let Some(inline) = part.get("inlineData") {
        for name in ["mimeType", "data"] {
            if !is_filled(&inline, name) {
                found.push((&INLINE_DATA, inline.at.clone(), format!("it has no {name}")));
            } else if name == "data" && !inline.text(name).is_some_and(base64::could_be) {
                found.push((&INLINE_DATA, inline.at.clone(), "its data is not base64".to_owned()));
            }
        }
    }
    if let Some(file) = part.get("fileData")
        && !is_filled(&file, "fileUri")
    {
        found.push((&FILE_DATA, file.at, String::new()));
    }
}

fn call(part: &Field<'_>, found: &mut Vec<Found>) {
    let Some(call) = part.get("functionCall") else {
        return;
    };
    let name = call.text("name").unwrap_or_default();
    if !NAMES.takes(name) {
        found.push((&FUNCTION_NAME, format!("{}/name", call.at), format!("{name:?}")));
    }
    if let Some(args) = call.get("args")
        && !args.value.is_object()
    {
        found.push((&CALL_ARGS, args.at, String::new()));
    }
}

fn response(part: &Field<'_>, found: &mut Vec<Found>) {
    let Some(response) = part.get("functionResponse") else {
        return;
    };
    if response.text("name").is_none_or(str::is_empty) {
        found.push((&RESPONSE_NAME, response.at.clone(), String::new()));
    }
    if !response.get("response").is_some_and(|said| said.value.is_object()) {
        found.push((&RESPONSE_OBJECT, format!("{}/response", response.at), String::new()));
    }
    for inner in response.list("parts") {
        let is_media = inner.get("inlineData").is_some() || inner.get("fileData").is_some();
        let is_unknown = inner.value.as_object().is_some_and(|fields| {
            fields.keys().any(|name| !DATA.iter().chain(SIBLINGS).any(|known| is_name(name, known)))
        });
        if !is_media && !is_unknown {
            found.push((&RESPONSE_PARTS, inner.at.clone(), String::new()));
        }
        media(&inner, found);
    }
}
