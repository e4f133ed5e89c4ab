//! Bytes in pieces that bodies share.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

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
            let is_shared = near_a.as_ptr() == near_b.as_ptr();
            let n_equal = if is_shared { n } else { end.n_equal(near_a, near_b) };
            shared += n_equal as u64;
            if n_equal < n {
                break;
            }
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
        let is_all = range.start == 0;
        let (mut n, mut start) = if is_all { (0, 0) } else { (self.pieces.len(), self.len) };
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

    /// The bytes of a range, in one piece: copied only if they lie in several.
    pub fn bytes(&self, range: Range<u64>) -> Cow<'_, [u8]> {
        let mut slices = self.slices(range.clone());
        match (slices.next(), slices.next()) {
            (Some(all), None) => Cow::Borrowed(all),
            (None, _) => Cow::Borrowed(&[]),
            (Some(_), Some(_)) => Cow::Owned(self.copy(range)),
        }
    }

    /// A copy of the bytes of a range.
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

    /// How many bytes at this end of two slices of one length are equal: found in long
    /// stretches, then in ever shorter ones.
    fn n_equal(self, a: &[u8], b: &[u8]) -> usize {
        let mut n = 0;
        for n_equal_by in [Self::n_equal_by::<512>, Self::n_equal_by::<32>, Self::n_equal_by::<1>] {
            n += n_equal_by(self, self.split(a, n).1, self.split(b, n).1);
        }
        n
    }

    /// The same, in whole stretches of N bytes.
    fn n_equal_by<const N: usize>(self, a: &[u8], b: &[u8]) -> usize {
        let n = match self {
            Self::Front => {
                let pairs = a.as_chunks::<N>().0.iter().zip(b.as_chunks::<N>().0);
                pairs.take_while(|(a, b)| a == b).count()
            }
            Self::Back => {
                let pairs = a.as_rchunks::<N>().1.iter().zip(b.as_rchunks::<N>().1);
                pairs.rev().take_while(|(a, b)| a == b).count()
            }
        };
        n * N
    }
}
