//! How many tokens stand where in the head of a request: its tools, its system text and a summary
//! in the system role.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use interleaf_assemble::Ledger;
use interleaf_model::{Entry, PartRef};
use interleaf_store::Pieces;

use super::place::n_head;
use super::spans::{self, Piece};
use super::written::escaped_len;
use super::{Now, bodies, frame};

/// The head of a request.
pub(super) struct Head<'a> {
    now: &'a Now<'a>,
    body: &'a Pieces,
    pub(super) len: u64,
    pub(super) tokens: u64,
    /// What counts its parts. Without, the tokens are spread evenly over the bytes.
    ledger: Option<&'a Arc<Ledger>>,
    /// Places before which the tokens are known, ascending. They are seldom asked for.
    known: OnceCell<Vec<(u64, u64)>>,
}

impl<'a> Head<'a> {
    /// One whose tokens are spread evenly over its bytes.
    pub(super) fn even(now: &'a Now<'a>, body: &'a Pieces, tokens: u64) -> Self {
        let len = now.body.outline.list.start as u64;
        Self { now, body, len, tokens, ledger: None, known: OnceCell::new() }
    }

    /// One whose parts are counted.
    pub(super) fn counted(now: &'a Now<'a>, body: &'a Pieces, ledger: &'a Arc<Ledger>) -> Self {
        let head = Self { ledger: Some(ledger), ..Self::even(now, body, 0) };
        let said = head.entries().iter().map(|entry| ledger.message(&entry.message));
        let tokens = head.tools() + said.sum::<u64>();
        Self { tokens, ..head }
    }

    /// The tokens before a byte.
    pub(super) fn before(&self, byte: u64) -> u64 {
        let known = self.known.get_or_init(|| self.places().unwrap_or_default());
        let n = known.partition_point(|(place, _)| *place <= byte);
        let (place, tokens) = n.checked_sub(1).map_or((0, 0), |last| known[last]);
        let (next, upto) = known.get(n).copied().unwrap_or((self.len, self.tokens));
        let past = byte.min(next).saturating_sub(place);
        tokens + upto.saturating_sub(tokens) * past / next.saturating_sub(place).max(1)
    }

    fn entries(&self) -> &'a [Entry] {
        let entries = self.now.prompt.entries();
        &entries[..n_head(entries)]
    }

    fn tools(&self) -> u64 {
        self.now.report.tokens.as_ref().map_or(0, |tokens| tokens.tools)
    }

    /// Where each part begins and ends, in the order in which the body has them, and the tokens
    /// before that. What stands between two parts belongs to neither.
    fn places(&self) -> Option<Vec<(u64, u64)>> {
        let ledger = self.ledger?;
        let [tools, system] = frame::parts(self.body, &bodies::list_of(self.now))?;
        let start = system.map_or(0, |system| system.start);
        let bytes = self.body.bytes(start..self.len);
        let pieces = spans::of(self.entries(), &bytes, usize::MAX);
        let said = pieces.iter().map(|Piece { entry, bytes, .. }| {
            let end = start + bytes.end as u64;
            let begin = end.saturating_sub(written(entry)).max(start + bytes.start as u64);
            (begin..end, ledger.message(&entry.message))
        });
        let mut parts: Vec<(Range<u64>, u64)> = said.collect();
        // Tools without a field of their own are written into the system text.
        match (tools, parts.first_mut()) {
            (Some(tools), _) => parts.push((tools, self.tools())),
            (None, Some((_, tokens))) => *tokens += self.tools(),
            (None, None) => {}
        }
        parts.sort_by_key(|(bytes, _)| bytes.start);
        let mut before = 0;
        let places = parts.into_iter().flat_map(|(bytes, tokens)| {
            let ends = [(bytes.start, before), (bytes.end, before + tokens)];
            before += tokens;
            ends
        });
        Some(places.collect())
    }
}

/// How many bytes a body has of what a message says, with its last quote.
fn written(entry: &Entry) -> u64 {
    let len = |part: PartRef<'_>| match part {
        PartRef::Text(text) => escaped_len(text.text.as_bytes()) as u64 + 1,
        _ => 0,
    };
    entry.message.parts().map(len).sum()
}
