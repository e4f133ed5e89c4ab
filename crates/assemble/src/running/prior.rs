//! The settled turns of a session, and what of them the next request shows.

use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

use interleaf_model::{CallId, Entry, Link, MessageId, Provenance, Role, Settled};

use super::shown::{Shown, ShownLink};
use crate::brief::Brief;
use crate::carry::{Carriers, carry, stays_in_place};
use crate::delta::insert;
use crate::draft::Draft;
use crate::finding::Findings;
use crate::steps::fit::{
    End, Grant, History, Kind, Loss, Replay, Terms, cost, held_places, system_cost,
};
use crate::steps::{filter, repair};
use crate::{Error, Step};

/// The beginning of a conversation that has been through the steps up to repair, cut
/// into stretches that no later message can change.
#[derive(Default)]
pub(crate) struct Prior {
    pub(super) stretches: Vec<Stretch>,
    totals: Totals,
    /// The call ids so far, each with the next number to try if it comes again.
    used: HashMap<CallId, usize>,
    /// The ids of calls that are not shown: a result for one of them may still come.
    unshown: HashSet<CallId>,
    /// A call id was renamed.
    has_renamed: bool,
    history: History,
    /// The replay up to a place of the history, and the terms that it went by.
    replay: Option<(Terms, Replay, usize)>,
    pub(super) shown: Shown,
}

/// A stretch of settled turns.
pub(super) struct Stretch {
    /// How many messages it was made of.
    n_source: usize,
    n_filtered: usize,
    n_repaired: usize,
    /// The system messages that stood in it, and whether they stood at the head.
    systems: Vec<(Entry, bool)>,
    /// Its turns.
    pub(super) link: Arc<Link>,
    /// The same before texts went into what carries them, if any did.
    uncarried: Option<Vec<Entry>>,
    /// What these texts are to be carried in.
    pub(super) carriers: Carriers,
    /// What became of system messages that stay in place.
    pub(super) carried: Findings,
    /// The place of its first message in the history.
    pub(super) start: usize,
    /// Where the history ended before it.
    before: End,
    /// What its turns cost.
    pub(super) tokens: Spent,
    /// How many elements of the context stand in it, and the place of the first.
    elements: (usize, Option<usize>),
    filtered: Findings,
    repaired: Findings,
    /// Its turns with what gave way before these places or in part, as they were shown last.
    pub(super) altered: Option<(Alterations, ShownLink)>,
}

impl Stretch {
    /// Its turns before texts went into what carries them.
    pub(super) fn turns(&self) -> &[Entry] {
        self.uncarried.as_deref().unwrap_or_else(|| self.link.entries())
    }

    /// What its messages cost as they are sent.
    pub(super) fn sent_tokens(&self, brief: &Brief<'_>) -> u64 {
        match &self.uncarried {
            Some(_) => tokens_of(brief, self.link.entries()),
            None => self.tokens.total(),
        }
    }
}

/// What messages cost, if tokens are counted.
pub(super) fn tokens_of(brief: &Brief<'_>, entries: &[Entry]) -> u64 {
    let counting = brief.counting.as_ref();
    entries.iter().map(|e| counting.map_or(0, |counting| counting.message(&e.message))).sum()
}

/// The places before which messages are altered, by measure, and what is shown in part.
pub(super) type Alterations = ([usize; 3], Option<Grant>);

/// The sums over all stretches.
#[derive(Default)]
struct Totals {
    n_source: usize,
    n_filtered: usize,
    n_repaired: usize,
    n_turns: usize,
    /// Without system messages.
    n_said: usize,
    tokens: Spent,
    elements: (usize, Option<usize>),
    systems: Vec<(Entry, bool)>,
    filtered: Findings,
    repaired: Findings,
}

impl Totals {
    fn add(&mut self, stretch: &Stretch) {
        self.systems.extend_from_slice(&stretch.systems);
        self.n_source += stretch.n_source;
        self.n_filtered += stretch.n_filtered;
        self.n_repaired += stretch.n_repaired;
        self.n_turns += stretch.turns().len();
        let is_said = |entry: &&Entry| entry.message.role() != Role::System;
        self.n_said += stretch.turns().iter().filter(is_said).count();
        self.tokens.history += stretch.tokens.history;
        self.tokens.summary += stretch.tokens.summary;
        self.tokens.context += stretch.tokens.context;
        self.tokens.system += stretch.tokens.system;
        self.elements.0 += stretch.elements.0;
        self.elements.1 = self.elements.1.or(stretch.elements.1);
        self.filtered.extend(&stretch.filtered);
        self.repaired.extend(&stretch.repaired);
    }
}

/// What turns cost, by part.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) history: u64,
    /// A summary that stands in them.
    pub(crate) summary: u64,
    /// What was shown of the context.
    pub(crate) context: u64,
    /// System messages that stay in place.
    pub(crate) system: u64,
}

