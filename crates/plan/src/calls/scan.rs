//! Walking through a text once, from call to call.
//!
//! | at | what is done |
//! |---|---|
//! | a thought, a result, a comment, a quote | it is passed over, to the end of the text if it has no end |
//! | the end of a thought that has no start | everything before it was thought |
//! | a tag or a mark of a call | the call is read, or refused |
//! | `{` or `[`, first or where the text has no other call | the call is read, if it is one |

use std::ops::Range;

use super::marks::{self, Begins};
use super::quotes::{self, Fence, FenceEnds};
use super::reading::Piece;
use super::tags::{CALL_TAGS, is_wrapper};
use super::tools::Tools;
use super::{Call, Note, Reading, Refusal, RefusalReason};
use crate::xml::elements::{Patience, close_of};
use crate::xml::tag::{COMMENT, Tag, TagKind, Tags, tag_at};
use crate::xml::text::decode;

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

pub(super) fn read(text: &str, tools: &Tools, fences: Fences) -> Reading {
    let scan = |text: &str, tools, looks| scan(text, tools, (looks, fences));
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

/// Which fences may hold calls that are made, of those whose language may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fences {
    /// All of them: a call was asked for, and this is the answer.
    All,
    /// Those that the text ends with, unless the words before them say that they are an example,
    /// and those whose language is that of calls. Where words come after a fence, it shows
    /// something.
    Last,
    /// None.
    None,
}

fn scan(text: &str, tools: &Tools, (looks, may_call): (Looks, Fences)) -> Reading {
    let (tags, patience, fences) = (Tags::of(text), Patience::with(text), FenceEnds::of(text));
    let walk = |may_call| {
        let mut scan = Scan {
            text,
            tags: &tags,
            tools,
            patience: &patience,
            fences: &fences,
            looks,
            may_call,
            last_fences: (0, true),
            fence_close: None,
            fence: 0..0,
            lead: 0,
            n_bare_left: (64 << 10) + 8 * text.len(),
            n_fenced: 0,
            reading: Reading::default(),
            prose: 0,
        };
        scan.run();
        scan
    };
    let first = walk(may_call);
    let is_mixed = first.n_fenced > 0 && first.n_fenced < first.reading.calls.len();
    if is_mixed { walk(Fences::None).reading } else { first.reading }
}

pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) tags: &'t Tags<'t>,
    pub(super) tools: &'t Tools,
    pub(super) patience: &'t Patience,
    fences: &'t FenceEnds,
    looks: Looks,
    may_call: Fences,
    /// Up to where it is known whether fences are the end of the text, and whether they are.
    last_fences: (usize, bool),
    /// Where the last line of the fence around this place begins.
    fence_close: Option<usize>,
    /// What stands in the fence around this place, or in the one before it, with its last line.
    fence: Range<usize>,
    /// Where the last thought ended, or the fence around this place began.
    pub(super) lead: usize,
    /// How many bytes may still be looked at in vain for JSON with nothing around it.
    pub(super) n_bare_left: usize,
    n_fenced: usize,
    pub(super) reading: Reading,
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
        self.reading.content = self.reading.prose().collect::<Vec<_>>().join("\n");
        // Where the search was given up, something may have been missed.
        if self.patience.is_lost() || self.n_bare_left == 0 {
            self.reading.calls.clear();
            self.reading.pieces.clear();
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
            b'<' if text[at..].starts_with(COMMENT) => self.tags.comment_end(at),
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
            if fence.is_quote || !self.may_hold(at, &fence) {
                return fence.end;
            }
            (self.fence_close, self.fence) = (Some(fence.close), fence.inner..fence.end);
            if fence.is_tool_code && self.looks == Looks::ForMarks && self.tool_code(at, &fence) {
                return fence.end;
            }
            self.lead = fence.inner;
            return fence.inner;
        }
        match quotes::span_end(self.text, at) {
            // A span that is all there is quotes nothing.
            Some(end) if self.text.trim().len() > end - at => end,
            _ => at + run,
        }
    }

    /// Whether calls in this fence, which begins at `at`, are made.
    fn may_hold(&mut self, at: usize, fence: &Fence) -> bool {
        match self.may_call {
            Fences::All => true,
            Fences::None => false,
            Fences::Last if fence.is_of_calls => true,
            Fences::Last => {
                if at >= self.last_fences.0 {
                    let (end, is_last) = self.run_of_fences(fence.end);
                    self.last_fences = (end, is_last && !quotes::tells_example(self.text, at));
                }
                self.last_fences.1
            }
        }
    }

    /// Where the fences that follow each other end, the first of them at `end`, and whether
    /// nothing is said after them.
    fn run_of_fences(&self, mut end: usize) -> (usize, bool) {
        loop {
            let rest = self.text[end..].trim_start();
            let next = self.text.len() - rest.len();
            if let Some(fence) = self.fences.fence_at(self.text, next).filter(|f| !f.is_quote) {
                end = fence.end;
                continue;
            }
            let mut rest = rest.trim_end();
            while let shorter = strip_start(rest, true).trim()
                && shorter.len() < rest.len()
            {
                rest = shorter;
            }
            return (end, rest.is_empty());
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
        (self.prose, self.n_fenced) = (0, 0);
    }

    /// Takes a call that begins at a place.
    pub(super) fn accept(&mut self, call: Call, at: usize) {
        self.n_fenced += usize::from(at < self.fence.end);
        self.reading.accept(call);
    }

    pub(super) fn refuse(&mut self, tool: String, reason: RefusalReason, span: Range<usize>) {
        self.reading.refuse(Refusal { tool, reason, span });
    }

    /// Whether a place lies in a fence that may hold calls. Fence marks beside a call that does
    /// not are those of another block.
    pub(super) fn is_fenced(&self, at: usize) -> bool {
        self.fence.contains(&at)
    }

    /// Keeps the prose up to `end`, without the wrappers and fences of the calls that it
    /// stands between.
    pub(super) fn say(&mut self, end: usize) {
        let mut prose = self.text[self.prose.min(end)..end].trim();
        let (after_call, before_call) = (self.prose > 0, end < self.text.len());
        let (after_fenced, fenced) = (self.is_fenced(self.prose), self.is_fenced(end));
        loop {
            let shorter = if after_call { strip_start(prose, after_fenced) } else { prose };
            let shorter = if before_call { strip_end(shorter, fenced) } else { shorter }.trim();
            if shorter.len() == prose.len() {
                break;
            }
            prose = shorter;
        }
        if !prose.is_empty() {
            self.reading.pieces.push(Piece::Prose(prose.to_owned()));
        }
    }
}

/// A text without the end of a wrapper, or of the fence around the call before it, at its start.
fn strip_start(text: &str, is_fenced: bool) -> &str {
    if text.starts_with('<')
        && let Some(tag) = tag_at(text, 0)
        && tag.kind == TagKind::Close
        && (is_wrapper(tag.name) || tag.is_one_of(&CALL_TAGS))
    {
        return &text[tag.span.end..];
    }
    match text.strip_prefix("```") {
        Some("") => "",
        Some(rest) if is_fenced && rest.starts_with('\n') => rest,
        _ => &text[marks::skip_ends(text, 0, is_fenced)..],
    }
}

/// A text without the start of a wrapper, or of the fence around the call after it, at its end.
fn strip_end(text: &str, is_fenced: bool) -> &str {
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
        Some(word) if is_fenced && word.chars().all(|c| c.is_alphanumeric() || c == '_') => {
            text.strip_suffix(last).unwrap_or(text)
        }
        _ => text,
    }
}
