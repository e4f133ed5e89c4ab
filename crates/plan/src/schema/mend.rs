//! Mending arguments where the schema leaves no doubt.
//!
//! | the value | what the schema wants | becomes |
//! |---|---|---|
//! | JSON in a string | an object, an array, a number, … | what the string says |
//! | `"True"`, `"FALSE"` | a boolean | `true`, `false` |
//! | a single value | an array | an array of it |
//! | an array of one | no array | the value in it |
//! | a number | a string | its digits |
//! | `" Celsius "` | one of a list that has `celsius` once | `celsius` |
//! | `null` | an optional property that is not null | left out |
//! | `cityName`, unknown | `city_name`, declared and missing | renamed |
//! | `{"arguments": {…}}` | what is inside | what is inside |
//!
//! Each is tried and checked: it counts only if the fault is gone afterwards and no other
//! of them would do as well.

use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

use super::{Kinds, Schema, SchemaFault, path_text, resolve};

/// A value that keeps every rule, and what was done to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mended {
    /// The value.
    pub value: Value,
    /// What was changed; empty if it was right as it came.
    pub repairs: Vec<Repair>,
}

/// Something that was mended.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// Where, as in a [`SchemaFault`].
    pub path: String,
    /// What was done.
    pub kind: RepairKind,
}

/// What was done to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepairKind {
    /// A string held the JSON of the value.
    Decoded,
    /// A single value was put into an array.
    Wrapped,
    /// The only value of an array was taken out.
    Unwrapped,
    /// A number was written as a string.
    Quoted,
    /// A value was spelled as the list of allowed values spells it.
    Spelled,
    /// A null in place of an optional property was left out.
    Dropped,
    /// A property was renamed to the one that was meant.
    Renamed,
    /// The arguments were taken out of an object around them.
    Unpacked,
}

impl RepairKind {
    /// What was done, for a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decoded => "a string held the JSON of the value",
            Self::Wrapped => "a single value was put into an array",
            Self::Unwrapped => "the only value of an array was taken out",
            Self::Quoted => "a number was written as a string",
            Self::Spelled => "the spelling of the schema was used",
            Self::Dropped => "a null for an optional property was left out",
            Self::Renamed => "renamed to the property that was meant",
            Self::Unpacked => "the arguments were taken out of an object around them",
        }
    }
}

const MOST_PASSES: usize = 16;
const MOST_PLACES: usize = 256;
const MOST_TRIALS: u64 = 4_000;

/// A change that may mend a fault.
struct Candidate {
    kind: RepairKind,
    /// The value that takes the place of the one at the pointer.
    value: Value,
    /// Where the report puts it, if not at the pointer.
    about: Option<String>,
}

