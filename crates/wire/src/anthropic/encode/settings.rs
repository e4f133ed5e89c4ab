//! What a request asks for beside its messages and tools.

use std::borrow::Cow;
use std::collections::HashSet;

use interleaf_model::{AssistantPart, Body, Entry, Json, ToolName};
use serde_json::value::RawValue;

use super::parts::thinking_block;
use super::served::is_paused;
use super::{fields, raw, rest_object};
use crate::adjustment::AdjustmentKind;
use crate::anthropic::max_tokens::limited;
use crate::anthropic::models::Model;
use crate::anthropic::schema::{Tally, faults_of_subset, restrict};
use crate::anthropic::thinking::{Thinking, WRITTEN, asks_to_think, fitted};
use crate::anthropic::wire::{Choice, Format, Rest, Setting};
use crate::anthropic::{ONE_WAY, is_blank, sampling_fault, surplus_sampling};
use crate::encode::{Context, TurnPlace};
use crate::raw::{Fields, text};
use crate::tree::Value;
use crate::turns::{Turn, Turns};
use crate::{Family, Number, Options, ResponseFormat, ThinkingMode, ToolChoice};

/// The API demands a limit; this one is for those who have none in mind.
const DEFAULT_MAX_TOKENS: u64 = 4096;

pub(super) struct Sampling<'a> {
    pub(super) temperature: Option<&'a Json>,
    pub(super) top_p: Option<&'a Json>,
    pub(super) top_k: Option<&'a Json>,
}

/// The limit; where none is given, there is room beside the thinking.
pub(super) fn max_tokens(cx: &mut Context<'_>, model: Model, mode: ThinkingMode) -> u64 {
    let budget = mode.budget_tokens().unwrap_or(0);
    let asked = cx.options.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS.saturating_add(budget));
    limited(asked, model, &mut cx.adjustments)
}

/// The thinking settings as this model and this history take them.
pub(super) fn thinking_mode(cx: &mut Context<'_>, turns: &Turns<'_>, model: Model) -> ThinkingMode {
    let Some(asked) = cx.options.thinking else { return ThinkingMode::default() };
    let may_be_budget = asked.budget_tokens().is_some() || !model.modes().adaptive;
    let no_budget = (may_be_budget && !loop_opens_with_thinking(cx, turns))
        .then_some("the running tool loop began without thinking");
    fitted(asked, model, cx.options, no_budget, &mut cx.adjustments)
}

/// The field `thinking`, with what only the API knows; as it came, if all of it is such.
pub(super) fn thinking<'a>(cx: &mut Context<'a>, mode: ThinkingMode) -> Option<Setting<'a>> {
    let own = cx.options.rest.get(Family::Anthropic, "thinking");
    let is_whole = own.and_then(fields).is_some_and(|own| kind_of(&own).is_some());
    let asked = cx.options.thinking.unwrap_or_default();
    if asked.amount.is_none() && is_whole {
        return own.and_then(raw).map(Setting::Own);
    }
    let rest = own.map_or(Rest::NONE, |own| Rest::of_json(own, &WRITTEN));
    if mode.amount.is_none() && own.is_some_and(|own| own.as_str() != "null") {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "thinking: it has no type");
    }
    Thinking::of(mode, rest).map(Setting::Known)
}

fn kind_of<'a>(object: &Fields<'a>) -> Option<Cow<'a, str>> {
    object.peek("type").and_then(|kind| text(kind).ok())
}

fn is_on(options: &Options) -> bool {
    let model = Model::named(&options.model);
    options.thinking.is_some_and(|asked| asks_to_think(asked, model))
}

fn is_off(options: &Options) -> bool {
    options.thinking.is_some_and(ThinkingMode::is_off)
}

/// Whether the user must have the last word.
pub(super) fn needs_user_last(options: &Options) -> bool {
    Model::named(&options.model).refuses_prefill() || is_on(options) || has_format(options)
}

/// Whether the answer has a form that it must keep.
pub(super) fn has_format(options: &Options) -> bool {
    options.response_format.as_ref().is_some_and(|format| format.as_schema().is_some())
        || rest_object(options, "output_config").get("format").is_some()
}

