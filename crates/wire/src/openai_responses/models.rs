//! What is known of models, by their names.

use interleaf_model::Requirements;

use super::encode::instructions;
use crate::Vendor;
use crate::encode::Marking;
use crate::openai_chat::Model;

/// Whether a model thinks before every answer, so that whatever it said has its
/// reasoning item. Later models think only when they like to.
pub(super) fn always_reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let of = |family: &str, tail: &[&str]| {
        name.strip_prefix(family)
            .is_some_and(|rest| rest.is_empty() || tail.iter().any(|tail| rest.starts_with(tail)))
    };
    of("o1", &["-"])
        || of("o3", &["-"])
        || of("o4-mini", &["-"])
        || of("gpt-5", &["-mini", "-nano", "-codex", "-pro", "-20"])
}

/// The API takes a conversation as it is.
pub(super) fn requirements(_vendor: &Vendor, _model: &str) -> Requirements {
    Requirements::NONE
}

/// `instructions` take no mark. Whoever serves this API with one of OpenAI's models is OpenAI
/// or Azure.
pub(super) fn marking(_vendor: &Vendor, model: &str) -> Marking {
    match Model::named(model).takes_marks() {
        true => Marking::Inputs { first_is_apart: |first| instructions(first).is_some() },
        false => Marking::Nothing,
    }
}
