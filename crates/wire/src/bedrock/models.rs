//! What is known of models, by their names.

/// Whether a model refuses everything else beside results.
pub(super) fn results_stand_alone(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    ["llama", "mistral", "mixtral", "pixtral"].iter().any(|name| model.contains(name))
}
