//! What to clear, what to abridge and what to leave out.
//!
//! The session is played again, request by request. Where a request did not fit, so
//! much is taken away at once that the next ones fit for a while. The same history
//! therefore always loses the same messages, and with every turn that is added the
//! loss stays as it was, until the room is used up again. The replay can be taken up again
//! where it stopped.

use interleaf_model::Role;

use super::history::{History, Loss};

/// The figures that a replay goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// What the request may take.
    pub(super) limit: u64,
    /// How far down it goes when it takes more.
    pub(super) low: u64,
    /// If a measure alone comes down to this, the next is not taken.
    pub(super) enough: u64,
    /// A request that fits is not made smaller than this.
    pub(super) least: u64,
    /// What does not belong to the history.
    pub(super) fixed: u64,
    /// This many of the newest results are never cleared, nor their calls abridged.
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

/// A session up to one of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replay {
    /// What the request takes.
    total: u64,
    n_results: usize,
    /// How many results the model has answered.
    n_seen: usize,
    n_units: usize,
    loss: Loss,
}

impl Replay {
    /// Before anything was said.
    pub(crate) fn new(terms: &Terms) -> Self {
        let loss = Loss::default();
        Self { total: terms.fixed, n_results: 0, n_seen: 0, n_units: 0, loss }
    }

    /// Plays the messages from a place to the end of the history.
    pub(crate) fn play(&mut self, history: &History, from: usize, terms: &Terms) {
        for place in from..history.len() {
            let Some(role) = history.kind(place).role() else { continue };
            match role {
                // A request was made before each assistant message.
                Role::Assistant => {
                    self.request(history, terms);
                    self.n_seen = self.n_results;
                }
                Role::Tool => self.n_results += 1,
                Role::System | Role::User => {}
            }
            let begins = history.unit(self.n_units).is_some_and(|unit| unit.start == place);
            self.n_units += usize::from(begins);
            self.total += history.cost_of(place);
        }
    }

    /// What the history takes now, without a notice.
    pub(crate) fn history(&self, terms: &Terms) -> u64 {
        let notice = if self.loss.units > 0 { terms.notice } else { 0 };
        self.total - terms.fixed - notice
    }

    /// Makes a request: what does not fit gives way.
    pub(crate) fn request(&mut self, history: &History, terms: &Terms) -> Loss {
        if self.total > terms.limit {
            for measure in [Self::clear, Self::abridge, Self::leave_out] {
                measure(self, history, terms);
                if self.total <= terms.enough {
                    break;
                }
            }
        }
        self.loss
    }

    /// How many results are old. What the model has not seen yet is not, however much of it
    /// there is.
    fn n_old(&self, terms: &Terms) -> usize {
        self.n_results.saturating_sub(terms.newest_results).min(self.n_seen)
    }

    fn clear(&mut self, history: &History, terms: &Terms) {
        let n_old = self.n_old(terms);
        while self.total > terms.low && self.loss.results < n_old {
            let Some(answer) = history.result(self.loss.results) else { return };
            let loss = Loss { results: self.loss.results + 1, ..self.loss };
            self.lose(history, loss, [answer.place], terms);
        }
    }

    fn abridge(&mut self, history: &History, terms: &Terms) {
        // The first result that is not old, or else the last of all.
        let n_old = self.n_old(terms);
        let end = match n_old.checked_sub(usize::from(n_old == self.n_results)) {
            Some(number) => history.result(number).map_or(0, |answer| answer.opener),
            None => 0,
        };
        while self.total > terms.low
            && let Some(place) = history.call(self.loss.calls).filter(|&place| place < end)
        {
            let loss = Loss { calls: self.loss.calls + 1, ..self.loss };
            self.lose(history, loss, [place], terms);
        }
    }

    fn leave_out(&mut self, history: &History, terms: &Terms) {
        while self.total > terms.low {
            let before = *self;
            let is_less = self.leave_out_unit(history, terms);
            if !is_less || (before.total <= terms.limit && self.total < terms.least) {
                *self = before;
                break;
            }
        }
        // A loop that thinks is cut where it thinks again, unless too much would go with it.
        let before = *self;
        while history.unit(self.loss.units).is_some_and(|unit| !unit.may_open) {
            if !self.leave_out_unit(history, terms) || self.total < terms.least {
                *self = before;
                return;
            }
        }
    }

    /// Leaves out the oldest unit that is there. The last stays, and so does what the model
    /// has not seen yet.
    fn leave_out_unit(&mut self, history: &History, terms: &Terms) -> bool {
        if self.loss.units + 1 >= self.n_units {
            return false;
        }
        let units = (history.unit(self.loss.units), history.unit(self.loss.units + 1));
        let (Some(unit), Some(next)) = units else { return false };
        let unseen = history.result(self.n_seen).filter(|_| self.n_seen < self.n_results);
        if unseen.is_some_and(|answer| next.start > answer.opener) {
            return false;
        }
        if self.loss.units == 0 {
            self.total += terms.notice;
        }
        let loss = Loss { units: self.loss.units + 1, ..self.loss };
        // The question of a turn goes with its last step.
        let (start, end) = unit.question;
        let question = if next.question == unit.question { start..start } else { start..end };
        self.lose(history, loss, question.chain(unit.start..next.start), terms);
        true
    }

    /// Loses more, which changes what these places take.
    fn lose(
        &mut self,
        history: &History,
        loss: Loss,
        places: impl IntoIterator<Item = usize>,
        terms: &Terms,
    ) {
        for place in places {
            if history.kind(place).role().is_some() {
                self.total -= history.cost(place, self.loss, terms.cleared);
                self.total += history.cost(place, loss, terms.cleared);
            }
        }
        self.loss = loss;
    }
}