/// Whether thinking of a turn is refused because it is off: in the tool loop that is
/// running, and in a last message that the model is to go on with.
pub(super) fn hides_thinking(cx: &Context<'_>, place: TurnPlace, is_prefill: bool) -> bool {
    place.current && is_off(cx.options) || is_prefill && !is_on(cx.options)
}

/// Whether the tool loop that is running, if there is one, began with a thought.
fn loop_opens_with_thinking(cx: &mut Context<'_>, turns: &Turns<'_>) -> bool {
    // The loop is what stands after the newest turn in which the user gave no results: what is
    // said beside results does not end it.
    let mut opener = None;
    for turn in turns.turns.iter().rev() {
        match turn {
            Turn::User { results: [], .. } => break,
            Turn::User { .. } => {}
            Turn::Assistant { said, .. } => opener = Some(*said),
        }
    }
    // A last turn of the assistant's gets one of the user's after it, or was paused.
    let is_closed = match turns.turns.last() {
        Some(Turn::Assistant { said, .. }) => !is_paused(said),
        Some(Turn::User { .. }) | None => false,
    };
    opener.is_none_or(|said| is_closed || opens_with_thinking(cx, said))
}

fn opens_with_thinking(cx: &mut Context<'_>, said: &[Entry]) -> bool {
    // What is found here is reported when the turn is written.
    let before = std::mem::take(&mut cx.adjustments);
    let mut opens = false;
    'parts: for entry in said {
        let Body::Assistant(parts) = &entry.message.body else { continue };
        for part in parts.iter() {
            match part {
                AssistantPart::Text(text) if is_blank(&text.text) => {}
                AssistantPart::Thinking(thought) => {
                    opens = thinking_block(cx, thought, &entry.message, &mut Default::default())
                        .is_some();
                    if opens {
                        break 'parts;
                    }
                }
                _ => break 'parts,
            }
        }
    }
    cx.adjustments = before;
    opens
}

/// Sampling settings, as far as the model takes them.
pub(super) fn sampling<'a>(cx: &mut Context<'a>, model: Model, mode: ThinkingMode) -> Sampling<'a> {
    let options = cx.options;
    let mut take = |name: &'static str, value: &'a Option<Number>| {
        let value = value.as_ref()?.as_json();
        let number = value.as_str().parse().unwrap_or(f64::NAN);
        match sampling_fault(name, number, model, mode.is_on()) {
            None => Some(value),
            Some(fault) => {
                let detail = format!("{name}: {fault}");
                cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
                None
            }
        }
    };
    let mut sampling = Sampling {
        temperature: take("temperature", &options.temperature),
        top_p: take("top_p", &options.top_p),
        top_k: take("top_k", &options.top_k),
    };
    let number = |json: Option<&Json>| json.and_then(|json| json.as_str().parse().ok());
    let (temperature, top_p) = (number(sampling.temperature), number(sampling.top_p));
    if let Some(name) = surplus_sampling(model, temperature, top_p) {
        let surplus = if name == "top_p" { &mut sampling.top_p } else { &mut sampling.temperature };
        *surplus = None;
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, format!("{name}: {ONE_WAY}"));
    }
    sampling
}

/// Texts at which the model stops; blank ones are refused.
pub(super) fn stop_sequences<'a>(cx: &mut Context<'a>) -> Vec<&'a str> {
    let options = cx.options;
    let mut kept = Vec::new();
    for text in &options.stop {
        if is_blank(text) {
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, "stop: a blank text");
        } else {
            kept.push(text.as_str());
        }
    }
    kept
}

