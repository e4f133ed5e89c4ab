//! Walking through a text once, from call to call.
//!
//! | at | what is done |
//! |---|---|
//! | a thought, a result, a quote | it is passed over, to the end of the text if it has no end |
//! | the end of a thought that has no start | everything before it was thought |
//! | a tag or a mark of a call | the call is read, or refused |
//! | `{` or `[`, first or where the text has no other call | the call is read, if it is one |

use std::ops::Range;

use interleaf_model::Json;

use super::json::{self, Told};
use super::marks::{self, Begins};
use super::quotes::{self, FenceEnds};
use super::tags::{CALL_TAGS, Opening, is_wrapper, may_hold_json, opening};
use super::tools::{Shape, Tools};
use super::{Call, Note, Reading, Refusal, RefusalReason, python};
use crate::exact;
use crate::xml::body::{self, Ended};
use crate::xml::elements::{Patience, close_of};
use crate::xml::parameters;
use crate::xml::tag::{Tag, TagKind, Tags, tag_at};
use crate::xml::text::{decode, plain, unfenced};

const THOUGHTS: [&str; 7] =
    ["think", "thinking", "thought", "reasoning", "scratchpad", "scratch_pad", "reflection"];
const RESULTS: [&str; 10] = [
    "result",
    "results",
    "tool_response",
    "tool_result",
    "tool_results",
    "tool_output",
    "function_result",
    "function_results",
    "longcat_tool_response",
    "observation",
];

pub(super) fn read(text: &str, tools: &Tools) -> Reading {
    let reading = scan(text, tools, Looks::ForMarks);
    if !reading.calls.is_empty() || !reading.refusals.is_empty() {
        return reading;
    }
    let bare = scan(text, tools, Looks::ForBareCalls);
    if !bare.calls.is_empty() || !bare.refusals.is_empty() {
        return bare;
    }
    if text.contains("&lt;") {
        let mut again = scan(&decode(text), tools, Looks::ForMarks);
        if !again.calls.is_empty() {
            again.notes.push(Note::Escaped);
            return again;
        }
    }
    reading
}

/// What a scan looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    ForMarks,
    ForBareCalls,
}

fn scan(text: &str, tools: &Tools, looks: Looks) -> Reading {
    let (tags, patience, fences) = (Tags::of(text), Patience::with(text), FenceEnds::of(text));
    let walk = |is_fence_quote| {
        let mut scan = Scan {
            text,
            tags: &tags,
            tools,
            patience: &patience,
            fences: &fences,
            looks,
            is_fence_quote,
            fence_close: None,
            fence_end: 0,
            lead: 0,
            n_bare_left: (64 << 10) + 8 * text.len(),
            n_fenced: 0,
            reading: Reading::default(),
            content: Vec::new(),
            prose: 0,
        };
        scan.run();
        scan
    };
    let first = walk(false);
    let is_mixed = first.n_fenced > 0 && first.n_fenced < first.reading.calls.len();
    if is_mixed { walk(true).reading } else { first.reading }
}

pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    tags: &'t Tags<'t>,
    pub(super) tools: &'t Tools,
    patience: &'t Patience,
    fences: &'t FenceEnds,
    looks: Looks,
    /// Whether every fence is a quote: calls stand outside fences.
    is_fence_quote: bool,
    /// Where the last line of the fence around this place begins, and where it ends.
    fence_close: Option<usize>,
    fence_end: usize,
    /// Where the last thought ended, or the fence around this place began.
    pub(super) lead: usize,
    /// How many bytes may still be looked at in vain for JSON with nothing around it.
    pub(super) n_bare_left: usize,
    n_fenced: usize,
    pub(super) reading: Reading,
    content: Vec<String>,
    /// Where the prose since the last call begins.
    pub(super) prose: usize,
}

impl<'t> Scan<'t> {
    fn run(&mut self) {
        let mut at = 0;
        // 0xe2 begins `✿`, and `f` begins `functools[`.
        let is_point = |b: &u8| matches!(b, b'<' | b'[' | b'{' | b'`' | b'>' | b'f' | 0xe2);
        while let Some(next) = self.text.as_bytes()[at..].iter().position(is_point) {
            at = self.step(at + next);
        }
        self.say(self.text.len());
        self.reading.content = std::mem::take(&mut self.content).join("\n");
        // Where the search was given up, something may have been missed.
        if self.patience.is_lost() || self.n_bare_left == 0 {
            self.reading.calls.clear();
            self.refuse(String::new(), RefusalReason::Unreadable, 0..self.text.len());
        }
    }

