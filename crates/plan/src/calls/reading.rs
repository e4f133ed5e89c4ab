//! What was found in a text.

use std::ops::Range;

use super::Call;

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
    /// What stands where.
    pub(super) pieces: Vec<Piece>,
}

/// A piece of a text: words, or the number of a call or of a refusal.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Prose(String),
    Call(usize),
    Refusal(usize),
}

impl Reading {
    /// Takes a call.
    pub(super) fn accept(&mut self, call: Call) {
        self.pieces.push(Piece::Call(self.calls.len()));
        self.calls.push(call);
    }

    /// Takes note of what is no call.
    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.pieces.push(Piece::Refusal(self.refusals.len()));
        self.refusals.push(refusal);
    }

    /// The words between the calls.
    pub(super) fn prose(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Prose(prose) => Some(prose.as_str()),
            Piece::Call(_) | Piece::Refusal(_) => None,
        })
    }
}

/// Something that looked like a call and was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The tool that was named; empty if none could be read.
    pub tool: String,
    /// Why it was not accepted.
    pub reason: RefusalReason,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// Why a call was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalReason {
    /// The tool is not declared.
    OtherTool,
    /// The text ends inside the call.
    CutOff,
    /// Its arguments cannot be read, or not all of them.
    Unreadable,
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

impl RefusalReason {
    /// Why, in a sentence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OtherTool => "this tool may not be called here",
            Self::CutOff => "the text ends inside the call",
            Self::Unreadable => "the arguments cannot be read",
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
