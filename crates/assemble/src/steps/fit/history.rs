//! The messages of a session as figures, and what gives way of them.

use interleaf_model::{Entry, Provenance, Role};

use super::loss::{Fate, Loss};

/// The messages of a session as figures, by place.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    kinds: Vec<Kind>,
    costs: Vec<Cost>,
    /// The tool results.
    results: Vec<Answer>,
    /// The places of results that are longer than a single one may be.
    longs: Vec<usize>,
    /// The places of messages with long arguments.
    calls: Vec<usize>,
    /// What can be left out one by one.
    units: Vec<Unit>,
    turn: Turn,
}

/// What a message takes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// As it is.
    pub(crate) whole: u64,
    /// As a single result may be, if it is longer.
    pub(crate) shortened: Option<u64>,
    /// Cleared, if it is a result and takes less then.
    pub(crate) cleared: Option<u64>,
    /// With its arguments abridged, if they are long.
    pub(crate) abridged: Option<u64>,
    /// Whether it begins with thinking.
    pub(crate) thinks: bool,
}

/// The place of a tool result, and of the message that it answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) place: usize,
    pub(super) opener: usize,
}

/// The beginning of a turn up to its second step, or a later step: a message of the
/// assistant's with its results. It is left out as a whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) start: usize,
    /// What the user said at the beginning of its turn: that stays for as long as a step of
    /// the turn does. Nothing, if the unit begins the turn.
    pub(super) question: (usize, usize),
    /// Whether what stays of its turn may begin with it: a loop that thinks goes on with
    /// thinking.
    pub(super) may_open: bool,
}

/// The turn that the next message may belong to: a run of user messages and all that
/// follows up to the next.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    start: usize,
    /// Where the run of user messages ended; nothing, while it goes on.
    steps_from: Option<usize>,
    opener: usize,
    thinks: bool,
}

/// Where a history ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct End {
    len: usize,
    n_results: usize,
    n_longs: usize,
    n_calls: usize,
    n_units: usize,
    turn: Turn,
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

impl Kind {
    /// How an entry is treated.
    pub(crate) fn of(entry: &Entry, is_held: bool) -> Self {
        let is_said = match entry.provenance {
            Provenance::Original | Provenance::Altered | Provenance::Made => true,
            Provenance::System
            | Provenance::Summary
            | Provenance::Context(_)
            | Provenance::Element(_)
            | Provenance::Carrying(_)
            | Provenance::Notice => false,
        };
        match entry.message.role() {
            Role::System => Self::Apart,
            _ if !is_said => Self::Apart,
            role if is_held => Self::Held(role),
            role => Self::Free(role),
        }
    }

    pub(super) fn role(self) -> Option<Role> {
        match self {
            Self::Apart => None,
            Self::Held(role) | Self::Free(role) => Some(role),
        }
    }
}

impl History {
    /// Adds the next message.
    pub(crate) fn push(&mut self, kind: Kind, cost: Cost) {
        let place = self.kinds.len();
        self.kinds.push(kind);
        self.costs.push(cost);
        match kind.role() {
            None | Some(Role::System) => return,
            Some(Role::User) => {
                if self.units.is_empty() || self.turn.steps_from.is_some() {
                    self.begin_turn(place);
                }
            }
            Some(Role::Assistant) => {
                match self.turn.steps_from {
                    _ if self.units.is_empty() => self.begin_turn(place),
                    None => {}
                    Some(steps_from) => {
                        let question = (self.turn.start, steps_from);
                        let may_open = cost.thinks || !self.turn.thinks;
                        self.units.push(Unit { start: place, question, may_open });
                    }
                }
                self.turn.steps_from.get_or_insert(place);
                self.turn.opener = place;
                self.turn.thinks |= cost.thinks;
            }
            Some(Role::Tool) => {
                self.results.push(Answer { place, opener: self.turn.opener });
            }
        }
        if matches!(kind, Kind::Free(_)) {
            self.longs.extend(cost.shortened.map(|_| place));
            self.calls.extend(cost.abridged.map(|_| place));
        }
    }

    fn begin_turn(&mut self, place: usize) {
        self.turn = Turn { start: place, opener: place, ..Turn::default() };
        self.units.push(Unit { start: place, question: (place, place), may_open: true });
    }

    /// Where it ends now.
    pub(crate) fn end(&self) -> End {
        End {
            len: self.kinds.len(),
            n_results: self.results.len(),
            n_longs: self.longs.len(),
            n_calls: self.calls.len(),
            n_units: self.units.len(),
            turn: self.turn,
        }
    }

