//! The marks for the cache in what a client sent. They move from request to request and say
//! nothing to a model, so that they are taken out, and remembered by their place.

use std::collections::BTreeMap;

use interleaf_model::{
    AssistantPart, Body, ContentPart, Extra, Json, Message, Opaque, Parts, SystemPart, ToolResult,
};
use serde_json::value::RawValue;

/// Fields that mark what they stand on.
const FIELDS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// What a part begins with that is nothing but a mark.
const POINT: &str = "{\"cachePoint\"";

/// Whether something is marked that has these fields.
pub(super) fn is_marked(extra: &Extra) -> bool {
    let has = |fields: &Json| FIELDS.iter().any(|field| fields.as_str().contains(field));
    extra.iter().any(|(_, fields)| has(fields))
}

/// Whether a part is nothing but a mark.
pub(super) fn is_point(part: &Opaque) -> bool {
    part.value.as_str().starts_with(POINT)
}

/// The message without marks, unless it is nothing but one, and whether it had any.
pub(super) fn unmark(message: Message) -> (Option<Message>, bool) {
    let Message { id, at, origin, body, mut extra } = message;
    let mut was_marked = take(&mut extra);
    let body = match body {
        Body::System(parts) => unmarked(parts, &mut was_marked).map(Body::System),
        Body::User(parts) => unmarked(parts, &mut was_marked).map(Body::User),
        Body::Assistant(parts) => unmarked(parts, &mut was_marked).map(Body::Assistant),
        Body::Tool(ToolResult { call, name, status, parts }) => unmarked(parts, &mut was_marked)
            .map(|parts| Body::Tool(ToolResult { call, name, status, parts })),
    };
    (body.map(|body| Message { id, at, origin, body, extra }), was_marked)
}

/// A part of a message that may have a mark.
trait Marked {
    fn extra(&mut self) -> Option<&mut Extra>;
    fn as_opaque(&self) -> Option<&Opaque>;
}

impl Marked for SystemPart {
    fn extra(&mut self) -> Option<&mut Extra> {
        match self {
            Self::Text(text) => Some(&mut text.extra),
            Self::Opaque(_) => None,
        }
    }

    fn as_opaque(&self) -> Option<&Opaque> {
        if let Self::Opaque(opaque) = self { Some(opaque) } else { None }
    }
}

impl Marked for ContentPart {
    fn extra(&mut self) -> Option<&mut Extra> {
        match self {
            Self::Text(text) => Some(&mut text.extra),
            Self::Image(image) => Some(&mut image.extra),
            Self::File(file) => Some(&mut file.extra),
            Self::Opaque(_) => None,
        }
    }

    fn as_opaque(&self) -> Option<&Opaque> {
        if let Self::Opaque(opaque) = self { Some(opaque) } else { None }
    }
}

impl Marked for AssistantPart {
    fn extra(&mut self) -> Option<&mut Extra> {
        match self {
            Self::Text(text) => Some(&mut text.extra),
            Self::Thinking(thinking) => Some(&mut thinking.extra),
            Self::Call(call) => Some(&mut call.extra),
            Self::Image(image) => Some(&mut image.extra),
            Self::File(file) => Some(&mut file.extra),
            Self::Opaque(_) => None,
        }
    }

    fn as_opaque(&self) -> Option<&Opaque> {
        if let Self::Opaque(opaque) = self { Some(opaque) } else { None }
    }
}

/// The parts without marks; nothing, if there is no other part.
fn unmarked<T: Marked>(parts: Parts<T>, was_marked: &mut bool) -> Option<Parts<T>> {
    let mut rest = parts.into_vec();
    let n = rest.len();
    rest.retain(|part| !part.as_opaque().is_some_and(is_point));
    *was_marked |= rest.len() < n;
    for part in &mut rest {
        *was_marked |= part.extra().is_some_and(take);
    }
    Parts::new(rest).ok()
}

/// Takes the marks out of fields; whether there were any.
fn take(extra: &mut Extra) -> bool {
    if !is_marked(extra) {
        return false;
    }
    let mut found = false;
    let fields = extra.iter().filter_map(|(owner, fields)| {
        let mut left: BTreeMap<&str, &RawValue> = serde_json::from_str(fields.as_str()).ok()?;
        found |= FIELDS.map(|field| left.remove(field).is_some()).contains(&true);
        Some((owner.clone(), Json::of(&left).ok()?)).filter(|_| !left.is_empty())
    });
    let left = Extra::from_map(fields.collect()).unwrap_or_default();
    *extra = left;
    found
}
