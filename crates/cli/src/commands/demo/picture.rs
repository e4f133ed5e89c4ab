//! A request in a line: what stayed, where the context stands, and what is new.
//!
//! ```text
//! suatt│at▌rTin▌+att
//!      │   │    └ what is new
//!      │   └ the context block: role, TODO (which changed), information, notes
//!      └ up to here the request before was the same
//! ```

use interleaf::assemble::FencedContext;
use interleaf_doubles::{Asked, Part, Role, Turn};

use crate::ink::Ink;
use crate::output::Palette;

/// The letter of a summary.
const SUMMARY: char = 'Σ';

/// A part of a request, as one letter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glyph {
    letter: char,
    is_context: bool,
    /// What it says, to know it again.
    says: String,
}

/// A request as letters.
#[derive(Debug, Clone, Default)]
pub(super) struct Picture(Vec<Glyph>);

impl Picture {
    /// What a model was asked.
    pub(super) fn of(asked: &Asked, summary: &str) -> Self {
        let mut glyphs = Vec::new();
        for piece in &asked.system {
            let says = piece.part.texts().concat();
            let letter = if says.contains(summary) { SUMMARY } else { 's' };
            glyphs.push(Glyph { letter, is_context: false, says });
        }
        for turn in &asked.turns {
            add(turn, summary, &mut glyphs);
        }
        Self(glyphs)
    }

    /// The picture beside that of the request before, in at most so many columns.
    pub(super) fn drawn(&self, before: Option<&Self>, room: usize, palette: Palette) -> String {
        let old: &[Glyph] = before.map_or(&[], |before| &before.0);
        let n_same = self.0.iter().zip(old).take_while(|(new, old)| new == old).count();
        let n_known = self.n_known(old);
        let (mut cells, mut was_context, mut n_said) = (Vec::new(), false, 0);
        for (n, glyph) in self.0.iter().enumerate() {
            if glyph.is_context != was_context {
                cells.push(('▌', palette.mark));
                was_context = glyph.is_context;
            }
            if n == n_same && before.is_some() {
                cells.push(('│', palette.heading));
            }
            let (mut letter, mut style) = (glyph.letter, palette.dim);
            if glyph.is_context {
                let is_changed = before.is_some() && !old.contains(glyph);
                letter = if is_changed { letter.to_ascii_uppercase() } else { letter };
                style = palette.mark;
            } else {
                if n_said == n_known && before.is_some() {
                    cells.push(('+', palette.heading));
                }
                style = if n_said >= n_known { palette.heading } else { style };
                style = if n >= n_same && n_said < n_known { Ink::default() } else { style };
                n_said += 1;
            }
            cells.push((letter, style));
        }
        if was_context {
            cells.push(('▌', palette.mark));
        }
        if cells.len() > room {
            // The beginning is what is least worth a look.
            let gone = cells.len() - room + 1;
            cells.splice(1..=gone, [('…', palette.dim)]);
        }
        let drawn: String =
            cells.iter().map(|(letter, style)| format!("{style}{letter}{style:#}")).collect();
        drawn + &" ".repeat(room.saturating_sub(cells.len()))
    }
}

impl Picture {
    /// How many of its messages the request before had, without the context. A summary takes the
    /// place of what was said before it.
    fn n_known(&self, old: &[Glyph]) -> usize {
        let said = |glyphs: &[Glyph]| -> Vec<Glyph> {
            glyphs.iter().filter(|glyph| !glyph.is_context).cloned().collect()
        };
        let (now, old) = (said(&self.0), said(old));
        if now.starts_with(&old) {
            return old.len();
        }
        let last = now.iter().rposition(|glyph| old.last() == Some(glyph));
        let summary = now.iter().position(|glyph| glyph.letter == SUMMARY);
        last.max(summary).map_or(0, |last| last + 1)
    }
}

/// The letters of a turn.
fn add(turn: &Turn, summary: &str, glyphs: &mut Vec<Glyph>) {
    if turn.role == Role::Assistant {
        let says = format!("{:?}", parts(turn));
        match glyphs.last_mut() {
            // Some APIs have the text and the calls of an answer apart.
            Some(last) if last.letter == 'a' => last.says += &says,
            _ => glyphs.push(Glyph { letter: 'a', is_context: false, says }),
        }
        return;
    }
    for part in parts(turn) {
        let text = part.texts().concat();
        let context = part.text().and_then(FencedContext::read);
        let letter = match (&context, part) {
            (Some(context), _) => context.kind.as_str().chars().next().unwrap_or('c'),
            (None, Part::Result { .. }) => 't',
            (None, _) if text.contains(summary) => SUMMARY,
            (None, _) if turn.role == Role::Tool => 't',
            (None, _) if turn.role == Role::System => 's',
            (None, _) => 'u',
        };
        glyphs.push(Glyph { letter, is_context: context.is_some(), says: text });
    }
}

fn parts(turn: &Turn) -> Vec<&Part> {
    turn.pieces.iter().map(|piece| &piece.part).collect()
}
