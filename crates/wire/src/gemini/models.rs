//! What the name of a model tells.

use interleaf_model::Requirements;

use crate::Vendor;

/// Whether a model is of the third generation or later, which insists on signatures.
/// A name without a generation, such as `gemini-flash-latest`, is the newest.
pub(super) fn is_gemini_3(name: &str) -> bool {
    let Some(version) = short(name).strip_prefix("gemini-") else {
        return false;
    };
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    match digits.parse::<u64>() {
        Ok(generation) => generation >= 3,
        Err(_) => is_alias(name),
    }
}

/// Whether a model is of a generation that has budgets and no levels of thinking. Of a
/// model that is not known nothing is assumed.
pub(super) fn has_only_budgets(name: &str) -> bool {
    let version = short(name).strip_prefix("gemini-");
    version.is_some_and(|version| version.starts_with(['1', '2']))
}

/// Whether a model is known not to think: those before 2.5.
pub(super) fn never_thinks(name: &str) -> bool {
    let version = short(name).strip_prefix("gemini-");
    version.is_some_and(|version| version.starts_with("1.") || version.starts_with("2.0"))
}

/// Whether a model is known to take a form of the answer beside functions: those of the
/// third generation. Of a model that is not known nothing is assumed.
pub(super) fn refuses_format_with_functions(name: &str) -> bool {
    has_only_budgets(name)
}

/// Whether two names are of one model, as far as can be told.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    let unknown = |name: &str| name.is_empty() || is_alias(name);
    unknown(a) || unknown(b) || short(a) == short(b)
}

/// The name without the path before it.
pub(super) fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn is_alias(name: &str) -> bool {
    name.ends_with("-latest")
}

/// What the API asks of a request: it takes blank texts, and a last word of the model's.
pub(super) fn requirements(_vendor: &Vendor, _model: &str) -> Requirements {
    let mut asked = Requirements::STRICT;
    asked.no_blank_user = false;
    asked.no_trailing_assistant = false;
    asked
}
