//! Where the messages of each role stand.

use std::ops::Range;

use imbl::Vector;
use interleaf_model::Role;

/// For each role the places of its messages, ascending.
///
/// Counting is O(1), the last n cost O(n), a range its length and a bisection, and
/// pushing is amortised O(1); a clone shares everything.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct RoleIndex {
    places: [Vector<u32>; 4],
}

impl RoleIndex {
    pub(crate) fn push(&mut self, role: Role, place: u32) {
        self.places[role as usize].push_back(place);
    }

    pub(crate) fn count(&self, role: Role) -> usize {
        self.places[role as usize].len()
    }

    /// The place of the nth message of a role, counted from 0.
    pub(crate) fn nth(&self, role: Role, n: usize) -> Option<u32> {
        self.places[role as usize].get(n).copied()
    }

    /// How many places there are, whatever the role.
    pub(crate) fn len(&self) -> u32 {
        self.places.iter().map(Vector::len).sum::<usize>() as u32
    }

    /// The places of these roles together, in order, from either end.
    pub(crate) fn merged(&self, roles: &[Role]) -> Merged<'_> {
        let mut lists: Vec<Remaining<'_>> = Vec::with_capacity(roles.len());
        for role in Role::ALL.into_iter().filter(|role| roles.contains(role)) {
            let places = &self.places[role as usize];
            lists.push(Remaining { places, start: 0, end: places.len() });
        }
        Merged { lists }
    }
}

/// Several ascending lists read as one.
pub(crate) struct Merged<'a> {
    lists: Vec<Remaining<'a>>,
}

/// What is left of one list between its two ends.
struct Remaining<'a> {
    places: &'a Vector<u32>,
    start: usize,
    end: usize,
}

impl Remaining<'_> {
    fn first(&self) -> Option<u32> {
        (self.start < self.end).then(|| self.places.get(self.start).copied()).flatten()
    }

    fn last(&self) -> Option<u32> {
        (self.start < self.end).then(|| self.places.get(self.end - 1).copied()).flatten()
    }

    /// How many of what is left stand before this place.
    fn before(&self, place: u32) -> usize {
        let rank = self.places.binary_search(&place).unwrap_or_else(|rank| rank);
        rank.clamp(self.start, self.end) - self.start
    }
}

impl Merged<'_> {
    /// Leaves out what is not in this range.
    pub(crate) fn between(mut self, range: &Range<u32>) -> Self {
        for list in &mut self.lists {
            let (skipped, kept) = (list.before(range.start), list.before(range.end));
            list.end = list.start + kept;
            list.start += skipped;
        }
        self
    }

    /// Leaves out the first n without walking past them.
    pub(crate) fn skip_front(&mut self, n: usize) {
        let n = n.min(self.len());
        if let [list] = self.lists.as_mut_slice() {
            list.start += n;
            return;
        }
        // Each place is in one list only, so one step further there is at most one
        // more before it: bisection finds the place that has exactly n before it.
        let end_of = |list: &Remaining<'_>| list.last().map_or(0, |place| place + 1);
        let mut low = 0;
        let mut high = self.lists.iter().map(end_of).max().unwrap_or(0);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.lists.iter().map(|list| list.before(middle)).sum::<usize>() < n {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for list in &mut self.lists {
            list.start += list.before(low);
        }
    }
}

impl Iterator for Merged<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (place, i) =
            self.lists.iter().enumerate().filter_map(|(i, list)| Some((list.first()?, i))).min()?;
        self.lists[i].start += 1;
        Some(place)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.lists.iter().map(|list| list.end - list.start).sum();
        (left, Some(left))
    }
}

impl DoubleEndedIterator for Merged<'_> {
    fn next_back(&mut self) -> Option<u32> {
        let (place, i) =
            self.lists.iter().enumerate().filter_map(|(i, list)| Some((list.last()?, i))).max()?;
        self.lists[i].end -= 1;
        Some(place)
    }
}

impl ExactSizeIterator for Merged<'_> {}
