//! Calls in tags: with parameters, or as JSON or Python.

use interleaf_model::Json;

use super::scan::Scan;
use super::tags::{CALL_TAGS, Opening, is_wrapper, may_hold_json, opening};
use super::tools::Shape;
use super::{Call, Note, RefusalReason, json, marks};
use crate::exact;
use crate::xml::body::{self, Ended};
use crate::xml::elements::close_of;
use crate::xml::parameters;
use crate::xml::tag::{Tag, TagKind, tag_at};
use crate::xml::text::{plain, unfenced};

impl<'t> Scan<'t> {
    /// Reads calls in JSON, or Python, inside a tag.
    pub(super) fn json_in_tag(&mut self, tag: &Tag<'_>) -> Option<usize> {
        if !may_hold_json(tag) {
            return None;
        }
        let at = tag.span.start;
        let start = marks::skip_fillers(self.text, tag.span.end);
        let is_json = self.text[start..].starts_with(['{', '[']);
        if !is_json && !is_wrapper(tag.name) {
            return None;
        }
        let (n_calls, n_refusals) = (self.reading.calls.len(), self.reading.refusals.len());
        let end = self.values(at, start)?;
        let close = close_of(self.tags, end, tag.name, self.patience);
        let is_broken = self.reading.refusals[n_refusals..]
            .iter()
            .any(|refusal| refusal.reason != RefusalReason::OtherTool);
        let is_fenced = self.is_fenced(at) || self.text[tag.span.end..start].contains("```");
        let after = marks::skip_ends(self.text, end, is_fenced);
        let end = match (self.close_at(after).0, close) {
            (Some(end), _) => end,
            // Words, or the rest of what is broken, stand before the end tag.
            (None, Some((_, close))) if is_broken || !self.has_call_before(end, close) => close,
            (None, _) => {
                if self.reading.calls.len() > n_calls {
                    self.reading.notes.push(Note::MissingEnd);
                }
                after
            }
        };
        if is_broken && close.is_some() {
            for refusal in &mut self.reading.refusals[n_refusals..] {
                if refusal.reason == RefusalReason::CutOff {
                    refusal.reason = RefusalReason::Unreadable;
                }
            }
        }
        self.prose = end;
        Some(end)
    }

    /// Whether a further call begins between two places.
    fn has_call_before(&self, from: usize, end: usize) -> bool {
        let next = self.tags.next(from).filter(|tag| tag.span.start < end);
        next.is_some_and(|tag| tag.kind == TagKind::Open && tag.is_one_of(&CALL_TAGS))
    }

    /// Reads the call that a tag begins, if it begins one, and says where it ends.
    pub(super) fn call(&mut self, tag: &Tag<'t>) -> Option<usize> {
        let opening = opening(self.tags, tag, self.tools, self.patience)?;
        if !(tag.is("invoke") && tag.value.is_none()) {
            self.reading.notes.push(Note::OtherForm);
        }
        self.say(tag.span.start);
        let Some(shape) = self.tools.find(&opening.name) else {
            let close = close_of(self.tags, opening.body, tag.name, self.patience);
            let end = match tag.kind {
                TagKind::Empty => tag.span.end,
                _ => close.map_or(self.text.len(), |(_, after)| after),
            };
            self.prose = end;
            self.refuse(opening.name, RefusalReason::OtherTool, tag.span.start..end);
            return Some(end);
        };
        if shape.name.as_str() != opening.name {
            self.reading.notes.push(Note::OtherName);
        }
        let end = self.body(tag, &opening, shape);
        self.prose = end;
        Some(end)
    }

    /// Reads the body of a call, and says where it ends.
    fn body(&mut self, tag: &Tag<'t>, opening: &Opening, shape: &'t Shape) -> usize {
        let (start, tool) = (tag.span.start, shape.name.to_string());
        if let Some(end) = self.json_body(tag, opening, shape) {
            return end;
        }
        let around = body::Around { tags: self.tags, tools: self.tools, patience: self.patience };
        let body = body::read(tag, opening.body, shape, around);
        match body.ended {
            Ended::Cut => {
                self.refuse(tool, RefusalReason::CutOff, start..body.end);
                return body.end;
            }
            Ended::Missing => self.reading.notes.push(Note::MissingEnd),
            Ended::Tag => {}
        }
        let (mut arguments, repeated) = parameters::arguments(&body.parameters, shape);
        if repeated {
            self.reading.notes.push(Note::Repeated);
        }
        if body.parameters.is_empty() && body.inner_end > opening.body {
            match of_body(&self.text[opening.body..body.inner_end]) {
                Some(own) => arguments = own,
                None => {
                    self.refuse(tool, RefusalReason::Unreadable, start..body.end);
                    return body.end;
                }
            }
        }
        if let Some(call) = Call::exact(&shape.name, arguments) {
            self.accept(call, start);
        }
        body.end
    }

    /// Reads a body that is one JSON object: what looks like a tag in its strings is none.
    fn json_body(&mut self, tag: &Tag<'_>, opening: &Opening, shape: &Shape) -> Option<usize> {
        let place = marks::skip_fillers(self.text, opening.body);
        if tag.kind != TagKind::Open || !self.text[place..].starts_with('{') {
            return None;
        }
        let (value, end) = json::value_at(self.text, place).ok()?;
        let (arguments, repeated) = json::of_value(&value)?;
        let after = marks::skip_ends(self.text, end, true);
        let (close, is_open) = self.close_at(after);
        if close.is_none() && !is_open {
            return None;
        }
        self.reading.notes.extend(repeated.then_some(Note::Repeated));
        self.reading.notes.extend(close.is_none().then_some(Note::MissingEnd));
        self.accept(Call::exact(&shape.name, arguments)?, tag.span.start);
        Some(close.unwrap_or(after))
    }

    /// Where the end tag of a call or a wrapper that stands at a place ends; and if none
    /// stands there, whether the text is over or a further call begins.
    fn close_at(&self, at: usize) -> (Option<usize>, bool) {
        let rest = self.text[at..].trim_start();
        let tag = tag_at(self.text, self.text.len() - rest.len()).filter(|_| rest.starts_with('<'));
        let is_own = |tag: &Tag<'_>| tag.is_one_of(&CALL_TAGS) || is_wrapper(tag.name);
        match tag {
            Some(tag) if tag.kind == TagKind::Close && is_own(&tag) => (Some(tag.span.end), false),
            Some(tag) => (None, opening(self.tags, &tag, self.tools, self.patience).is_some()),
            None => (None, rest.is_empty()),
        }
    }
}

/// The arguments of a call whose body has no parameters: one JSON object, or nothing. None
/// if it is something else.
fn of_body(body: &str) -> Option<Json> {
    let raw = unfenced(body);
    let only_comments = || raw.starts_with("<!--") && raw.ends_with("-->");
    if raw.is_empty() || only_comments() || is_only_containers(raw) {
        return Some(exact::empty());
    }
    let read = |text: &str| exact::read(text).filter(|value| value.is_object());
    read(unfenced(&plain(body))).or_else(|| read(raw))
}

/// Whether a text is tags with nothing in them, such as `<parameters></parameters>`.
fn is_only_containers(text: &str) -> bool {
    let mut at = 0;
    while at < text.len() {
        match tag_at(text, at).filter(|_| text[at..].starts_with('<')) {
            Some(tag) => at = tag.span.end,
            None => return false,
        }
        at += text[at..].len() - text[at..].trim_start().len();
    }
    true
}