    /// Reads what begins at a place, and says where to go on.
    fn step(&mut self, at: usize) -> usize {
        let text = self.text;
        match text.as_bytes()[at] {
            b'`' => return self.backticks(at),
            b'>' => return quotes::quoted_line_end(text, at).unwrap_or(at + 1).max(at + 1),
            _ => {}
        }
        if let Some((begins, end)) = marks::mark_at(text, at) {
            if let Begins::Other(close) = begins {
                self.lead = marks::end_of(text, end, close);
                return self.lead;
            }
            if self.looks == Looks::ForMarks {
                return self.mark(at, begins, end).unwrap_or(end).max(at + 1);
            }
        }
        match text.as_bytes()[at] {
            b'{' | b'[' if self.looks == Looks::ForBareCalls || self.is_first(at) => self.bare(at),
            b'<' => match tag_at(text, at) {
                Some(tag) => self.tag(&tag),
                None => at + 1,
            },
            _ => text.ceil_char_boundary(at + 1),
        }
    }

    fn backticks(&mut self, at: usize) -> usize {
        let run = self.text[at..].bytes().take_while(|&b| b == b'`').count();
        if self.fence_close == Some(at) {
            return at + run;
        }
        if let Some(fence) = self.fences.fence_at(self.text, at) {
            if fence.is_quote || self.is_fence_quote {
                return fence.end;
            }
            (self.fence_close, self.fence_end) = (Some(fence.close), fence.end);
            self.lead = fence.inner;
            return fence.inner;
        }
        match quotes::span_end(self.text, at) {
            // A span that is all there is quotes nothing.
            Some(end) if self.text.trim().len() > end - at => end,
            _ => at + run,
        }
    }

    fn tag(&mut self, tag: &Tag<'t>) -> usize {
        let is_tool = self.tools.get_cased(tag.name).is_some();
        if tag.is_one_of(&THOUGHTS) && !is_tool {
            return match tag.kind {
                TagKind::Open => self.thought(tag),
                TagKind::Close => {
                    self.forget();
                    self.lead = tag.span.end;
                    tag.span.end
                }
                TagKind::Empty => tag.span.end,
            };
        }
        if tag.is_one_of(&RESULTS) && tag.kind == TagKind::Open && !is_tool {
            let close = close_of(self.tags, tag.span.end, tag.name, self.patience);
            return close.map_or(self.text.len(), |(_, after)| after);
        }
        if tag.kind == TagKind::Close || self.looks == Looks::ForBareCalls {
            return tag.span.end;
        }
        self.json_in_tag(tag).or_else(|| self.call(tag)).unwrap_or(tag.span.end)
    }

    /// A thought may try a call out; it makes none.
    fn thought(&mut self, tag: &Tag<'_>) -> usize {
        let mut at = tag.span.end;
        while let Some(next) = self.tags.next(at) {
            at = next.span.end;
            if next.kind == TagKind::Close && next.is(tag.name) {
                self.lead = at;
                return at;
            }
        }
        self.text.len()
    }

    /// Everything up to here was thought: its start was in the prompt.
    fn forget(&mut self) {
        self.reading = Reading::default();
        self.content.clear();
        (self.prose, self.n_fenced) = (0, 0);
    }

    /// Reads what a mark begins, and says where it ends; none if it begins nothing.
    fn mark(&mut self, at: usize, begins: Begins, end: usize) -> Option<usize> {
        let start = marks::skip_fillers(self.text, end);
        let is_json = self.text[start..].starts_with(['{', '[']);
        let read = match begins {
            Begins::Wrapper | Begins::Other(_) => return None,
            Begins::Values => self.values(at, start),
            Begins::Both if is_json => self.values(at, start),
            Begins::Named | Begins::Both => self.named(at, start, begins == Begins::Both),
        };
        let read = marks::skip_ends(self.text, read?);
        self.prose = read;
        Some(read)
    }

    /// Reads calls as JSON or Python at `start`, of a form that begins at `at`.
    fn values(&mut self, at: usize, start: usize) -> Option<usize> {
        let run = json::run(self.text, start, self.tools);
        match run {
            Some(run) if run.broken.is_none() && !(run.told.is_empty() && run.has_other) => {
                self.reading.notes.extend(&run.notes);
                let has_other = run.has_other;
                self.take(run.told, at, run.end);
                if has_other {
                    self.refuse(String::new(), RefusalReason::Unreadable, at..run.end);
                }
                Some(run.end)
            }
            run => {
                if let Some((calls, end)) = python::calls_at(self.text, start) {
                    self.take_python(&calls, at, end);
                    return Some(end);
                }
                let run = run?;
                let reason = run.broken.unwrap_or(RefusalReason::Unreadable);
                // Of a call that is cut off, the rest of the text is a part.
                let end = if reason == RefusalReason::CutOff { self.text.len() } else { run.end };
                self.take(run.told, at, end);
                self.refuse(String::new(), reason, at..end);
                Some(end)
            }
        }
    }

