//! Calls and their results, turn by turn.

use std::collections::HashSet;

use super::Field;
use super::messages::Content;
use super::rules::*;
use crate::lint::Faults;

pub(super) fn check(contents: &[Content<'_>], faults: &mut Faults) {
    // The API joins neighbours of one role before it looks at their order.
    let turns: Vec<Turn<'_>> =
        contents.chunk_by(|a, b| a.is_model == b.is_model).map(Turn).collect();
    for (i, turn) in turns.iter().enumerate() {
        turn.check(i.checked_sub(1).map(|before| turns[before]), turns.get(i + 1), faults);
    }
}

/// Neighbouring contents of one role.
#[derive(Clone, Copy)]
struct Turn<'t>(&'t [Content<'t>]);

impl<'t> Turn<'t> {
    fn is_model(&self) -> bool {
        self.0.iter().any(|content| content.is_model)
    }

    fn calls(&self) -> impl Iterator<Item = &'t Field<'t>> {
        self.0.iter().filter(|content| content.is_model).flat_map(|content| &content.calls)
    }

    fn responses(&self) -> impl Iterator<Item = &'t Field<'t>> {
        self.0.iter().filter(|content| !content.is_model).flat_map(|content| &content.responses)
    }

    fn at(&self) -> String {
        self.0.first().map(|content| content.field.at.clone()).unwrap_or_default()
    }

    fn check(&self, before: Option<Self>, after: Option<&Self>, faults: &mut Faults) {
        let n_calls = self.calls().count();
        if n_calls > 0 {
            if before.is_none() {
                faults.add(&CALL_ORDER, self.at(), "");
            }
            let n_responses = after.map_or(0, |after| after.responses().count());
            if n_calls != n_responses {
                let detail = format!("calls: {n_calls}, results: {n_responses}");
                faults.add(&RESPONSE_COUNT, after.unwrap_or(self).at(), detail);
            }
        }
        if self.is_model() || self.responses().next().is_none() {
            return;
        }
        match before {
            Some(before) if before.calls().next().is_some() => self.check_pairs(&before, faults),
            _ => faults.add(&RESPONSE_ORDER, self.at(), ""),
        }
    }

    /// The results against the calls that they answer.
    fn check_pairs(&self, before: &Self, faults: &mut Faults) {
        // Each call is answered once.
        let mut called: Vec<&str> = before.calls().filter_map(|call| call.text("name")).collect();
        let ids: HashSet<Option<&str>> = before.calls().map(|call| call.text("id")).collect();
        for response in self.responses() {
            let name = response.text("name").unwrap_or_default();
            match called.iter().position(|call| *call == name) {
                Some(i) => {
                    called.swap_remove(i);
                }
                None if name.is_empty() => {}
                None => {
                    let at = format!("{}/name", response.at);
                    faults.add(&RESPONSE_NAME_MATCH, at, format!("no call of {name:?}"));
                }
            }
            if let Some(id) = response.get("id")
                && !(id.value.is_string() && ids.contains(&id.value.as_str()))
            {
                faults.add(&RESPONSE_ID, id.at, "");
            }
        }
    }
}

pub(super) fn check_signatures(contents: &[Content<'_>], faults: &mut Faults) {
    let newest = contents.iter().rposition(Content::is_question).unwrap_or(0);
    for content in contents[newest..].iter().filter(|content| content.is_model) {
        let first = content.parts.iter().find(|part| part.get("functionCall").is_some());
        if let Some(first) = first
            && first.get("thoughtSignature").is_none()
        {
            faults.add(&SIGNATURE, first.at.clone(), "");
        }
    }
}
