//! Where the messages of each role stand.

use imbl::Vector;
use interleaf_model::Role;

/// For each role the places of its messages, ascending.
///
/// Counting is O(1), the last n cost O(n), and pushing is amortised O(1); a clone
/// shares everything.
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
}

impl Merged<'_> {
    /// Leaves out the first n; in a single list that costs nothing.
    pub(crate) fn skip_front(&mut self, n: usize) {
        if let [list] = self.lists.as_mut_slice() {
            list.start = (list.start + n).min(list.end);
        } else if n > 0 {
            self.nth(n - 1);
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
