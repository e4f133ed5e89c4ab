//! The parameters of a call.

use std::borrow::Cow;

use super::elements::{Patience, close_of};
use super::parameters::{Parameter, of_attributes};
use super::tag::{Tag, TagKind, Tags, tag_at};
use super::text::plain;
use crate::calls::{CALL_TAGS, Shape, Tools, is_wrapper, opening};
use crate::schema::Kinds;

/// Elements around the parameters that mean nothing by themselves.
const CONTAINERS: [&str; 5] = ["parameters", "arguments", "args", "params", "input"];

/// The body of a call.
pub(crate) struct Body<'t> {
    pub(crate) parameters: Vec<Parameter<'t>>,
    pub(crate) ended: Ended,
    /// Where the last of the body stands.
    pub(crate) inner_end: usize,
    /// Where the call ends.
    pub(crate) end: usize,
}

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With its end tag.
    Tag,
    /// Without, but something else shows that it is whole.
    Missing,
    /// The text ends before it does.
    Cut,
}

/// What a body knows of the text around it.
#[derive(Clone, Copy)]
pub(crate) struct Around<'t> {
    pub(crate) tags: &'t Tags<'t>,
    pub(crate) tools: &'t Tools,
    pub(crate) patience: &'t Patience,
}

struct Walk<'t> {
    text: &'t str,
    opener: &'t str,
    shape: &'t Shape,
    around: Around<'t>,
    parameters: Vec<Parameter<'t>>,
    missing: bool,
    /// The name of an `<arg_key>` that waits for its value.
    key: Option<String>,
}

/// Reads the body of a call, which begins at `from`, after its start tag.
pub(crate) fn read<'t>(
    tag: &Tag<'t>,
    from: usize,
    shape: &'t Shape,
    around: Around<'t>,
) -> Body<'t> {
    let (text, opener, parameters) = (around.tags.text, tag.name, of_attributes(tag, shape));
    let mut walk = Walk { text, opener, shape, around, parameters, missing: false, key: None };
    if tag.kind == TagKind::Empty {
        let end = tag.span.end;
        return Body { parameters: walk.parameters, ended: Ended::Tag, inner_end: end, end };
    }
    let (ended, inner_end, end) = walk.run(from);
    let ended = if walk.missing && ended == Ended::Tag { Ended::Missing } else { ended };
    Body { parameters: walk.parameters, ended, inner_end, end }
}

impl<'t> Walk<'t> {
    fn run(&mut self, from: usize) -> (Ended, usize, usize) {
        let text = self.text;
        let mut at = from;
        loop {
            if let Some(after) = self.around.tags.comment_before_tag(at) {
                at = after;
                continue;
            }
            let Some(tag) = self.around.tags.next(at) else { return self.at_end(from, at) };
            at = tag.span.end;
            if self.closes_call(&tag) {
                return (Ended::Tag, tag.span.start, tag.span.end);
            }
            let closes_wrapper = tag.kind == TagKind::Close && is_wrapper(tag.name);
            let is_parameter = self.is_parameter(&tag);
            if closes_wrapper || (!is_parameter && self.opens_call(&tag)) {
                return (Ended::Missing, tag.span.start, tag.span.start);
            }
            if is_key(&tag) && tag.kind == TagKind::Open {
                let Some((end, after)) = self.close_of(at, tag.name) else { continue };
                self.key = Some(plain(&text[at..end]));
                at = after;
            } else if is_parameter || self.is_stranger(&tag) {
                match self.parameter(&tag) {
                    Some(after) => at = after,
                    None => return (Ended::Cut, text.len(), text.len()),
                }
            }
        }
    }

    /// The text is over and the end tag has not come. What was read may be half of the
    /// call, unless a fence closes after it or its body is one JSON object.
    fn at_end(&self, from: usize, at: usize) -> (Ended, usize, usize) {
        let body = self.text[from..].trim();
        let is_json = body.starts_with('{') && body.trim_end_matches(['`', '\n']).ends_with('}');
        let is_fenced = !self.parameters.is_empty() && self.text[at..].trim() == "```";
        let whole = is_json || is_fenced;
        (if whole { Ended::Missing } else { Ended::Cut }, self.text.len(), self.text.len())
    }

