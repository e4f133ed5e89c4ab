//! The tools, and all that a request asks for beside its items.

use std::borrow::Cow;

use interleaf_model::{Entry, Json, Role};
use serde_json::value::RawValue;

use super::json;
use super::own::Own;
use super::tools::is_sent;
use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::encode::Context;
use crate::names::Alphabet;
use crate::openai_chat::{Model, ONLY_DEFAULT, SHARED, effort};
use crate::openai_responses::wire::{
    Format, ReasoningSettings, Rest, Tail, TextSettings, ToolChoice,
};
use crate::openai_responses::{CONTINUED, FEWEST_OUTPUT_TOKENS, MOVED_FIELDS, OWNER, schema};
use crate::tree::Value;
use crate::turns::Turns;
use crate::{Error, Family, Number, Options, ResponseFormat, ThinkingMode, Thoughts};

/// The longest key of a cached prefix.
const LONGEST_CACHE_KEY: usize = 64;

/// Fields that are written from what is known of them.
const WRITTEN: [&str; 13] = [
    "model",
    "instructions",
    "tools",
    "input",
    "tool_choice",
    "parallel_tool_calls",
    "max_output_tokens",
    "temperature",
    "top_p",
    "text",
    "reasoning",
    "prompt_cache_key",
    "stream",
];

pub(super) fn tail(cx: &mut Context<'_>, _: &Turns<'_>) -> Result<String, Error> {
    let options = cx.options;
    let mut tail = Tail::default();
    let n_hosted = options.hosted_tools.iter().filter(|tool| is_sent(tool)).count();
    let n_tools = cx.prompt.tools().len() + n_hosted;
    tail.tool_choice = if n_tools > 0 { tool_choice(cx) } else { None };
    if options.tool_choice.is_some() && tail.tool_choice.is_none() {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "tool_choice");
    }
    tail.parallel_tool_calls = options.parallel_tool_calls.filter(|_| n_tools > 0);
    if options.parallel_tool_calls.is_some() && tail.parallel_tool_calls.is_none() {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "parallel_tool_calls");
    }
    tail.max_output_tokens = cx.max_tokens(FEWEST_OUTPUT_TOKENS);
    for (name, is_given) in [("top_k", options.top_k.is_some()), ("stop", !options.stop.is_empty())]
    {
        if is_given {
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, name);
        }
    }
    tail.reasoning = reasoning(cx);
    let samples = samples(cx, tail.reasoning.as_ref());
    tail.temperature = sampling(cx, "temperature", options.temperature.as_ref(), 2.0, samples);
    tail.top_p = sampling(cx, "top_p", options.top_p.as_ref(), 1.0, samples);
    tail.prompt_cache_key = options.cache_key.as_deref().map(cache_key);
    tail.stream = options.stream.then_some(true);
    tail.text = text_settings(cx);
    let is_written = |name: &str| match name {
        "text" => tail.text.is_some(),
        "tool_choice" => tail.tool_choice.is_some(),
        "reasoning" => tail.reasoning.is_some(),
        "parallel_tool_calls" => tail.parallel_tool_calls.is_some(),
        // They have a field of their own among the options, or another place.
        name => WRITTEN.contains(&name),
    };
    let mut dropped = Vec::new();
    for (name, value) in options.rest.iter() {
        let is_shared = options.rest.is_of(Family::OpenaiChat) && SHARED.contains(&name);
        let is_ours = options.rest.is_of(Family::OpenaiResponses) || is_shared;
        // Of the two ways to continue the first one counts.
        let is_second = name == CONTINUED[1] && own_setting(options, CONTINUED[0]).is_some();
        let is_refused =
            MOVED_FIELDS.contains(&name) || is_second || is_null_choice(cx, name, value);
        match value.as_raw() {
            // It is written beside what has a neutral word.
            _ if is_ours && name == "reasoning" && tail.reasoning.is_some() => {}
            // Already written, or nothing is left of it.
            _ if is_ours && name == "text" && (tail.text.is_some() || has_bare_format(value)) => {}
            raw if is_ours && !is_refused && !is_written(name) => {
                tail.rest.push(Cow::Borrowed(name), raw);
            }
            _ => dropped.push(name),
        }
    }
    for name in dropped {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, name);
    }
    let body = json(&tail)?;
    let separator = if body == "{}" { "" } else { "," };
    Ok(format!("]{separator}{}", &body[1..]))
}

