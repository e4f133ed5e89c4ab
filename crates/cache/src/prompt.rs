//! A prompt as a cache sees it.

/// A prompt in pieces, from its first to its last.
///
/// Pieces are added at the end and taken off the end, so that the next prompt of a session is
/// made from the last one at the cost of what changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    links: Vec<Link>,
    /// The places of those that are marked, ascending.
    marks: Vec<usize>,
}

/// What a piece ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stop {
    /// Nothing: the next piece belongs to the same content block.
    Inside,
    /// A content block.
    Block,
}

/// A prefix of a prompt: all pieces up to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// Stands for the contents of the whole prefix.
    pub(crate) key: u64,
    /// The tokens of the whole prefix.
    pub(crate) tokens: u64,
    pub(crate) stop: Stop,
}

impl Prompt {
    /// A prompt without a piece.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with room for this many.
    pub(crate) fn with_capacity(n: usize) -> Self {
        Self { links: Vec::with_capacity(n), marks: Vec::new() }
    }

    /// Adds a piece. Equal keys stand for equal contents, of equally many tokens.
    pub fn push(&mut self, key: u64, tokens: u32, stop: Stop) {
        let (last, before) = self.links.last().map_or((0, 0), |last| (last.key, last.tokens));
        let tokens = before + u64::from(tokens);
        self.links.push(Link { key: chained(last, key), tokens, stop });
    }

    /// Adds a piece, given what stands for all of the prefix up to its end.
    pub(crate) fn push_prefix(&mut self, key: u64, tokens: u64, stop: Stop) {
        self.links.push(Link { key, tokens, stop });
    }

    /// Marks the end of the nth piece, counted from 1, for the cache. There is nothing to
    /// mark after the last piece.
    pub fn mark(&mut self, n: usize) {
        let Some(place) = n.checked_sub(1).filter(|&place| place < self.len()) else { return };
        if let Err(at) = self.marks.binary_search(&place) {
            self.marks.insert(at, place);
        }
    }

    /// Takes all marks away: the next request sets its own.
    pub fn clear_marks(&mut self) {
        self.marks.clear();
    }

    /// Takes pieces off the end until there are `n`.
    pub fn truncate(&mut self, n: usize) {
        self.links.truncate(n);
        self.marks.truncate(self.marks.partition_point(|&mark| mark < n));
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The tokens of all pieces.
    pub fn tokens(&self) -> u64 {
        self.links.last().map_or(0, |last| last.tokens)
    }

    /// How many pieces at the start are those of another prompt, and their tokens.
    pub fn shared(&self, other: &Self) -> (usize, u64) {
        let n = shared(&self.links, &other.links);
        (n, self.links[..n].last().map_or(0, |last| last.tokens))
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    pub(crate) fn marks(&self) -> &[usize] {
        &self.marks
    }
}

/// How many links at the start are equal. An equal key stands for an equal prefix, so that
/// the place is found by halving.
pub(crate) fn shared(a: &[Link], b: &[Link]) -> usize {
    let n = a.len().min(b.len());
    let (mut equal, mut differs) = (0, n + 1);
    while differs - equal > 1 {
        let middle = equal + (differs - equal) / 2;
        match a[middle - 1].key == b[middle - 1].key {
            true => equal = middle,
            false => differs = middle,
        }
    }
    equal
}

/// The key of a prefix and one more piece: the halves of a product of both, folded.
fn chained(prefix: u64, piece: u64) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        (product as u64) ^ (product >> 64) as u64
    };
    let piece = fold(piece ^ ODD, piece.rotate_left(32) ^ 0xd6e8_feb8_6659_fd93);
    fold(prefix ^ ODD, piece ^ 0xa076_1d64_78bd_642f) ^ piece.wrapping_add(prefix.rotate_left(17))
}
