//! Which call a result answers.

use std::collections::{HashMap, VecDeque};

use interleaf_model::CallId;
use smol_str::SmolStr;

use crate::made_id::by_place;

/// The calls so far, and which of them wait for their results.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    calls: Vec<Call>,
    /// The calls by their numbers, the first one first: of an id, of a turn, of a name
    /// turn by turn. What is answered leaves when it comes to the front.
    by_id: HashMap<CallId, VecDeque<usize>>,
    by_turn: HashMap<usize, VecDeque<usize>>,
    by_name: HashMap<SmolStr, Vec<VecDeque<usize>>>,
    /// All of them; the newest is the last.
    newest: Vec<usize>,
}

#[derive(Debug)]
struct Call {
    content_idx: usize,
    /// The first content of the model's turn: contents with calls in a row are one.
    turn_idx: usize,
    id: CallId,
    is_answered: bool,
}

/// A result that looks for its call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer<'n> {
    /// The id that it came with.
    pub(super) id: Option<&'n str>,
    /// The function; may be empty.
    pub(super) name: &'n str,
    /// The content and the part.
    pub(super) place: (usize, usize),
}

/// How a result finds its call among those that wait.
#[derive(Debug, Clone, Copy)]
enum Way {
    Id,
    Name,
    Order,
}

impl Waiting {
    /// Notes a call, and gives the id it came with or one made from its place.
    pub(super) fn call(
        &mut self,
        given: Option<&str>,
        name: &str,
        place: (usize, usize),
    ) -> Result<CallId, interleaf_model::Error> {
        let id = id(given, place)?;
        let (number, content_idx) = (self.calls.len(), place.0);
        let before = self.calls.last().filter(|before| content_idx <= before.content_idx + 1);
        let turn_idx = before.map_or(content_idx, |before| before.turn_idx);
        self.by_id.entry(id.clone()).or_default().push_back(number);
        self.by_turn.entry(turn_idx).or_default().push_back(number);
        let turns = self.by_name.entry(SmolStr::new(name)).or_default();
        let newest = turns.last().and_then(|queue| queue.back());
        if newest.is_none_or(|&before| self.calls[before].turn_idx != turn_idx) {
            turns.push(VecDeque::new());
        }
        turns.last_mut().into_iter().for_each(|queue| queue.push_back(number));
        self.newest.push(number);
        self.calls.push(Call { content_idx, turn_idx, id: id.clone(), is_answered: false });
        Ok(id)
    }

    /// The calls that the results of one content answer: those of their ids, then the
    /// first of their names in the newest turn that has one, then those that are left in
    /// the newest turn. A result of no call keeps its id, or gets one from its
    /// place.
    pub(super) fn answer(
        &mut self,
        answers: &[Answer<'_>],
    ) -> Result<Vec<CallId>, interleaf_model::Error> {
        let is_answered = |number: &mut usize| self.calls[*number].is_answered;
        while self.newest.pop_if(is_answered).is_some() {}
        let newest = self.newest.last().map(|&number| self.calls[number].turn_idx);
        let mut found: Vec<Option<CallId>> = vec![None; answers.len()];
        for way in [Way::Id, Way::Name, Way::Order] {
            for (answer, found) in answers.iter().zip(&mut found).filter(|(_, id)| id.is_none()) {
                let Some(number) = self.find(way, answer, newest) else { continue };
                let call = &mut self.calls[number];
                call.is_answered = true;
                *found = Some(call.id.clone());
            }
        }
        let ids = answers.iter().zip(found);
        ids.map(|(answer, found)| found.map_or_else(|| id(answer.id, answer.place), Ok)).collect()
    }

    fn find(&mut self, way: Way, answer: &Answer<'_>, newest: Option<usize>) -> Option<usize> {
        match way {
            Way::Id => {
                let id = CallId::new(answer.id?).ok()?;
                first(self.by_id.get_mut(&id)?, &self.calls)
            }
            Way::Name => {
                let turns = self.by_name.get_mut(answer.name)?;
                while let Some(queue) = turns.last_mut() {
                    if let Some(number) = first(queue, &self.calls) {
                        return Some(number);
                    }
                    turns.pop();
                }
                None
            }
            Way::Order => first(self.by_turn.get_mut(&newest?)?, &self.calls),
        }
    }
}

/// The first call of a queue that waits.
fn first(queue: &mut VecDeque<usize>, calls: &[Call]) -> Option<usize> {
    while queue.front().is_some_and(|&number| calls[number].is_answered) {
        queue.pop_front();
    }
    queue.front().copied()
}

/// The same place always gives the same id, so that every request built from the same
/// history has the same bytes.
fn id(
    given: Option<&str>,
    (content_idx, part_idx): (usize, usize),
) -> Result<CallId, interleaf_model::Error> {
    match given {
        Some(given) => CallId::new(given),
        None => CallId::new(by_place(content_idx, part_idx)),
    }
}
