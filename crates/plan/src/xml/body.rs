//! The parameters of a call.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::elements::{Patience, close_of};
use super::read::{CALL_TAGS, is_wrapper, opening};
use super::tag::{Tag, TagKind, next_tag, tag_at};
use super::text::{CDATA, CDATA_END, plain};
use super::{Shape, value};
use crate::schema::{Kinds, resolve};

const PARAMETER_TAGS: [&str; 4] = ["parameter", "param", "argument", "arg"];

/// The body of a call.
pub(super) struct Body<'t> {
    pub(super) parameters: Vec<Parameter<'t>>,
    pub(super) ended: Ended,
    /// Where the last of the body stands.
    pub(super) inner_end: usize,
    /// Where the call ends.
    pub(super) end: usize,
}

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// With its end tag.
    Tag,
    /// Without, but something else shows that it is whole.
    Missing,
    /// The text ends before it does.
    Cut,
}

/// A parameter as it is written.
pub(super) struct Parameter<'t> {
    name: Cow<'t, str>,
    raw: Cow<'t, str>,
    kind: Option<String>,
}

/// What a body knows of the text around it.
#[derive(Clone, Copy)]
pub(super) struct Around<'t> {
    pub(super) tools: &'t [Shape],
    pub(super) patience: &'t Patience,
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

/// Reads the body of a call whose start tag is named `opener`.
pub(super) fn read<'t>(
    text: &'t str,
    from: usize,
    opener: &'t str,
    shape: &'t Shape,
    around: Around<'t>,
) -> Body<'t> {
    let parameters = Vec::new();
    let mut walk = Walk { text, opener, shape, around, parameters, missing: false, key: None };
    let (ended, inner_end, end) = walk.run(from);
    let ended = if walk.missing && ended == Ended::Tag { Ended::Missing } else { ended };
    Body { parameters: walk.parameters, ended, inner_end, end }
}

impl<'t> Walk<'t> {
    fn run(&mut self, from: usize) -> (Ended, usize, usize) {
        let text = self.text;
        let mut at = from;
        loop {
            if let Some(after) = comment_before_tag(text, at) {
                at = after;
                continue;
            }
            let Some(tag) = next_tag(text, at) else { return self.at_end(from, at) };
            at = tag.span.end;
            if self.closes_call(&tag) {
                return (Ended::Tag, tag.span.start, tag.span.end);
            }
            let closes_wrapper = tag.kind == TagKind::Close && is_wrapper(tag.name);
            let is_parameter = self.is_parameter(&tag);
            if closes_wrapper || (!is_parameter && self.opens_call(&tag)) {
                return (Ended::Missing, tag.span.start, tag.span.start);
            }
            if tag.is("arg_key") && tag.kind == TagKind::Open {
                let Some((end, after)) = close_of(text, at, tag.name, self.around.patience) else {
                    continue;
                };
                self.key = Some(plain(&text[at..end]));
                at = after;
            } else if is_parameter {
                match self.parameter(&tag) {
                    Some(after) => at = after,
                    None => return (Ended::Cut, text.len(), text.len()),
                }
            }
        }
    }

    /// The text is over and the end tag has not come.
    fn at_end(&self, from: usize, at: usize) -> (Ended, usize, usize) {
        let rest = self.text[at..].trim_end();
        let in_tag = rest.rfind('<').is_some_and(|start| !rest[start..].contains('>'));
        let body = self.text[from..].trim();
        let has_json = body.starts_with('{') && body.trim_end_matches(['`', '\n']).ends_with('}');
        let whole = !in_tag && (!self.parameters.is_empty() || has_json);
        (if whole { Ended::Missing } else { Ended::Cut }, self.text.len(), self.text.len())
    }

    fn opens_call(&self, tag: &Tag<'_>) -> bool {
        opening(self.text, tag, self.around.tools, self.around.patience).is_some()
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
        let named = tag.is_one_of(&PARAMETER_TAGS) && subject(tag).is_some();
        named
            || (tag.is("arg_value") && self.key.is_some())
            || (tag.value.is_none() && self.shape.property(tag.name).is_some())
    }

