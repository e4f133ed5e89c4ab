//! Which call a result answers.

use interleaf_model::CallId;
use smol_str::format_smolstr;

/// The calls that wait for their results, in order.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    content_idx: usize,
    name: String,
    id: CallId,
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
type Way = dyn Fn(&[Call], &Answer<'_>) -> Option<usize>;

impl Waiting {
    /// Notes a call, and gives the id it came with or one made from its place.
    pub(super) fn call(
        &mut self,
        given: Option<&str>,
        name: &str,
        place: (usize, usize),
    ) -> Result<CallId, interleaf_model::Error> {
        let id = id(given, place)?;
        self.calls.push(Call { content_idx: place.0, name: name.to_owned(), id: id.clone() });
        Ok(id)
    }

    /// The calls that the results of one content answer: those of their ids, then the
    /// first of their names in the newest content that has one, then those that are left
    /// in the newest content. A result of no call keeps its id, or gets one from its
    /// place.
    pub(super) fn answer(
        &mut self,
        answers: &[Answer<'_>],
    ) -> Result<Vec<CallId>, interleaf_model::Error> {
        let newest = self.calls.last().map(|call| call.content_idx);
        let mut found: Vec<Option<CallId>> = vec![None; answers.len()];
        let by_id = |calls: &[Call], answer: &Answer<'_>| {
            calls.iter().position(|call| answer.id == Some(call.id.as_str()))
        };
        let by_name = |calls: &[Call], answer: &Answer<'_>| {
            let content_idx = calls.iter().rfind(|call| call.name == answer.name)?.content_idx;
            let is_it = |call: &Call| call.name == answer.name && call.content_idx == content_idx;
            calls.iter().position(is_it)
        };
        let by_order = move |calls: &[Call], _: &Answer<'_>| {
            calls.iter().position(|call| Some(call.content_idx) == newest)
        };
        let ways: [&Way; 3] = [&by_id, &by_name, &by_order];
        for way in ways {
            for (answer, found) in answers.iter().zip(&mut found).filter(|(_, id)| id.is_none()) {
                *found = way(&self.calls, answer).map(|i| self.calls.remove(i).id);
            }
        }
        let ids = answers.iter().zip(found);
        ids.map(|(answer, found)| found.map_or_else(|| id(answer.id, answer.place), Ok)).collect()
    }
}

/// The same place always gives the same id, so that every request built from the same
/// history has the same bytes.
fn id(
    given: Option<&str>,
    (content_idx, part_idx): (usize, usize),
) -> Result<CallId, interleaf_model::Error> {
    match given {
        Some(given) => CallId::new(given),
        None => CallId::new(format_smolstr!("call_{content_idx}_{part_idx}")),
    }
}
