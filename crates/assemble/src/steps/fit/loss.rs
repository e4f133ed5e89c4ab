//! What to clear and what to leave out.
//!
//! The session is played again, request by request. Where a request did not fit, so
//! much is taken away at once that the next ones fit for a while. The same history
//! therefore always loses the same messages, and with every turn that is added the
//! loss stays as it was, until the room is used up again.
//!
//! What is lost is always the oldest: two counts say all of it ([`Loss`]), and the
//! replay can be taken up again where it stopped.

use interleaf_model::{Entry, Provenance, Role};

/// The figures that a replay goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// What the request may take.
    pub(super) limit: u64,
    /// How far down it goes when it takes more.
    pub(super) low: u64,
    /// If clearing alone comes down to this, no turn is left out.
    pub(super) enough: u64,
    /// What does not belong to the history.
    pub(super) fixed: u64,
    /// This many of the newest results are never cleared.
    pub(super) newest_results: usize,
    /// What a cleared result takes.
    pub(super) cleared: u64,
    /// What the notice of messages left out takes.
    pub(super) notice: u64,
}

impl Terms {
    /// What a cleared result takes.
    pub(crate) fn cleared_cost(&self) -> u64 {
        self.cleared
    }
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays as it is.
    Stays,
    /// Its content gives way to a placeholder.
    Cleared,
    /// It is not in the request.
    LeftOut,
}

/// What gave way: the oldest results and the oldest turns, by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Loss {
    /// Results that were cleared, where clearing saves anything.
    pub(crate) results: usize,
    /// Turns that were left out.
    pub(crate) turns: usize,
}

/// The messages of a session as figures, by place.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    costs: Vec<u64>,
    kinds: Vec<Kind>,
    /// The places of the tool results.
    results: Vec<usize>,
    /// The place at which each turn begins: a run of user messages and all that
    /// follows up to the next.
    turns: Vec<usize>,
    after_user: bool,
}

/// Where a history ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct End {
    len: usize,
    n_results: usize,
    n_turns: usize,
    after_user: bool,
}

/// How a message is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is not conversation, and belongs to no turn.
    Apart,
    /// It is never touched.
    Held(Role),
    /// It may give way.
    Free(Role),
}

/// A session up to one of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replay {
    /// What the request takes.
    total: u64,
    n_results: usize,
    /// How many results the model has answered.
    n_seen: usize,
    n_turns: usize,
    loss: Loss,
}

impl Kind {
    /// How an entry is treated.
    pub(crate) fn of(entry: &Entry, is_held: bool) -> Self {
        let is_said = match entry.provenance {
            Provenance::Original | Provenance::Altered | Provenance::Made => true,
            Provenance::System
            | Provenance::Summary
            | Provenance::Context(_)
            | Provenance::Notice => false,
        };
        match entry.message.role() {
            Role::System => Self::Apart,
            _ if !is_said => Self::Apart,
            role if is_held => Self::Held(role),
            role => Self::Free(role),
        }
    }

    fn role(self) -> Option<Role> {
        match self {
            Self::Apart => None,
            Self::Held(role) | Self::Free(role) => Some(role),
        }
    }
}

impl History {
    /// Adds the next message.
    pub(crate) fn push(&mut self, kind: Kind, cost: u64) {
        let place = self.kinds.len();
        self.costs.push(cost);
        self.kinds.push(kind);
        let Some(role) = kind.role() else { return };
        if role == Role::Tool {
            self.results.push(place);
        }
        if self.turns.is_empty() || (role == Role::User && !self.after_user) {
            self.turns.push(place);
        }
        self.after_user = role == Role::User;
    }

    /// Where it ends now.
    pub(crate) fn end(&self) -> End {
        End {
            len: self.kinds.len(),
            n_results: self.results.len(),
            n_turns: self.turns.len(),
            after_user: self.after_user,
        }
    }

    /// Goes back to where it ended then.
    pub(crate) fn cut_back(&mut self, end: End) {
        self.costs.truncate(end.len);
        self.kinds.truncate(end.len);
        self.results.truncate(end.n_results);
        self.turns.truncate(end.n_turns);
        self.after_user = end.after_user;
    }

