//! Marks: any string on any message, found again without a search.

use std::collections::BTreeMap;

use imbl::{OrdMap, OrdSet};

/// For each mark the log indices that carry it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    indices: OrdMap<String, OrdSet<u32>>,
}

impl Marks {
    /// These marks, each with the log indices that carry it.
    pub(crate) fn of(marks: &BTreeMap<String, Vec<u32>>) -> Self {
        let set = |(mark, indices): (&String, &Vec<u32>)| {
            (mark.clone(), indices.iter().copied().collect::<OrdSet<u32>>())
        };
        // A mark that no message carries is none.
        Self { indices: marks.iter().map(set).filter(|(_, set)| !set.is_empty()).collect() }
    }

    /// Each mark with the log indices that carry it.
    pub(crate) fn to_map(&self) -> BTreeMap<String, Vec<u32>> {
        self.iter().map(|(mark, set)| (mark.to_owned(), set.iter().copied().collect())).collect()
    }

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

    /// The marks, with their index, that `self` has and `other` has not.
    pub(crate) fn minus<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a str, u32)> + 'a {
        let each = self.iter().flat_map(|(mark, set)| set.iter().map(move |&i| (mark, i)));
        each.filter(|&(mark, index)| !other.has(mark, index))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &OrdSet<u32>)> {
        self.indices.iter().map(|(mark, set)| (mark.as_str(), set))
    }
}
