//! Bodies that follow each other: what is stored of them, and what they come back as.

use bytes::Bytes;
use interleaf_model::{Json, Timestamp};
use interleaf_store::{ErrorKind, LastBody, SentRequest, StoredBody};
use proptest::prelude::*;

/// From one body to the next: a stretch gives way to another.
#[derive(Debug, Clone)]
struct Edit {
    at: prop::sample::Index,
    removed: usize,
    added: (usize, u8),
    /// Where the next body is cut into pieces.
    cuts: Vec<prop::sample::Index>,
    /// Whether it shares no memory with the one before.
    fresh: bool,
}

fn edit() -> impl Strategy<Value = Edit> {
    let added = (prop_oneof![0..20_usize, 0..30_000_usize], 0..3_u8);
    let removed = prop_oneof![Just(0), 0..20_usize, 0..30_000_usize];
    let cuts = prop::collection::vec(any::<prop::sample::Index>(), 0..6);
    let parts = (any::<prop::sample::Index>(), removed, added, cuts, any::<bool>());
    parts.prop_map(|(at, removed, added, cuts, fresh)| Edit { at, removed, added, cuts, fresh })
}

impl Edit {
    fn pieces(&self, last: &[Bytes]) -> Vec<Bytes> {
        let len: usize = last.iter().map(Bytes::len).sum();
        let at = self.at.index(len + 1);
        let end = len.min(at + self.removed);
        let mut pieces = slice(last, 0, at);
        pieces.push(vec![self.added.1; self.added.0].into());
        pieces.extend(slice(last, end, len));
        if self.fresh {
            pieces = vec![pieces.concat().into()];
        }
        let len = pieces.iter().map(Bytes::len).sum();
        let mut cuts: Vec<usize> = self.cuts.iter().map(|cut| cut.index(len + 1)).collect();
        cuts.extend([0, len]);
        cuts.sort_unstable();
        cuts.windows(2).flat_map(|cut| slice(&pieces, cut[0], cut[1])).collect()
    }
}

/// A stretch of a body in pieces, in the same memory.
fn slice(pieces: &[Bytes], from: usize, upto: usize) -> Vec<Bytes> {
    let mut start = 0;
    let mut slices = vec![];
    for piece in pieces {
        let (first, last) = (from.max(start), upto.min(start + piece.len()));
        if first < last {
            slices.push(piece.slice(first - start..last - start));
        }
        start += piece.len();
    }
    slices
}

fn sent(no: u64, body: StoredBody) -> SentRequest {
    SentRequest {
        no,
        seq: 0,
        at: Timestamp::from_microseconds(0).unwrap(),
        model: String::new(),
        vendor: String::new(),
        body,
        report: Json::parse("{}").unwrap(),
        usage: None,
    }
}

proptest! {
    #[test]
    fn what_is_stored_is_the_difference_its_hash_is_that_of_all_bytes_and_it_comes_back(
        edits in prop::collection::vec(edit(), 1..20),
    ) {
        let (mut pieces, mut flat): (Vec<Bytes>, Vec<u8>) = (vec![], vec![]);
        let mut last: Option<LastBody> = None;
        let mut chain: Vec<SentRequest> = vec![];
        for (no, edit) in (0..).zip(edits) {
            pieces = edit.pieces(&pieces);
            let (stored, next) = LastBody::after(last.as_ref(), pieces.iter().cloned());
            let before = std::mem::replace(&mut flat, pieces.concat());
            prop_assert_eq!(stored.hash, *blake3::hash(&flat).as_bytes());
            prop_assert!(stored.is(&flat));
            prop_assert_eq!(stored.len, flat.len() as u64);
            let (prefix, suffix) = if stored.whole { (0, 0) } else { shared(&before, &flat) };
            prop_assert_eq!((stored.prefix, stored.suffix), (prefix as u64, suffix as u64));
            prop_assert_eq!(&stored.middle, &flat[prefix..flat.len() - suffix]);
            if stored.whole {
                chain.clear();
            }
            chain.push(sent(no, stored));
            let kept: u64 = chain.iter().map(|request| request.body.middle.len() as u64).sum();
            prop_assert_eq!(kept, chain.last().unwrap().body.since_whole);
            prop_assert!(kept <= 2 * flat.len() as u64);
            prop_assert_eq!(next.to_bytes(), flat.clone());
            let read = LastBody::rebuilt(chain.clone()).unwrap();
            prop_assert_eq!(read.to_bytes(), flat.clone());
            // Who has read it goes on as who has written it.
            last = Some(if edit.fresh { read } else { next });
        }
    }

    #[test]
    fn a_damaged_chain_is_told_and_never_taken_for_the_body(
        edits in prop::collection::vec(edit(), 2..8),
        broken in any::<prop::sample::Index>(),
        damage in 0..5_u8,
    ) {
        let (mut pieces, mut last): (Vec<Bytes>, Option<LastBody>) = (vec![], None);
        let mut chain: Vec<SentRequest> = vec![];
        for (no, edit) in (0..).zip(edits) {
            pieces = edit.pieces(&pieces);
            let (stored, next) = LastBody::after(last.as_ref(), pieces.iter().cloned());
            chain.push(sent(no, stored));
            last = Some(next);
        }
        let whole = chain.iter().rposition(|request| request.body.whole).unwrap();
        chain.drain(..whole);
        let place = broken.index(chain.len());
        let body = &mut chain[place].body;
        match damage {
            0 => body.hash[7] ^= 1,
            1 => body.prefix += 1,
            2 => body.suffix = u64::MAX,
            3 => body.middle.push(b'x'),
            _ => body.len += 1,
        }
        let is_last = place + 1 == chain.len();
        // The hash of a body is looked at where that body is asked for.
        prop_assume!(damage != 0 || is_last);
        let error = LastBody::rebuilt(chain).unwrap_err();
        prop_assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

/// How many bytes two bodies share at both ends, one byte at a time.
fn shared(a: &[u8], b: &[u8]) -> (usize, usize) {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let prefix = a.iter().zip(b).take_while(same).count();
    let rest = a[prefix..].iter().rev().zip(b[prefix..].iter().rev());
    (prefix, rest.take_while(same).count())
}

#[test]
fn a_long_chain_is_read_without_copying_the_body_for_every_link() {
    let head = Bytes::from(vec![b'x'; 8 << 20]);
    let (stored, mut last) = LastBody::after(None, [head.clone()]);
    let mut chain = vec![sent(0, stored)];
    for no in 1..20_000 {
        let end = Bytes::from(format!("{no:05}]"));
        let (stored, next) = LastBody::after(Some(&last), [head.clone(), end]);
        assert!(stored.middle.len() <= 6 && !stored.whole);
        chain.push(sent(no, stored));
        last = next;
    }
    // Copied for every link, this would be 160 GB.
    assert_eq!(LastBody::rebuilt(chain).unwrap().to_bytes(), last.to_bytes());
}