pub(super) fn mend(schema: &Schema, value: Value) -> Result<Mended, Vec<SchemaFault>> {
    let mut mended = Mended { value, repairs: Vec::new() };
    if schema.is_valid(&mended.value) {
        return Ok(mended);
    }
    let original = schema.check(&mended.value);
    if original.len() > MOST_PLACES || !schema.can_tell(&mended.value) {
        return Err(original);
    }
    let most_trials = most_trials(schema, &mended.value);
    let mut n_trials = 0;
    for _ in 0..MOST_PASSES {
        let places = places(schema, &mended.value);
        if places.is_empty() {
            return Ok(mended);
        }
        let mut changed = false;
        for (pointer, kind) in places {
            let Some(at) = mended.value.pointer(&pointer) else { continue };
            let candidates = candidates(schema, &kind, at, &pointer);
            n_trials += candidates.len() as u64;
            if n_trials > most_trials {
                return Err(original);
            }
            if let Some(best) = best(schema, &mended.value, &pointer, candidates) {
                let path = best.about.unwrap_or_else(|| pointer.clone());
                mended.repairs.push(Repair { path: path_text(&path), kind: best.kind });
                if let Some(at) = mended.value.pointer_mut(&pointer) {
                    *at = best.value;
                }
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    if schema.is_valid(&mended.value) { Ok(mended) } else { Err(original) }
}

/// How many changes may be tried: each is a copy of the value and a check of it, against
/// every alternative.
fn most_trials(schema: &Schema, value: &Value) -> u64 {
    const MOST_BYTES: u64 = 32 << 20;
    MOST_TRIALS.min(MOST_BYTES / (schema.fan_out.max(1) * (64 + super::length(value))))
}

/// What is wrong at a place, as far as it decides what may mend it.
enum Wrong {
    Unknown(Vec<String>),
    Enum(Vec<Value>),
    Other,
}

/// The places where something is wrong, each once.
fn places(schema: &Schema, value: &Value) -> Vec<(String, Wrong)> {
    let mut places: Vec<(String, Wrong)> = Vec::new();
    for error in schema.validator.iter_errors(value) {
        let pointer = error.instance_path().as_str();
        // A null is mended by leaving it out of what is around it.
        let pointer = match error.instance().is_null() {
            true => pointer.rsplit_once('/').map_or("", |(around, _)| around),
            false => pointer,
        };
        let pointer = pointer.to_owned();
        let wrong = match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                Wrong::Unknown(unexpected.clone())
            }
            ValidationErrorKind::Enum { options } => {
                Wrong::Enum(options.as_array().cloned().unwrap_or_default())
            }
            ValidationErrorKind::Constant { expected_value } => {
                Wrong::Enum(vec![Value::clone(expected_value)])
            }
            _ => Wrong::Other,
        };
        let known = places.iter_mut().find(|(known, _)| *known == pointer);
        match known {
            // A list of what is allowed says more than a type.
            Some((_, known)) if matches!(known, Wrong::Other) => *known = wrong,
            Some(_) => {}
            None => places.push((pointer, wrong)),
        }
    }
    places
}

fn candidates(schema: &Schema, wrong: &Wrong, at: &Value, pointer: &str) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut add = |kind, value| found.push(Candidate { kind, value, about: None });
    if let Wrong::Enum(allowed) = wrong {
        let same: Vec<&Value> = allowed.iter().filter(|value| sounds_like(value, at)).collect();
        if let [only] = same.as_slice() {
            add(RepairKind::Spelled, Value::clone(only));
        }
    }
    match at {
        Value::String(text) => {
            if let Some(value) = decoded(text) {
                add(RepairKind::Decoded, value);
            }
            // A list written as words is no single value.
            if !text.contains([',', ';', '\n']) && !text.trim().is_empty() {
                add(RepairKind::Wrapped, Value::Array(vec![at.clone()]));
            }
        }
        Value::Number(number) => {
            add(RepairKind::Quoted, Value::String(number.to_string()));
            add(RepairKind::Wrapped, Value::Array(vec![at.clone()]));
        }
        Value::Bool(_) | Value::Object(_) => {
            add(RepairKind::Wrapped, Value::Array(vec![at.clone()]));
        }
        Value::Array(items) => {
            if let [only] = items.as_slice() {
                add(RepairKind::Unwrapped, only.clone());
            }
        }
        Value::Null => {}
    }
    if let Value::Object(fields) = at {
        found.extend(object_candidates(schema, wrong, fields, pointer));
    }
    found
}

fn object_candidates(
    schema: &Schema,
    wrong: &Wrong,
    fields: &Map<String, Value>,
    pointer: &str,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let declared = properties_at(schema.as_value(), pointer);
    if pointer.is_empty() && fields.len() == 1 {
        let envelope = ["arguments", "parameters", "args", "input", "params"];
        if let Some((name, inner)) = fields.iter().next()
            && envelope.contains(&name.as_str())
            && declared.is_none_or(|declared| !declared.contains_key(name))
        {
            let inner = inner.as_str().and_then(decoded).unwrap_or_else(|| inner.clone());
            found.push(Candidate { kind: RepairKind::Unpacked, value: inner, about: None });
        }
    }
    let Some(declared) = declared else { return found };
    // A null says nothing: the property may as well be absent.
    let nulls = fields.iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name);
    let nulls = nulls.filter(|name| {
        let own = declared.get(*name);
        own.is_some_and(|own| !Kinds::allowed(own, schema.as_value()).contains(Kinds::NULL))
    });
    for name in nulls.take(1) {
        let mut without = fields.clone();
        without.shift_remove(name);
        let about = Some(format!("{pointer}/{}", escaped(name)));
        found.push(Candidate { kind: RepairKind::Dropped, value: Value::Object(without), about });
    }
    let unknown: Vec<&String> = match wrong {
        Wrong::Unknown(names) => names.iter().collect(),
        Wrong::Enum(_) | Wrong::Other => {
            fields.keys().filter(|name| !declared.contains_key(*name)).collect()
        }
    };
    for name in unknown.into_iter().take(1) {
        let meant: Vec<&String> = declared.keys().filter(|own| bare(own) == bare(name)).collect();
        if let [meant] = meant.as_slice()
            && !fields.contains_key(*meant)
        {
            let rename = |(own, value): (&String, &Value)| {
                (if own == name { meant.to_string() } else { own.clone() }, value.clone())
            };
            let value = Value::Object(fields.iter().map(rename).collect());
            let about = Some(format!("{pointer}/{}", escaped(meant)));
            found.push(Candidate { kind: RepairKind::Renamed, value, about });
        }
    }
    found
}

