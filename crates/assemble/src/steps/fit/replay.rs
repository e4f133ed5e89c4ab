//! What to clear, what to abridge and what to leave out.
//!
//! The session is played again, request by request. Where a request did not fit, so
//! much is taken away at once that the next ones fit for a while. The same history
//! therefore always loses the same messages, and with every turn that is added the
//! loss stays as it was, until the room is used up again. The replay can be taken up again
//! where it stopped.

use interleaf_model::Role;

use super::history::History;
use super::loss::{Grant, Loss};

/// Less than this of a message is not worth showing.
pub(super) const LEAST_SHOWN: u64 = 100;

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
    /// A result that takes more is too long.
    pub(super) longest_result: u64,
    /// This many of the newest results are not cleared, nor their calls abridged, while they
    /// leave half of the request.
    pub(super) newest_results: usize,
    /// A long result that the model has not seen is not shortened either: it is shown as far
    /// as there is room, and there is none.
    pub(super) spares_unseen: bool,
    /// What the notice of messages left out takes.
    pub(super) notice: u64,
}

/// A session up to one of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replay {
    /// What the request takes.
    total: u64,
    /// The place up to which it was played.
    upto: usize,
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
        Self { total: terms.fixed, upto: 0, n_results: 0, n_seen: 0, n_units: 0, loss }
    }

    /// Plays the messages from a place to the end of the history.
    pub(crate) fn play(&mut self, history: &History, from: usize, terms: &Terms) {
        for place in from..history.len() {
            self.upto = place;
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
        self.upto = history.len();
    }

    /// What the history takes now, without a notice.
    pub(crate) fn history(&self, terms: &Terms) -> u64 {
        let notice = if self.loss.units > 0 { terms.notice } else { 0 };
        self.total - terms.fixed - notice
    }

    /// Makes a request: what does not fit gives way.
    pub(crate) fn request(&mut self, history: &History, terms: &Terms) -> Loss {
        if self.total > terms.limit {
            self.take_back(history, terms);
            for measure in [Self::shorten, Self::clear, Self::abridge, Self::leave_out] {
                if self.total <= terms.enough {
                    break;
                }
                measure(self, history, terms);
            }
        }
        self.loss
    }

    /// How many results are old: not the newest few, while they and their calls take no more
    /// than half of the request, and not what the model has not seen yet, however much of it
    /// there is.
    fn n_old(&self, history: &History, terms: &Terms) -> usize {
        let mut n_old = self.n_results;
        let (mut taken, mut opener) = (0, None);
        while let Some(newest) = n_old.checked_sub(1).and_then(|number| history.result(number))
            && self.n_results - n_old < terms.newest_results
        {
            taken += history.cost_of(newest.place);
            if opener.replace(newest.opener) != Some(newest.opener) {
                taken += history.cost_of(newest.opener);
            }
            if taken > terms.limit / 2 {
                break;
            }
            n_old -= 1;
        }
        n_old.min(self.n_seen)
    }

    fn shorten(&mut self, history: &History, terms: &Terms) {
        let unseen = history.result(self.n_seen).filter(|_| self.n_seen < self.n_results);
        let unseen = unseen.filter(|_| terms.spares_unseen);
        let end = unseen.map_or(self.upto, |answer| answer.place);
        let mut last = None;
        while self.total > terms.low
            && let Some(place) = history.long(self.loss.longs).filter(|&place| place < end)
        {
            let loss = Loss { longs: self.loss.longs + 1, ..self.loss };
            self.lose(history, loss, [place]);
            last = Some(place);
        }
        self.grant(history, last, terms);
    }

    fn clear(&mut self, history: &History, terms: &Terms) {
        let n_old = self.n_old(history, terms);
        let mut last = None;
        while self.total > terms.low && self.loss.results < n_old {
            let Some(answer) = history.result(self.loss.results) else { return };
            let loss = Loss { results: self.loss.results + 1, ..self.loss };
            self.lose(history, loss, [answer.place]);
            last = Some(answer.place);
        }
        self.grant(history, last, terms);
    }

    fn abridge(&mut self, history: &History, terms: &Terms) {
        // The first result that is not old, or else the last of all.
        let n_old = self.n_old(history, terms);
        let end = match n_old.checked_sub(usize::from(n_old == self.n_results)) {
            Some(number) => history.result(number).map_or(0, |answer| answer.opener),
            None => 0,
        };
        let mut last = None;
        while self.total > terms.low
            && let Some(place) = history.call(self.loss.calls).filter(|&place| place < end)
        {
            let loss = Loss { calls: self.loss.calls + 1, ..self.loss };
            self.lose(history, loss, [place]);
            last = Some(place);
        }
        self.grant(history, last, terms);
    }

    /// What was shown in part gives way too, as far as needed.
    fn take_back(&mut self, history: &History, terms: &Terms) {
        if let Some(grant) = self.loss.grant {
            let loss = Loss { grant: None, ..self.loss };
            self.lose(history, loss, [grant.place]);
            self.grant(history, Some(grant.place), terms);
        }
    }

    /// The last message that a measure touched gets back what room it made too much.
    fn grant(&mut self, history: &History, last: Option<usize>, terms: &Terms) {
        let (Some(place), Some(room)) = (last, terms.low.checked_sub(self.total)) else { return };
        let tokens = history.cost(place, self.loss) + room;
        if room >= LEAST_SHOWN && tokens < history.cost_of(place) {
            let loss = Loss { grant: Some(Grant { place, tokens }), ..self.loss };
            self.lose(history, loss, [place]);
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
            if before.total > terms.limit
                && let Some(steps) = before.without_question(history, terms)
            {
                *self = steps;
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

    /// Leaves out a question that leaves no room for a single step of its turn, so that the
    /// newest of them stay; nothing, if it is not that.
    fn without_question(mut self, history: &History, terms: &Terms) -> Option<Self> {
        let next = history.unit(self.loss.units + 1)?;
        let (start, end) = history.unit(self.loss.units)?.question;
        if self.loss.units == 0 || self.loss.question || start == end || next.question.0 == start {
            return None;
        }
        self.lose(history, Loss { question: true, ..self.loss }, start..end);
        if self.total > terms.limit {
            return None;
        }
        while let Some(unit) = history.unit(self.loss.units - 1)
            && unit.question.0 == start
            && self.loss.units > 1
        {
            let mut more = self;
            let loss = Loss { units: self.loss.units - 1, ..self.loss };
            let next = history.unit(self.loss.units)?;
            more.lose(history, loss, unit.start..next.start);
            if more.total > terms.low {
                break;
            }
            self = more;
        }
        Some(self)
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
        // The question of a turn goes with its last step.
        let (start, end) = unit.question;
        let is_last = next.question.0 != start;
        let question = if is_last { start..end } else { start..start };
        let loss = Loss {
            units: self.loss.units + 1,
            question: self.loss.question && !is_last,
            ..self.loss
        };
        self.lose(history, loss, question.chain(unit.start..next.start));
        true
    }

    /// Loses more, which changes what these places take.
    fn lose(&mut self, history: &History, loss: Loss, places: impl IntoIterator<Item = usize>) {
        for place in places {
            if history.kind(place).role().is_some() {
                self.total -= history.cost(place, self.loss);
                self.total += history.cost(place, loss);
            }
        }
        self.loss = loss;
    }
}
