//! A list of indices, written as runs.

use serde::{Deserialize, Serialize};

use crate::Error;

/// An ordered list of indices as half-open runs: `[[0,5],[7,8]]` is 0 1 2 3 4 7.
///
/// A view is nearly always a few long runs, so this is what files and events
/// carry. The order of the runs is the order of the list; it need not ascend.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    /// The indices one by one.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|&(start, end)| start..end)
    }

    /// How many indices there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|&(start, end)| end.saturating_sub(start) as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&(start, end)| start >= end)
    }

    /// Checks that this is a view of a log of `len` messages.
    ///
    /// # Errors
    /// If an index lies outside the log or appears twice, or a run ends before it begins.
    pub fn check_view_of(&self, len: usize) -> Result<(), Error> {
        if let Some((start, end)) = self.0.iter().find(|(start, end)| start > end) {
            let rule = format!("the run [{start}, {end}] ends before it begins");
            return Err(Error::rule(rule));
        }
        // A run may claim four thousand million indices: look at its end before walking it.
        let ends = self.0.iter().filter(|&&(start, end)| start < end).map(|&(_, end)| end - 1);
        if let Some(index) = ends.max().filter(|&index| index as usize >= len) {
            return Err(Error::rule(format!(
                "index {index} is outside the log, whose length is {len}"
            )));
        }
        let mut seen = vec![false; len];
        for index in self.iter() {
            if std::mem::replace(&mut seen[index as usize], true) {
                return Err(Error::rule(format!("index {index} appears twice")));
            }
        }
        Ok(())
    }
}

impl FromIterator<u32> for Ranges {
    fn from_iter<I: IntoIterator<Item = u32>>(indices: I) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for index in indices {
            match runs.last_mut() {
                Some((_, end)) if *end == index => *end = index.saturating_add(1),
                _ => runs.push((index, index.saturating_add(1))),
            }
        }
        Self(runs)
    }
}
