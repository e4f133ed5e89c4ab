//! Whose events a session's events are: a fork shares those of its ancestors.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use crate::{Error, SessionId};

/// The part of a session's past that is stored under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment<Owner> {
    /// Under which.
    pub(crate) owner: Owner,
    /// The first event.
    pub(crate) from: u64,
    /// The event after the last.
    pub(crate) upto: u64,
    /// The first record change.
    pub(crate) records_from: u64,
    /// The record change after the last.
    pub(crate) records_upto: u64,
}

/// A session and its ancestors, the youngest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lineage<Owner>(Vec<Segment<Owner>>);

/// A row of `sessions`, as far as the lineage is concerned.
pub(crate) struct Link<Owner> {
    pub(crate) owner: Owner,
    pub(crate) parent: Option<Owner>,
    pub(crate) next_seq: u64,
    pub(crate) next_record: u64,
    /// Where it left its parent: the first event and record change not shared.
    pub(crate) fork: Option<(u64, u64)>,
}

impl<Owner: Copy + Eq + Hash> Lineage<Owner> {
    /// From the links of a session and all its ancestors, in any order.
    ///
    /// # Errors
    /// `NotFound` if the session is not among them; `Corrupt` if its line of parents is
    /// broken, or comes back to where it was.
    pub(crate) fn of(
        id: SessionId,
        first: Option<Owner>,
        links: Vec<Link<Owner>>,
    ) -> Result<Self, Error> {
        let mut links: HashMap<_, _> = links.into_iter().map(|link| (link.owner, link)).collect();
        let mut next = Some(first.ok_or_else(|| Error::no_session(id))?);
        let mut segments: Vec<Segment<Owner>> = vec![];
        let mut left = (u64::MAX, u64::MAX);
        while let Some(owner) = next {
            // Each is taken out, so that a circle finds nobody where it closes.
            let Some(link) = links.remove(&owner) else {
                let seen = segments.iter().any(|segment| segment.owner == owner);
                let what = if seen { "is its own ancestor" } else { "lacks an ancestor" };
                return Err(Error::corrupt(format!("session {id} is damaged: it {what}")));
            };
            if link.parent.is_some() != link.fork.is_some() {
                let message = format!("session {id} is damaged: it has half a point of fork");
                return Err(Error::corrupt(message));
            }
            next = link.parent;
            let (from, records_from) = link.fork.unwrap_or((0, 0));
            let upto = link.next_seq.min(left.0);
            let records_upto = link.next_record.min(left.1);
            segments.push(Segment { owner: link.owner, from, upto, records_from, records_upto });
            left = link.fork.map_or((0, 0), |fork| (fork.0.min(left.0), fork.1.min(left.1)));
        }
        Ok(Self(segments))
    }

    /// How many events there are.
    pub(crate) fn len(&self) -> u64 {
        self.0.first().map_or(0, |own| own.upto)
    }

    /// Where these events are stored, in their order.
    pub(crate) fn pieces(&self, seqs: &Range<u64>) -> Vec<(Owner, Range<u64>)> {
        let piece = |segment: &Segment<Owner>| {
            let piece = seqs.start.max(segment.from)..seqs.end.min(segment.upto);
            (!piece.is_empty()).then_some((segment.owner, piece))
        };
        self.0.iter().rev().filter_map(piece).collect()
    }

    /// Whether a segment has as many record changes as it should.
    pub(crate) fn check_records(
        id: SessionId,
        segment: &Segment<Owner>,
        found: u64,
    ) -> Result<(), Error> {
        let expected = segment.records_upto.saturating_sub(segment.records_from);
        match found == expected {
            true => Ok(()),
            false => Err(Error::corrupt(format!(
                "session {id} has {found} of {expected} changes of records"
            ))),
        }
    }

    /// All segments, the youngest first.
    pub(crate) fn segments(&self) -> &[Segment<Owner>] {
        &self.0
    }
}
