//! The contents, each for itself.

use super::rules::*;
use super::settings::names_gemini_3;
use super::{Field, pairing, parts};
use crate::Vendor;
use crate::lint::Faults;

pub(super) fn check(body: &Field<'_>, vendor: &Vendor, faults: &mut Faults) {
    if let Some(system) = body.get("systemInstruction") {
        let texts = system.list("parts");
        if texts.is_empty() {
            faults.add(&SYSTEM_TEXT, system.at.clone(), "it has no parts");
        }
        for part in texts.iter().filter(|part| part.text("text").is_none()) {
            faults.add(&SYSTEM_TEXT, part.at.clone(), "it is not text");
        }
    }
    let contents: Vec<Content<'_>> = body.list("contents").into_iter().map(Content::of).collect();
    if contents.is_empty() {
        faults.add(&CONTENTS, format!("{}/contents", body.at), "");
    }
    for content in &contents {
        content.check(vendor, faults);
    }
    pairing::check(&contents, faults);
    if names_gemini_3(body) {
        pairing::check_signatures(&contents, faults);
    }
}

pub(super) struct Content<'v> {
    pub(super) field: Field<'v>,
    pub(super) is_model: bool,
    pub(super) parts: Vec<Field<'v>>,
    pub(super) calls: Vec<Field<'v>>,
    pub(super) responses: Vec<Field<'v>>,
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
        let role = self.field.get("role");
        match role.map(|role| (role.value.as_str(), role.value, role.at)) {
            Some((Some("user" | "model"), ..)) => {}
            Some((Some("system"), _, at)) => faults.add(&NO_SYSTEM_ROLE, at, ""),
            Some((_, role, at)) => faults.add(&ROLE, at, role.to_string()),
            None if vendor.quirks.vertex => faults.add(&VERTEX_ROLE, at.clone(), ""),
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
    pub(super) fn is_question(&self) -> bool {
        !self.is_model && self.parts.len() > self.responses.len()
    }
}
