//! Calls that a model wrote as JSON: an object with a name and arguments, a list of them,
//! or several in a row.

use interleaf_model::Json;
use serde_json::Value;

use super::tools::{Shape, Tools};
use super::{Call, Note, RefusalReason};
use crate::exact;

/// What a JSON value says about a call.
pub(super) enum Told {
    /// A call of a declared tool.
    Call(Call),
    /// A call of another tool.
    Other(String),
    /// A call of a tool, with arguments that are no object.
    Unreadable(String),
}

/// A run of JSON values.
pub(super) struct Run {
    pub(super) told: Vec<Told>,
    pub(super) notes: Vec<Note>,
    /// Where the run ends.
    pub(super) end: usize,
    /// What is wrong with the value that it ends at, if it ends at one.
    pub(super) broken: Option<RefusalReason>,
    /// How many bytes of that value were looked at.
    pub(super) n_in_vain: usize,
    /// Whether some value in it is no call at all.
    pub(super) has_other: bool,
}

/// Reads JSON values from `at` on, separated by blanks, commas or semicolons. None if none
/// begins there.
pub(super) fn run(text: &str, at: usize, tools: &Tools) -> Option<Run> {
    let mut run = Run {
        told: Vec::new(),
        notes: Vec::new(),
        end: at,
        broken: None,
        n_in_vain: 0,
        has_other: false,
    };
    let mut next = at + blank(&text[at..]);
    if !text[next..].starts_with(['{', '[']) {
        return None;
    }
    loop {
        match value_at(text, next) {
            Ok((value, end)) => {
                run.take(&value, tools, 0);
                run.end = end;
            }
            Err(broken) => {
                run.broken = Some(broken.reason);
                run.n_in_vain = broken.n_bytes;
                run.end = next;
                break;
            }
        }
        next = run.end + blank(&text[run.end..]);
        if text[next..].starts_with([',', ';']) {
            next += 1;
            next += blank(&text[next..]);
        }
        if !text[next..].starts_with(['{', '[']) {
            break;
        }
    }
    Some(run)
}

/// Something that is no JSON value.
pub(super) struct Broken {
    pub(super) reason: RefusalReason,
    /// After how many bytes that shows.
    n_bytes: usize,
}

/// The JSON value at a place, and where it ends. One that is nested very deep is none.
pub(super) fn value_at(text: &str, at: usize) -> Result<(Json, usize), Broken> {
    let rest = &text[at..];
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let broken = |reason, n_bytes| Broken { reason, n_bytes };
    match values.next() {
        Some(Ok(_)) => {
            let end = values.byte_offset();
            let value = Json::parse(&rest[..end]);
            let value = value.map_err(|_| broken(RefusalReason::Unreadable, end))?;
            Ok((value, at + end))
        }
        Some(Err(e)) if e.is_eof() => Err(broken(RefusalReason::CutOff, rest.len())),
        Some(Err(e)) => {
            let lines = rest.split_inclusive('\n').take(e.line().saturating_sub(1));
            let n_bytes = lines.map(str::len).sum::<usize>() + e.column();
            Err(broken(RefusalReason::Unreadable, n_bytes))
        }
        None => Err(broken(RefusalReason::Unreadable, rest.len())),
    }
}

