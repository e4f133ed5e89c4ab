//! What is asked for beside the messages.

use interleaf_model::Json;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::adjustment::AdjustmentKind;
use crate::anthropic::thinking;
use crate::encode::Context;
use crate::names::Alphabet;
use crate::openai_chat::lint::{Facts, setting_fault};
use crate::openai_chat::wire::{
    self, FunctionName, JsonSchema, Rest, StreamOptions, Tail, Thinking,
};
use crate::openai_chat::{SHARED, effort};
use crate::strict_schema;
use crate::tree::Value;
use crate::vendor::Switch;
use crate::{AnswerSchema, Effort, Family, Number, ResponseFormat, ThinkingAmount, ToolChoice};

/// Fields of a body that are made from something else than the settings.
const NO_SETTINGS: &[&str] = &["messages", "model", "tools", "functions", "function_call"];

pub(super) fn tail<'a>(cx: &mut Context<'a>) -> Tail<'a> {
    let (options, quirks) = (cx.options, cx.vendor.quirks);
    let facts = Facts::of(cx);
    let mut tail = Tail { tool_choice: tool_choice(cx, &facts), ..Tail::default() };
    // Of servers that imitate the API it is not known what they make of 0.
    let max_tokens = cx.max_tokens(u64::from(quirks.native));
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
    set_thinking(cx, &facts, &mut tail);
    tail.response_format = response_format(cx, &facts);
    tail.stream = options.stream.then_some(true);
    let asks_itself = options.rest.iter().any(|(name, _)| name == "stream_options");
    tail.stream_options = (options.stream && quirks.stream_usage && !asks_itself)
        .then_some(StreamOptions { include_usage: true });
    let takes_key = cx.vendor.takes_cache_key();
    tail.prompt_cache_key = options.cache_key.as_deref().filter(|_| takes_key);
    if options.cache_key.is_some() && !takes_key {
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
    // The two words for one limit stand side by side nowhere.
    let is_limit = |name: &str| matches!(name, "max_tokens" | "max_completion_tokens");
    let mut limited = false;
    for (name, json) in options.rest.iter() {
        let raw: Option<&RawValue> = serde_json::from_str(json.as_str()).ok();
        let is_shared = cx.vendor.quirks.native
            && options.rest.is_of(Family::OpenaiResponses)
            && SHARED.contains(&name);
        let refused = match raw {
            _ if !is_ours && !is_shared => Some("it came from another API".to_owned()),
            // It is written beside what has a neutral word.
            Some(_) if name == "thinking" && tail.thinking.is_some() => continue,
            Some(_) if name == "response_format" && tail.response_format.is_some() => continue,
            Some(_) if NO_SETTINGS.contains(&name) => Some("it is set another way".to_owned()),
            Some(_) if written.get(name).is_some() => Some("it is set another way".to_owned()),
            Some(_) if is_limit(name) && (options.max_tokens.is_some() || limited) => {
                Some("it is set another way".to_owned())
            }
            Some(_) => {
                setting_fault(name, &Value::of(json.as_str()), facts).map(|found| found.detail)
            }
            None => Some("it is not JSON".to_owned()),
        };
        limited |= is_limit(name) && refused.is_none();
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
            let name = cx.tool_name(&tool.name);
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

/// The switch where there is one, and the effort.
fn set_thinking<'a>(cx: &mut Context<'a>, facts: &Facts, tail: &mut Tail<'a>) {
    let options = cx.options;
    let mode = options.thinking.unwrap_or_default();
    if mode.thoughts.is_some() {
        dropped(cx, "thoughts", "the API has no such setting");
    }
    let is_ours = options.rest.is_of(Family::OpenaiChat);
    let word = match (cx.vendor.quirks.switch, mode.amount) {
        _ if cx.vendor.quirks.native => effort::word(mode, &options.model, &mut cx.adjustments),
        (_, None) => mode.effort.map(Effort::as_str),
        // The body that these settings were read from said it with this word.
        (Switch::None, Some(ThinkingAmount::Off)) if is_ours => Some("none"),
        (Switch::None, Some(_)) => {
            dropped(cx, "thinking", "the API has no such setting");
            mode.effort.filter(|_| !mode.is_off()).map(Effort::as_str)
        }
        (Switch::Thinking, Some(amount)) => {
            let rest = options.rest.get(Family::OpenaiChat, "thinking");
            let rest = rest.map_or(Rest::NONE, |own| Rest::of_json(own, &thinking::WRITTEN));
            let kind = if mode.is_off() { "disabled" } else { "enabled" };
            let budget_tokens = budget(cx, amount).filter(|_| is_ours);
            tail.thinking = Some(Thinking { kind, budget_tokens, rest });
            mode.effort.map(Effort::as_str)
        }
        (Switch::EnableThinking, Some(amount)) => {
            budget(cx, amount);
            tail.enable_thinking = Some(!mode.is_off());
            mode.effort.map(Effort::as_str)
        }
    };
    tail.reasoning_effort = admitted(cx, facts, "reasoning_effort", word);
    if facts.needs_no_effort() && tail.reasoning_effort.is_none() {
        let detail = "thinking: off, because there are function tools";
        cx.adjustments.add_general(AdjustmentKind::OptionChanged, detail);
        tail.reasoning_effort = Some("none");
    }
}

/// The budget of those who have a switch and maybe more; only who sent one is known to
/// take one.
fn budget(cx: &mut Context<'_>, amount: ThinkingAmount) -> Option<u64> {
    let ThinkingAmount::Budget(tokens) = amount else { return None };
    let is_taken =
        cx.vendor.quirks.switch == Switch::Thinking && cx.options.rest.is_of(Family::OpenaiChat);
    if !is_taken {
        let detail = "thinking.budget_tokens: the API has only a switch";
        cx.adjustments.add_general(AdjustmentKind::OptionChanged, detail);
    }
    is_taken.then_some(tokens)
}

fn response_format<'a>(cx: &mut Context<'a>, facts: &Facts) -> Option<wire::ResponseFormat<'a>> {
    let own = cx.options.rest.get(Family::OpenaiChat, "response_format");
    let mut rest = own.map_or(Rest::NONE, |own| Rest::of_json(own, &["type"]));
    let inner = rest.take_inner("json_schema", &["name", "description", "schema", "strict"]);
    let (kind, json_schema) = match cx.response_format()? {
        ResponseFormat::Text => ("text", None),
        ResponseFormat::Json => ("json_object", None),
        ResponseFormat::Schema(asked) => ("json_schema", Some(json_schema(cx, asked, inner))),
    };
    admitted(cx, facts, "response_format", Some(wire::ResponseFormat { kind, json_schema, rest }))
}

fn json_schema<'a>(
    cx: &mut Context<'a>,
    asked: &'a AnswerSchema,
    rest: Rest<'a>,
) -> JsonSchema<'a> {
    let given = asked.name_or_default();
    let name = Alphabet::NAME.write(given);
    if name != given {
        let detail = format!("the name {given:?} of the answer's format");
        cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
    }
    let mut strict = asked.strict;
    if strict == Some(true)
        && let Some(fault) = strict_schema::fault(&Value::of(asked.schema.as_str()))
    {
        let reason = fault.detail;
        let detail = format!("of the answer: it is not held to it, because {reason}");
        cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
        strict = None;
    }
    let description = asked.description.as_deref();
    JsonSchema { name, description, schema: &asked.schema, strict, rest }
}

/// The setting, unless the API would refuse it.
fn admitted<T: Serialize>(
    cx: &mut Context<'_>,
    facts: &Facts,
    name: &str,
    value: Option<T>,
) -> Option<T> {
    let value = value?;
    let json = Json::of(&value).map_or(Value::Null, |json| Value::of(json.as_str()));
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
