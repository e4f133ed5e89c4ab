//! Where a body that was written again differs from what it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::Vendor;
use crate::lint::{Fault, lint};
use crate::tree::{Value, step};

/// A place where a body that was read and written again is another than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rewritten {
    /// What happened there.
    pub change: Change,
    /// The place, as a JSON pointer into the body that has it.
    pub pointer: String,
    /// The rules of the API that the body broke here, and breaks no more; empty if it was
    /// changed for another reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<&'static str>,
}

/// What happened at a place of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another value, or another number of elements.
    Changed,
}

impl Rewritten {
    fn new(change: Change, pointer: String) -> Self {
        Self { change, pointer, rules: Vec::new() }
    }
}

impl fmt::Display for Rewritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.change {
            Change::Added => "added",
            Change::Removed => "removed",
            Change::Changed => "changed",
        };
        let pointer = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "{word} {pointer}")?;
        match self.rules.as_slice() {
            [] => Ok(()),
            rules => write!(f, " ({})", rules.join(", ")),
        }
    }
}

/// All such places, with the rules of a vendor that are kept now. The order of fields and the
/// form of numbers mean nothing.
pub fn rewritten(before: &str, after: &str, vendor: &Vendor) -> Vec<Rewritten> {
    let mut found = Vec::new();
    // They need not stay in memory while the bodies are linted.
    if let (Ok(old), Ok(new)) = (serde_json::from_str(before), serde_json::from_str(after)) {
        compare(&old, &new, &mut String::new(), &mut found);
    }
    let broken = |body: &str| lint(vendor, body).unwrap_or_default();
    let mended = Mended::of(broken(before), &broken(after));
    for place in &mut found {
        place.rules = mended.at(&place.pointer);
    }
    found
}

/// The rules that a body broke and breaks no more, by their places.
struct Mended(BTreeMap<String, BTreeSet<&'static str>>);

impl Mended {
    fn of(before: Vec<Fault>, after: &[Fault]) -> Self {
        let left: BTreeSet<&str> = after.iter().map(|fault| fault.rule.id).collect();
        let mut mended: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
        for fault in before.into_iter().filter(|fault| !left.contains(fault.rule.id)) {
            mended.entry(fault.pointer).or_default().insert(fault.rule.id);
        }
        Self(mended)
    }

    /// Those of a place, of what is inside it and of what it is inside.
    fn at(&self, pointer: &str) -> Vec<&'static str> {
        let mut rules = BTreeSet::new();
        let below = format!("{pointer}/");
        let inside = self.0.range(below.clone()..).take_while(|(at, _)| at.starts_with(&below));
        rules.extend(inside.flat_map(|(_, rules)| rules));
        let mut outer = Some(pointer);
        while let Some(at) = outer {
            rules.extend(self.0.get(at).into_iter().flatten());
            outer = at.rsplit_once('/').map(|(outer, _)| outer);
        }
        rules.into_iter().collect()
    }
}

fn compare(before: &Value, after: &Value, at: &mut String, found: &mut Vec<Rewritten>) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in old {
                within(at, &step(name), |at| match new.get(name) {
                    Some(now) => compare(value, now, at, found),
                    None => found.push(Rewritten::new(Change::Removed, at.clone())),
                });
            }
            for (name, _) in new.iter().filter(|(name, _)| !old.contains_key(name)) {
                within(at, &step(name), |at| {
                    found.push(Rewritten::new(Change::Added, at.clone()));
                });
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (i, (before, after)) in old.iter().zip(new).enumerate() {
                within(at, &i.to_string(), |at| compare(before, after, at, found));
            }
        }
        (Value::Number(old), Value::Number(new)) if old.as_f64() == new.as_f64() => {}
        (before, after) if before == after => {}
        _ => found.push(Rewritten::new(Change::Changed, at.clone())),
    }
}

/// Goes a step further, and back.
fn within(at: &mut String, step: &str, go: impl FnOnce(&mut String)) {
    let len = at.len();
    at.push('/');
    at.push_str(step);
    go(at);
    at.truncate(len);
}