    fn close_of(&self, from: usize, name: &str) -> Option<(usize, usize)> {
        close_of(self.around.tags, from, name, self.around.patience)
    }

    fn opens_call(&self, tag: &Tag<'_>) -> bool {
        opening(self.around.tags, tag, self.around.tools, self.around.patience).is_some()
    }

    fn closes_call(&self, tag: &Tag<'_>) -> bool {
        let of_calls = |name: &str| CALL_TAGS.iter().any(|own| own.eq_ignore_ascii_case(name));
        tag.kind == TagKind::Close
            && (tag.is(self.opener) || (of_calls(self.opener) && of_calls(tag.name)))
    }

    fn is_parameter(&self, tag: &Tag<'_>) -> bool {
        if tag.kind == TagKind::Close {
            return false;
        }
        tag.parameter().is_some()
            || (is_value(tag) && self.key.is_some())
            || (tag.value.is_none() && self.shape.property(tag.name).is_some())
    }

    /// Whether a tag begins an element that no one declares. It is kept as an argument:
    /// the schema says whether it may be one.
    fn is_stranger(&self, tag: &Tag<'_>) -> bool {
        tag.kind != TagKind::Close
            && tag.value.is_none()
            && !tag.is_one_of(&CONTAINERS)
            && !tag.is_one_of(&CALL_TAGS)
            && !is_wrapper(tag.name)
            && (tag.kind == TagKind::Empty || self.close_of(tag.span.end, tag.name).is_some())
    }

    /// Takes a parameter, and says what is after it; none if the text ends in it.
    fn parameter(&mut self, tag: &Tag<'t>) -> Option<usize> {
        let named = tag.parameter().map(|name| Cow::Owned(name.to_owned()));
        let is_named = named.is_some();
        let name = match named {
            Some(name) => name,
            None if is_value(tag) && self.key.is_some() => Cow::Owned(self.key.take()?),
            None => Cow::Borrowed(tag.name),
        };
        let kind = match tag.attribute(&["string"]) {
            Some("true") => Some("string".to_owned()),
            Some("false") => Some("json".to_owned()),
            _ => tag.attribute(&["type"]).map(str::to_ascii_lowercase),
        };
        let (raw, after) = if tag.kind == TagKind::Empty {
            let raw = tag.attribute(&["value"]).unwrap_or_default();
            // It was decoded with the tag; a value is decoded when it is read.
            (Cow::Owned(raw.replace('&', "&amp;")), tag.span.end)
        } else {
            let (end, after) = match is_named {
                true => self.end_of_named(tag, &name)?,
                false => self.end_of_element(tag)?,
            };
            self.missing |= after == end;
            (Cow::Borrowed(&self.text[tag.span.end..end]), after)
        };
        self.parameters.push(Parameter { name, raw, kind });
        Some(after)
    }

