//! The messages that a position can stand between.

use interleaf_model::{Entry, MessageId, Role};

/// The messages after the system head, as the rules of placement see them: ids, roles
/// and tool blocks, no contents.
///
/// Positions count from 0; position p is *before* message p, and the length is the
/// end. System messages are not counted, for those that are left here go to the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout<'a> {
    entries: &'a [Entry],
    roles: Vec<Role>,
    /// For each position the nearest legal one at or before it.
    safe: Vec<usize>,
    /// For each message its place in the draft.
    places: Vec<usize>,
}

impl<'a> Layout<'a> {
    /// Looks at a draft whose tool blocks are whole, but for one that may still be
    /// open at the end.
    pub(crate) fn of(entries: &'a [Entry]) -> Self {
        let mut layout = Self {
            entries,
            roles: Vec::with_capacity(entries.len()),
            safe: Vec::with_capacity(entries.len() + 1),
            places: Vec::with_capacity(entries.len()),
        };
        // The block that the next result belongs to: its start and the results it waits for.
        let mut block: Option<(usize, usize)> = None;
        for (place, entry) in entries.iter().enumerate() {
            let role = entry.message.role();
            if role == Role::System {
                continue;
            }
            let position = layout.roles.len();
            let start = match block {
                Some((start, waits)) if waits > 0 && role == Role::Tool => {
                    block = Some((start, waits - 1));
                    start
                }
                _ => {
                    let is_assistant = role == Role::Assistant;
                    let calls = if is_assistant { entry.message.calls().count() } else { 0 };
                    block = (calls > 0).then_some((position, calls));
                    position
                }
            };
            layout.roles.push(role);
            layout.safe.push(start);
            layout.places.push(place);
        }
        let open = block.filter(|&(_, waits)| waits > 0).map(|(start, _)| start);
        layout.safe.push(open.unwrap_or(layout.roles.len()));
        layout
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.roles.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// The roles, in order.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The id of the message that a position stands before; none at the end.
    pub fn id(&self, position: usize) -> Option<&'a MessageId> {
        let entry = self.entries.get(*self.places.get(position)?)?;
        Some(&entry.message.id)
    }

    /// The position right after the message of this id, if it is there.
    pub fn after(&self, id: &MessageId) -> Option<usize> {
        (0..self.len()).rev().find(|&position| self.id(position) == Some(id)).map(|at| at + 1)
    }

    /// The position of the nth message of a role from the end; 1 is the last.
    pub fn nth_last(&self, role: Role, n: usize) -> Option<usize> {
        let from_end = self.roles.iter().enumerate().rev().filter(|&(_, &r)| r == role);
        n.checked_sub(1).and_then(|skip| from_end.map(|(position, _)| position).nth(skip))
    }

    /// The position of the message that is to be answered: the last one, if it is a user's.
    pub fn question(&self) -> Option<usize> {
        let last = self.len().checked_sub(1)?;
        (self.roles[last] == Role::User).then_some(last)
    }

    /// The nearest legal position at or before this one: outside of every tool
    /// block, and not past the end.
    pub fn safe(&self, position: usize) -> usize {
        self.safe[position.min(self.len())]
    }

    /// The place in the draft of the message that a position stands before.
    pub(crate) fn place(&self, position: usize) -> usize {
        self.places.get(position).copied().unwrap_or(self.entries.len())
    }

    /// The place in the draft right after the message before a position: what stays between
    /// the two comes later.
    pub(crate) fn place_after(&self, position: usize) -> usize {
        let before = position.checked_sub(1).and_then(|before| self.places.get(before));
        before.map_or_else(|| self.place(position), |before| before + 1)
    }
}
