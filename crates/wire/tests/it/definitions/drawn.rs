//! Bodies of conversations that are drawn at random, the same ones every time.

use std::sync::Arc;

use interleaf_model::{
    Arguments, AssistantPart, Body, Entry, Extra, Json, Message, Parts, Prompt, Provenance, Role,
};
use interleaf_samples::strategy::conversation;
use interleaf_samples::{media, tools};
use interleaf_wire::{CacheMarks, Family, Options, ToolChoice, Vendor, encode};
use interleaf_wire::{Effort, Number, ResponseFormat, ThinkingMode, Thoughts};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::{Case, Kind};

/// How many bodies of each API.
const N_BODIES: usize = 300;

pub(super) fn bodies() -> Vec<Case> {
    let mut runner = TestRunner::deterministic();
    let strategy = conversation(1..24);
    let mut prompts = Vec::new();
    while prompts.len() < N_BODIES {
        let messages = strategy.new_tree(&mut runner).unwrap().current();
        prompts.extend(prompt(prompts.len(), messages));
    }
    let mut cases = Vec::new();
    for family in Family::ALL {
        for (n, prompt) in prompts.iter().enumerate() {
            let encoded = encode(prompt, Vendor::of(family), &options(family, n)).unwrap();
            let body = String::from_utf8(encoded.to_bytes()).unwrap();
            cases.push(Case { kind: Kind::Request, family, name: format!("drawn {n}"), body });
        }
    }
    cases
}

/// A conversation without what nobody defines, and with media. None if there is a
/// value in it that no program can hold: half a surrogate pair, 1e999.
fn prompt(n: usize, mut messages: Vec<Message>) -> Option<Prompt> {
    messages.iter_mut().for_each(strip);
    if n.is_multiple_of(3) {
        messages.push(Body::User(media(n)).into());
    }
    if n.is_multiple_of(4) {
        let bodies = messages.iter_mut().map(|message| &mut message.body);
        let results = bodies.filter_map(|body| match body {
            Body::Tool(result) => Some(result),
            _ => None,
        });
        results.take(1).for_each(|result| result.parts = media(n));
    }
    if !messages.iter().flat_map(Message::calls).all(|call| is_readable(&call.arguments)) {
        return None;
    }
    let entry = |message: Message| {
        let is_system = message.role() == Role::System;
        let provenance = if is_system { Provenance::System } else { Provenance::Original };
        Entry { message: Arc::new(message), provenance }
    };
    Prompt::check_for(crate::taking_blanks(), messages.into_iter().map(entry).collect(), tools(n))
        .ok()
}

fn is_readable(arguments: &Arguments) -> bool {
    match arguments {
        Arguments::Object(json) => serde_json::from_str::<Value>(json.as_str()).is_ok(),
        Arguments::Invalid(_) => true,
    }
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

/// Each setting in some bodies, and each with each other in some.
fn options(family: Family, n: usize) -> Options {
    let models: &[&str] = match family {
        Family::OpenaiChat | Family::OpenaiResponses => &["gpt-4.1", "gpt-5", "gpt-5.6"],
        Family::Anthropic => &["claude-3-5-haiku-20241022", "claude-sonnet-4-5", "claude-opus-5"],
        Family::Gemini => &["gemini-2.5-pro", "gemini-3-pro", "gemini-3-pro"],
        Family::Bedrock => &["us.anthropic.claude-sonnet-4-6", "meta.llama3-3-70b", "nova"],
    };
    let every = |nth: usize, at: usize| n % nth == at;
    let number = |is_set: bool, text| is_set.then(|| Json::parse(text).unwrap());
    const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],
        "additionalProperties":false}"#;
    let mut options = Options::model(models[n % models.len()]);
    options.max_tokens = every(2, 0).then_some(4096);
    options.temperature = number(every(5, 1), "0.5").map(Number::from_json);
    options.top_p = number(every(7, 2), "0.9").map(Number::from_json);
    options.top_k = number(every(7, 3), "40").map(Number::from_json);
    options.stop = if every(6, 1) { vec!["END".to_owned()] } else { Vec::new() };
    options.stream = every(3, 1);
    options.tool_choice = match n % 9 {
        0 => Some(ToolChoice::Auto),
        1 => Some(ToolChoice::None),
        2 => Some(ToolChoice::Required),
        3 => Some(ToolChoice::Tool("read_file".into())),
        _ => None,
    };
    options.parallel_tool_calls = every(4, 3).then_some(every(8, 3));
    options.thinking = match n % 8 {
        1 => Some(ThinkingMode::budget(2048)),
        2 => Some(ThinkingMode::on().with_thoughts(Thoughts::Shown)),
        4 => Some(ThinkingMode::effort(Effort::ALL[n / 8 % Effort::ALL.len()])),
        5 => Some(ThinkingMode::off()),
        _ => None,
    };
    options.response_format = match n % 11 {
        2 => Some(ResponseFormat::schema("answer", Json::parse(SCHEMA).unwrap(), true)),
        5 => Some(ResponseFormat::Json),
        _ => None,
    };
    options.cache_key = every(10, 7).then(|| "a-key".into());
    options.cache = if every(2, 1) { CacheMarks::On } else { CacheMarks::Off };
    options
}
