//! What an agent's model says in a text: words, and calls in order.
//!
//! Nothing that looks like a call is lost. What a native API would give as a call, an agent
//! gets as a call:
//!
//! | what the model wrote | what comes of it |
//! |---|---|
//! | a call of a declared tool | the call |
//! | a call of a tool that is not declared | the call, its arguments read without a schema |
//! | a call whose arguments cannot be read, or that the text ends in | a call with unreadable arguments: all that was written |
//! | what looks like a call and names no tool | words |
//! | a call in a fence after which something is said | words: it shows how a call is written |
//!
//! A text whose connection was cut has only the calls of blocks that were closed.

use std::collections::HashMap;
use std::ops::Range;

use interleaf_model::{Arguments, Spoken, Tool, ToolName};

use super::reading::Piece;
use super::scan::{self, Fences};
use super::tags::is_wrapper;
use super::{Reading, Refusal, RefusalReason, TextTools, watch};
use crate::xml::tag::{TagKind, tag_at};

impl TextTools {
    /// What a text says; all that can be said of it, if its connection was cut.
    pub fn speech(&self, text: &str, is_cut: bool) -> Vec<Spoken> {
        if is_cut {
            return self.cut_speech(text);
        }
        self.pieces(text, &scan::read(text, self.tools(), Fences::Last))
    }

    fn pieces(&self, text: &str, reading: &Reading) -> Vec<Spoken> {
        if reading.calls.is_empty() && reading.refusals.is_empty() {
            return words(text).into_iter().collect();
        }
        let blank = &text[..text.len() - text.trim_start().len()];
        let mut known = HashMap::new();
        let mut spoken = Vec::with_capacity(reading.pieces.len());
        for piece in &reading.pieces {
            spoken.push(match *piece {
                // Whoever was shown the text while it came saw what it begins with.
                Piece::Prose(ref prose)
                    if spoken.is_empty() && text.trim_start().starts_with(prose.as_str()) =>
                {
                    Spoken::Text(format!("{blank}{prose}"))
                }
                Piece::Prose(ref prose) => Spoken::Text(prose.clone()),
                Piece::Call(number) => {
                    let call = &reading.calls[number];
                    let arguments = Arguments::from_json(call.arguments.clone());
                    Spoken::Call { name: call.tool.clone(), arguments }
                }
                Piece::Refusal(number) => refused(text, &reading.refusals[number], &mut known),
            });
        }
        spoken
    }

    /// What is left of a text whose connection was cut: of a call that is not closed nothing
    /// is.
    fn cut_speech(&self, text: &str) -> Vec<Spoken> {
        let closed = self.closed_speech(text, last_close(text));
        let (mut spoken, end) = closed.unwrap_or_default();
        let rest = &text[end..];
        let certain = rest[..watch::certain(rest, &self.tools)].trim_end();
        let certain = if end > 0 { certain.trim_start() } else { certain };
        spoken.extend(words(certain));
        spoken
    }

    /// What a text says up to the end of a block of calls, if all in it can be read.
    pub(super) fn closed_speech(
        &self,
        text: &str,
        end: Option<usize>,
    ) -> Option<(Vec<Spoken>, usize)> {
        let end = end?;
        // What comes after a fence says whether calls in it are made.
        let reading = scan::read(&text[..end], self.tools(), Fences::None);
        let is_sound = reading.refusals.is_empty() && !reading.calls.is_empty();
        is_sound.then(|| (self.pieces(&text[..end], &reading), end))
    }
}

fn words(text: &str) -> Option<Spoken> {
    (!text.is_empty()).then(|| Spoken::Text(text.to_owned()))
}

/// What becomes of something that looks like a call and was refused. `known` counts how
/// often a tool was called in a place.
fn refused<'r>(
    text: &str,
    refusal: &'r Refusal,
    known: &mut HashMap<(&'r str, Range<usize>), usize>,
) -> Spoken {
    // Where the text was escaped as a whole, the place is that in another text.
    let raw = text.get(refusal.span.clone()).unwrap_or(text);
    let tool = refusal.tool.trim();
    if tool.is_empty() {
        return Spoken::Text(raw.to_owned());
    }
    let name = ToolName::from(tool);
    let unreadable = Arguments::Invalid(raw.into());
    let arguments = match refusal.reason {
        RefusalReason::OtherTool => {
            let n_before = known.entry((tool, refusal.span.clone())).or_default();
            let number = std::mem::replace(n_before, *n_before + 1);
            let unknown = Tool::new(name.clone(), "", serde_json::json!({"type": "object"}));
            let reading = TextTools::new([&unknown]).read(raw);
            let own = reading.calls.into_iter().filter(|call| call.tool == name).nth(number);
            own.map_or(unreadable, |call| Arguments::from_json(call.arguments))
        }
        RefusalReason::CutOff | RefusalReason::Unreadable => unreadable,
    };
    Spoken::Call { name, arguments }
}

/// Where the last block of calls in a text ends that has an end.
fn last_close(text: &str) -> Option<usize> {
    text.rmatch_indices("</").find_map(|(at, _)| close_at(text, at))
}

/// Where the end tag of a block of calls ends that stands at a place.
pub(super) fn close_at(text: &str, at: usize) -> Option<usize> {
    let tag = tag_at(text, at).filter(|tag| tag.kind == TagKind::Close && is_wrapper(tag.name))?;
    Some(tag.span.end)
}
