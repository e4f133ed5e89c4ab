//! Reading the calls out of whatever a model wrote.
//!
//! | form of a call | example |
//! |---|---|
//! | the protocol's own | `<invoke name="f"><parameter name="x">1</parameter></invoke>` |
//! | name after the tag | `<function=f><parameter=x>1</parameter></function>` |
//! | the tool is the tag | `<f><x>1</x></f>` |
//! | JSON in a tag | `<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>` |
//! | keys and values | `<tool_call>f<arg_key>x</arg_key><arg_value>1</arg_value></tool_call>` |
//! | JSON alone | `{"name": "f", "arguments": {"x": 1}}` |

use std::ops::Range;

use interleaf_model::ToolName;
use serde_json::Map;

use super::body::{self, Ended};
use super::elements::{Patience, close_of};
use super::tag::{Tag, TagKind, next_tag};
use super::text::{decode, plain, unfenced};
use super::{Call, Shape, json_call};

pub(super) const CALL_TAGS: [&str; 9] = [
    "invoke",
    "function",
    "tool_call",
    "function_call",
    "tool-call",
    "call",
    "tool",
    "tool_use",
    "use_tool",
];
const WRAPPERS: [&str; 6] =
    ["tools", "tool_calls", "tool-calls", "function_calls", "calls", "invokes"];

/// What was found in a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The calls of declared tools, in order.
    pub calls: Vec<Call>,
    /// What is not a call: prose before, between and after.
    pub content: String,
    /// What looked like a call and was not accepted.
    pub refusals: Vec<Refusal>,
    /// What was passed over with patience, in order.
    pub notes: Vec<Note>,
}

/// Something that looked like a call and was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The tool that was named.
    pub tool: String,
    /// Why it was not accepted.
    pub reason: RefusalReason,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// Why a call was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalReason {
    /// The tool is not declared.
    OtherTool,
    /// The text ends inside the call.
    CutOff,
}

/// A departure from the protocol that leaves no doubt about the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Note {
    /// An end tag was missing.
    MissingEnd,
    /// The call was written in another form.
    OtherForm,
    /// The tool's name was spelled otherwise.
    OtherName,
    /// A parameter came twice with different values; the last one counts.
    Repeated,
    /// The whole call was escaped once too often.
    Escaped,
}

pub(super) fn read(text: &str, tools: &[Shape]) -> Reading {
    let reading = scan(text, tools);
    if !reading.calls.is_empty() || !reading.refusals.is_empty() {
        return reading;
    }
    if let Some((call, content)) = json_call::in_text(text, tools) {
        let notes = vec![Note::OtherForm];
        return Reading { calls: vec![call], content, notes, ..Reading::default() };
    }
    if text.contains("&lt;") {
        let mut again = scan(&decode(text), tools);
        if !again.calls.is_empty() {
            again.notes.push(Note::Escaped);
            return again;
        }
    }
    reading
}

/// The start of a call.
pub(super) struct Opening {
    /// The tool as it was named.
    name: String,
    /// Where the body begins.
    body: usize,
}

struct Scan<'t> {
    text: &'t str,
    tools: &'t [Shape],
    reading: Reading,
    content: Vec<String>,
    /// Where the prose since the last call begins.
    prose: usize,
    patience: &'t Patience,
}

fn scan(text: &str, tools: &[Shape]) -> Reading {
    let reading = Reading::default();
    let patience = Patience::with(text);
    let mut scan =
        Scan { text, tools, reading, content: Vec::new(), prose: 0, patience: &patience };
    let mut at = 0;
    while let Some(tag) = next_tag(text, at) {
        at = tag.span.end;
        if tag.is_one_of(&["think", "thinking"]) && tag.kind == TagKind::Open {
            // A thought may try a call out; it makes none.
            at = close_of(text, at, tag.name, scan.patience).map_or(at, |(_, after)| after);
        } else if tag.kind != TagKind::Close
            && let Some(after) = scan.call(&tag)
        {
            at = after;
        }
    }
    scan.say(text.len());
    scan.reading.content = scan.content.join("\n");
    scan.reading
}

