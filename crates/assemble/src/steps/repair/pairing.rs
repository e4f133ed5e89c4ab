//! Which result answers which call.

use hashbrown::HashMap;

use interleaf_model::{CallId, Entry};

use crate::Cause;

/// The pairs of calls and results in a draft.
pub(crate) struct Pairing {
    /// All calls of the draft in order: the position of the result that answers each.
    answers: Vec<Option<usize>>,
    /// For each position the number of calls before it; one more for the end.
    first_call: Vec<usize>,
    /// For each position, what became of the result there.
    results: Vec<Fate>,
    last_opener: Option<usize>,
}

/// What became of a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// There is no result here.
    NotAResult,
    /// It answers a call and stands at its place.
    InPlace,
    /// It answers a call and has to move there.
    Moves,
    /// It was never called for.
    NoCall,
    /// Its call is answered already.
    Second,
}

/// Per call id the call that its next result answers: the first one in the nearest
/// message. The other calls of that id follow it.
#[derive(Default)]
struct Waiting<'a> {
    next: HashMap<&'a CallId, Option<usize>>,
    /// For each call the one that waits after it.
    after: Vec<Option<usize>>,
}

impl Pairing {
    /// Pairs the results with the calls.
    ///
    /// A result belongs to the nearest message before it with an unanswered call of
    /// its id; within that message to the first such call. A run of results that
    /// stands directly before its message belongs to it, if nothing better does.
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let mut pairing = Self {
            answers: Vec::new(),
            first_call: Vec::with_capacity(entries.len() + 1),
            results: vec![Fate::NotAResult; entries.len()],
            last_opener: None,
        };
        let mut waiting = Waiting::default();
        for (position, entry) in entries.iter().enumerate() {
            pairing.first_call.push(pairing.answers.len());
            if let Some(result) = entry.message.as_result() {
                pairing.results[position] = match waiting.take(&result.call) {
                    Some(Some(call)) => {
                        pairing.answers[call] = Some(position);
                        Fate::InPlace
                    }
                    Some(None) => Fate::Second,
                    None => Fate::NoCall,
                };
                continue;
            }
            let first = pairing.answers.len();
            pairing.answers.extend(entry.message.calls().map(|_| None));
            if first < pairing.answers.len() {
                waiting.add(entry.message.calls().map(|call| &call.id));
                pairing.last_opener = Some(position);
            }
        }
        pairing.first_call.push(pairing.answers.len());
        pairing.claim_runs_before(entries);
        pairing.note_moves(entries);
        pairing
    }

    /// A run of results that stands directly before the message that calls them was
    /// swapped with it.
    fn claim_runs_before(&mut self, entries: &[Entry]) {
        for opener in 1..entries.len() {
            if self.answers(opener).is_empty() {
                continue;
            }
            let run = self.results[..opener].iter().rev();
            let run = run.take_while(|&&fate| fate != Fate::NotAResult).count();
            let is_stray = |at: &usize| self.results[*at] == Fate::NoCall;
            let strays: Vec<usize> = (opener - run..opener).filter(is_stray).collect();
            if strays.is_empty() {
                continue;
            }
            let first = self.first_call[opener];
            let mut open = Waiting::default();
            open.add(entries[opener].message.calls().map(|call| &call.id));
            for position in strays {
                let Some(result) = entries[position].message.as_result() else { continue };
                // Calls that a later result answers wait no longer.
                while let Some(Some(n)) = open.take(&result.call) {
                    if self.answers[first + n].is_none() {
                        self.answers[first + n] = Some(position);
                        self.results[position] = Fate::InPlace;
                        break;
                    }
                }
            }
        }
    }

    /// Tells the results that stand right after their message, in the order of its
    /// calls, from those that have to move there.
    fn note_moves(&mut self, entries: &[Entry]) {
        // Dropped results and made ones leave no gap: what counts is the order of the
        // messages that stay.
        let mut before: Vec<Option<usize>> = vec![None; entries.len()];
        let mut last = None;
        for (position, fate) in self.results.iter().enumerate() {
            before[position] = last;
            if matches!(fate, Fate::NotAResult | Fate::InPlace) {
                last = Some(position);
            }
        }
        for (opener, calls) in self.first_call.windows(2).enumerate() {
            let mut expected = opener;
            for &at in self.answers[calls[0]..calls[1]].iter().flatten() {
                if before[at] != Some(expected) {
                    self.results[at] = Fate::Moves;
                }
                expected = at;
            }
        }
    }

    /// For each call of the message at this position, the position of its result.
    pub(crate) fn answers(&self, position: usize) -> &[Option<usize>] {
        &self.answers[self.first_call[position]..self.first_call[position + 1]]
    }

    /// Whether the result at this position has to move to its call.
    pub(super) fn moved(&self, position: usize) -> bool {
        self.results[position] == Fate::Moves
    }

    /// The last message with calls.
    pub(super) fn last_opener(&self) -> Option<usize> {
        self.last_opener
    }

    /// Why the result at this position answers nothing, if so.
    pub(super) fn unused(&self, position: usize) -> Option<Cause> {
        match self.results[position] {
            Fate::NoCall => Some(Cause::NoCall),
            Fate::Second => Some(Cause::SecondResult),
            Fate::NotAResult | Fate::InPlace | Fate::Moves => None,
        }
    }
}

impl<'a> Waiting<'a> {
    /// Adds the calls of one message.
    fn add(&mut self, calls: impl Iterator<Item = &'a CallId>) {
        let first = self.after.len();
        let ids: Vec<&CallId> = calls.collect();
        self.after.resize(first + ids.len(), None);
        // From the last to the first, so that the first one is the next to be answered.
        for (n, id) in ids.into_iter().enumerate().rev() {
            self.after[first + n] = self.next.insert(id, Some(first + n)).flatten();
        }
    }

    /// The call that a result with this id answers, which waits no longer; nothing
    /// inside if all are answered, nothing at all if there was none.
    fn take(&mut self, id: &CallId) -> Option<Option<usize>> {
        let next = self.next.get_mut(id)?;
        let call = *next;
        if let Some(call) = call {
            *next = self.after[call];
        }
        Some(call)
    }
}
