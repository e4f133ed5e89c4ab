//! Bytes in pieces that bodies share.

use std::ops::Range;

use bytes::Bytes;

/// How many bytes are compared at once, first in long stretches and then in short ones, before
/// the first byte that differs is looked for.
const BLOCKS: [usize; 2] = [256, 16];

/// Bytes in pieces that other bodies may share.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    /// None is empty.
    pieces: Vec<Bytes>,
    len: u64,
}

/// From which end two bodies are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Front,
    Back,
}

impl FromIterator<Bytes> for Pieces {
    fn from_iter<I: IntoIterator<Item = Bytes>>(pieces: I) -> Self {
        let mut pieces: Vec<Bytes> = pieces.into_iter().collect();
        pieces.retain(|piece| !piece.is_empty());
        let len = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces, len }
    }
}

impl Pieces {
    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bytes at the start of a range are those of a range of other bytes. Memory that
    /// the two share is not looked at.
    pub fn shared_start(&self, range: Range<u64>, other: &Self, others: Range<u64>) -> u64 {
        let slices = (self.slices(range), other.slices(others));
        Self::shared_by(slices, End::Front, u64::MAX)
    }

    /// How many bytes at one end are those of another body, up to a limit. Memory that
    /// the two share is not looked at.
    pub(super) fn shared(&self, other: &Self, end: End, limit: u64) -> u64 {
        Self::shared_by((self.from(end), other.from(end)), end, limit)
    }

    fn shared_by<'a>(
        (mut ours, mut theirs): (impl Iterator<Item = &'a [u8]>, impl Iterator<Item = &'a [u8]>),
        end: End,
        limit: u64,
    ) -> u64 {
        let (mut a, mut b): (&[u8], &[u8]) = (&[], &[]);
        let mut shared = 0;
        while shared < limit {
            if a.is_empty() {
                let Some(next) = ours.next() else { break };
                a = next;
            }
            if b.is_empty() {
                let Some(next) = theirs.next() else { break };
                b = next;
            }
            let n = a.len().min(b.len()).min(usize::try_from(limit - shared).unwrap_or(usize::MAX));
            let (near_a, near_b);
            ((near_a, a), (near_b, b)) = (end.split(a, n), end.split(b, n));
            if near_a.as_ptr() != near_b.as_ptr() && near_a != near_b {
                return shared + end.n_equal(near_a, near_b) as u64;
            }
            shared += n as u64;
        }
        shared
    }

    fn from(&self, end: End) -> impl Iterator<Item = &[u8]> {
        let n = self.pieces.len();
        let at = move |i: usize| match end {
            End::Front => i,
            End::Back => n - 1 - i,
        };
        (0..n).map(move |i| &*self.pieces[at(i)])
    }

    /// The bytes of a range, as slices. It is looked for from the end, where bodies differ.
    pub(super) fn slices(&self, range: Range<u64>) -> impl Iterator<Item = &[u8]> {
        let (mut n, mut start) = (self.pieces.len(), self.len);
        while n > 0 && start > range.start {
            n -= 1;
            start -= self.pieces[n].len() as u64;
        }
        self.pieces[n..].iter().map_while(move |piece| {
            let first = start;
            start += piece.len() as u64;
            let from = range.start.max(first);
            let upto = range.end.min(start);
            (from < upto).then(|| &piece[(from - first) as usize..(upto - first) as usize])
        })
    }

    /// The bytes of a range, in one piece.
    pub fn copy(&self, range: Range<u64>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(range.end.saturating_sub(range.start) as usize);
        self.slices(range).for_each(|slice| bytes.extend_from_slice(slice));
        bytes
    }

    /// Puts bytes in the place of all but the first `prefix` and the last `suffix` bytes.
    /// It costs what is replaced, in pieces. Nothing, if there are fewer bytes than that.
    pub(super) fn replace(&mut self, prefix: u64, suffix: u64, middle: Bytes) -> Option<()> {
        let gone = self.len.checked_sub(prefix)?.checked_sub(suffix)?;
        let kept = self.take_back(suffix);
        self.take_back(gone);
        let added = std::iter::once(middle).filter(|middle| !middle.is_empty());
        for piece in added.chain(kept.into_iter().rev()) {
            self.len += piece.len() as u64;
            self.pieces.push(piece);
        }
        Some(())
    }

    /// Takes bytes off the end: pieces, the last one first.
    fn take_back(&mut self, mut n: u64) -> Vec<Bytes> {
        let mut taken = vec![];
        while n > 0 {
            let Some(mut piece) = self.pieces.pop() else { break };
            let len = piece.len() as u64;
            if len > n {
                let back = piece.split_off((len - n) as usize);
                self.pieces.push(piece);
                piece = back;
            }
            n -= piece.len() as u64;
            self.len -= piece.len() as u64;
            taken.push(piece);
        }
        taken
    }
}

impl End {
    /// The `n` bytes at this end, and the others.
    fn split(self, bytes: &[u8], n: usize) -> (&[u8], &[u8]) {
        match self {
            Self::Front => bytes.split_at(n),
            Self::Back => {
                let (others, near) = bytes.split_at(bytes.len() - n);
                (near, others)
            }
        }
    }

    /// How many bytes at this end of two slices of one length are equal.
    fn n_equal(self, mut a: &[u8], mut b: &[u8]) -> usize {
        let len = a.len();
        for block in BLOCKS {
            while a.len() > block {
                let ((near_a, far_a), (near_b, far_b)) =
                    (self.split(a, block), self.split(b, block));
                if near_a != near_b {
                    break;
                }
                (a, b) = (far_a, far_b);
            }
        }
        let pairs = a.iter().zip(b);
        let more = match self {
            Self::Front => pairs.take_while(|(a, b)| a == b).count(),
            Self::Back => pairs.rev().take_while(|(a, b)| a == b).count(),
        };
        len - a.len() + more
    }
}