fn blank(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Lists inside lists inside lists are no calls.
const DEEPEST: usize = 3;

impl Run {
    fn take(&mut self, value: &Json, tools: &Tools, depth: usize) {
        if let Some(items) = exact::items(value).filter(|_| depth < DEEPEST) {
            items.iter().for_each(|item| self.take(item, tools, depth + 1));
            return;
        }
        let fields = exact::fields(value).unwrap_or_default();
        let of = |name: &str| fields.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        // Several calls in an envelope.
        let envelope = ["tool_calls", "function_calls", "calls"].into_iter().find_map(of);
        if let Some(list) = envelope.filter(|list| list.as_str().starts_with('[')) {
            return self.take(list, tools, depth + 1);
        }
        match told(&fields, tools) {
            Some((told, repeated)) => {
                self.told.push(told);
                if repeated {
                    self.notes.push(Note::Repeated);
                }
            }
            None => self.has_other = true,
        }
    }
}

const NAMES: [&str; 5] = ["name", "tool", "tool_name", "function_name", "function"];
const ARGUMENTS: [&str; 6] = ["arguments", "parameters", "args", "input", "params", "tool_input"];

/// The call that an object with these fields is, and whether an argument came twice.
fn told(fields: &[(String, Json)], tools: &Tools) -> Option<(Told, bool)> {
    let of = |name: &str| fields.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    if let Some(inner) = of("function").and_then(exact::fields) {
        return told(&inner, tools);
    }
    let (key, name) = NAMES.into_iter().find_map(|key| Some((key, of(key)?)))?;
    let name = exact::text(name)?;
    if is_definition(fields) {
        return None;
    }
    let Some(shape) = tools.find(strip_index(&name)) else {
        let has_arguments = ARGUMENTS.into_iter().any(|key| of(key).is_some());
        return has_arguments.then_some((Told::Other(name), false));
    };
    let arguments = match ARGUMENTS.into_iter().find_map(of) {
        Some(value) => of_value(value),
        // The arguments may stand beside the name.
        None => beside(fields, key, shape),
    };
    let Some((arguments, repeated)) = arguments else {
        return Some((Told::Unreadable(name), false));
    };
    let call = Call::exact(&shape.name, arguments)?;
    Some((Told::Call(call), repeated))
}

/// `functions.f:0` without the `:0`.
pub(super) fn strip_index(name: &str) -> &str {
    match name.trim().rsplit_once(':') {
        Some((before, index)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => {
            before
        }
        _ => name.trim(),
    }
}

/// A tool that is declared in the text looks like a call whose arguments are a schema.
fn is_definition(fields: &[(String, Json)]) -> bool {
    let schema = fields.iter().find(|(name, _)| name == "parameters" || name == "input_schema");
    let schema = schema.and_then(|(_, value)| exact::fields(value)).unwrap_or_default();
    let has = |name: &str| schema.iter().any(|(own, _)| own == name);
    fields.iter().any(|(name, _)| name == "description") && (has("properties") || has("type"))
}

/// Arguments: an object, or one in a string; and whether one of them came twice with
/// different values.
pub(super) fn of_value(value: &Json) -> Option<(Json, bool)> {
    if value.as_str() == "null" {
        return Some((exact::empty(), false));
    }
    let value = match exact::text(value) {
        Some(text) if text.trim().is_empty() => return Some((exact::empty(), false)),
        Some(text) => exact::read(&text)?,
        None => value.clone(),
    };
    let fields = exact::fields(&value)?;
    let differs = |(i, (name, value)): (usize, &(String, Json))| {
        fields[..i].iter().any(|(own, other)| own == name && !exact::is_same(other, value))
    };
    // A name that comes twice is rare, and looking for it takes every pair.
    let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let is_twice = names.windows(2).any(|pair| pair[0] == pair[1]);
    let repeated = is_twice && fields.iter().enumerate().any(differs);
    Some((value, repeated))
}

/// Arguments that stand beside the name, if the tool declares all of them.
fn beside(fields: &[(String, Json)], key: &str, shape: &Shape) -> Option<(Json, bool)> {
    let is_own = |name: &str| ["id", "type", "index", "call_id", "tool_call_id"].contains(&name);
    let rest = || {
        fields
            .iter()
            .filter(|(name, _)| name != key && (shape.property(name).is_some() || !is_own(name)))
    };
    let all_declared = rest().all(|(name, _)| shape.property(name).is_some());
    let arguments = || exact::object(rest().map(|(name, value)| (name.as_str(), value)));
    all_declared.then(|| (arguments(), false))
}