/// Whether a choice of tools that only this API knows chooses what is not there.
fn is_null_choice(cx: &Context<'_>, name: &str, value: &Json) -> bool {
    if name != "tool_choice" {
        return false;
    }
    let choice = Value::of(value.as_str());
    let named = choice.get("name").and_then(Value::as_str);
    match choice.get("type").and_then(Value::as_str) {
        Some("function" | "custom") => {
            let of_prompt = cx.prompt.tools().iter().map(|tool| tool.name.as_str().to_owned());
            let of_vendor =
                cx.options.hosted_tools.iter().filter_map(|tool| {
                    Some(Own::of_json(&tool.value).peek_text("name")?.into_owned())
                });
            !of_prompt.chain(of_vendor).any(|name| Some(name.as_str()) == named)
        }
        // They are another API's types.
        Some("tool" | "any" | "auto" | "none" | "required") | None => true,
        Some(_) => false,
    }
}

fn tool_choice<'a>(cx: &mut Context<'a>) -> Option<ToolChoice<'a>> {
    use crate::ToolChoice::{Auto, None as No, Required, Tool};
    Some(match cx.options.tool_choice.as_ref()? {
        Auto => ToolChoice::Mode("auto"),
        No => ToolChoice::Mode("none"),
        Required => ToolChoice::Mode("required"),
        Tool(name) => {
            let tool = cx.prompt.tools().iter().find(|tool| tool.name.as_str() == name)?;
            let name = cx.tool_name(&tool.name);
            ToolChoice::Function { r#type: "function", name }
        }
    })
}

/// How hard the model is to think, and whether it tells what it thought.
fn reasoning<'a>(cx: &mut Context<'a>) -> Option<ReasoningSettings<'a>> {
    let mode = cx.options.thinking.unwrap_or_default();
    let own = cx.options.rest.get(Family::OpenaiResponses, "reasoning");
    let mut rest = own.map_or(Rest::NONE, |own| Rest::of_json(own, &[]));
    let effort = effort::word(mode, &cx.options.model, &mut cx.adjustments);
    let never_reasons = Model::named(&cx.options.model).never_reasons();
    let own_effort = if effort.is_some() || never_reasons { rest.take("effort") } else { None };
    if never_reasons && own_effort.is_some() && mode == ThinkingMode::default() {
        let detail = "effort: the model does not think";
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
    }
    let summary = match mode.thoughts {
        Some(Thoughts::Shown) if never_reasons => {
            let detail = "thoughts: the model does not think";
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            rest.take("summary").and(None)
        }
        Some(Thoughts::Shown) if rest.get("summary").is_none() => Some("auto"),
        Some(Thoughts::Shown) | None => None,
        // Nothing is told unless it is asked for.
        Some(Thoughts::Hidden) => rest.take("summary").and(None),
    };
    let is_said = effort.is_some() || summary.is_some() || !rest.is_empty();
    is_said.then_some(ReasoningSettings { effort, summary, rest })
}

/// Whether the model takes sampling settings beside what it is told of its thinking.
fn samples(cx: &Context<'_>, reasoning: Option<&ReasoningSettings<'_>>) -> bool {
    let own = reasoning.and_then(|reasoning| reasoning.rest.get("effort"));
    let own = own.filter(|own| own.get() != "null").map(|own| own.get().trim_matches('"'));
    let effort = reasoning.and_then(|reasoning| reasoning.effort);
    Model::named(&cx.options.model).samples(effort.or(own))
}

/// A sampling setting, unless the API would refuse it.
fn sampling<'a>(
    cx: &mut Context<'a>,
    name: &str,
    value: Option<&'a Number>,
    most: f64,
    samples: bool,
) -> Option<&'a Json> {
    let value = cx.number(name, value, most)?;
    if samples || value.as_str().parse() == Ok(1.0) {
        return Some(value);
    }
    cx.adjustments.add_general(AdjustmentKind::OptionDropped, format!("{name}: {ONLY_DEFAULT}"));
    None
}

fn cache_key(key: &str) -> Cow<'_, str> {
    if key.chars().count() <= LONGEST_CACHE_KEY {
        Cow::Borrowed(key)
    } else {
        Alphabet::NAME.write(key)
    }
}