    /// Takes a parameter, and says what is after it; none if the text ends in it.
    fn parameter(&mut self, tag: &Tag<'t>) -> Option<usize> {
        let named = tag.is_one_of(&PARAMETER_TAGS) && subject(tag).is_some();
        let name = match (named, tag.is("arg_value")) {
            (true, _) => subject(tag).map(|name| Cow::Owned(name.to_owned())),
            (false, true) => self.key.take().map(Cow::Owned),
            (false, false) => Some(Cow::Borrowed(tag.name)),
        };
        let name = name?;
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
            let (end, after) = match named {
                true => self.end_of_named(tag)?,
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
    fn end_of_named(&self, tag: &Tag<'_>) -> Option<(usize, usize)> {
        let text = self.text;
        let mut maybe: Option<(usize, usize)> = None;
        let mut first_close: Option<(usize, usize)> = None;
        let mut depth = 0_usize;
        let mut at = tag.span.end;
        while let Some(next) = next_tag_outside_cdata(text, at) {
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
            } else if next.is_one_of(&PARAMETER_TAGS) && next.kind != TagKind::Close {
                let Some(name) = subject(&next) else { continue };
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

    /// Where the value of an element such as `<city>` ends, and what is after it.
    fn end_of_element(&self, tag: &Tag<'_>) -> Option<(usize, usize)> {
        if let Some(found) = close_of(self.text, tag.span.end, tag.name, self.around.patience) {
            return Some(found);
        }
        let mut at = tag.span.end;
        loop {
            let next = next_tag(self.text, at)?;
            let ends = self.closes_call(&next)
                || self.is_parameter(&next)
                || next.is("arg_key")
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
        let closes_outer = tag.kind == TagKind::Close
            && (is_wrapper(tag.name)
                || tag.is_one_of(&["parameters", "arguments", "args", "params", "input"]));
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

fn subject<'a>(tag: &'a Tag<'_>) -> Option<&'a str> {
    tag.subject().or_else(|| tag.attribute(&["key"])).filter(|name| !name.trim().is_empty())
}

fn tag_at_start(text: &str, at: usize) -> Option<Tag<'_>> {
    text[at..].starts_with('<').then(|| tag_at(text, at)).flatten()
}

/// What follows a comment that comes before the next tag.
fn comment_before_tag(text: &str, at: usize) -> Option<usize> {
    let start = at + text[at..].find('<')?;
    let inner = text[start..].strip_prefix("<!--")?;
    Some(text.len() - inner.len() + inner.find("-->")? + 3)
}

fn next_tag_outside_cdata(text: &str, from: usize) -> Option<Tag<'_>> {
    let mut at = from;
    loop {
        at += text.get(at..)?.find('<')?;
        if let Some(inner) = text[at..].strip_prefix(CDATA)
            && let Some(end) = inner.find(CDATA_END)
        {
            at += CDATA.len() + end + CDATA_END.len();
        } else if let Some(tag) = tag_at(text, at) {
            return Some(tag);
        } else {
            at += 1;
        }
    }
}

/// The arguments that parameters make, and whether one came twice with different values.
pub(super) fn arguments(parameters: &[Parameter<'_>], shape: &Shape) -> (Map<String, Value>, bool) {
    let mut groups: Vec<(&str, Vec<&Parameter<'_>>)> = Vec::new();
    for parameter in parameters {
        let written = parameter.name.trim();
        let name = shape.property(written).unwrap_or(written);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(parameter),
            None => groups.push((name, vec![parameter])),
        }
    }
    let mut repeated = false;
    let value = |(name, group): (&str, Vec<&Parameter<'_>>)| {
        (name.to_owned(), value_of(&group, shape.property_schema(name), shape, &mut repeated))
    };
    let arguments = groups.into_iter().map(value).collect();
    (arguments, repeated)
}

fn value_of(group: &[&Parameter<'_>], schema: &Value, shape: &Shape, repeated: &mut bool) -> Value {
    let root = &shape.schema;
    let read = |parameter: &Parameter<'_>, schema| {
        value::read(&parameter.raw, schema, root, parameter.kind.as_deref())
    };
    if let [only] = group {
        return read(only, schema);
    }
    let kinds = Kinds::allowed(schema, root);
    if kinds.contains(Kinds::ARRAY) && kinds != Kinds::ANY {
        let whole: Vec<Value> = group.iter().map(|parameter| read(parameter, schema)).collect();
        if whole.iter().all(Value::is_array) {
            let items = whole.into_iter().flat_map(|value| match value {
                Value::Array(items) => items,
                other => vec![other],
            });
            return Value::Array(items.collect());
        }
        let items = resolve(schema, root).get("items").unwrap_or(&Value::Bool(true));
        return Value::Array(group.iter().map(|parameter| read(parameter, items)).collect());
    }
    let mut values: Vec<Value> = group.iter().map(|parameter| read(parameter, schema)).collect();
    *repeated |= values.windows(2).any(|pair| pair[0] != pair[1]);
    values.pop().unwrap_or(Value::Null)
}

/// The arguments of a call without a body: its attributes, as far as they are declared.
pub(super) fn of_attributes(tag: &Tag<'_>, shape: &Shape) -> Map<String, Value> {
    let declared = tag.attributes.iter().filter_map(|(name, raw)| {
        let is_name = tag.is_one_of(&CALL_TAGS) && name.eq_ignore_ascii_case("name");
        let name = shape.property(name).filter(|_| !is_name)?;
        // It was decoded with the tag; a value is decoded when it is read.
        let raw = raw.replace('&', "&amp;");
        Some((name.to_owned(), value::read(&raw, shape.property_schema(name), &shape.schema, None)))
    });
    declared.collect()
}
