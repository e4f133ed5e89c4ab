//! Which part of a long list to read.

use std::ops::Range;

/// Which events of a session to read; they come in their order, whichever end the
/// page is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    range: (u64, u64),
    limit: usize,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Oldest,
    Newest,
}

impl Page {
    /// The first `limit` from a sequence number on.
    pub fn from(seq: u64, limit: usize) -> Self {
        Self { range: (seq, u64::MAX), limit, end: End::Oldest }
    }

    /// The last `limit`.
    pub fn newest(limit: usize) -> Self {
        Self::before(u64::MAX, limit)
    }

    /// The last `limit` before a sequence number.
    pub fn before(seq: u64, limit: usize) -> Self {
        Self { range: (0, seq), limit, end: End::Newest }
    }

    /// The sequence numbers of the page in a session of this length.
    pub(crate) fn seqs(&self, len: u64) -> Range<u64> {
        let (start, end) = (self.range.0.min(len), self.range.1.min(len));
        let limit = self.limit as u64;
        match self.end {
            End::Oldest => start..end.min(start.saturating_add(limit)),
            End::Newest => end.saturating_sub(limit).max(start)..end,
        }
    }
}
