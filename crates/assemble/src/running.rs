//! A session's requests, each made from the one before.

mod border;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use interleaf_model::{CallId, Entry, Message, MessageId, Provenance, Role, Settled};

use self::border::border;
use crate::assemble::assemble_draft;
use crate::draft::{Draft, Prior};
use crate::{
    Agent, Assembly, Error, Input, MissingResult, OpenBlock, Outcome, Rule, Step, assemble,
};

/// Fewer messages than this are not worth a link of their own.
const SMALLEST_LINK: usize = 16;

/// A conversation that grows, and the requests made from it.
///
/// Turns that no later message can change are settled: they go through the steps
/// once, and a request continues them. The outcome is the same as that of
/// [`assemble`] on the whole view; the work is that of the messages at its end.
/// Where a request cannot be made so (a summary, a request over its budget, a rule
/// that puts the block at the head, a call id that occurs again) it is made from the
/// whole view.
#[derive(Default)]
pub struct Running {
    /// Every visible message, in order.
    all: Vec<Arc<Message>>,
    /// How many of them are settled.
    n_settled: usize,
    prior: Option<Arc<Prior>>,
    /// For whom the settled turns were made.
    made_for: (Agent, MissingResult),
    /// Every call id so far.
    calls: HashSet<CallId>,
    /// A call id was used twice: which is renamed hangs on all that came before, so
    /// nothing settles any more.
    reused: bool,
    /// The ids of settled calls. Should a result for one come now, the settled turns
    /// do not hold.
    settled_calls: HashSet<CallId>,
}

impl Running {
    /// A conversation in which nothing has been said.
    pub fn new() -> Self {
        Self::default()
    }

    /// The conversation with these visible messages: the start of a session, or what
    /// an operation has left of it.
    pub fn of(view: impl IntoIterator<Item = Arc<Message>>) -> Self {
        let mut running = Self::new();
        view.into_iter().for_each(|message| running.append(message));
        running
    }

    /// Takes in the next message.
    pub fn append(&mut self, message: impl Into<Arc<Message>>) {
        let message: Arc<Message> = message.into();
        for call in message.calls() {
            self.reused |= !self.calls.insert(call.id.clone());
        }
        let late = message.as_result().is_some_and(|r| self.settled_calls.contains(&r.call));
        self.all.push(message);
        if late || self.reused {
            self.unsettle();
        }
    }

    /// Makes a request. The view of `input` is not looked at.
    ///
    /// # Errors
    /// As [`assemble`].
    pub fn assemble(&mut self, input: &Input<'_>) -> Result<Assembly, Error> {
        let made_for = (input.settings.agent.clone(), input.settings.missing_result);
        if self.made_for != made_for {
            self.unsettle();
            self.made_for = made_for;
        }
        if self.reused || !can_continue(input) {
            return self.assemble_whole(input);
        }
        let own = Input { view: Vec::new(), previous: None, ..input.clone() };
        let mut draft = Draft::of(&self.all[self.n_settled..]);
        draft.prior = self.prior.clone();
        let mut repaired: Vec<Entry> = Vec::new();
        let assembly = assemble_draft(&own, draft, &mut |step, entries| {
            if step == Step::Repair {
                repaired = entries.to_vec();
            }
        });
        let fits = assembly.as_ref().is_ok_and(|assembly| self.is_faithful(assembly, &repaired));
        if self.prior.is_some() && !fits {
            self.unsettle();
            return self.assemble_whole(input);
        }
        if let Ok(Assembly { outcome: Outcome::Ready(prompt), .. }) = &assembly {
            let block = prompt.context().is_some();
            self.settle(input, block, &repaired);
        }
        assembly
    }

    fn assemble_whole(&self, input: &Input<'_>) -> Result<Assembly, Error> {
        assemble(&Input { view: self.all.clone(), ..input.clone() })
    }

    fn unsettle(&mut self) {
        self.n_settled = 0;
        self.prior = None;
        self.settled_calls.clear();
    }

    /// Whether what was made of the end alone is what would be made of the whole.
    fn is_faithful(&self, assembly: &Assembly, repaired: &[Entry]) -> bool {
        let shortened = assembly
            .report
            .steps
            .iter()
            .any(|step| step.step == Step::Fit && !step.findings.is_empty());
        // Somewhere at the end a turn of the user's must show where the running loop began.
        let asked = |entry: &Entry| entry.message.role() == Role::User;
        !shortened && (assembly.report.placement.is_some() || repaired.iter().any(asked))
    }

    /// Settles the turns before the border, if there are enough of them.
    fn settle(&mut self, input: &Input<'_>, has_block: bool, repaired: &[Entry]) {
        let Some(border) = border(&input.settings.rule, has_block, repaired) else { return };
        let Some(n_raw) = self.raw_before(border, repaired) else { return };
        let (system, turns): (Vec<Entry>, Vec<Entry>) = repaired[..border]
            .iter()
            .cloned()
            .partition(|entry| entry.message.role() == Role::System);
        if turns.len() < SMALLEST_LINK {
            return;
        }
        let cost = |entry: &Entry| input.ledger.map_or(0, |ledger| ledger.message(&entry.message));
        let tokens: u64 = turns.iter().map(cost).sum();
        let (earlier, mut all_system, before) = match &self.prior {
            Some(prior) => (Some(prior.settled.clone()), prior.system.clone(), prior.tokens),
            None => (None, Vec::new(), 0),
        };
        all_system.extend(system);
        let calls = turns.iter().flat_map(|entry| entry.message.calls());
        let calls: Vec<CallId> = calls.map(|call| call.id.clone()).collect();
        if let Ok(settled) = Settled::check(earlier, turns) {
            let tokens = before + tokens;
            self.prior = Some(Arc::new(Prior { settled, system: all_system, tokens }));
            self.n_settled += n_raw;
            self.settled_calls.extend(calls);
        }
    }

    /// How many of the messages behind the settled ones stand before the border; none,
    /// if one of them stands on the other side now.
    fn raw_before(&self, border: usize, repaired: &[Entry]) -> Option<usize> {
        let raw = &self.all[self.n_settled..];
        let mut places: HashMap<&MessageId, usize> = HashMap::with_capacity(raw.len());
        for (place, message) in raw.iter().enumerate() {
            if places.insert(&message.id, place).is_some() {
                return None;
            }
        }
        let place = |entry: &Entry| places.get(&entry.message.id).copied();
        let n_raw = place(&repaired[border])?;
        let mut known = HashSet::new();
        let stays = repaired.iter().enumerate().all(|(at, entry)| match place(entry) {
            Some(place) => known.insert(place) && (place < n_raw) == (at < border),
            // What was made stands with the message that it was made for.
            None => entry.provenance == Provenance::Made,
        });
        stays.then_some(n_raw)
    }
}

/// Whether requests of this kind can be made from their end.
fn can_continue(input: &Input<'_>) -> bool {
    let rule = match input.settings.rule {
        Rule::AfterToolResult(_) | Rule::BeforeAssistant(_) | Rule::FromEnd(_) | Rule::Tail => true,
        Rule::AfterSystem | Rule::Custom(_) => false,
    };
    // What a sub-agent hears hangs on whether any message is its own.
    rule && input.settings.agent == Agent::Main
        && input.summary.is_none()
        && input.previous.is_none()
        && input.settings.open_block == OpenBlock::Mend
}
