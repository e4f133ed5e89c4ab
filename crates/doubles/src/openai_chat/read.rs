//! A Chat body as the model sees it.

use serde_json::Value;

use crate::asked::{Asked, Choice, Part, Piece, Role, Tool, Turn};
use crate::family::Incoming;
use crate::openai::marks;
use crate::value::{data_of, file, image, list, text};

pub(super) fn asked(incoming: &Incoming<'_>) -> Asked {
    let body = incoming.body;
    let mut asked = Asked::new(incoming.api, incoming.model);
    let model = incoming.model;
    asked.turns = list(&body["messages"]).iter().map(|message| turn(message, model)).collect();
    asked.tools = list(&body["tools"]).iter().map(tool).collect();
    asked.choice = choice(&body["tool_choice"]);
    asked.parallel = body["parallel_tool_calls"] != false;
    asked.thinking = crate::openai::is_reasoning(incoming.model)
        && body["reasoning_effort"].as_str().is_some_and(|effort| effort != "none");
    asked.max_tokens = body["max_completion_tokens"].as_u64().or(body["max_tokens"].as_u64());
    asked.cache_key = body["prompt_cache_key"].as_str().map(str::to_owned);
    marks::mark_newest(&mut asked, body);
    asked
}

fn turn(message: &Value, model: &str) -> Turn {
    let content = &message["content"];
    let mut pieces: Vec<Piece> = match content.as_str() {
        // An assistant that only calls has no text, whichever way it is written.
        Some("") => Vec::new(),
        Some(text) => vec![Piece::text(text)],
        None => {
            let pieces = list(content).iter();
            pieces.map(|p| Piece { part: part(p), mark: marks::mark(model, p) }).collect()
        }
    };
    let role = match text(&message["role"]) {
        "system" | "developer" => Role::System,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => Role::User,
    };
    if role == Role::Tool {
        let id = text(&message["tool_call_id"]).to_owned();
        let mark = pieces.iter().filter_map(|piece| piece.mark).max();
        let parts = pieces.into_iter().map(|piece| piece.part).collect();
        pieces = vec![Piece { part: Part::Result { id, parts, is_error: false }, mark }];
    }
    for call in list(&message["tool_calls"]) {
        let (name, arguments) = match text(&call["type"]) {
            "custom" => (&call["custom"]["name"], &call["custom"]["input"]),
            _ => (&call["function"]["name"], &call["function"]["arguments"]),
        };
        let (name, arguments) = (text(name).to_owned(), text(arguments).to_owned());
        let id = text(&call["id"]).to_owned();
        pieces.push(Piece::of(Part::Call { id, name, arguments }));
    }
    Turn::new(role, pieces)
}

fn part(part: &Value) -> Part {
    match text(&part["type"]) {
        "text" => Part::Text(text(&part["text"]).to_owned()),
        "refusal" => Part::Text(text(&part["refusal"]).to_owned()),
        "image_url" => image(&part["image_url"]["url"]),
        "file" => {
            file(&part["file"], part["file"]["file_data"].as_str().map(|d| data_of(d).unwrap_or(d)))
        }
        "input_audio" => file(&part["input_audio"], part["input_audio"]["data"].as_str()),
        _ => Part::Other(part.to_string()),
    }
}

fn tool(tool: &Value) -> Tool {
    let inner = if tool["type"] == "custom" { &tool["custom"] } else { &tool["function"] };
    Tool {
        name: text(&inner["name"]).to_owned(),
        description: text(&inner["description"]).to_owned(),
        schema: inner.get("parameters").map(ToString::to_string).unwrap_or_default(),
        parameters: inner.get("parameters").cloned(),
        mark: None,
    }
}

fn choice(choice: &Value) -> Choice {
    match choice.as_str() {
        Some("none") => Choice::None,
        Some("required") => Choice::Any,
        Some(_) => Choice::Auto,
        None => match text(&choice["type"]) {
            "function" => Choice::Named(text(&choice["function"]["name"]).to_owned()),
            "custom" => Choice::Named(text(&choice["custom"]["name"]).to_owned()),
            "allowed_tools" if choice["allowed_tools"]["mode"] == "required" => Choice::Any,
            _ => Choice::Auto,
        },
    }
}
