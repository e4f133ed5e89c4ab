//! Hashing a body that begins like another.

use std::ops::Range;
use std::sync::Arc;

use blake3::Hasher;

use super::pieces::Pieces;

/// States are kept at multiples of this at the closest.
const CLOSEST: u64 = 4096;

/// A longer range is hashed piece by piece.
const COPIED: u64 = 1 << 16;

/// States of the hash at a few places of a body: close to each other near its end, where
/// the next body will differ, and twice as far apart with every step away from it.
#[derive(Debug, Clone, Default)]
pub(super) struct HashStates(Vec<(u64, Arc<Hasher>)>);

impl HashStates {
    /// The hash of a body whose first `same` bytes are those of the body that these
    /// states are of, and its own states. What stands before the last state inside these
    /// bytes is not looked at.
    pub(super) fn hash(&self, same: u64, body: &Pieces) -> ([u8; 32], Self) {
        let places = places(body.len());
        let usable = self.0.iter().take_while(|(at, _)| *at <= same);
        let (mut at, mut hasher) = match usable.clone().last() {
            Some((at, state)) => (*at, Hasher::clone(state)),
            None => (0, Hasher::new()),
        };
        let mut states: Vec<(u64, Arc<Hasher>)> =
            usable.filter(|(at, _)| places.binary_search(at).is_ok()).cloned().collect();
        let first_new = places.partition_point(|&place| place <= at);
        for &place in &places[first_new..] {
            update(&mut hasher, body, at..place);
            states.push((place, Arc::new(hasher.clone())));
            at = place;
        }
        update(&mut hasher, body, at..body.len());
        (*hasher.finalize().as_bytes(), Self(states))
    }
}

/// Hashes a range of a body. Several kibibytes at once are hashed side by side, and pieces
/// are often shorter, so that a short range is worth its copy.
fn update(hasher: &mut Hasher, body: &Pieces, range: Range<u64>) {
    if range.end - range.start <= COPIED {
        hasher.update(&body.copy(range));
    } else {
        body.slices(range).for_each(|slice| _ = hasher.update(slice));
    }
}

/// The last two multiples of every power of two, in ascending order. A body that grows
/// moves away from a multiple only after it has passed the next, so that what is kept of
/// one body serves the next; and wherever that one begins to differ, a state stands
/// before the place, at most four times as far from the end.
fn places(len: u64) -> Vec<u64> {
    let distances = std::iter::successors(Some(CLOSEST), |distance| distance.checked_mul(2));
    let mut places: Vec<u64> = distances
        .take_while(|&distance| distance <= len)
        .flat_map(|distance| {
            let last = len - len % distance;
            [last - distance, last]
        })
        .filter(|&place| place > 0)
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}
