//! Marks: any string on any message, found again without a search.

use imbl::{OrdMap, OrdSet};

/// For each mark the log indices that carry it.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Marks {
    indices: OrdMap<String, OrdSet<u32>>,
}

impl Marks {
    /// Whether that changed anything.
    pub(crate) fn add(&mut self, mark: &str, index: u32) -> bool {
        let mut set = self.indices.get(mark).cloned().unwrap_or_default();
        let added = set.insert(index).is_none();
        if added {
            self.indices.insert(mark.to_owned(), set);
        }
        added
    }

    /// Whether that changed anything.
    pub(crate) fn remove(&mut self, mark: &str, index: u32) -> bool {
        let Some(mut set) = self.indices.get(mark).cloned() else { return false };
        let removed = set.remove(&index).is_some();
        if set.is_empty() {
            self.indices.remove(mark);
        } else if removed {
            self.indices.insert(mark.to_owned(), set);
        }
        removed
    }

    pub(crate) fn has(&self, mark: &str, index: u32) -> bool {
        self.indices.get(mark).is_some_and(|set| set.contains(&index))
    }

    /// The log indices with this mark, ascending.
    pub(crate) fn with(&self, mark: &str) -> Option<&OrdSet<u32>> {
        self.indices.get(mark)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &OrdSet<u32>)> {
        self.indices.iter().map(|(mark, set)| (mark.as_str(), set))
    }
}
