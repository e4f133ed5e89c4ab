//! Where a body that was written again differs from what it was.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// A place where a body that was read and written again is another than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rewritten {
    /// What happened there.
    pub change: Change,
    /// The place, as a JSON pointer into the body that has it.
    pub pointer: String,
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

impl fmt::Display for Rewritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.change {
            Change::Added => "added",
            Change::Removed => "removed",
            Change::Changed => "changed",
        };
        let pointer = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "{word} {pointer}")
    }
}

/// All such places. The order of fields and the form of numbers mean nothing.
pub(super) fn between(before: &str, after: &str) -> Vec<Rewritten> {
    let mut found = Vec::new();
    if let (Ok(before), Ok(after)) = (serde_json::from_str(before), serde_json::from_str(after)) {
        compare(&before, &after, String::new(), &mut found);
    }
    found
}

fn compare(before: &Value, after: &Value, at: String, found: &mut Vec<Rewritten>) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let inside =
                |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            for (name, value) in old {
                match new.get(name) {
                    Some(now) => compare(value, now, inside(name), found),
                    None => {
                        found.push(Rewritten { change: Change::Removed, pointer: inside(name) })
                    }
                }
            }
            for (name, _) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
                found.push(Rewritten { change: Change::Added, pointer: inside(name) });
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (i, (before, after)) in old.iter().zip(new).enumerate() {
                compare(before, after, format!("{at}/{i}"), found);
            }
        }
        (Value::Number(old), Value::Number(new)) if old.as_f64() == new.as_f64() => {}
        (before, after) if before == after => {}
        _ => found.push(Rewritten { change: Change::Changed, pointer: at }),
    }
}
