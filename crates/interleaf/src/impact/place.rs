//! Which message stands where two bodies begin to differ.

use std::ops::Range;

use interleaf_model::{Entry, Provenance, Role};
use interleaf_store::Pieces;

use super::bodies::{Found, Seen};
use super::cost::Measure;
use super::spans::{self, Piece, Turns};
use super::{BreakCause, Now, Place};

/// Where a request differs for the model from the one before.
pub(super) struct Placed {
    pub(super) place: Place,
    /// The message there.
    pub(super) entry: Option<Entry>,
    /// What the two have in common, in the units of a trace.
    pub(super) shared: i64,
    /// How much of the message comes after that.
    pub(super) rest: i64,
}

/// A message of a request.
struct There {
    /// Its index in the request.
    message: usize,
    entry: Option<Entry>,
    /// Its bytes in the body.
    bytes: Range<usize>,
}

/// Where a request differs for the model from one before, if it does, whose list of turns
/// begins at this byte.
pub(super) fn of(
    now: &Now<'_>,
    (body, turns): (&Pieces, &Turns<'_>),
    list_before: u64,
    found: &Found,
    measure: &Measure<'_>,
) -> Option<Placed> {
    let start = now.body.outline.list.start;
    match &found.seen {
        Seen::Nowhere => None,
        Seen::Frame(change) => {
            let upto = if change.is_first { 0 } else { change.byte };
            let shared = upto as i64 - start as i64;
            let (byte, byte_before) = (change.byte, change.byte_before);
            let token = measure.in_head(shared);
            let place = Place { byte, byte_before, token, message: 0, id: None };
            Some(Placed { place, entry: None, shared, rest: 0 })
        }
        Seen::List { before: old, now: new, .. } => {
            let byte = start + *new as usize;
            let There { message, entry, bytes } = message_at(now, (body, turns), byte);
            let shared = measure.unmarked(*new);
            let len = bytes.len().max(1) as f64;
            let within = byte.saturating_sub(bytes.start) as f64 / len;
            let place = Place {
                byte: byte as u64,
                byte_before: list_before + old,
                token: measure.before(now, message, within.min(1.0), shared),
                message,
                id: entry.as_ref().map(|entry| entry.message.id.clone()),
            };
            let rest = bytes.end.saturating_sub(byte) as i64;
            Some(Placed { place, entry, shared, rest })
        }
    }
}

/// The message that a byte of the list of turns belongs to; at its end, none.
fn message_at(now: &Now<'_>, (body, turns): (&Pieces, &Turns<'_>), byte: usize) -> There {
    let (prompt, outline) = (now.prompt, &now.body.outline);
    let entries = prompt.entries();
    let n_head = n_head(entries);
    let n_settled = prompt.settled().map_or(0, |settled| settled.len());
    if let Some(span) = now.encoder.settled_at(now.body, byte) {
        let first = n_head + span.first;
        let text = body.bytes(span.bytes.start as u64..span.bytes.end as u64);
        let pieces = spans::of(span.link.entries(), &text, byte - span.bytes.start);
        if let Some(there) = found(&pieces, (span.bytes.start, byte), first) {
            return there;
        }
    }
    let next = outline.turns.partition_point(|(end, _)| *end <= byte);
    for turn in next..outline.turns.len() {
        let first = n_settled + outline.turns[turn].1.start;
        if let Some(there) = found(turns.pieces(turn), (turns.bytes(turn).start, byte), first) {
            return there;
        }
    }
    There { message: n_settled + entries.len(), entry: None, bytes: byte..byte }
}

/// The message of a stretch that a byte belongs to, or the first one after it.
fn found(pieces: &[Piece<'_>], (start, byte): (usize, usize), first: usize) -> Option<There> {
    let piece = pieces.iter().find(|piece| byte < start + piece.bytes.end)?;
    // Of a message that carries others it is one of these, and its bytes are those of all.
    let whole = pieces.iter().filter(|other| other.index == piece.index);
    let (begin, end) = whole.fold((usize::MAX, 0), |(begin, end), Piece { bytes, .. }| {
        (bytes.start.min(begin), bytes.end.max(end))
    });
    let entry = Some(Entry::clone(&piece.entry));
    Some(There { message: first + piece.index, entry, bytes: start + begin..start + end })
}

impl Place {
    /// The place as it is told: never before the first byte that differs, and a summary at the
    /// head is a message.
    pub(super) fn told(mut self, cause: &BreakCause, first: Option<u64>, now: &Now<'_>) -> Self {
        let first = first.filter(|_| self.byte > 0).unwrap_or(0);
        self.byte = self.byte.max(first);
        self.byte_before = self.byte_before.max(first);
        let entries = now.prompt.entries();
        let at = entries.iter().position(|entry| entry.provenance == Provenance::Summary);
        if let (BreakCause::Summary, true, Some(at)) = (cause, self.is_head(), at) {
            (self.message, self.id) = (at, Some(entries[at].message.id.clone()));
        }
        self
    }
}

/// How many messages stand at the head.
pub(super) fn n_head(entries: &[Entry]) -> usize {
    entries.iter().take_while(|entry| entry.message.role() == Role::System).count()
}

/// Whether a summary stands at the head.
pub(super) fn has_summary_at_head(entries: &[Entry]) -> bool {
    entries[..n_head(entries)].iter().any(|entry| entry.provenance == Provenance::Summary)
}
