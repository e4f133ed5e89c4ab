//! A Responses body as the model sees it.

use serde_json::Value;

use super::{items, kind};
use crate::asked::{Asked, Choice, Part, Piece, Role, Tool, Ttl, Turn};
use crate::family::Incoming;
use crate::openai::marks;
use crate::value::{data_of, file, image, list, text};

pub(super) fn asked(incoming: &Incoming<'_>) -> Asked {
    let body = incoming.body;
    let mut asked = Asked::new(incoming.api, incoming.model);
    asked.tools = list(&body["tools"]).iter().map(tool).collect();
    if let Some(instructions) = body["instructions"].as_str().filter(|text| !text.is_empty()) {
        asked.system.push(Piece::text(instructions));
    }
    for item in items(&body["input"]) {
        let (role, parts) = said(&item);
        let content = list(if role == Role::Tool { &item["output"] } else { &item["content"] });
        let lives: Vec<Option<Ttl>> =
            content.iter().map(|part| marks::mark(incoming.model, part)).collect();
        let mark = |i: usize| match role {
            Role::Tool => lives.iter().flatten().max().copied(),
            _ => lives.get(i).copied().flatten(),
        };
        let pieces = parts.into_iter().enumerate();
        let pieces = pieces.map(|(i, part)| Piece { part, mark: mark(i) });
        // What the model says in one answer is one turn, in however many items it came.
        match asked.turns.last_mut() {
            Some(last) if last.role == Role::Assistant && role == Role::Assistant => {
                last.pieces.extend(pieces);
            }
            _ => asked.turns.push(Turn::new(role, pieces.collect())),
        }
    }
    asked.choice = choice(&body["tool_choice"]);
    asked.parallel = body["parallel_tool_calls"] != false;
    let effort = body["reasoning"]["effort"].as_str();
    asked.thinking = crate::openai::is_reasoning(incoming.model)
        && (effort.is_some_and(|effort| effort != "none")
            || !body["reasoning"]["summary"].is_null());
    asked.max_tokens = body["max_output_tokens"].as_u64();
    asked.cache_key = body["prompt_cache_key"].as_str().map(str::to_owned);
    marks::mark_newest(&mut asked, body);
    asked
}

fn said(item: &Value) -> (Role, Vec<Part>) {
    match kind(item) {
        "message" => {
            let role = match text(&item["role"]) {
                "assistant" => Role::Assistant,
                "system" | "developer" => Role::System,
                _ => Role::User,
            };
            (role, parts(&item["content"]))
        }
        "function_call" | "custom_tool_call" => {
            let given = item.get("arguments").or(item.get("input")).unwrap_or(&Value::Null);
            let (name, arguments) = (text(&item["name"]).to_owned(), text(given).to_owned());
            let id = text(&item["call_id"]).to_owned();
            (Role::Assistant, vec![Part::Call { id, name, arguments }])
        }
        "function_call_output" | "custom_tool_call_output" => {
            let id = text(&item["call_id"]).to_owned();
            let parts = parts(&item["output"]);
            (Role::Tool, vec![Part::Result { id, parts, is_error: false }])
        }
        "reasoning" => {
            let summaries = list(&item["summary"]).iter().map(|part| text(&part["text"]));
            (Role::Assistant, vec![Part::Thinking(summaries.collect::<Vec<_>>().join("\n"))])
        }
        _ => (Role::Assistant, vec![Part::Other(item.to_string())]),
    }
}

fn parts(content: &Value) -> Vec<Part> {
    match content.as_str() {
        Some("") => Vec::new(),
        Some(text) => vec![Part::Text(text.to_owned())],
        None => list(content).iter().map(part).collect(),
    }
}

fn part(part: &Value) -> Part {
    match text(&part["type"]) {
        "input_text" | "output_text" | "summary_text" => Part::Text(text(&part["text"]).to_owned()),
        "refusal" => Part::Text(text(&part["refusal"]).to_owned()),
        "input_image" => image(&part["image_url"]),
        "input_file" => file(part, part["file_data"].as_str().map(|d| data_of(d).unwrap_or(d))),
        _ => Part::Other(part.to_string()),
    }
}

fn tool(tool: &Value) -> Tool {
    Tool {
        name: text(&tool["name"]).to_owned(),
        description: text(&tool["description"]).to_owned(),
        schema: tool.get("parameters").map(ToString::to_string).unwrap_or_default(),
        parameters: tool.get("parameters").cloned(),
        mark: None,
    }
}

fn choice(choice: &Value) -> Choice {
    match (choice.as_str(), text(&choice["type"])) {
        (Some("none"), _) => Choice::None,
        (Some("required"), _) => Choice::Any,
        (_, "function" | "custom") => Choice::Named(text(&choice["name"]).to_owned()),
        (_, "allowed_tools") if choice["mode"] == "required" => Choice::Any,
        _ => Choice::Auto,
    }
}
