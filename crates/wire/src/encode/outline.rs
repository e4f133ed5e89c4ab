//! Where the turns of a body stand.

use std::ops::Range;
use std::sync::Arc;

use interleaf_model::Link;

/// Where the turns of a body stand, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The list of turns, without the brackets around it.
    pub list: Range<usize>,
    /// Where the settled turns end, which come first.
    pub settled_end: usize,
    /// For each of the other turns where it ends, and its messages among the prompt's entries.
    /// A turn begins where the one before it ends, with the comma between the two.
    pub turns: Vec<(usize, Range<usize>)>,
}

/// Settled turns that were written together.
#[derive(Debug, Clone)]
pub struct SettledSpan {
    /// The turns.
    pub link: Arc<Link>,
    /// How many settled messages come before them.
    pub first: usize,
    /// Their bytes in the body.
    pub bytes: Range<usize>,
}

impl Outline {
    /// A list that begins here, of which only the settled turns are written.
    pub(super) fn new(start: usize, settled_end: usize) -> Self {
        Self { list: start..settled_end, settled_end, turns: Vec::new() }
    }

    /// Whether settled turns were written as such.
    pub fn has_settled(&self) -> bool {
        self.settled_end > self.list.start
    }

    /// Adds a turn of this many bytes.
    pub(super) fn push(&mut self, len: usize, messages: Range<usize>) {
        self.list.end += len;
        self.turns.push((self.list.end, messages));
    }
}