impl Spent {
    pub(super) fn total(self) -> u64 {
        self.history + self.summary + self.context + self.system
    }
}

impl Prior {
    /// How many messages of the conversation it has, and how many elements of the context.
    pub(crate) fn n_turns(&self) -> (usize, usize) {
        let n_elements = self.totals.elements.0;
        (self.totals.n_said - n_elements, n_elements)
    }

    /// The place of the first element of the context in it.
    pub(crate) fn first_element(&self) -> Option<usize> {
        self.totals.elements.1
    }

    pub(crate) fn used_ids(&self) -> &HashMap<CallId, usize> {
        &self.used
    }

    /// Whether a settled message made a call with this id, shown or not.
    pub(super) fn has_call(&self, id: &CallId) -> bool {
        self.used.contains_key(id) || self.unshown.contains(id)
    }

    /// The system messages that stood in it, and whether they stood at the head.
    pub(crate) fn systems(&self) -> impl Iterator<Item = (&Entry, bool)> {
        self.totals.systems.iter().map(|(entry, is_at_head)| (entry, *is_at_head))
    }

    /// How many of its messages are there after a step.
    pub(crate) fn len_after(&self, step: Step) -> usize {
        match step {
            Step::Compress => self.totals.n_source,
            Step::Filter => self.totals.n_filtered,
            Step::Repair => self.totals.n_repaired,
            Step::Place => self.totals.n_repaired + self.totals.elements.0,
            Step::System => self.totals.n_turns,
            Step::Fit => self.shown.n_fitted,
            Step::Validate => self.shown.len(),
        }
    }

    /// What a step found in it.
    pub(super) fn findings(&self, step: Step) -> Findings {
        match step {
            Step::Filter => self.totals.filtered.clone(),
            Step::Repair => self.totals.repaired.clone(),
            Step::Compress | Step::Place | Step::System | Step::Fit | Step::Validate => {
                Findings::default()
            }
        }
    }

    /// What became of system messages that stay in place, among those that are shown.
    pub(crate) fn carried(&self) -> Findings {
        self.shown.carried.clone()
    }

    /// What its turns cost.
    pub(crate) fn tokens(&self) -> Spent {
        self.totals.tokens
    }

    pub(crate) fn first_id(&self) -> MessageId {
        let first = self.stretches.first().and_then(|stretch| stretch.link.entries().first());
        first.map_or_else(|| MessageId::new(""), |entry| entry.message.id.clone())
    }

    /// The id of the message at a place of the history.
    pub(crate) fn id_at(&self, place: usize) -> Option<MessageId> {
        let next = self.stretches.partition_point(|stretch| stretch.start <= place);
        let stretch = self.stretches.get(next.checked_sub(1)?)?;
        let entry = stretch.turns().get(place - stretch.start)?;
        Some(entry.message.id.clone())
    }

    pub(super) fn has_results(&self) -> bool {
        self.history.has_results()
    }

    /// The chain that the next request continues.
    pub(crate) fn shown(&self) -> Option<Arc<Settled>> {
        self.shown.chain().cloned()
    }

    /// The history as figures, and its replay up to its end. The history must be given
    /// back.
    pub(crate) fn replayed(&mut self, terms: &Terms) -> (History, Replay) {
        let history = std::mem::take(&mut self.history);
        let (mut replay, from) = match &self.replay {
            Some((old, replay, upto)) if old == terms && *upto <= history.len() => (*replay, *upto),
            _ => (Replay::new(terms), 0),
        };
        replay.play(&history, from, terms);
        self.replay = Some((*terms, replay, history.len()));
        (history, replay)
    }

    /// Takes the history back.
    pub(crate) fn keep(&mut self, history: History) {
        self.history = history;
    }

    /// Shows every turn as it is.
    pub(crate) fn show_all(&mut self, brief: &Brief<'_>) {
        let history = std::mem::take(&mut self.history);
        let mut shown = std::mem::take(&mut self.shown);
        shown.update(self, brief, &history, (Loss::default(), None));
        self.shown = shown;
        self.history = history;
    }

    /// Shows what is left of the turns.
    pub(crate) fn show(
        &mut self,
        brief: &Brief<'_>,
        history: &History,
        loss: Loss,
        terms: &Terms,
    ) -> &Shown {
        let mut shown = std::mem::take(&mut self.shown);
        shown.update(self, brief, history, (loss, Some(*terms)));
        self.shown = shown;
        &self.shown
    }

