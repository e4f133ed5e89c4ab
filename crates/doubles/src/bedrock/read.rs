//! A Converse body as the model sees it.

use serde_json::Value;

use crate::asked::{Asked, Choice, Part, Piece, Role, Tool, Ttl, Turn};
use crate::family::Incoming;
use crate::value::{file, image, list, text};

pub(super) fn asked(incoming: &Incoming<'_>) -> Asked {
    let body = incoming.body;
    let mut asked = Asked::new(incoming.api, incoming.model);
    for entry in list(&body["toolConfig"]["tools"]) {
        match (entry.get("cachePoint"), asked.tools.last_mut()) {
            (Some(point), Some(tool)) => tool.mark = Some(ttl(point)),
            (Some(_), None) => {}
            (None, _) => asked.tools.push(tool(entry)),
        }
    }
    asked.system = pieces(&body["system"]);
    asked.turns = list(&body["messages"]).iter().map(turn).collect();
    let choice = &body["toolConfig"]["toolChoice"];
    asked.choice = match (choice.get("any"), choice.get("tool")) {
        (Some(_), _) => Choice::Any,
        (_, Some(tool)) => Choice::Named(text(&tool["name"]).to_owned()),
        _ => Choice::Auto,
    };
    let more = &body["additionalModelRequestFields"];
    let thinking = more.get("thinking").or(more.get("reasoning_config"));
    let mode = thinking.map_or("", |thinking| text(&thinking["type"]));
    asked.thinking = ["enabled", "adaptive"].contains(&mode);
    asked.max_tokens = body["inferenceConfig"]["maxTokens"].as_u64();
    asked.salt = format!("{choice}\n{more}");
    asked
}

fn ttl(point: &Value) -> Ttl {
    if point["ttl"] == "1h" { Ttl::Hour } else { Ttl::Minutes }
}

fn tool(entry: &Value) -> Tool {
    let spec = &entry["toolSpec"];
    Tool {
        name: text(&spec["name"]).to_owned(),
        description: text(&spec["description"]).to_owned(),
        schema: spec["inputSchema"].get("json").map(ToString::to_string).unwrap_or_default(),
        parameters: spec["inputSchema"].get("json").cloned(),
        mark: None,
    }
}

fn turn(message: &Value) -> Turn {
    Turn::new(Role::named(text(&message["role"])), pieces(&message["content"]))
}

/// A cache point marks the block before it.
fn pieces(blocks: &Value) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for block in list(blocks) {
        match (block.get("cachePoint"), pieces.last_mut()) {
            (Some(point), Some(piece)) => piece.mark = Some(ttl(point)),
            (Some(_), None) => {}
            (None, _) => pieces.push(Piece::of(part(block))),
        }
    }
    pieces
}

fn part(block: &Value) -> Part {
    if let Some(said) = block["text"].as_str() {
        return Part::Text(said.to_owned());
    }
    if let Some(medium) = block.get("image") {
        return image(medium);
    }
    for kind in ["document", "video", "audio"] {
        if let Some(medium) = block.get(kind) {
            return file(medium, medium["source"]["bytes"].as_str());
        }
    }
    if let Some(call) = block.get("toolUse") {
        return Part::Call {
            id: text(&call["toolUseId"]).to_owned(),
            name: text(&call["name"]).to_owned(),
            arguments: call["input"].to_string(),
        };
    }
    if let Some(result) = block.get("toolResult") {
        let parts = list(&result["content"]).iter().map(|inner| match inner.get("json") {
            Some(json) => Part::Text(json.to_string()),
            None => part(inner),
        });
        return Part::Result {
            id: text(&result["toolUseId"]).to_owned(),
            parts: parts.collect(),
            is_error: result["status"] == "error",
        };
    }
    match block["reasoningContent"]["reasoningText"]["text"].as_str() {
        Some(thought) => Part::Thinking(thought.to_owned()),
        None => Part::Other(block.to_string()),
    }
}
