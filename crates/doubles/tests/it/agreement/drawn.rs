//! Bodies that our encoders write from conversations drawn at random.

use std::sync::Arc;

use interleaf_doubles::Api;
use interleaf_model::{
    Arguments, AssistantPart, Body, Entry, Extra, Json, Message, Parts, Prompt, Provenance,
    Requirements, Role,
};
use interleaf_samples::strategy::conversation;
use interleaf_samples::{media, tools};
use interleaf_wire::{
    CacheMarks, Effort, Number, Options, ResponseFormat, ThinkingMode, Thoughts, ToolChoice,
    Vendor, encode,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::family;

/// Models of every kind that decides what a body may hold.
pub(super) fn models(api: Api) -> &'static [&'static str] {
    match api {
        Api::OpenAiChat => &["gpt-4.1", "gpt-5", "gpt-5.4", "gpt-5.6", "o3", "gpt-4o"],
        Api::OpenAiResponses => &["gpt-4.1", "gpt-5", "gpt-5.6", "o4-mini"],
        Api::Anthropic => &[
            "claude-3-5-haiku-20241022",
            "claude-sonnet-4-5",
            "claude-opus-4-6",
            "claude-opus-5",
            "claude-opus-5-5",
            "claude-sonnet-5-5",
        ],
        Api::Gemini => &["gemini-2.5-pro", "gemini-2.0-flash", "gemini-3-pro"],
        Api::Bedrock => &[
            "us.anthropic.claude-sonnet-4-6",
            "anthropic.claude-opus-4-1-20250805-v1:0",
            "meta.llama3-3-70b-instruct-v1:0",
            "amazon.nova-pro-v1:0",
            "us.anthropic.claude-opus-5",
        ],
    }
}

/// A body that our encoder wrote.
pub(super) fn body(api: Api) -> impl Strategy<Value = Value> {
    let messages = conversation(1..20);
    (messages, 0_usize..1 << 16, options(api)).prop_filter_map(
        "a prompt in JSON that a program can hold",
        move |(messages, n, options)| {
            let prompt = prompt(n, messages)?;
            let encoded = encode(&prompt, Vendor::of(family(api)), &options).ok()?;
            let mut body: Value = serde_json::from_slice(&encoded.to_bytes()).ok()?;
            // There the address names the model; a body that is looked at alone names it itself.
            let field = match api {
                Api::Gemini => "model",
                Api::Bedrock => "modelId",
                _ => return Some(body),
            };
            body[field] = options.model.as_str().into();
            Some(body)
        },
    )
}

/// A conversation with media and tools. None if it is no prompt, or if there is a value in it
/// that no program can hold.
fn prompt(n: usize, mut messages: Vec<Message>) -> Option<Prompt> {
    messages.iter_mut().for_each(strip);
    if n.is_multiple_of(3) {
        messages.push(Body::User(media(n)).into());
    }
    if n.is_multiple_of(4) {
        let results = messages.iter_mut().filter_map(|message| match &mut message.body {
            Body::Tool(result) => Some(result),
            _ => None,
        });
        results.take(1).for_each(|result| result.parts = media(n));
    }
    let is_readable = |arguments: &Arguments| match arguments {
        Arguments::Object(json) => serde_json::from_str::<Value>(json.as_str()).is_ok(),
        Arguments::Invalid(_) => true,
    };
    if !messages.iter().flat_map(Message::calls).all(|call| is_readable(&call.arguments)) {
        return None;
    }
    let entry = |message: Message| {
        let is_system = message.role() == Role::System;
        let provenance = if is_system { Provenance::System } else { Provenance::Original };
        Entry { message: Arc::new(message), provenance }
    };
    let mut requires = Requirements::STRICT;
    requires.no_blank_user = false;
    Prompt::check_for(requires, messages.into_iter().map(entry).collect(), tools(n)).ok()
}

/// Takes out what vendors attached: it is made up.
fn strip(message: &mut Message) {
    if let Body::Assistant(parts) = &mut message.body {
        let mut list = parts.clone().into_vec();
        for part in &mut list {
            if let AssistantPart::Thinking(thinking) = part {
                thinking.extra = Extra::NONE;
            }
        }
        *parts = Parts::new(list).unwrap();
    }
}

/// Every setting, each in some bodies.
fn options(api: Api) -> impl Strategy<Value = Options> {
    const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],
        "additionalProperties":false}"#;
    let number = |text: &'static str| {
        proptest::option::weighted(0.2, Just(Number::from_json(Json::parse(text).unwrap())))
    };
    let choice = select(vec![
        None,
        None,
        None,
        Some(ToolChoice::Auto),
        Some(ToolChoice::None),
        Some(ToolChoice::Required),
        Some(ToolChoice::Tool("read_file".into())),
    ]);
    let thinking = select(vec![
        None,
        None,
        Some(ThinkingMode::budget(2048)),
        Some(ThinkingMode::on().with_thoughts(Thoughts::Shown)),
        Some(ThinkingMode::effort(Effort::Low)),
        Some(ThinkingMode::effort(Effort::Max)),
        Some(ThinkingMode::off()),
    ]);
    let schema = ResponseFormat::schema("answer", Json::parse(SCHEMA).unwrap(), true);
    let format = select(vec![None, None, None, Some(schema), Some(ResponseFormat::Json)]);
    let numbers = (number("0.5"), number("0.9"), number("40"));
    let switches =
        (any::<bool>(), any::<bool>(), any::<bool>(), proptest::option::of(any::<bool>()));
    (select(models(api)), numbers, choice, thinking, format, switches).prop_map(
        move |(model, numbers, choice, thinking, format, switches)| {
            let mut options = Options::model(model);
            (options.temperature, options.top_p, options.top_k) = numbers;
            options.max_tokens = switches.0.then_some(4096);
            options.stream = switches.1;
            options.stop = if switches.1 { vec!["END".to_owned()] } else { Vec::new() };
            options.cache = if switches.2 { CacheMarks::On } else { CacheMarks::Off };
            options.cache_key = switches.2.then(|| "a-key".into());
            options.parallel_tool_calls = switches.3;
            options.tool_choice = choice;
            options.thinking = thinking;
            options.response_format = format;
            options
        },
    )
}