/// The form of the answer, if it is a schema that the API can hold a model to.
pub(super) fn format<'a>(cx: &mut Context<'a>) -> Option<Format<'a>> {
    let asked = match cx.response_format()? {
        ResponseFormat::Schema(asked) => asked,
        ResponseFormat::Text => return None,
        ResponseFormat::Json => {
            let detail = "response_format: JSON without a schema";
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            return None;
        }
    };
    let schema = raw(&asked.schema)?;
    let format = if fits(schema) {
        Format { schema: Cow::Borrowed(schema) }
    } else {
        let restricted = RawValue::from_string(restrict(schema)).ok().filter(|schema| fits(schema));
        let Some(schema) = restricted else {
            let detail = "response_format: the model cannot be held to this schema";
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            return None;
        };
        let detail = "response_format: constraints that cannot be held were left out";
        cx.adjustments.add_general(AdjustmentKind::SchemaChanged, detail);
        Format { schema: Cow::Owned(schema) }
    };
    if asked.description.is_some() {
        let detail = "response_format.description: the API has no place for it";
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
    }
    Some(format)
}

/// What a body said of its output beside the form; a form that came along with fields
/// of its own stays, if the model can be held to it.
pub(super) fn output_rest<'a>(cx: &mut Context<'a>) -> Rest<'a> {
    let mut rest = rest_object(cx.options, "output_config");
    let is_form = |raw: &RawValue| {
        let Ok(own) = Fields::read(raw) else { return raw.get() == "null" };
        let schema = own.peek("schema").filter(|schema| fits(schema));
        kind_of(&own).as_deref() == Some("json_schema") && schema.is_some()
    };
    let is_whole = rest.retain(|name, value| {
        name != "format" || cx.options.response_format.is_none() && is_form(value)
    });
    if !is_whole {
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, "output_config.format");
    }
    rest
}

/// Whether a choice that came along with fields of its own can stay.
pub(super) fn is_known_choice(cx: &Context<'_>, choice: &Json) -> bool {
    let Some(own) = fields(choice) else { return choice.as_str() == "null" };
    let has_tools = !cx.prompt.tools().is_empty();
    let is_known = matches!(kind_of(&own).as_deref(), Some("auto" | "none"));
    is_known && has_tools && cx.options.tool_choice.is_none()
}

fn fits(schema: &RawValue) -> bool {
    let value = Value::of(schema.get());
    let mut tally = Tally::default();
    faults_of_subset(&value, "", &mut tally).is_empty() && tally.is_allowed()
}

/// Which tool is to be called.
pub(super) fn tool_choice<'a>(
    cx: &mut Context<'a>,
    model: Model,
    mode: ThinkingMode,
    names: &HashSet<String>,
) -> Option<Choice<'a>> {
    let options = cx.options;
    let is_single = options.parallel_tool_calls == Some(false);
    if names.is_empty() {
        if options.tool_choice.is_some() {
            cx.adjustments
                .add_general(AdjustmentKind::OptionDropped, "tool_choice: there are no tools");
        }
        if is_single {
            let detail = "parallel_tool_calls: there are no tools";
            cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
        }
        return None;
    }
    let is_forced = matches!(options.tool_choice, Some(ToolChoice::Required | ToolChoice::Tool(_)));
    let named = match &options.tool_choice {
        Some(ToolChoice::Tool(name)) => Some(cx.tool_name(&ToolName::new(name)).into_owned()),
        _ => None,
    };
    let refused = if !is_forced {
        None
    } else if named.as_ref().is_some_and(|name| !names.contains(name)) {
        Some("there is no such tool")
    } else if mode.budget_tokens().is_some() {
        Some("no tool can be forced while the model thinks")
    } else if model.refuses_forced_tools() {
        Some("this model cannot be forced")
    } else {
        None
    };
    if let Some(refused) = refused {
        cx.adjustments
            .add_general(AdjustmentKind::OptionDropped, format!("tool_choice: {refused}"));
    }
    let (kind, name) = match &options.tool_choice {
        None if is_single => ("auto", None),
        None => return None,
        Some(ToolChoice::None) => ("none", None),
        Some(_) if refused.is_some() => ("auto", None),
        Some(ToolChoice::Auto) => ("auto", None),
        Some(ToolChoice::Required) => ("any", None),
        Some(ToolChoice::Tool(_)) => ("tool", named.map(Cow::Owned)),
    };
    if is_single && kind == "none" {
        let detail = "parallel_tool_calls: no tool is called";
        cx.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
    }
    Some(Choice { kind, name, disable_parallel_tool_use: is_single && kind != "none" })
}