/// The form of the answer, and what else the body said of its text.
fn text_settings<'a>(cx: &mut Context<'a>) -> Option<TextSettings<'a>> {
    let options = cx.options;
    let others = options.rest.get(Family::OpenaiResponses, "text");
    let own = others.and_then(|others| Own::of_json(others).peek("format"));
    let format = cx.response_format();
    let format = format.map(|format| format_of(format, own, &mut cx.adjustments));
    let is_bare = format.is_none() && others.is_some_and(has_bare_format);
    if is_bare {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "text.format: it has no `type`");
    }
    let extra = others.map(|others| Own::of_json(others).rest(&["format"])).unwrap_or_default();
    let is_written = format.is_some() || is_bare && !extra.is_empty();
    is_written.then_some(TextSettings { format, extra })
}

/// Whether a format that only this API could know does not say what it is.
fn has_bare_format(text: &Json) -> bool {
    let format = Own::of_json(text).peek("format").filter(|format| format.get() != "null");
    format.is_some_and(|format| Own::of_raw(format).peek_text("type").is_none())
}

/// The form of the answer, with what came beside what has a neutral word.
fn format_of<'a>(
    format: &'a ResponseFormat,
    own: Option<&'a RawValue>,
    adjustments: &mut Adjustments,
) -> Format<'a> {
    let known = ["type", "name", "description", "schema", "strict"];
    let extra = own.map_or(Rest::NONE, |own| Rest::of_value(own, &known));
    let asked = match format {
        ResponseFormat::Text => return Format::Plain { r#type: "text", extra },
        ResponseFormat::Json => return Format::Plain { r#type: "json_object", extra },
        ResponseFormat::Schema(asked) => asked,
    };
    let given = asked.name_or_default();
    let name = Alphabet::NAME.write(given);
    if name != given {
        let detail = format!("the name {given:?} of the format");
        adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
    }
    let mut strict = asked.strict;
    if strict == Some(true) && !schema::takes(&Value::of(asked.schema.as_str())) {
        let detail = "the format is outside the strict subset";
        adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
        strict = Some(false);
    }
    let description = asked.description.as_deref();
    let schema = &asked.schema;
    Format::Schema { r#type: "json_schema", name, description, schema, strict, extra }
}

/// Whether the answer must be a JSON object and no message says the word, without
/// which the API refuses.
pub(super) fn must_ask_for_json(cx: &Context<'_>, system: &[Entry]) -> bool {
    if cx.options.response_format != Some(ResponseFormat::Json) {
        return false;
    }
    let says_json = |entry: &Entry| {
        entry.message.texts().any(|text| text.to_ascii_lowercase().contains("json"))
    };
    let settled = cx.prompt.settled().into_iter().flat_map(|settled| settled.entries());
    let said = settled.chain(cx.prompt.entries());
    let mut said = said.filter(|entry| entry.message.role() != Role::System);
    !system.iter().any(says_json) && !said.any(says_json)
}

/// Whether the body says that nothing is stored.
pub(super) fn is_unstored(options: &Options) -> bool {
    own_setting(options, "store").is_some_and(|value| value == "false")
}

/// Whether the API leaves out what does not fit.
pub(super) fn cuts_by_itself(options: &Options) -> bool {
    own_setting(options, "truncation").is_some_and(|value| value == r#""auto""#)
}

fn own_setting<'a>(options: &'a Options, name: &str) -> Option<&'a str> {
    let value = options.rest.get(Family::OpenaiResponses, name)?;
    Some(value.as_str()).filter(|value| *value != "null")
}

/// Whether the API has an earlier answer that the body continues.
pub(super) fn continues(options: &Options) -> bool {
    CONTINUED.iter().any(|name| own_setting(options, name).is_some())
}

/// The namespace in which a function lives that came without one.
pub(super) fn namespace_of(options: &Options, function: &str) -> Option<String> {
    options.hosted_tools.iter().find_map(|tool| {
        let mut own = Own::of_json(&tool.value);
        if tool.owner.as_str() != OWNER || own.take_text("type").as_deref() != Some("namespace") {
            return None;
        }
        let name = own.take_text("name")?;
        let tools = crate::raw::list(own.take("tools")?).ok()?;
        let holds = tools
            .into_iter()
            .any(|tool| Own::of_raw(tool).peek_text("name").as_deref() == Some(function));
        holds.then(|| name.into_owned())
    })
}