    /// Whether there is a tool result.
    pub(crate) fn has_results(&self) -> bool {
        !self.results.is_empty()
    }

    /// How many messages there are.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// What becomes of the message at a place.
    pub(crate) fn fate(&self, place: usize, loss: Loss, terms: &Terms) -> Fate {
        match self.kinds[place] {
            Kind::Apart | Kind::Held(_) => Fate::Stays,
            Kind::Free(_) if place < self.left_out_before(loss) => Fate::LeftOut,
            Kind::Free(Role::Tool)
                if place < self.cleared_before(loss) && self.costs[place] > terms.cleared =>
            {
                Fate::Cleared
            }
            Kind::Free(_) => Fate::Stays,
        }
    }

    /// The place before which turns are left out.
    pub(crate) fn left_out_before(&self, loss: Loss) -> usize {
        if loss.turns == 0 { 0 } else { self.turns[loss.turns] }
    }

    /// The place before which results are cleared.
    pub(crate) fn cleared_before(&self, loss: Loss) -> usize {
        loss.results.checked_sub(1).map_or(0, |last| self.results[last] + 1)
    }

    /// What a message takes as it is.
    pub(crate) fn cost_of(&self, place: usize) -> u64 {
        self.costs[place]
    }

    /// What a message takes after what gave way.
    fn cost(&self, place: usize, loss: Loss, terms: &Terms) -> u64 {
        match self.fate(place, loss, terms) {
            Fate::Stays => self.costs[place],
            Fate::Cleared => terms.cleared,
            Fate::LeftOut => 0,
        }
    }
}

impl Replay {
    /// Before anything was said.
    pub(crate) fn new(terms: &Terms) -> Self {
        let loss = Loss::default();
        Self { total: terms.fixed, n_results: 0, n_seen: 0, n_turns: 0, loss }
    }

    /// Plays the messages from a place to the end of the history.
    pub(crate) fn play(&mut self, history: &History, from: usize, terms: &Terms) {
        for place in from..history.len() {
            let Some(role) = history.kinds[place].role() else { continue };
            match role {
                // A request was made before each assistant message.
                Role::Assistant => {
                    self.request(history, terms);
                    self.n_seen = self.n_results;
                }
                Role::Tool => self.n_results += 1,
                Role::System | Role::User => {}
            }
            self.n_turns += usize::from(history.turns.get(self.n_turns) == Some(&place));
            self.total += history.costs[place];
        }
    }

    /// What the history takes now, without a notice.
    pub(crate) fn history(&self, terms: &Terms) -> u64 {
        let notice = if self.loss.turns > 0 { terms.notice } else { 0 };
        self.total - terms.fixed - notice
    }

    /// Makes a request: what does not fit gives way.
    pub(crate) fn request(&mut self, history: &History, terms: &Terms) -> Loss {
        if self.total > terms.limit {
            self.shorten(history, terms);
        }
        self.loss
    }

    fn shorten(&mut self, history: &History, terms: &Terms) {
        // What the model has not seen yet is not old, however much of it there is.
        let old = self.n_results.saturating_sub(terms.newest_results).min(self.n_seen);
        while self.total > terms.low && self.loss.results < old {
            let place = history.results[self.loss.results];
            let before = history.cost(place, self.loss, terms);
            self.loss.results += 1;
            self.total = self.total - before + history.cost(place, self.loss, terms);
        }
        if self.total <= terms.enough {
            return;
        }
        while self.total > terms.low && self.loss.turns + 1 < self.n_turns {
            if self.loss.turns == 0 {
                self.total += terms.notice;
            }
            let turn = history.turns[self.loss.turns]..history.turns[self.loss.turns + 1];
            let loss = Loss { turns: self.loss.turns + 1, ..self.loss };
            for place in turn {
                self.total -= history.cost(place, self.loss, terms);
                self.total += history.cost(place, loss, terms);
            }
            self.loss = loss;
        }
    }
}