/// The only candidate that does; one that leaves nothing wrong below the place is
/// better than one that does.
fn best(
    schema: &Schema,
    value: &Value,
    pointer: &str,
    candidates: Vec<Candidate>,
) -> Option<Candidate> {
    let before = count(schema, value, pointer);
    let mut whole: Vec<Candidate> = Vec::new();
    let mut partly: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        let mut trial = value.clone();
        *trial.pointer_mut(pointer)? = candidate.value.clone();
        let after = count(schema, &trial, pointer);
        let list = match (after.here, after.below) {
            (0, 0) => &mut whole,
            (here, below) if (here, below) < (before.here, before.below) => &mut partly,
            _ => continue,
        };
        if !list.iter().any(|known| known.value == candidate.value) {
            list.push(candidate);
        }
    }
    let list = if whole.is_empty() { &mut partly } else { &mut whole };
    // A renaming and a dropped null go together; they are done one after the other.
    let pair = |c: &Candidate| matches!(c.kind, RepairKind::Renamed | RepairKind::Dropped);
    if list.len() == 1 || list.iter().all(pair) { list.drain(..).next() } else { None }
}

/// How many errors there are at a place, and below it.
struct Count {
    here: usize,
    below: usize,
}

fn count(schema: &Schema, value: &Value, pointer: &str) -> Count {
    let mut count = Count { here: 0, below: 0 };
    for error in schema.validator.iter_errors(value) {
        let path = error.instance_path().as_str();
        match path.strip_prefix(pointer) {
            // Of a list of unknown properties each is one.
            Some("") => {
                count.here += match error.kind() {
                    ValidationErrorKind::AdditionalProperties { unexpected } => unexpected.len(),
                    _ => 1,
                }
            }
            Some(rest) if rest.starts_with('/') => count.below += 1,
            _ => {}
        }
    }
    count
}

/// What a string says, if it says something other than a string.
fn decoded(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        return Some(Value::Bool(true));
    }
    if text.eq_ignore_ascii_case("false") {
        return Some(Value::Bool(false));
    }
    serde_json::from_str(text).ok().filter(|value: &Value| !value.is_null())
}

/// Whether two values are the same but for case, space and quotes.
fn sounds_like(allowed: &Value, given: &Value) -> bool {
    let plain = |value: &Value| match value {
        Value::String(text) => text.trim().trim_matches(['"', '\'']).to_lowercase(),
        other => other.to_string(),
    };
    plain(allowed) == plain(given)
}

/// A name without what differs between `cityName`, `city_name` and `City-Name`.
fn bare(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The properties that a schema declares for the object at a place in the value, as far
/// as `properties` and `items` lead there.
fn properties_at<'a>(root: &'a Value, pointer: &str) -> Option<&'a Map<String, Value>> {
    let mut schema = resolve(root, root);
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let of_name = schema.get("properties").and_then(|own| own.get(&name));
        let next = of_name
            .or_else(|| schema.get("items"))
            .or_else(|| schema.get("additionalProperties"))?;
        schema = resolve(next, root);
    }
    schema.get("properties")?.as_object()
}