    /// Goes back to where it ended then.
    pub(crate) fn cut_back(&mut self, end: End) {
        self.kinds.truncate(end.len);
        self.costs.truncate(end.len);
        self.results.truncate(end.n_results);
        self.longs.truncate(end.n_longs);
        self.calls.truncate(end.n_calls);
        self.units.truncate(end.n_units);
        self.turn = end.turn;
    }

    /// Whether there is a tool result.
    pub(crate) fn has_results(&self) -> bool {
        !self.results.is_empty()
    }

    /// How many messages there are.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    pub(super) fn kind(&self, place: usize) -> Kind {
        self.kinds[place]
    }

    pub(super) fn result(&self, number: usize) -> Option<Answer> {
        self.results.get(number).copied()
    }

    pub(super) fn long(&self, number: usize) -> Option<usize> {
        self.longs.get(number).copied()
    }

    pub(super) fn call(&self, number: usize) -> Option<usize> {
        self.calls.get(number).copied()
    }

    pub(super) fn unit(&self, number: usize) -> Option<Unit> {
        self.units.get(number).copied()
    }

    /// What becomes of the message at a place.
    pub(crate) fn fate(&self, place: usize, loss: Loss) -> Fate {
        let Kind::Free(role) = self.kinds[place] else { return Fate::Stays };
        let (cut, cost) = (self.cut(loss), self.costs[place]);
        let is_question = (cut.question.0..cut.question.1).contains(&place);
        match role {
            _ if place < cut.start && (loss.question || !is_question) => Fate::LeftOut,
            _ if loss.grant.is_some_and(|grant| grant.place == place) => Fate::Partly,
            Role::Tool if place < self.cleared_before(loss) && cost.cleared.is_some() => {
                Fate::Cleared
            }
            Role::Tool if place < self.shortened_before(loss) && cost.shortened.is_some() => {
                Fate::Shortened
            }
            Role::Assistant if place < self.abridged_before(loss) && cost.abridged.is_some() => {
                Fate::Abridged
            }
            Role::System | Role::User | Role::Assistant | Role::Tool => Fate::Stays,
        }
    }

    /// What a message takes after what gave way.
    pub(crate) fn cost(&self, place: usize, loss: Loss) -> u64 {
        let cost = self.costs[place];
        match self.fate(place, loss) {
            Fate::Stays => cost.whole,
            Fate::Shortened => cost.shortened.unwrap_or(cost.whole),
            Fate::Cleared => cost.cleared.unwrap_or(cost.whole),
            Fate::Abridged => cost.abridged.unwrap_or(cost.whole),
            Fate::Partly => loss.grant.map_or(cost.whole, |grant| grant.tokens),
            Fate::LeftOut => 0,
        }
    }

    /// What a message takes as it is.
    pub(crate) fn cost_of(&self, place: usize) -> u64 {
        self.costs[place].whole
    }

    /// The first unit that is not left out.
    fn cut(&self, loss: Loss) -> Unit {
        let Some(cut) = self.units.get(loss.units).filter(|_| loss.units > 0) else {
            return Unit { start: 0, question: (0, 0), may_open: true };
        };
        match self.units.get(loss.units + 1) {
            // The first step of a turn stays without its question.
            Some(next) if loss.question && cut.start == cut.question.0 => {
                Unit { start: next.question.1, ..*cut }
            }
            _ => *cut,
        }
    }

    /// The place before which messages are left out.
    pub(crate) fn left_out_before(&self, loss: Loss) -> usize {
        self.cut(loss).start
    }

    /// Whether what is left out ends inside a turn whose question stays.
    pub(crate) fn cuts_turn(&self, loss: Loss) -> bool {
        let (start, end) = self.cut(loss).question;
        start < end && !loss.question
    }

    /// Where the loop that is running begins, if that is cut off from its thinking.
    pub(crate) fn thoughtless(&self, loss: Loss) -> Option<usize> {
        let cut = self.cut(loss);
        (!cut.may_open && cut.question.0 == self.turn.start).then_some(cut.start)
    }

    /// The place before which results are cleared.
    fn cleared_before(&self, loss: Loss) -> usize {
        loss.results.checked_sub(1).map_or(0, |last| self.results[last].place + 1)
    }

    /// The place before which arguments are abridged.
    fn abridged_before(&self, loss: Loss) -> usize {
        loss.calls.checked_sub(1).map_or(0, |last| self.calls[last] + 1)
    }

    /// The place before which results that are too long are shortened.
    fn shortened_before(&self, loss: Loss) -> usize {
        loss.longs.checked_sub(1).map_or(0, |last| self.longs[last] + 1)
    }

    /// The places before which messages are altered, by measure.
    pub(crate) fn altered_before(&self, loss: Loss) -> [usize; 3] {
        [self.shortened_before(loss), self.cleared_before(loss), self.abridged_before(loss)]
    }
}
