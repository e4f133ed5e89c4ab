//! What is asked for beside the messages.

use std::borrow::Cow;

use interleaf_model::Json;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::openai_chat::lint::{Facts, setting_fault};
use crate::openai_chat::schema;
use crate::openai_chat::wire::{self, FunctionName, StreamOptions, Tail, Thinking};
use crate::vendor::Switch;
use crate::{Family, Number, ToolChoice};

/// Fields of a body that are made from something else than the settings.
const NO_SETTINGS: &[&str] = &["messages", "model", "tools", "functions", "function_call"];

pub(super) fn tail<'a>(cx: &mut Context<'a>) -> Tail<'a> {
    let (options, quirks) = (cx.options, cx.vendor.quirks);
    let facts = Facts::of(cx);
    let mut tail = Tail { tool_choice: tool_choice(cx, &facts), ..Tail::default() };
    let max_tokens = options.max_tokens;
    if quirks.completion_tokens {
        tail.max_completion_tokens = max_tokens;
    } else {
        tail.max_tokens = max_tokens;
    }
    tail.parallel_tool_calls =
        admitted(cx, &facts, "parallel_tool_calls", options.parallel_tool_calls);
    tail.temperature =
        admitted(cx, &facts, "temperature", options.temperature.as_ref().map(Number::as_json));
    tail.top_p = admitted(cx, &facts, "top_p", options.top_p.as_ref().map(Number::as_json));
    tail.top_k = options.top_k.as_ref().map(Number::as_json).filter(|_| quirks.top_k);
    if options.top_k.is_some() && !quirks.top_k {
        dropped(cx, "top_k", "the API has no such setting");
    }
    tail.stop = stop(cx, &facts);
    tail.reasoning_effort = facts.needs_no_effort().then_some("none");
    set_thinking(cx, &mut tail);
    tail.response_format = response_format(cx, &facts);
    tail.stream = options.stream.then_some(true);
    let asks_itself = options.rest.iter().any(|(name, _)| name == "stream_options");
    tail.stream_options = (options.stream && quirks.stream_usage && !asks_itself)
        .then_some(StreamOptions { include_usage: true });
    tail.prompt_cache_key = options.cache_key.as_deref().filter(|_| quirks.native);
    if options.cache_key.is_some() && !quirks.native {
        dropped(cx, "prompt_cache_key", "the API has no such setting");
    }
    add_rest(cx, &facts, &mut tail);
    tail
}

/// Adds the fields that came with a chat body and have no neutral word.
fn add_rest<'a>(cx: &mut Context<'a>, facts: &Facts, tail: &mut Tail<'a>) {
    let options = cx.options;
    let is_ours = options.rest.is_of(Family::OpenaiChat);
    let written = serde_json::to_value(&*tail).unwrap_or_default();
    for (name, json) in options.rest.iter() {
        let raw: Option<&RawValue> = serde_json::from_str(json.as_str()).ok();
        let refused = match raw {
            _ if !is_ours => Some("it came from another API".to_owned()),
            Some(_) if NO_SETTINGS.contains(&name) => Some("it is set another way".to_owned()),
            Some(_) if written.get(name).is_some() => Some("it is set another way".to_owned()),
            Some(_) => setting_fault(name, &json.to_value(), facts).map(|found| found.detail),
            None => Some("it is not JSON".to_owned()),
        };
        match (refused, raw) {
            (None, Some(raw)) => tail.rest.push(name.into(), raw),
            (reason, _) => dropped(cx, name, &reason.unwrap_or_default()),
        }
    }
}

fn tool_choice<'a>(cx: &mut Context<'a>, facts: &Facts) -> Option<wire::ToolChoice<'a>> {
    let choice = match cx.options.tool_choice.as_ref()? {
        ToolChoice::Auto => wire::ToolChoice::Word("auto"),
        ToolChoice::None => wire::ToolChoice::Word("none"),
        ToolChoice::Required => wire::ToolChoice::Word("required"),
        ToolChoice::Tool(name) => {
            let tools = cx.prompt.tools();
            let Some(tool) = tools.iter().find(|tool| tool.name.as_str() == name) else {
                dropped(cx, "tool_choice", &format!("there is no tool {name:?}"));
                return None;
            };
            let name = cx.names.write(&tool.name, &cx.vendor.quirks.tool_names);
            wire::ToolChoice::Function { kind: "function", function: FunctionName { name } }
        }
    };
    admitted(cx, facts, "tool_choice", Some(choice))
}

fn stop<'a>(cx: &mut Context<'a>, facts: &Facts) -> Option<&'a [String]> {
    const MOST: usize = 4;
    let stop = &cx.options.stop;
    if stop.len() > MOST && cx.vendor.quirks.native {
        dropped(cx, "stop", &format!("all but the first {MOST}"));
        return admitted(cx, facts, "stop", Some(&stop[..MOST]));
    }
    admitted(cx, facts, "stop", (!stop.is_empty()).then_some(stop))
}

/// The switch where there is one. As it was written, if it came with a chat body.
fn set_thinking<'a>(cx: &mut Context<'a>, tail: &mut Tail<'a>) {
    let options = cx.options;
    let Some(thinking) = options.thinking_json() else { return };
    let is_on = thinking.to_value()["type"] != "disabled";
    match cx.vendor.quirks.switch {
        Switch::None => dropped(cx, "thinking", "the API has no such setting"),
        Switch::Thinking if options.rest.is_of(Family::OpenaiChat) => {
            tail.thinking = Some(Thinking::Raw(thinking));
        }
        Switch::Thinking => {
            let kind = if is_on { "enabled" } else { "disabled" };
            tail.thinking = Some(Thinking::Switch { kind });
        }
        Switch::EnableThinking => tail.enable_thinking = Some(is_on),
    }
}

fn response_format<'a>(cx: &mut Context<'a>, facts: &Facts) -> Option<Cow<'a, Json>> {
    let format = cx.options.format_json()?;
    let format = match schema::loosened(format) {
        Some((reason, loosened)) => {
            let detail = format!("of the answer: it is not held to it, because {reason}");
            cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
            Cow::Owned(loosened)
        }
        None => Cow::Borrowed(format),
    };
    admitted(cx, facts, "response_format", Some(format))
}

/// The setting, unless the API would refuse it.
fn admitted<T: Serialize>(
    cx: &mut Context<'_>,
    facts: &Facts,
    name: &str,
    value: Option<T>,
) -> Option<T> {
    let value = value?;
    let json = serde_json::to_value(&value).unwrap_or_default();
    match setting_fault(name, &json, facts) {
        None => Some(value),
        Some(found) => {
            dropped(cx, name, &found.detail);
            None
        }
    }
}

fn dropped(cx: &mut Context<'_>, name: &str, reason: &str) {
    cx.adjustments.add_general(AdjustmentKind::OptionDropped, format!("{name}: {reason}"));
}
