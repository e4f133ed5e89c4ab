//! The order of the turns.

use super::rules::*;
use super::settings::names_gemini_3;
use super::{Field, parts};
use crate::Vendor;
use crate::lint::Faults;

pub(super) fn check(body: &Field<'_>, vendor: &Vendor, faults: &mut Faults) {
    if let Some(system) = body.get("systemInstruction") {
        let texts = system.list("parts");
        if texts.is_empty() {
            faults.add(&SYSTEM_TEXT, system.at.clone(), "it has no parts");
        }
        for part in texts.iter().filter(|part| part.text("text").is_none()) {
            faults.add(&SYSTEM_TEXT, part.at.clone(), "it is no text");
        }
    }
    let contents: Vec<Content<'_>> = body.list("contents").into_iter().map(Content::of).collect();
    if contents.is_empty() {
        faults.add(&CONTENTS, format!("{}/contents", body.at), "");
    }
    for content in &contents {
        content.check(vendor, faults);
    }
    // The API joins neighbours of one role before it looks at their order.
    let turns: Vec<Turn<'_>> =
        contents.chunk_by(|a, b| a.is_model == b.is_model).map(Turn).collect();
    for (i, turn) in turns.iter().enumerate() {
        turn.check(i.checked_sub(1).map(|before| turns[before]), turns.get(i + 1), faults);
    }
    if let Some(last) = contents.last()
        && last.is_model
    {
        faults.add(&ENDS_WITH_USER, last.field.at.clone(), "");
    }
    if names_gemini_3(body) {
        check_signatures(&contents, faults);
    }
}

struct Content<'v> {
    field: Field<'v>,
    is_model: bool,
    parts: Vec<Field<'v>>,
    calls: Vec<Field<'v>>,
    responses: Vec<Field<'v>>,
}

impl<'v> Content<'v> {
    fn of(field: Field<'v>) -> Self {
        let parts = field.list("parts");
        let of = |name| parts.iter().filter_map(|part| part.get(name)).collect();
        Self {
            is_model: field.text("role") == Some("model"),
            calls: of("functionCall"),
            responses: of("functionResponse"),
            parts,
            field,
        }
    }

    fn check(&self, vendor: &Vendor, faults: &mut Faults) {
        let at = &self.field.at;
        match self.field.get("role").map(|role| (role.value.as_str(), role.at)) {
            Some((Some("user" | "model"), _)) => {}
            Some((Some("system"), at)) => faults.add(&NO_SYSTEM_ROLE, at, ""),
            Some((role, at)) => faults.add(&ROLE, at, format!("{role:?}")),
            None if vendor.name == "vertex" => faults.add(&VERTEX_ROLE, at.clone(), ""),
            None => {}
        }
        if self.parts.is_empty() {
            faults.add(&PARTS, format!("{at}/parts"), "");
        }
        for part in &self.parts {
            parts::check(part, faults);
        }
        if !self.is_model {
            for call in &self.calls {
                faults.add(&CALL_IN_MODEL_TURN, call.at.clone(), "");
            }
        } else {
            for response in &self.responses {
                faults.add(&RESPONSE_IN_USER_TURN, response.at.clone(), "");
            }
        }
    }

    /// Whether the user says something here, or only tools do.
    fn is_question(&self) -> bool {
        !self.is_model && self.parts.len() > self.responses.len()
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
            let n_responses = after.map_or(n_calls, |after| after.responses().count());
            if let Some(after) = after
                && n_calls != n_responses
            {
                let detail = format!("calls: {n_calls}, results: {n_responses}");
                faults.add(&RESPONSE_COUNT, after.at(), detail);
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
        for response in self.responses() {
            let name = response.text("name").unwrap_or_default();
            if !name.is_empty() && !before.calls().any(|call| call.text("name") == Some(name)) {
                let at = format!("{}/name", response.at);
                faults.add(&RESPONSE_NAME_MATCH, at, format!("no call of {name:?}"));
            }
            if let Some(id) = response.get("id")
                && !before.calls().any(|call| call.text("id") == id.value.as_str())
            {
                faults.add(&RESPONSE_ID, id.at, "");
            }
        }
    }
}

fn check_signatures(contents: &[Content<'_>], faults: &mut Faults) {
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
