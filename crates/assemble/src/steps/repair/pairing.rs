//! Which result answers which call.

use std::collections::HashMap;

use interleaf_model::{CallId, Entry, Role};

use crate::finding::Findings;
use crate::{Cause, Change};

/// What answers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The result at this position.
    At(usize),
    /// Nothing.
    Missing,
}

/// The pairs of calls and results in a draft.
pub(super) struct Pairing {
    /// For each position the answers to its calls, in their order.
    answers: HashMap<usize, Vec<Answer>>,
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

/// A call that was made: where, and the how-manyeth of its message.
type Made = (usize, usize);

impl Pairing {
    /// Pairs the results with the calls.
    ///
    /// A result belongs to the nearest message before it with an unanswered call of
    /// its id; within that message to the first such call. A run of results that
    /// stands directly before its message belongs to it, if nothing better does.
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut pairing = Self {
            answers: HashMap::new(),
            results: vec![Fate::NotAResult; entries.len()],
            last_opener: None,
        };
        let mut made: HashMap<&CallId, Vec<Made>> = HashMap::new();
        for (position, entry) in entries.iter().enumerate() {
            for (n, call) in entry.message.calls().enumerate() {
                made.entry(&call.id).or_default().push((position, n));
                pairing.answers.entry(position).or_default().push(Answer::Missing);
                pairing.last_opener = Some(position);
            }
            if let Some(result) = entry.message.as_result() {
                let calls = made.get(&result.call).map_or(&[][..], Vec::as_slice);
                pairing.results[position] = pairing.claim(position, calls);
            }
        }
        pairing.claim_runs_before(entries);
        pairing.note_moves(entries);
        pairing
    }

    /// Gives the result at `position` to one of the calls made so far.
    fn claim(&mut self, position: usize, calls: &[Made]) -> Fate {
        let answers = &mut self.answers;
        let waits = |&&(opener, n): &&Made| {
            answers.get(&opener).is_some_and(|answers| answers[n] == Answer::Missing)
        };
        // The nearest message, and in it the first call.
        let nearest = calls.iter().rev().find(waits).map(|&(opener, _)| opener);
        let first = calls.iter().filter(waits).find(|&&(opener, _)| Some(opener) == nearest);
        match first.copied() {
            Some((opener, n)) => {
                if let Some(answers) = answers.get_mut(&opener) {
                    answers[n] = Answer::At(position);
                }
                Fate::InPlace
            }
            None if calls.is_empty() => Fate::NoCall,
            None => Fate::Second,
        }
    }

    /// A run of results that stands directly before the message that calls them was
    /// swapped with it.
    fn claim_runs_before(&mut self, entries: &[Entry]) {
        for (opener, entry) in entries.iter().enumerate() {
            if !entry.message.has_calls() {
                continue;
            }
            let run = (0..opener).rev().take_while(|&p| entries[p].message.role() == Role::Tool);
            let mut run: Vec<usize> = run.collect();
            run.reverse();
            for position in run {
                let Some(result) = entries[position].message.as_result() else { continue };
                if self.results[position] != Fate::NoCall {
                    continue;
                }
                let calls = entry.message.calls().enumerate();
                let calls = calls.filter(|(_, call)| call.id == result.call);
                let calls: Vec<Made> = calls.map(|(n, _)| (opener, n)).collect();
                if self.claim(position, &calls) == Fate::InPlace {
                    self.results[position] = Fate::InPlace;
                }
            }
        }
    }

    /// Tells the results that stand right behind their message, in the order of its
    /// calls, from those that have to move there.
    fn note_moves(&mut self, entries: &[Entry]) {
        // Dropped results and made ones leave no gap: what counts is the order of the
        // messages that stay.
        let stays = |fate: Fate| matches!(fate, Fate::NotAResult | Fate::InPlace);
        let mut before: Vec<Option<usize>> = vec![None; entries.len()];
        let mut last = None;
        for (position, &fate) in self.results.iter().enumerate() {
            before[position] = last;
            if stays(fate) {
                last = Some(position);
            }
        }
        for (&opener, answers) in &self.answers {
            let mut expected = opener;
            for answer in answers {
                let Answer::At(at) = *answer else { continue };
                if before[at] != Some(expected) {
                    self.results[at] = Fate::Moves;
                }
                expected = at;
            }
        }
    }

    /// The answers to the calls of the message at this position.
    pub(super) fn answers(&self, position: usize) -> &[Answer] {
        self.answers.get(&position).map_or(&[], Vec::as_slice)
    }

    /// Whether the result at this position has to move to its call.
    pub(super) fn moved(&self, position: usize) -> bool {
        self.results[position] == Fate::Moves
    }

    /// Whether the message at this position is the last one with calls.
    pub(super) fn is_last_block(&self, position: usize) -> bool {
        self.last_opener == Some(position)
    }

    /// The calls that may still be answered: those without a result in the last
    /// block, if nothing but results has come since.
    pub(super) fn open_at_end(&self, entries: &[Entry]) -> Vec<CallId> {
        let Some(opener) = self.last_opener else { return Vec::new() };
        if entries[opener + 1..].iter().any(|entry| entry.message.role() != Role::Tool) {
            return Vec::new();
        }
        let calls = entries[opener].message.calls().zip(self.answers(opener));
        let open = calls.filter(|(_, answer)| **answer == Answer::Missing);
        open.map(|(call, _)| call.id.clone()).collect()
    }

    /// Reports the results that answer nothing.
    pub(super) fn report_unused(&self, entries: &[Entry], findings: &mut Findings) {
        for (fate, entry) in self.results.iter().zip(entries) {
            let cause = match fate {
                Fate::NoCall => Cause::NoCall,
                Fate::Second => Cause::SecondResult,
                Fate::NotAResult | Fate::InPlace | Fate::Moves => continue,
            };
            findings.add(Change::Dropped, &entry.message.id, cause);
        }
    }
}
