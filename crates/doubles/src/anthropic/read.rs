//! A Messages body as the model sees it.

use serde_json::Value;

use crate::asked::{Asked, Choice, Part, Piece, Role, Tool, Ttl, Turn};
use crate::family::Incoming;
use crate::value::{file, image, list, text};

pub(super) fn asked(incoming: &Incoming<'_>) -> Asked {
    let body = incoming.body;
    let mut asked = Asked::new(incoming.api, incoming.model);
    asked.tools = list(&body["tools"]).iter().map(tool).collect();
    asked.system = pieces(&body["system"]);
    asked.turns = list(&body["messages"]).iter().map(turn).collect();
    asked.choice = match text(&body["tool_choice"]["type"]) {
        "any" => Choice::Any,
        "tool" => Choice::Named(text(&body["tool_choice"]["name"]).to_owned()),
        "none" => Choice::None,
        _ => Choice::Auto,
    };
    asked.parallel = body["tool_choice"]["disable_parallel_tool_use"] != true;
    asked.thinking = ["enabled", "adaptive"].contains(&text(&body["thinking"]["type"]));
    asked.max_tokens = body["max_tokens"].as_u64();
    if body["cache_control"].is_object() {
        mark_the_end(&mut asked, ttl(&body["cache_control"]));
    }
    let has_images = asked.turns.iter().flat_map(|turn| &turn.pieces).any(|p| has_image(&p.part));
    let (choice, thinking) = (&body["tool_choice"], &body["thinking"]);
    let (effort, format) = (&body["output_config"]["effort"], &body["output_config"]["format"]);
    asked.salt = format!("{choice}\n{thinking}\n{effort}\n{format}\n{has_images}");
    asked
}

/// A mark for the whole request stands on its last block.
fn mark_the_end(asked: &mut Asked, mark: Option<Ttl>) {
    let mut pieces = asked.turns.iter_mut().flat_map(|turn| &mut turn.pieces);
    let last = pieces.rfind(|piece| !matches!(piece.part, Part::Thinking(_)));
    if let Some(piece) = last {
        piece.mark = piece.mark.or(mark);
    }
}

fn has_image(part: &Part) -> bool {
    match part {
        Part::Image(_) => true,
        Part::Result { parts, .. } => parts.iter().any(has_image),
        _ => false,
    }
}

pub(super) fn ttl(mark: &Value) -> Option<Ttl> {
    match (mark.is_object(), text(&mark["ttl"])) {
        (false, _) => None,
        (true, "1h") => Some(Ttl::Hour),
        (true, _) => Some(Ttl::Minutes),
    }
}

fn tool(tool: &Value) -> Tool {
    Tool {
        name: text(&tool["name"]).to_owned(),
        description: text(&tool["description"]).to_owned(),
        schema: tool.get("input_schema").map(ToString::to_string).unwrap_or_default(),
        parameters: tool.get("input_schema").cloned(),
        mark: ttl(&tool["cache_control"]),
    }
}

fn turn(message: &Value) -> Turn {
    Turn::new(Role::named(text(&message["role"])), pieces(&message["content"]))
}

/// A string is one text block.
fn pieces(content: &Value) -> Vec<Piece> {
    match content.as_str() {
        Some("") => Vec::new(),
        Some(text) => vec![Piece::text(text)],
        None => list(content).iter().map(piece).collect(),
    }
}

fn piece(block: &Value) -> Piece {
    Piece { part: part(block), mark: ttl(&block["cache_control"]) }
}

fn part(block: &Value) -> Part {
    let source = &block["source"];
    match text(&block["type"]) {
        "text" => Part::Text(text(&block["text"]).to_owned()),
        "thinking" => Part::Thinking(text(&block["thinking"]).to_owned()),
        "image" => image(source),
        "document" if source["type"] == "text" => Part::Text(text(&source["data"]).to_owned()),
        "document" => file(source, source["data"].as_str()),
        "tool_use" => Part::Call {
            id: text(&block["id"]).to_owned(),
            name: text(&block["name"]).to_owned(),
            arguments: block["input"].to_string(),
        },
        "tool_result" => Part::Result {
            id: text(&block["tool_use_id"]).to_owned(),
            parts: pieces(&block["content"]).into_iter().map(|piece| piece.part).collect(),
            is_error: block["is_error"] == true,
        },
        _ => Part::Other(block.to_string()),
    }
}
