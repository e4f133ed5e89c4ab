//! All after the turns: the choice of tools, the settings, and what has no neutral
//! word.

use interleaf_model::{Json, ToolName};
use serde_json::value::RawValue;

use crate::adjustment::AdjustmentKind;
use crate::encode::Context;
use crate::gemini::schema::to_json_schema;
use crate::gemini::wire::{
    FunctionCallingConfig, GenerationConfig, Rest, Tail, ThinkingConfig, ToolConfig, own_name,
    peek, rest_without, take,
};
use crate::gemini::{GOOGLE, LEVELS, decode, lint, models};
use crate::raw::Fields;
use crate::tree::Value;
use crate::turns::Turns;
use crate::{
    Effort, Error, Family, ResponseFormat, ThinkingAmount, ThinkingMode, Thoughts, ToolChoice,
};

/// The fields of a body that are written from the prompt.
const WRITTEN: &[&str] = &["contents", "systemInstruction", "tools"];

pub(super) fn tail<'p>(cx: &mut Context<'p>, turns: &Turns<'_>) -> Result<Tail<'p>, Error> {
    let options = cx.options;
    let mut kept = OwnSettings::default();
    let mut rest = Rest::default();
    for (name, value) in options.rest.iter() {
        let name = own_name(name).unwrap_or(name);
        let raw = value.as_raw();
        match name {
            "seed" if options.rest.is_of(Family::OpenaiChat) && is_seed(raw) => {
                kept.seed = Some(raw);
            }
            _ if !options.rest.is_of(Family::Gemini) => drop_option(cx, name),
            "toolConfig" => kept.tool_config = Some(raw),
            "generationConfig" => kept.generation = Fields::read(raw).ok(),
            name if !lint::is_known(name, cx.vendor) => {
                drop_option(cx, &format!("{name}: the API does not know it"));
            }
            name if !WRITTEN.contains(&name) => {
                rest.add(own_name(name).unwrap_or(name).into(), raw)
            }
            _ => drop_option(cx, name),
        }
    }
    let tool_config = tool_config(cx, kept.tool_config);
    let has_prefix = !turns.system.is_empty()
        || !cx.prompt.tools().is_empty()
        || options.hosted_tools.iter().any(|hosted| hosted.owner.as_str() == GOOGLE)
        || tool_config.is_some();
    if has_prefix && rest.take("cachedContent").is_some() {
        drop_option(cx, "cachedContent, which forbids system text and tools beside it");
    }
    report_missing(cx);
    let mut generation_config = generation_config(cx, kept.generation);
    if let Some(seed) = kept.seed {
        generation_config.rest.add("seed".into(), seed);
    }
    let model = options.model_field.as_deref().filter(|_| options.rest.is_of(Family::Gemini));
    // It keeps the path before its name, unless another is asked.
    let is_same = |named: &str| models::short(named) == options.model;
    let model = model.map(|named| if is_same(named) { named } else { &options.model });
    Ok(Tail { tool_config, generation_config, model, rest })
}

/// What was kept of the two settings that have neutral words for a part of them.
#[derive(Default)]
struct OwnSettings<'p> {
    tool_config: Option<&'p RawValue>,
    generation: Option<Fields<'p>>,
    /// From a chat body.
    seed: Option<&'p RawValue>,
}

/// Whether a seed is one that this API takes too.
fn is_seed(raw: &RawValue) -> bool {
    raw.get().parse::<i32>().is_ok()
}

fn drop_option(cx: &mut Context<'_>, name: &str) {
    cx.adjustments.add_general(AdjustmentKind::OptionDropped, name);
}

/// Settings that the API does not have.
fn report_missing(cx: &mut Context<'_>) {
    if cx.options.parallel_tool_calls == Some(false) {
        drop_option(cx, "parallel_tool_calls");
    }
    if cx.options.cache_key.is_some() {
        drop_option(cx, "cache_key");
    }
}