    /// Settles the next messages of the source, of which nothing can change any more.
    pub(super) fn settle(self: Box<Self>, brief: &Brief<'_>, source: &[Entry]) -> Box<Self> {
        let mut first = Some(self);
        let prior = if first.as_ref().is_some_and(|prior| prior.stretches.is_empty()) {
            None
        } else {
            first.take()
        };
        let mut draft = Draft { entries: source.to_vec(), prior, ..Draft::default() };
        let made = Stretched::of(brief, &mut draft);
        let mut prior = draft.prior.take().or(first).unwrap_or_default();
        if let Ok(made) = made {
            let carriers = std::mem::take(&mut draft.carriers);
            prior.add(brief, (made, carriers), draft.used.take(), source);
        }
        prior
    }

    fn add(
        &mut self,
        brief: &Brief<'_>,
        (made, carriers): (Stretched, Carriers),
        used: Option<HashMap<CallId, usize>>,
        source: &[Entry],
    ) {
        let held = held_places(brief, &made.turns, false);
        let before = self.history.end();
        let start = self.history.len();
        let mut tokens = Spent::default();
        let mut elements = (0, None);
        for (place, entry) in made.turns.iter().enumerate() {
            let cost = cost(brief, &entry.message);
            match entry.provenance {
                Provenance::Summary => tokens.summary += cost.whole,
                Provenance::Element(_) => {
                    tokens.context += cost.whole;
                    elements = (elements.0 + 1, elements.1.or(Some(start + place)));
                }
                _ if entry.message.role() == Role::System => {
                    tokens.system += system_cost(brief, &entry.message);
                }
                _ => tokens.history += cost.whole,
            }
            self.history.push(Kind::of(entry, held.contains(&place)), cost);
        }
        let mut turns = made.turns.clone();
        let carried = carry(brief, &carriers, &mut turns);
        let uncarried = carried.is_changed.then_some(made.turns);
        let Ok(link) = Link::check(brief.requires, turns) else {
            self.history.cut_back(before);
            return;
        };
        match used {
            Some(used) => {
                self.has_renamed |= used.values().any(|&next| next > 2);
                self.used.extend(used);
            }
            None => {
                let calls = link.entries().iter().flat_map(|entry| entry.message.calls());
                self.used.extend(calls.map(|call| (call.id.clone(), 2)));
            }
        }
        for call in source.iter().flat_map(|entry| entry.message.calls()) {
            if !self.used.contains_key(&call.id) {
                self.unshown.insert(call.id.clone());
            }
        }
        let stretch = Stretch {
            n_source: source.len(),
            n_filtered: made.n_filtered,
            n_repaired: made.n_repaired,
            systems: made.systems,
            link,
            uncarried,
            carriers,
            carried: carried.findings,
            start,
            before,
            tokens,
            elements,
            filtered: made.filtered,
            repaired: made.repaired,
            altered: None,
        };
        self.totals.add(&stretch);
        self.stretches.push(stretch);
    }

    /// How many messages of the source are settled.
    pub(super) fn n_source(&self) -> usize {
        self.totals.n_source
    }

    /// Gives up the last stretches.
    pub(super) fn unsettle(&mut self, n: usize) {
        let left = self.stretches.len().saturating_sub(n);
        // Which id a call got depends on everything before it.
        if left == 0 || self.has_renamed {
            *self = Self::default();
            return;
        }
        self.history.cut_back(self.stretches[left].before);
        for stretch in self.stretches.drain(left..) {
            for call in stretch.link.entries().iter().flat_map(|entry| entry.message.calls()) {
                self.used.remove(&call.id);
            }
        }
        self.replay = None;
        self.shown = Shown::default();
        self.totals = Totals::default();
        for stretch in &self.stretches {
            self.totals.add(stretch);
        }
    }
}

/// A stretch on its way through the steps.
struct Stretched {
    turns: Vec<Entry>,
    systems: Vec<(Entry, bool)>,
    n_filtered: usize,
    n_repaired: usize,
    filtered: Findings,
    repaired: Findings,
}

impl Stretched {
    fn of(brief: &Brief<'_>, draft: &mut Draft) -> Result<Self, Error> {
        let (mut filtered, mut repaired) = (Findings::default(), Findings::default());
        filter::run(brief, draft, &mut filtered)?;
        let n_filtered = draft.entries.len();
        repair::run(brief, draft, &mut repaired)?;
        let n_repaired = draft.entries.len();
        let mut is_at_head = draft.prior.is_none();
        if let Some(kept) = brief.memory.kept {
            insert(kept, draft, is_at_head);
        }
        let (mut turns, mut systems) = (Vec::with_capacity(draft.entries.len()), Vec::new());
        for entry in std::mem::take(&mut draft.entries) {
            let is_system = entry.message.role() == Role::System;
            is_at_head &= is_system;
            if is_system && (is_at_head || !stays_in_place(brief, &entry)) {
                systems.push((entry, is_at_head));
            } else {
                turns.push(entry);
            }
        }
        Ok(Self { turns, systems, n_filtered, n_repaired, filtered, repaired })
    }
}
