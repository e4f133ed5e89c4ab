//! The lists of models.

use serde_json::{Value, json};

/// Some models of each vendor; any other name is taken as well.
const OPENAI: [&str; 3] = ["gpt-4o", "gpt-5.1", "o4-mini"];
const ANTHROPIC: [&str; 3] = ["claude-sonnet-4-5", "claude-opus-4-8", "claude-haiku-4-5"];
const GEMINI: [&str; 3] = ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-3-pro-preview"];

/// OpenAI's list, or one model.
pub(crate) fn openai(id: Option<&str>) -> Value {
    let model = |id: &str| json!({"id": id, "object": "model", "created": 1_735_689_600, "owned_by": "double"});
    match id {
        Some(id) => model(id),
        None => json!({"object": "list", "data": OPENAI.map(model)}),
    }
}

/// Anthropic's list, or one model.
pub(crate) fn anthropic(id: Option<&str>) -> Value {
    let model = |id: &str| json!({"type": "model", "id": id, "display_name": id, "created_at": "2025-01-01T00:00:00Z"});
    match id {
        Some(id) => model(id),
        None => {
            let (first, last) = (ANTHROPIC[0], ANTHROPIC[ANTHROPIC.len() - 1]);
            json!({"data": ANTHROPIC.map(model), "has_more": false, "first_id": first, "last_id": last})
        }
    }
}

/// Google's list, or one model.
pub(crate) fn gemini(id: Option<&str>) -> Value {
    let model = |id: &str| {
        json!({
            "name": format!("models/{id}"),
            "version": "001",
            "displayName": id,
            "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        })
    };
    match id {
        Some(id) => model(id),
        None => json!({"models": GEMINI.map(model)}),
    }
}
