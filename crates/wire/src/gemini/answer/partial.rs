//! The arguments of a call that arrive leaf by leaf: Vertex sends them so if asked.
//!
//! | field of a piece | what it does |
//! |---|---|
//! | `jsonPath`, such as `$.files[0].path` | says which leaf |
//! | `stringValue` | is added to the leaf's text |
//! | `numberValue`, `boolValue`, `nullValue` | is the leaf |

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::Fault;
use crate::gemini::wire::take;
use crate::raw::{Fields, list, text};

/// A place in a list that is farther than this is no argument of a call.
const LONGEST_LIST: usize = 10_000;

/// Arguments that grow.
#[derive(Debug)]
pub(super) struct Growing {
    /// The call's place in the reply.
    pub(super) key: u64,
    arguments: Value,
}

impl Growing {
    pub(super) fn new(key: u64) -> Self {
        Self { key, arguments: Value::Object(Map::new()) }
    }

    /// Takes the next pieces.
    pub(super) fn add<'a>(&mut self, pieces: &'a RawValue) -> Result<(), Fault<'a>> {
        for raw in list(pieces)? {
            let mut piece = Fields::read(raw)?;
            let Some(path) = take(&mut piece, "jsonPath") else {
                return Err(piece.incomplete("a piece of arguments needs `jsonPath`"));
            };
            let segments = segments(&text(path)?);
            let Some(leaf) = segments.and_then(|segments| leaf(&mut self.arguments, &segments))
            else {
                return Err(Fault::form(path, "must be a path such as `$.files[0].path`"));
            };
            if let Some(more) = take(&mut piece, "stringValue") {
                let more = text(more)?;
                match &mut *leaf {
                    Value::String(before) => before.push_str(&more),
                    other => *other = Value::from(&*more),
                }
            }
            for name in ["numberValue", "boolValue"] {
                if let Some(value) = take(&mut piece, name) {
                    *leaf = serde_json::from_str(value.get()).unwrap_or(Value::Null);
                }
            }
        }
        Ok(())
    }

    /// The arguments as JSON.
    pub(super) fn to_json(&self) -> String {
        self.arguments.to_string()
    }
}

enum Segment {
    Name(String),
    Index(usize),
}

/// The segments of a path: names after dots, or in brackets and quotes, and indices.
fn segments(path: &str) -> Option<Vec<Segment>> {
    let mut rest = path.strip_prefix('$')?;
    let mut segments = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            segments.push(Segment::Name(name[..end].to_owned()));
            rest = &name[end..];
            continue;
        }
        let inner = rest.strip_prefix('[')?;
        if let Some(quote) = inner.chars().next().filter(|c| matches!(c, '\'' | '"')) {
            let (name, after) = inner[1..].split_once(&format!("{quote}]"))?;
            segments.push(Segment::Name(name.to_owned()));
            rest = after;
        } else {
            let (index, after) = inner.split_once(']')?;
            segments.push(Segment::Index(index.parse().ok().filter(|i| *i < LONGEST_LIST)?));
            rest = after;
        }
    }
    Some(segments)
}

/// The value at a path; what is missing on the way is made.
fn leaf<'v>(root: &'v mut Value, segments: &[Segment]) -> Option<&'v mut Value> {
    let mut at = root;
    for segment in segments {
        at = match segment {
            Segment::Name(name) => {
                if at.is_null() {
                    *at = Value::Object(Map::new());
                }
                at.as_object_mut()?.entry(name.as_str()).or_insert(Value::Null)
            }
            Segment::Index(index) => {
                if at.is_null() {
                    *at = Value::Array(Vec::new());
                }
                let list = at.as_array_mut()?;
                if list.len() <= *index {
                    list.resize(index + 1, Value::Null);
                }
                &mut list[*index]
            }
        };
    }
    Some(at)
}
