//! The list of turns, as it grows.

use interleaf_model::write_json;
use serde::Serialize;

use super::unwritten;
use crate::Error;

/// The elements that one turn becomes, added to a text: JSON, with commas between.
pub(crate) struct Elements<'t> {
    text: &'t mut Vec<u8>,
    /// Where the turn begins.
    start: usize,
    /// Where the text ended before the last element.
    before_last: usize,
    /// Whether other elements stand before the turn.
    follows: bool,
}

impl<'t> Elements<'t> {
    /// None yet, at the end of a text.
    pub(super) fn after(text: &'t mut Vec<u8>, follows: bool) -> Self {
        let start = text.len();
        Self { text, start, before_last: start, follows }
    }

    /// Whether the turn has none.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.len() == self.start
    }

    /// Adds an element.
    pub(crate) fn push(&mut self, element: &impl Serialize) -> Result<(), Error> {
        self.before_last = self.text.len();
        if self.follows || !self.is_empty() {
            self.text.push(b',');
        }
        write_json(self.text, element).map_err(|e| unwritten(&e))
    }

    /// Takes the last element of the turn away again, if it is such a one.
    pub(crate) fn pop_if(&mut self, is_such: impl Fn(&str) -> bool) -> bool {
        let last = &self.text[self.before_last..];
        let last = std::str::from_utf8(last.strip_prefix(b",").unwrap_or(last));
        let pops = last.is_ok_and(|last| !last.is_empty() && is_such(last));
        if pops {
            self.text.truncate(self.before_last);
        }
        pops
    }
}
