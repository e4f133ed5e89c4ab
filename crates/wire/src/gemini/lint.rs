//! What can be seen in a body that Gemini will refuse.

mod fields;
mod messages;
mod pairing;
mod parts;
mod rules;
mod settings;
mod tools;

use super::wire::{own_name, snake_case};
use crate::lint::Faults;
use crate::tree::{Value, step};
use crate::{Family, Vendor, misplaced};

pub(super) use self::fields::is_known;
pub(super) use self::rules::RULES;
pub(super) use parts::{is_signature, is_sound_part};
pub(super) use settings::{is_sound_format, is_sound_thinking};
pub(super) use tools::{MOST_FUNCTIONS, check_count, is_sound_choice};

/// Checks a body.
pub(crate) fn check(body: &Value, vendor: &Vendor, faults: &mut Faults) {
    if !body.is_object() {
        faults.add(&rules::CONTENTS, "", "the body is not an object");
        return;
    }
    misplaced::check(Family::Gemini, body, &rules::OTHER_FORM, faults);
    let body = Field { value: body, at: String::new() };
    if vendor.quirks.vertex {
        misspelled(&body, SPELLED_DEEP, &mut |at, camel| {
            faults.add(&rules::VERTEX_CAMEL_CASE, at, format!("it must be {camel}"));
        });
    }
    fields::check(&body, vendor, faults);
    messages::check(&body, vendor, faults);
    tools::check(&body, vendor, faults);
    settings::check(&body, faults);
}

/// A value, and where it is.
struct Field<'v> {
    value: &'v Value,
    at: String,
}

impl<'v> Field<'v> {
    /// A field of it, in either spelling; null is none.
    fn get(&self, camel: &str) -> Option<Self> {
        let snake = snake_case(camel);
        [camel, &snake].into_iter().find_map(|name| {
            let value = self.value.get(name).filter(|value| !value.is_null())?;
            Some(Field { value, at: format!("{}/{name}", self.at) })
        })
    }

    /// The elements of a list; none if it is none.
    fn elements(&self) -> impl Iterator<Item = Field<'v>> {
        let all = self.value.as_array().unwrap_or_default();
        let at = self.at.clone();
        all.iter().enumerate().map(move |(i, value)| Field { value, at: format!("{at}/{i}") })
    }

    /// The elements of a field that is a list; none if it is none.
    fn list(&self, camel: &str) -> Vec<Field<'v>> {
        self.get(camel).iter().flat_map(Field::elements).collect()
    }

    /// The text of a field.
    fn text(&self, camel: &str) -> Option<&'v str> {
        self.get(camel)?.value.as_str()
    }
}

/// How deep names are the API's own. Below are the arguments of calls.
const SPELLED_DEEP: usize = 7;

/// Fields that hold the caller's words.
const FOREIGN: &[&str] = &[
    "args",
    "response",
    "parameters",
    "parametersJsonSchema",
    "responseSchema",
    "responseJsonSchema",
    "labels",
];

/// Whether a value has a name that Vertex does not take.
fn is_misspelled(field: &Field<'_>) -> bool {
    let mut found = false;
    misspelled(field, SPELLED_DEEP, &mut |_, _| found = true);
    found
}

/// Finds names that are not in camel case; `found` gets where and what it should be.
fn misspelled(field: &Field<'_>, depth: usize, found: &mut dyn FnMut(String, &'static str)) {
    if depth == 0 {
        return;
    }
    for element in field.elements() {
        misspelled(&element, depth - 1, found);
    }
    let Value::Object(fields) = field.value else {
        return;
    };
    for (name, value) in fields {
        let at = format!("{}/{}", field.at, step(name));
        let camel = own_name(name);
        if let Some(camel) = camel {
            found(at.clone(), camel);
        }
        if !FOREIGN.contains(&camel.unwrap_or(name)) {
            misspelled(&Field { value, at }, depth - 1, found);
        }
    }
}