fn tool_config<'p>(cx: &mut Context<'p>, kept: Option<&'p RawValue>) -> Option<ToolConfig<'p>> {
    let options = cx.options;
    let has_functions = !cx.prompt.tools().is_empty();
    let has_hosted = options.hosted_tools.iter().any(|hosted| hosted.owner.as_str() == GOOGLE);
    // From Gemini 3 on, functions beside tools that Google runs must be asked for.
    let mixes = has_functions && has_hosted && models::is_gemini_3(&options.model);
    let include = (mixes && !cx.vendor.quirks.vertex).then_some(true);
    let kept_value = kept.map(|raw| Value::of(raw.get()));
    let same =
        kept_value.as_ref().is_some_and(|value| decode::tool_choice(value) == options.tool_choice);
    let mut rest = Rest::default();
    let mut calling = None;
    if let (Some(raw), Some(value)) = (kept, &kept_value) {
        let mut fields = Fields::read(raw).ok()?;
        // Names that are rewritten are not those that were kept.
        let alphabet = &cx.vendor.quirks.tool_names;
        let names = cx.prompt.tools().iter().map(|tool| tool.name.as_str());
        let names: Vec<&str> = names.filter(|name| alphabet.takes(name)).collect();
        let is_sound = has_functions && same && lint::is_sound_choice(value, &names);
        if !is_sound && take(&mut fields, "functionCallingConfig").is_some() && same {
            drop_option(cx, "toolConfig.functionCallingConfig");
        }
        rest = rest_without(&fields, &["includeServerSideToolInvocations"]);
        if is_sound {
            return Some(ToolConfig {
                function_calling_config: None,
                include_server_side_tool_invocations: include,
                rest,
            });
        }
    }
    if !same && let Some(choice) = &options.tool_choice {
        calling = function_calling_config(cx, choice);
    }
    if calling.is_none() && include.is_none() && rest.is_empty() {
        return None;
    }
    Some(ToolConfig {
        function_calling_config: calling,
        include_server_side_tool_invocations: include,
        rest,
    })
}

fn function_calling_config<'p>(
    cx: &mut Context<'p>,
    choice: &ToolChoice,
) -> Option<FunctionCallingConfig<'p>> {
    let tools = cx.prompt.tools();
    if tools.is_empty() {
        if matches!(choice, ToolChoice::Required | ToolChoice::Tool(_)) {
            drop_option(cx, "tool_choice, because there are no tools");
        }
        return None;
    }
    let (mode, allowed) = match choice {
        ToolChoice::Auto => ("AUTO", None),
        ToolChoice::None => ("NONE", None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::Tool(name) => ("ANY", Some(ToolName::new(name))),
    };
    let allowed_function_names = match allowed {
        None => Vec::new(),
        Some(name) => {
            let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
                drop_option(cx, "tool_choice, because it names no tool of the request");
                return None;
            };
            vec![cx.tool_name(&tool.name)]
        }
    };
    Some(FunctionCallingConfig { mode, allowed_function_names })
}

fn generation_config<'p>(cx: &mut Context<'p>, kept: Option<Fields<'p>>) -> GenerationConfig<'p> {
    let options = cx.options;
    let mut config = GenerationConfig {
        max_output_tokens: cx.max_tokens(1),
        temperature: cx.number("temperature", options.temperature.as_ref(), 2.0),
        top_p: cx.number("top_p", options.top_p.as_ref(), 1.0),
        top_k: cx.number("top_k", options.top_k.as_ref(), f64::INFINITY),
        stop_sequences: &options.stop,
        ..GenerationConfig::default()
    };
    let mut own_thinking = Rest::default();
    let mut kept_format = false;
    if let Some(mut fields) = kept {
        let own = take(&mut fields, "thinkingConfig").and_then(|raw| Fields::read(raw).ok());
        own_thinking = own.map_or(Rest::default(), |own| rest_without(&own, &[]));
        kept_format = keeps_format(cx, &mut fields);
        let mut written = vec!["maxOutputTokens", "temperature", "topP", "topK", "stopSequences"];
        if options.max_tokens.is_none() {
            written.remove(0);
        }
        config.rest = rest_without(&fields, &written);
    }
    config.thinking_config = thinking_config(cx, own_thinking);
    if !kept_format {
        (config.response_mime_type, config.response_json_schema) = response_format(cx);
    }
    config
}

/// Whether the form of the answer goes back as it came; takes it away if not.
fn keeps_format(cx: &mut Context<'_>, fields: &mut Fields<'_>) -> bool {
    let names = ["responseMimeType", "responseSchema", "responseJsonSchema"];
    if names.iter().all(|name| peek(fields, name).is_none()) {
        return false;
    }
    let same =
        decode::response_format(fields).is_ok_and(|format| format == cx.options.response_format);
    let keeps = same && lint::is_sound_format(fields) && !refuses_format(cx);
    if !keeps {
        for name in names {
            if take(fields, name).is_some() && !same {
                drop_option(cx, &format!("generationConfig.{name}"));
            }
        }
    }
    keeps
}

