//! A Gemini body as the model sees it.

use serde_json::Value;

use super::settings::int32;
use crate::asked::{Asked, Choice, Part, Piece, Role, Tool, Turn};
use crate::family::Incoming;
use crate::value::{file, image, list, text};

pub(super) fn asked(incoming: &Incoming<'_>) -> Asked {
    let body = incoming.body;
    let mut asked = Asked::new(incoming.api, incoming.model);
    let declared = list(&body["tools"]).iter().flat_map(|tool| list(&tool["functionDeclarations"]));
    asked.tools = declared.map(tool).collect();
    let system = &body["systemInstruction"];
    asked.system = match system.as_str() {
        Some(text) => vec![Piece::text(text)],
        None => parts(system).into_iter().map(Piece::of).collect(),
    };
    asked.turns = match body["contents"].as_str() {
        Some(text) => vec![Turn::new(Role::User, vec![Piece::text(text)])],
        None => list(&body["contents"]).iter().map(turn).collect(),
    };
    let config = &body["toolConfig"]["functionCallingConfig"];
    asked.choice = match text(&config["mode"]) {
        "NONE" => Choice::None,
        "ANY" => match list(&config["allowedFunctionNames"]) {
            [one] => Choice::Named(text(one).to_owned()),
            _ => Choice::Any,
        },
        _ => Choice::Auto,
    };
    let settings = &body["generationConfig"];
    asked.thinking = settings["thinkingConfig"]["includeThoughts"] == true;
    asked.max_tokens = int32(&settings["maxOutputTokens"]).map(i32::unsigned_abs).map(u64::from);
    asked
}

fn turn(content: &Value) -> Turn {
    let role = if content["role"] == "model" { Role::Assistant } else { Role::User };
    Turn::new(role, parts(content).into_iter().map(Piece::of).collect())
}

fn parts(content: &Value) -> Vec<Part> {
    list(&content["parts"]).iter().map(part).collect()
}

fn part(part: &Value) -> Part {
    let data = &part["inlineData"];
    if let Some(said) = part["text"].as_str() {
        return match part["thought"] == true {
            true => Part::Thinking(said.to_owned()),
            false => Part::Text(said.to_owned()),
        };
    }
    if data.is_object() {
        return match text(&data["mimeType"]).starts_with("image/") {
            true => image(data),
            false => file(data, data["data"].as_str()),
        };
    }
    if let Some(call) = part.get("functionCall") {
        return Part::Call {
            id: text(&call["id"]).to_owned(),
            name: text(&call["name"]).to_owned(),
            arguments: call.get("args").map_or_else(|| "{}".to_owned(), ToString::to_string),
        };
    }
    if let Some(response) = part.get("functionResponse") {
        let id = response["id"].as_str().unwrap_or_else(|| text(&response["name"]));
        let (said, is_error) = result(&response["response"]);
        let mut parts = vec![Part::Text(said)];
        parts.extend(list(&response["parts"]).iter().map(self::part));
        return Part::Result { id: id.to_owned(), parts, is_error };
    }
    match part.get("fileData") {
        Some(data) if text(&data["mimeType"]).starts_with("image/") => image(data),
        Some(data) => file(data, None),
        None => Part::Other(part.to_string()),
    }
}

/// What a function gave back: a text, if it is only wrapped up, and whether it failed.
fn result(response: &Value) -> (String, bool) {
    let fields = response.as_object();
    let only = fields.filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next());
    match only {
        Some((name, Value::String(said)))
            if ["output", "error", "result"].contains(&name.as_str()) =>
        {
            (said.clone(), name == "error")
        }
        _ => (response.to_string(), response.get("error").is_some()),
    }
}

fn tool(declared: &Value) -> Tool {
    let schema = declared.get("parametersJsonSchema").or(declared.get("parameters"));
    Tool {
        name: text(&declared["name"]).to_owned(),
        description: text(&declared["description"]).to_owned(),
        schema: schema.map(ToString::to_string).unwrap_or_default(),
        parameters: schema.cloned(),
        mark: None,
    }
}
