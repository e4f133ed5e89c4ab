//! Messages of a conversation as lines: a gutter, then the notation.
//!
//! ```text
//!   pos log
//!     0   0   s You are a careful baker's assistant.
//!     1  13 * u Never move a feeding by more than 20 minutes.
//!     ·  14   a A hidden one, dimmed: it has no position.
//! ```
//!
//! The position is there only where it differs from the log index. `*` is pinned,
//! `+` has just come in; other marks stand at the end of the line: `#decision`.

use std::collections::{BTreeMap, HashSet};
use std::io;

use interleaf::conversation::{Batch, Conversation, PINNED, Scope};
use interleaf::model::{Message, Role, Status, notation, plural};
use serde::Serialize;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::failure::printable;
use crate::ink::Ink;
use crate::output::{Output, Palette};

/// What a message gets, however little the width leaves.
const NARROWEST: usize = 10;

/// What of a conversation its lines are made from.
pub(crate) struct Lines<'a> {
    conversation: &'a Conversation,
    /// For each log index its position in the view.
    positions: Vec<Option<usize>>,
    marks: BTreeMap<u32, Vec<&'a str>>,
    /// Log indices that get a `+`.
    fresh: HashSet<u32>,
    columns: Columns,
    width: usize,
}

/// What stands in front of a line.
struct Columns {
    /// How wide a number is.
    number: usize,
    /// Whether the position stands there too.
    positions: bool,
    /// How wide the signs are.
    flags: usize,
}

/// A message in JSON, with its places.
#[derive(Serialize)]
pub(crate) struct Entry<'a> {
    index: u32,
    position: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    marks: &'a [&'a str],
    message: &'a Message,
}

impl<'a> Lines<'a> {
    /// The lines of a conversation, each `width` characters at most.
    pub(crate) fn new(conversation: &'a Conversation, width: usize) -> Self {
        let mut positions = vec![None; conversation.log_len()];
        for (position, index) in conversation.view().enumerate() {
            positions[index as usize] = Some(position);
        }
        let mut marks: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for (mark, indices) in conversation.marks() {
            indices.for_each(|index| marks.entry(index).or_default().push(mark));
        }
        let moved = positions.iter().enumerate().any(|(index, &p)| p != Some(index));
        let number = positions.len().saturating_sub(1).to_string().len();
        let columns = Columns {
            // No narrower than its heading.
            number: if moved { number.max(3) } else { number },
            positions: moved,
            flags: usize::from(marks.values().any(|marks| marks.contains(&PINNED))),
        };
        Self { conversation, positions, marks, fresh: HashSet::new(), columns, width }
    }

    /// The same lines, with a `+` at messages that have just come into the view.
    pub(crate) fn with_fresh(mut self, fresh: &[u32]) -> Self {
        self.fresh = fresh.iter().copied().collect();
        let widest = fresh.iter().map(|&index| self.flags(index).len()).max();
        self.columns.flags = self.columns.flags.max(widest.unwrap_or(0));
        self
    }

    /// Prints a line for each of these log indices, under a heading if one is needed.
    pub(crate) fn print(&self, indices: &[u32], output: &mut Output) -> io::Result<()> {
        if self.columns.positions && !indices.is_empty() {
            let (dim, width) = (output.palette.dim, self.columns.number);
            output.line(format_args!("{dim}# {:>width$} {:>width$}{dim:#}", "pos", "log"))?;
        }
        self.print_more(indices, output)
    }

    /// Prints further lines under the same heading.
    pub(crate) fn print_more(&self, indices: &[u32], output: &mut Output) -> io::Result<()> {
        for &index in indices {
            if let Some(message) = self.conversation.message(index) {
                output.line(self.line(index, message, output.palette))?;
            }
        }
        Ok(())
    }

    /// These log indices as JSON.
    pub(crate) fn entries(
        &self,
        indices: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = Entry<'_>> {
        indices.filter_map(|index| {
            Some(Entry {
                index,
                position: self.position(index),
                marks: self.marks.get(&index).map_or(&[], Vec::as_slice),
                message: self.conversation.message(index)?,
            })
        })
    }