/// The thinking settings, with what came beside what has a neutral word.
fn thinking_config<'p>(cx: &mut Context<'p>, mut rest: Rest<'p>) -> Option<ThinkingConfig<'p>> {
    let mode = cx.options.thinking.unwrap_or_default();
    let never_thinks = models::never_thinks(&cx.options.model);
    let shows = mode.thoughts.map(|thoughts| thoughts == Thoughts::Shown);
    let include_thoughts = shows.filter(|shows| !(*shows && never_thinks));
    if shows != include_thoughts && mode.amount.is_none() && mode.effort.is_none() {
        drop_option(cx, "thinking: the model does not think");
    }
    let (thinking_budget, thinking_level) = amount(cx, mode);
    let is_said = thinking_budget.is_some() || thinking_level.is_some();
    let is_sound = rest.retain(|name, value| match name {
        // There is one of them at most.
        "thinkingBudget" | "thinkingLevel" => !is_said && lint::is_sound_thinking(name, value),
        "includeThoughts" => shows.is_none() && !(never_thinks && value.get() == "true"),
        _ => true,
    });
    if !is_sound {
        drop_option(cx, "generationConfig.thinkingConfig");
    }
    let is_empty = !is_said && include_thoughts.is_none() && rest.is_empty();
    (!is_empty).then_some(ThinkingConfig {
        include_thoughts,
        thinking_budget,
        thinking_level,
        rest,
    })
}

/// How much the model is to think: a budget or a level, never both.
fn amount(cx: &mut Context<'_>, mode: ThinkingMode) -> (Option<i64>, Option<&'static str>) {
    let model = &cx.options.model;
    match (mode.amount, mode.effort) {
        (None, None) => (None, None),
        _ if models::never_thinks(model) => {
            drop_option(cx, "thinking: the model does not think");
            (None, None)
        }
        (Some(ThinkingAmount::Free), None) => (Some(-1), None),
        (Some(ThinkingAmount::Free) | None, Some(effort)) if models::has_only_budgets(model) => {
            let detail = format!("effort: {} tokens to think stand for it", effort.budget());
            cx.adjustments.add_general(AdjustmentKind::OptionChanged, detail);
            (i64::try_from(effort.budget()).ok(), None)
        }
        (Some(ThinkingAmount::Free) | None, Some(effort)) => {
            let nearest = effort.min(Effort::High);
            if nearest != effort {
                let detail = format!("effort: {nearest} is the most there is");
                cx.adjustments.add_general(AdjustmentKind::OptionChanged, detail);
            }
            let word = LEVELS.into_iter().find(|(level, _)| *level == nearest);
            (None, word.map(|(_, word)| word))
        }
        (Some(ThinkingAmount::Off | ThinkingAmount::Budget(_)), Some(_)) => {
            drop_option(cx, "effort: it stands with no budget");
            amount(cx, ThinkingMode { effort: None, ..mode })
        }
        (Some(ThinkingAmount::Off), None) if models::is_gemini_3(model) => {
            drop_option(cx, "thinking: the model always thinks");
            (None, None)
        }
        (Some(ThinkingAmount::Off), None) => (Some(0), None),
        (Some(ThinkingAmount::Budget(tokens)), None) => {
            (Some(i64::try_from(tokens).unwrap_or(i64::MAX)), None)
        }
    }
}

/// Whether the model takes no form of the answer, for there are functions.
fn refuses_format(cx: &Context<'_>) -> bool {
    !cx.prompt.tools().is_empty() && models::refuses_format_with_functions(&cx.options.model)
}

fn response_format(cx: &mut Context<'_>) -> (Option<&'static str>, Option<Json>) {
    const JSON: Option<&str> = Some("application/json");
    match cx.response_format() {
        Some(ResponseFormat::Json | ResponseFormat::Schema(_)) if refuses_format(cx) => {
            drop_option(cx, "response_format: the model takes none beside functions");
            (None, None)
        }
        None | Some(ResponseFormat::Text) => (None, None),
        Some(ResponseFormat::Json) => (JSON, None),
        Some(ResponseFormat::Schema(asked)) => {
            if asked.description.is_some() {
                drop_option(cx, "response_format.description: the API has no place for it");
            }
            (JSON, Some(to_json_schema(&asked.schema)))
        }
    }
}