    /// Reads a call whose name stands before its arguments; several, if they may follow.
    fn named(&mut self, at: usize, start: usize, may_follow: bool) -> Option<usize> {
        let head = marks::head_at(self.text, start)?;
        let name = json::strip_index(&head.name);
        // A call in tags stands in the marks.
        if name.is_empty() || name.starts_with('<') || name.contains(char::is_whitespace) {
            return None;
        }
        let (told, end) = match (head.arguments, self.tools.find(name)) {
            (None, _) if head.is_cut => {
                let tool = self.tools.find(name).map_or(name, |shape| shape.name.as_str());
                self.take(Vec::new(), at, self.text.len());
                self.refuse(tool.to_owned(), RefusalReason::CutOff, at..self.text.len());
                return Some(self.text.len());
            }
            (None, None) => return None,
            (None, Some(shape)) => (self.told_of(shape, Some((exact::empty(), false))), head.end),
            (Some(place), shape) => match json::value_at(self.text, place) {
                Ok((value, end)) => match shape {
                    Some(shape) => (self.told_of(shape, json::of_value(&value)), end),
                    None => (Told::Other(name.to_owned()), end),
                },
                Err(json::Broken { reason, .. }) => {
                    let tool = shape.map_or(name, |shape| shape.name.as_str()).to_owned();
                    let cut = reason == RefusalReason::CutOff;
                    let end = if cut { self.text.len() } else { place + 1 };
                    self.take(Vec::new(), at, end);
                    self.refuse(tool, reason, at..end);
                    return Some(end);
                }
            },
        };
        self.take(vec![told], at, end);
        let next = end + self.text[end..].len() - self.text[end..].trim_start().len();
        let next = next + usize::from(self.text[next..].starts_with(','));
        let is_next = may_follow
            && marks::mark_at(self.text, next).is_none()
            && marks::head_at(self.text, next).is_some_and(|head| {
                head.arguments.is_some() && self.tools.find(&head.name).is_some()
            });
        if is_next { self.named(next, next, true).or(Some(end)) } else { Some(end) }
    }

    fn told_of(&mut self, shape: &Shape, arguments: Option<(Json, bool)>) -> Told {
        if arguments.as_ref().is_some_and(|(_, repeated)| *repeated) {
            self.reading.notes.push(Note::Repeated);
        }
        let call = arguments.and_then(|(own, _)| Call::exact(&shape.name, own));
        call.map_or_else(|| Told::Unreadable(shape.name.to_string()), Told::Call)
    }

    /// Reads calls in JSON, or Python, inside a tag.
    fn json_in_tag(&mut self, tag: &Tag<'_>) -> Option<usize> {
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
        let after = marks::skip_ends(self.text, end);
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
    fn call(&mut self, tag: &Tag<'t>) -> Option<usize> {
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
        let after = marks::skip_ends(self.text, end);
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

    /// Takes a call that begins at a place.
    pub(super) fn accept(&mut self, call: Call, at: usize) {
        self.n_fenced += usize::from(at < self.fence_end);
        self.reading.calls.push(call);
    }

    pub(super) fn refuse(&mut self, tool: String, reason: RefusalReason, span: Range<usize>) {
        self.reading.refusals.push(Refusal { tool, reason, span });
    }

    /// Keeps the prose up to `end`, without the wrappers and fences of the calls that it
    /// stands between.
    pub(super) fn say(&mut self, end: usize) {
        let mut prose = self.text[self.prose.min(end)..end].trim();
        let (after_call, before_call) = (self.prose > 0, end < self.text.len());
        loop {
            let shorter = if after_call { strip_start(prose) } else { prose };
            let shorter = if before_call { strip_end(shorter) } else { shorter }.trim();
            if shorter.len() == prose.len() {
                break;
            }
            prose = shorter;
        }
        if !prose.is_empty() {
            self.content.push(prose.to_owned());
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

/// A text without the end of a wrapper, or of a fence, at its start.
fn strip_start(text: &str) -> &str {
    if text.starts_with('<')
        && let Some(tag) = tag_at(text, 0)
        && tag.kind == TagKind::Close
        && (is_wrapper(tag.name) || tag.is_one_of(&CALL_TAGS))
    {
        return &text[tag.span.end..];
    }
    match text.strip_prefix("```") {
        Some(rest) if rest.is_empty() || rest.starts_with('\n') => rest,
        _ => &text[marks::skip_ends(text, 0)..],
    }
}

/// A text without the start of a wrapper, or of a fence, at its end.
fn strip_end(text: &str) -> &str {
    if let Some(start) = text.rfind('<').filter(|_| text.ends_with('>')) {
        let tag = tag_at(text, start).filter(|tag| tag.span == (start..text.len()));
        if tag.is_some_and(|tag| {
            tag.kind == TagKind::Open && (is_wrapper(tag.name) || tag.is_one_of(&CALL_TAGS))
        }) {
            return &text[..start];
        }
        if let Some(shorter) = marks::strip_last(text) {
            return shorter;
        }
    }
    let last = text.lines().next_back().unwrap_or_default().trim();
    match last.strip_prefix("```") {
        Some(word) if word.chars().all(|c| c.is_alphanumeric() || c == '_') => {
            text.strip_suffix(last).unwrap_or(text)
        }
        _ => text,
    }
}