impl Scan<'_> {
    /// Reads the call that a tag begins, if it begins one, and says where it ends.
    fn call(&mut self, tag: &Tag<'_>) -> Option<usize> {
        let inner = |from| inner(self.text, from, tag.name, self.patience);
        if tag.is_one_of(&CALL_TAGS) && tag.subject().is_none() && tag.kind == TagKind::Open {
            let (body, after) = inner(tag.span.end);
            if let Some((name, call)) = json_call::of_text(body, self.tools) {
                self.say(tag.span.start);
                self.reading.notes.push(Note::OtherForm);
                self.prose = after;
                match call {
                    Some(call) => self.reading.calls.push(call),
                    None => self.refuse(name, RefusalReason::OtherTool, tag.span.start..after),
                }
                return Some(after);
            }
        }
        let opening = opening(self.text, tag, self.tools, self.patience)?;
        if !(tag.is("invoke") && tag.value.is_none()) {
            self.reading.notes.push(Note::OtherForm);
        }
        self.say(tag.span.start);
        let Some(shape) = find_tool(&opening.name, self.tools) else {
            let after = inner(opening.body).1;
            self.prose = after;
            self.refuse(opening.name, RefusalReason::OtherTool, tag.span.start..after);
            return Some(after);
        };
        if shape.name.as_str() != opening.name {
            self.reading.notes.push(Note::OtherName);
        }
        let end = self.body(tag, &opening, shape);
        self.prose = end;
        Some(end)
    }

    /// Reads the body of a call, and says where it ends.
    fn body(&mut self, tag: &Tag<'_>, opening: &Opening, shape: &Shape) -> usize {
        let tool = shape.name.clone();
        if tag.kind == TagKind::Empty {
            let arguments = body::of_attributes(tag, shape);
            self.reading.calls.push(Call { tool, arguments });
            return tag.span.end;
        }
        let around = body::Around { tools: self.tools, patience: self.patience };
        let body = body::read(self.text, opening.body, tag.name, shape, around);
        match body.ended {
            Ended::Cut => {
                let span = tag.span.start..body.end;
                self.refuse(tool.to_string(), RefusalReason::CutOff, span);
                return body.end;
            }
            Ended::Missing => self.reading.notes.push(Note::MissingEnd),
            Ended::Tag => {}
        }
        let (mut arguments, repeated) = body::arguments(&body.parameters, shape);
        if repeated {
            self.reading.notes.push(Note::Repeated);
        }
        if arguments.is_empty() {
            arguments = json_body(&self.text[opening.body..body.inner_end]);
        }
        self.reading.calls.push(Call { tool, arguments });
        body.end
    }

    fn refuse(&mut self, tool: String, reason: RefusalReason, span: Range<usize>) {
        self.reading.refusals.push(Refusal { tool, reason, span });
    }

    /// Keeps the prose up to `end`, without the wrappers and fences of the calls that it
    /// stands between.
    fn say(&mut self, end: usize) {
        let mut prose = self.text[self.prose..end].trim();
        let (behind_call, before_call) = (self.prose > 0, end < self.text.len());
        loop {
            let shorter = if behind_call { strip_start(prose) } else { prose };
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

/// The arguments of a call whose body is one JSON object.
fn json_body(body: &str) -> Map<String, serde_json::Value> {
    let raw = unfenced(body);
    if !raw.starts_with(['{', '<', '&']) {
        return Map::new();
    }
    let parsed = serde_json::from_str(unfenced(&plain(body)));
    parsed.or_else(|_| serde_json::from_str(raw)).unwrap_or_default()
}

/// What stands in an element, and where it ends; up to the end of the text if it is not
/// closed.
fn inner<'t>(text: &'t str, from: usize, name: &str, patience: &Patience) -> (&'t str, usize) {
    let (end, after) = close_of(text, from, name, patience).unwrap_or((text.len(), text.len()));
    (&text[from..end], after)
}

pub(super) fn opening(
    text: &str,
    tag: &Tag<'_>,
    tools: &[Shape],
    patience: &Patience,
) -> Option<Opening> {
    if tag.kind == TagKind::Close {
        return None;
    }
    let of = |name: &str, body| Some(Opening { name: name.trim().to_owned(), body });
    if tag.is_one_of(&CALL_TAGS) {
        if let Some(name) = tag.subject() {
            return of(name, tag.span.end);
        }
        let body = &text[tag.span.end..];
        let word = body.trim_start().split(['<', '\n']).next().unwrap_or_default().trim();
        if !word.is_empty() && find_tool(word, tools).is_some() {
            let start = body.len() - body.trim_start().len();
            return of(word, tag.span.end + start + word.len());
        }
        let child = next_tag(text, tag.span.end)?;
        let names = ["name", "tool_name", "tool", "function_name"];
        let is_first = text[tag.span.end..child.span.start].trim().is_empty();
        if is_first && child.is_one_of(&names) && child.subject().is_none() {
            let (end, after) = close_of(text, child.span.end, child.name, patience)?;
            return of(&plain(&text[child.span.end..end]), after);
        }
        return None;
    }
    let is_tool = !is_wrapper(tag.name) && exact_tool(tag.name, tools).is_some();
    is_tool.then(|| Opening { name: tag.name.to_owned(), body: tag.span.end })
}

pub(super) fn is_wrapper(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WRAPPERS.contains(&name.as_str()) || name.ends_with("-tools") || name.ends_with("_tools")
}

fn exact_tool<'t>(name: &str, tools: &'t [Shape]) -> Option<&'t Shape> {
    let exact = tools.iter().find(|shape| shape.name.as_str() == name);
    exact.or_else(|| only(tools, |own| own.eq_ignore_ascii_case(name)))
}

