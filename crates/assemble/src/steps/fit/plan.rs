//! What to clear and what to leave out.
//!
//! The session is played again, request by request. Where a request did not fit, so
//! much is taken away at once that the next ones fit for a while. The same history
//! therefore always loses the same messages, and with every turn that is added the
//! loss stays as it was, until the room is used up again.

use std::collections::HashSet;

use interleaf_model::{Entry, Provenance, Role};

use crate::Ledger;

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stays as it is.
    Stays,
    /// Its content gives way to a placeholder.
    Cleared,
    /// It is not in the request.
    LeftOut,
}

/// The figures that a plan goes by.
pub(super) struct Terms {
    /// What the request may take.
    pub(super) limit: u64,
    /// How far down it goes when it takes more.
    pub(super) low: u64,
    /// If clearing alone comes down to this, no turn is left out.
    pub(super) enough: u64,
    /// What does not belong to the history.
    pub(super) fixed: u64,
    /// So many of the newest results are never cleared.
    pub(super) newest_results: usize,
    /// What a cleared result takes.
    pub(super) cleared: u64,
    /// What the notice of messages left out takes.
    pub(super) notice: u64,
}

/// For each entry what becomes of it.
pub(super) fn plan(
    entries: &[Entry],
    held: &HashSet<usize>,
    terms: &Terms,
    ledger: &Ledger,
) -> Vec<Fate> {
    let mut replay = Replay {
        terms,
        held,
        total: terms.fixed,
        costs: vec![0; entries.len()],
        fates: vec![Fate::Stays; entries.len()],
        results: Vec::new(),
        n_seen: 0,
        turns: Vec::new(),
        n_cleared: 0,
        n_left_out: 0,
    };
    let mut history = (0..entries.len()).filter(|&place| is_history(&entries[place])).peekable();
    let mut after_user = false;
    while let Some(place) = history.next() {
        let message = &entries[place].message;
        let role = message.role();
        if replay.turns.is_empty() || (role == Role::User && !after_user) {
            replay.turns.push(Vec::new());
        }
        after_user = role == Role::User;
        replay.add(place, role, ledger.message(message));
        // A request was made before each assistant message, and one is made now.
        let is_asked =
            history.peek().is_none_or(|&next| entries[next].message.role() == Role::Assistant);
        if is_asked && replay.total > terms.limit {
            replay.shorten();
        }
    }
    replay.fates
}

/// What is not conversation belongs to no turn.
fn is_history(entry: &Entry) -> bool {
    let is_said = match entry.provenance {
        Provenance::Original | Provenance::Altered | Provenance::Made => true,
        Provenance::System | Provenance::Summary | Provenance::Context(_) | Provenance::Notice => {
            false
        }
    };
    is_said && entry.message.role() != Role::System
}

/// A session up to one of its requests.
struct Replay<'a> {
    terms: &'a Terms,
    held: &'a HashSet<usize>,
    total: u64,
    /// By place, what each message takes as it is.
    costs: Vec<u64>,
    fates: Vec<Fate>,
    /// The places of the tool results.
    results: Vec<usize>,
    /// How many of them the model has answered.
    n_seen: usize,
    /// The places of each turn: a run of user messages and all that follows up to
    /// the next.
    turns: Vec<Vec<usize>>,
    n_cleared: usize,
    n_left_out: usize,
}

impl Replay<'_> {
    fn add(&mut self, place: usize, role: Role, cost: u64) {
        self.total += cost;
        self.costs[place] = cost;
        match role {
            Role::Tool => self.results.push(place),
            Role::Assistant => self.n_seen = self.results.len(),
            Role::System | Role::User => {}
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.push(place);
        }
    }

    fn shorten(&mut self) {
        // What the model has not seen yet is not old, however much of it there is.
        let old = self.results.len().saturating_sub(self.terms.newest_results).min(self.n_seen);
        while self.total > self.terms.low && self.n_cleared < old {
            let place = self.results[self.n_cleared];
            self.n_cleared += 1;
            if self.costs[place] > self.terms.cleared {
                self.give_way(place, Fate::Cleared, self.terms.cleared);
            }
        }
        if self.total <= self.terms.enough {
            return;
        }
        while self.total > self.terms.low && self.n_left_out + 1 < self.turns.len() {
            if self.n_left_out == 0 {
                self.total += self.terms.notice;
            }
            for place in std::mem::take(&mut self.turns[self.n_left_out]) {
                self.give_way(place, Fate::LeftOut, 0);
            }
            self.n_left_out += 1;
        }
    }

    fn give_way(&mut self, place: usize, fate: Fate, cost: u64) {
        if !self.held.contains(&place) {
            self.total = self.total - self.costs[place] + cost;
            self.costs[place] = cost;
            self.fates[place] = fate;
        }
    }
}
