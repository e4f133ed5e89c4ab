//! Schemas of arguments: their root is an object.

use interleaf_model::Json;

use crate::bedrock::wire::object;
use crate::raw::ObjectText;
use crate::{Error, ErrorKind};

/// What a tool takes that takes nothing.
pub(super) const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// A schema whose root is an object, if this one's is not.
pub(super) fn object_schema(schema: &Json) -> Result<Option<Json>, Error> {
    let Some(fields) = object(schema) else {
        return constant(NO_ARGUMENTS).map(Some);
    };
    if fields.peek("type").is_some_and(|kind| kind.get() == r#""object""#) {
        return Ok(None);
    }
    let mut changed = ObjectText::default();
    changed.push("type", r#""object""#);
    for (name, value) in fields.iter().filter(|(name, _)| *name != "type") {
        changed.push(name, value.get());
    }
    changed.into_json().map_err(|e| Error::new(ErrorKind::Rule, e.to_string()))
}

pub(super) fn constant(text: &str) -> Result<Json, Error> {
    Json::parse(text).map_err(|e| Error::new(ErrorKind::Rule, e.to_string()))
}