/// The declared tool that a name means: as it is written, but for its case, without a
/// prefix such as `functions.`, or but for `-` and `_`.
pub(super) fn find_tool<'t>(name: &str, tools: &'t [Shape]) -> Option<&'t Shape> {
    let name = name.trim();
    let unquoted = name.trim_matches(['"', '\'', '`']);
    if let Some(found) = exact_tool(name, tools).or_else(|| exact_tool(unquoted, tools)) {
        return Some(found);
    }
    let name = unquoted;
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    let prefix = &name[..name.len() - last.len()];
    let is_namespace =
        ["functions.", "function.", "tools.", "default_api.", "default_api:"].contains(&prefix);
    if is_namespace && let Some(found) = exact_tool(last, tools) {
        return Some(found);
    }
    let bare = |text: &str| text.to_ascii_lowercase().replace('-', "_");
    only(tools, |own| bare(own) == bare(name))
}

fn only(tools: &[Shape], is_meant: impl Fn(&str) -> bool) -> Option<&Shape> {
    let mut meant = tools.iter().filter(|shape| is_meant(shape.name.as_str()));
    meant.next().filter(|_| meant.next().is_none())
}

/// A text without the end of a wrapper, or of a fence, at its start.
fn strip_start(text: &str) -> &str {
    if let Some(tag) = next_tag(text, 0)
        && tag.span.start == 0
        && tag.kind == TagKind::Close
        && (is_wrapper(tag.name) || tag.is_one_of(&CALL_TAGS))
    {
        return &text[tag.span.end..];
    }
    match text.strip_prefix("```") {
        Some(rest) if rest.is_empty() || rest.starts_with('\n') => rest,
        _ => text,
    }
}

/// A text without the start of a wrapper, or of a fence, at its end.
fn strip_end(text: &str) -> &str {
    if let Some(start) = text.rfind('<').filter(|_| text.ends_with('>'))
        && let Some(tag) = next_tag(text, start)
        && tag.span == (start..text.len())
        && tag.kind == TagKind::Open
        && (is_wrapper(tag.name) || tag.is_one_of(&CALL_TAGS))
    {
        return &text[..start];
    }
    let last = text.lines().next_back().unwrap_or_default().trim();
    match last.strip_prefix("```") {
        Some(word) if word.chars().all(char::is_alphanumeric) => {
            text.strip_suffix(last).unwrap_or(text)
        }
        _ => text,
    }
}

impl RefusalReason {
    /// Why, in a sentence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OtherTool => "this tool may not be called here",
            Self::CutOff => "the text ends inside the call",
        }
    }
}

impl Note {
    /// What was passed over, for a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingEnd => "an end tag was missing",
            Self::OtherForm => "the call was written in another form",
            Self::OtherName => "the tool's name was spelled differently",
            Self::Repeated => "a parameter came twice with different values",
            Self::Escaped => "the whole call was escaped",
        }
    }
}

impl Call {
    /// A call.
    pub fn new(tool: impl Into<ToolName>, arguments: Map<String, serde_json::Value>) -> Self {
        Self { tool: tool.into(), arguments }
    }
}