    /// Where the value of `<parameter name="…">` ends, and what is after it.
    ///
    /// The value may hold code that looks like the protocol, and an end tag may be
    /// missing. So an end tag counts at once if what follows it belongs to the protocol;
    /// otherwise it counts if nothing better comes.
    fn end_of_named(&self, tag: &Tag<'_>, name: &str) -> Option<(usize, usize)> {
        if let Some(found) = self.end_of_nested(tag, name) {
            return Some(found);
        }
        let mut maybe: Option<(usize, usize)> = None;
        let mut first_close: Option<(usize, usize)> = None;
        let mut depth = 0_usize;
        let mut at = tag.span.end;
        while let Some(next) = self.around.tags.next_outside_cdata(at) {
            if !self.around.patience.look() {
                break;
            }
            at = next.span.end;
            let (start, end) = (next.span.start, next.span.end);
            if next.is(tag.name) && next.kind == TagKind::Close {
                first_close.get_or_insert((start, end));
                match depth {
                    0 if self.belongs(end) => return Some((start, end)),
                    0 => _ = maybe.get_or_insert((start, end)),
                    _ => depth -= 1,
                }
            } else if let Some(name) = next.parameter() {
                let is_own = self.shape.properties().is_none_or(|own| own.is_empty())
                    || self.shape.property(name).is_some();
                match (is_own, next.kind) {
                    (true, _) => return maybe.or(Some((start, start))),
                    (false, TagKind::Open) => depth += 1,
                    (false, _) => {}
                }
            } else if self.closes_call(&next)
                || (next.kind == TagKind::Close && is_wrapper(next.name))
            {
                if self.ends_calls(end) {
                    return maybe.or(first_close).or(Some((start, start)));
                }
                maybe.get_or_insert((start, start));
            }
        }
        maybe.or(first_close)
    }

    /// Where a value ends that consists of parameters: an object, written as such.
    fn end_of_nested(&self, tag: &Tag<'_>, name: &str) -> Option<(usize, usize)> {
        let kinds = Kinds::allowed(self.shape.property_schema(name), &self.shape.schema);
        let may_nest = kinds.contains(Kinds::OBJECT) || kinds.contains(Kinds::ARRAY);
        let rest = self.text[tag.span.end..].trim_start();
        let child = tag_at_start(self.text, self.text.len() - rest.len())?;
        if !may_nest || child.parameter().is_none() {
            return None;
        }
        self.close_of(tag.span.end, tag.name).filter(|&(_, after)| self.belongs(after))
    }

    /// Where the value of an element such as `<city>` ends, and what is after it.
    fn end_of_element(&self, tag: &Tag<'_>) -> Option<(usize, usize)> {
        if let Some(found) = self.close_of(tag.span.end, tag.name) {
            return Some(found);
        }
        let mut at = tag.span.end;
        loop {
            let next = self.around.tags.next(at)?;
            let ends = self.closes_call(&next)
                || self.is_parameter(&next)
                || is_key(&next)
                || (next.kind == TagKind::Close && is_wrapper(next.name));
            if ends {
                return Some((next.span.start, next.span.start));
            }
            at = next.span.end;
        }
    }

    /// Whether what stands at `at` belongs to the protocol, or nothing stands there.
    fn belongs(&self, at: usize) -> bool {
        let rest = self.text[at..].trim_start();
        if rest.is_empty() || rest.starts_with("```") || rest.starts_with("<!--") {
            return true;
        }
        let Some(tag) = tag_at_start(self.text, self.text.len() - rest.len()) else { return false };
        let closes_outer =
            tag.kind == TagKind::Close && (is_wrapper(tag.name) || tag.is_one_of(&CONTAINERS));
        closes_outer || self.closes_call(&tag) || self.is_parameter(&tag)
    }

    /// Whether the calls, or at least this one, are over at `at`.
    fn ends_calls(&self, at: usize) -> bool {
        let rest = self.text[at..].trim_start();
        if rest.is_empty() || rest.starts_with("```") {
            return true;
        }
        let Some(tag) = tag_at_start(self.text, self.text.len() - rest.len()) else { return false };
        let closes =
            tag.kind == TagKind::Close && (is_wrapper(tag.name) || tag.is_one_of(&CALL_TAGS));
        closes || self.opens_call(&tag)
    }
}

fn is_key(tag: &Tag<'_>) -> bool {
    tag.is_one_of(&["arg_key", "longcat_arg_key"])
}

fn is_value(tag: &Tag<'_>) -> bool {
    tag.is_one_of(&["arg_value", "longcat_arg_value"])
}

fn tag_at_start(text: &str, at: usize) -> Option<Tag<'_>> {
    text[at..].starts_with('<').then(|| tag_at(text, at)).flatten()
}
