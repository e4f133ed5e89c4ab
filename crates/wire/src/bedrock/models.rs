//! What is known of models, by their names.

use interleaf_model::Requirements;

use crate::Vendor;
use crate::anthropic::refuses_prefill;

/// Whether a model refuses everything else beside results.
pub(super) fn results_stand_alone(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    ["llama", "mistral", "mixtral", "pixtral"].iter().any(|name| model.contains(name))
}

/// Whether a model is known not to think.
pub(super) fn never_thinks(model: &str) -> bool {
    const PLAIN: [&str; 9] = [
        "nova-micro",
        "nova-lite-v1",
        "nova-pro",
        "nova-premier",
        "titan",
        "llama",
        "mistral",
        "command-r",
        "jamba",
    ];
    let model = model.to_ascii_lowercase();
    PLAIN.iter().any(|name| model.contains(name))
}

/// Whether a model is known to take thinking back without a signature. Claude refuses it,
/// DeepSeek R1 refuses all thinking, and of a model that is not known nothing is assumed.
pub(super) fn takes_unsigned_thinking(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    ["nova-2", "minimax"].iter().any(|name| model.contains(name))
}

/// What the API asks of a request to this model.
pub(super) fn requirements(_vendor: &Vendor, model: &str) -> Requirements {
    let mut asked = Requirements::STRICT;
    asked.no_trailing_assistant = refuses_prefill(model);
    asked
}