    fn line(&self, index: u32, message: &Message, palette: Palette) -> String {
        let position = self.position(index);
        let width = self.columns.number;
        let gutter = if self.columns.positions {
            let position = position.map_or("·".to_owned(), |position| position.to_string());
            format!("  {position:>width$} {index:>width$} ")
        } else {
            format!("{index:>width$} ")
        };
        let flags = match self.columns.flags {
            0 => String::new(),
            width => format!("{:<width$} ", self.flags(index)),
        };
        let names = self.names(index);
        let spent = gutter.chars().count() + flags.len() + names.chars().count();
        let room = self.width.saturating_sub(spent).max(NARROWEST);
        let line = notation::print_line(message, room);
        if position.is_none() {
            return paint(palette.dim, &format!("{gutter}{flags}{line}{names}"));
        }
        let failed = message.as_result().is_some_and(|result| result.status == Status::Error);
        let role = if failed { palette.fault } else { palette.role(message.role()) };
        // A line begins with the letter of its role.
        let (letter, said) = line.split_at(1.min(line.len()));
        [
            paint(palette.dim, &gutter),
            paint(palette.mark, &flags),
            paint(role, letter),
            said.to_owned(),
            paint(palette.mark, &names),
        ]
        .concat()
    }

    fn position(&self, index: u32) -> Option<usize> {
        self.positions.get(index as usize).copied().flatten()
    }

    /// `+` for what has just come in, `*` for pinned.
    fn flags(&self, index: u32) -> &'static str {
        let pinned = self.marks.get(&index).is_some_and(|marks| marks.contains(&PINNED));
        match (self.fresh.contains(&index), pinned) {
            (false, false) => "",
            (false, true) => "*",
            (true, false) => "+",
            (true, true) => "+*",
        }
    }

    /// The marks that have no sign of their own, for the end of the line.
    fn names(&self, index: u32) -> String {
        const LONGEST: usize = 24;
        let marks = self.marks.get(&index).into_iter().flatten();
        let marks = marks.filter(|&&mark| mark != PINNED);
        let names: String = marks.map(|mark| format!(" #{}", printable(mark))).collect();
        match names.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &names[..end]),
            None => names,
        }
    }
}

/// A text in a style; white space needs none.
pub(crate) fn paint(style: Ink, text: &str) -> String {
    match text.trim().is_empty() {
        true => text.to_owned(),
        false => format!("{style}{text}{style:#}"),
    }
}

/// A line that takes no more columns than these.
pub(crate) fn cut(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let left = room.checked_sub(c.width().unwrap_or(0));
        room = left.unwrap_or(0);
        left.is_some()
    };
    line.chars().take_while(fits).chain(['…']).collect()
}

/// A text with blanks after it, up to this column.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{:1$}", "", width.saturating_sub(text.width()))
}

/// How many messages are visible, and of which roles.
pub(crate) fn counts_text(conversation: &Conversation) -> String {
    let (visible, all) = (conversation.view_len(), conversation.log_len());
    let mut text = match all - visible {
        0 => plural(all, "message"),
        hidden => format!("{visible} of {} visible, {hidden} hidden", plural(all, "message")),
    };
    let roles = role_counts(conversation);
    let roles = roles.into_iter().filter(|&(_, count)| count > 0);
    let roles: Vec<_> = roles.map(|(role, count)| format!("{count} {role}")).collect();
    if !roles.is_empty() {
        text = format!("{text}: {}", roles.join(", "));
    }
    text
}

/// The visible messages of each role.
pub(crate) fn role_counts(conversation: &Conversation) -> [(Role, usize); 4] {
    Role::ALL.map(|role| (role, conversation.count(Scope::View, role)))
}

/// The batches on one line: `0 start, 1 truncate`.
pub(crate) fn batches_text(conversation: &Conversation) -> String {
    let batch = |(n, batch): (usize, &Batch)| format!("{n} {}", printable(&batch.cause));
    conversation.batches().enumerate().map(batch).collect::<Vec<_>>().join(", ")
}

/// Indices with runs drawn together: `3-5, 9`.
pub(crate) fn indices_text(indices: &[u32]) -> String {
    let runs = indices.chunk_by(|index, next| index.checked_add(1) == Some(*next));
    let run = |run: &[u32]| match run {
        [] => String::new(),
        [index] => index.to_string(),
        [first, last] => format!("{first}, {last}"),
        [first, .., last] => format!("{first}-{last}"),
    };
    runs.map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut("面面面", 6), "面面面");
        assert_eq!(cut("面面面", 5), "面面…");
        assert_eq!(cut("a面面面", 5), "a面…");
        assert_eq!(cut("plain", 5), "plain");
        assert_eq!(padded("面", 4), "面  ");
    }
}
