//! The texts of many links in a few pieces, so that a request costs what is new in it
//! however long the session is.
//!
//! Pieces of one size at the end are joined as soon as there are [`TOGETHER`] of them: a
//! byte is copied twice or so in its life, and a thousand links make a few dozen pieces.

use hashbrown::HashMap;

use bytes::Bytes;

/// This many pieces of one size become one of the next.
pub(super) const TOGETHER: usize = 32;

/// No piece is made longer than this.
const LONGEST: usize = 16 << 20;

/// Texts of links, in order.
#[derive(Debug, Default)]
pub(super) struct Pieces(Vec<Piece>);

/// The text of one or more links side by side, each element with a comma before it.
#[derive(Debug)]
pub(super) struct Piece {
    /// How often it was joined.
    size: u8,
    pub(super) n_links: usize,
    text: Bytes,
}

/// The last links, whose texts now stand in one piece.
pub(super) struct Joined {
    pub(super) n_links: usize,
    pub(super) text: Bytes,
}

impl Pieces {
    /// Adds the text of one link, and tells if the last ones were joined by that.
    pub(super) fn push(&mut self, text: Bytes) -> Option<Joined> {
        self.push_piece(Piece { size: 0, n_links: 1, text })
    }

    /// Adds the text of [`TOGETHER`] links.
    pub(super) fn push_joined(&mut self, text: Bytes) -> Option<Joined> {
        self.push_piece(Piece { size: 1, n_links: TOGETHER, text })
    }

    /// Adds the text of several links.
    pub(super) fn push_piece(&mut self, piece: Piece) -> Option<Joined> {
        self.0.push(piece);
        let mut joined = None;
        while let Some(piece) = self.last_joined() {
            joined = Some(Joined { n_links: piece.n_links, text: piece.text.clone() });
            self.0.push(piece);
        }
        joined
    }

    /// Takes off the last pieces if they are to be one, and joins them.
    fn last_joined(&mut self) -> Option<Piece> {
        let first = self.0.len().checked_sub(TOGETHER)?;
        let last = &self.0[first..];
        let size = last[0].size;
        let len: usize = last.iter().map(|piece| piece.text.len()).sum();
        if len > LONGEST || last.iter().any(|piece| piece.size != size) {
            return None;
        }
        let mut text = Vec::with_capacity(len);
        let mut n_links = 0;
        for piece in self.0.drain(first..) {
            text.extend_from_slice(&piece.text);
            n_links += piece.n_links;
        }
        Some(Piece { size: size + 1, n_links, text: text.into() })
    }

    /// The pieces, by the place of their first link.
    pub(super) fn by_first_link(self) -> HashMap<usize, Piece> {
        let mut next = 0;
        let placed = self.0.into_iter().map(|piece| {
            let first = next;
            next += piece.n_links;
            (first, piece)
        });
        placed.collect()
    }

    /// The elements with commas between them.
    pub(super) fn texts(&self) -> Vec<Bytes> {
        let texts = self.0.iter().map(|piece| &piece.text).filter(|text| !text.is_empty());
        let mut texts: Vec<Bytes> = texts.cloned().collect();
        if let Some(first) = texts.first_mut() {
            // Nothing stands before the first element.
            *first = first.slice(1..);
        }
        texts
    }
}
