//! The fields at the top of a body. The API refuses those that it does not know.

use super::Field;
use super::rules::KNOWN_FIELDS;
use crate::Vendor;
use crate::gemini::wire::is_name;
use crate::lint::Faults;
use crate::tree::{Value, step};

/// Those of the Gemini API (<https://ai.google.dev/api/generate-content>, and
/// <https://ai.google.dev/gemini-api/docs/logs-datasets> for `store`) and of Vertex AI
/// (`GenerateContentRequest` of `google.cloud.aiplatform.v1`).
const KNOWN: [&str; 12] = [
    "cachedContent",
    "contents",
    "generationConfig",
    "labels",
    "model",
    "modelArmorConfig",
    "safetySettings",
    "serviceTier",
    "store",
    "systemInstruction",
    "toolConfig",
    "tools",
];

/// Whether a vendor takes a field of this name at the top of a body.
pub(in crate::gemini) fn is_known(name: &str, vendor: &Vendor) -> bool {
    !vendor.quirks.known_fields || KNOWN.iter().any(|known| is_name(name, known))
}

pub(super) fn check(body: &Field<'_>, vendor: &Vendor, faults: &mut Faults) {
    let Value::Object(fields) = body.value else { return };
    for (name, _) in fields.iter().filter(|(name, _)| !is_known(name, vendor)) {
        faults.add(&KNOWN_FIELDS, format!("/{}", step(name)), "");
    }
}
