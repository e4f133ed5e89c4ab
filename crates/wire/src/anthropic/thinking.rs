//! How much thinking a model of Anthropic's can be asked for, whoever serves it.

use serde::Serialize;

use super::models::Model;
use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::raw::{Fields, text};
use crate::rest::Rest;
use crate::{Effort, Family, Options, ThinkingAmount, ThinkingMode, Thoughts};

/// The least that a model may be told to think.
pub(super) const LEAST_BUDGET: u64 = 1024;

/// The fields of `thinking` that have a neutral word.
pub(crate) const WRITTEN: [&str; 3] = ["type", "budget_tokens", "display"];

/// The field `thinking`.
#[derive(Debug, Serialize)]
pub(crate) struct Thinking<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display: Option<&'static str>,
    #[serde(flatten)]
    rest: Rest<'a>,
}

impl<'a> Thinking<'a> {
    /// What is written for a mode, and beside it what came with it.
    pub(crate) fn of(mode: ThinkingMode, rest: Rest<'a>) -> Option<Self> {
        let (kind, budget_tokens) = match mode.amount? {
            ThinkingAmount::Off => ("disabled", None),
            ThinkingAmount::Free => ("adaptive", None),
            ThinkingAmount::Budget(tokens) => ("enabled", Some(tokens)),
        };
        let display = mode.thoughts.map(|thoughts| match thoughts {
            Thoughts::Shown => "summarized",
            Thoughts::Hidden => "omitted",
        });
        Some(Self { kind, budget_tokens, display, rest })
    }
}

/// Takes what has a neutral word out of a `thinking`. Of a type that has none, nothing is
/// taken.
pub(crate) fn read(fields: &mut Fields<'_>) -> ThinkingMode {
    let word = |name| fields.peek(name).and_then(|raw| text(raw).ok());
    let budget = fields.peek("budget_tokens").and_then(|raw| raw.get().parse().ok());
    let thoughts = word("display").and_then(|display| match &*display {
        "summarized" => Some(Thoughts::Shown),
        "omitted" => Some(Thoughts::Hidden),
        _ => None,
    });
    let amount = match (word("type").as_deref(), budget) {
        (Some("disabled"), None) => ThinkingAmount::Off,
        (Some("adaptive"), None) => ThinkingAmount::Free,
        (Some("enabled"), Some(tokens)) => ThinkingAmount::Budget(tokens),
        // Some who imitate the API have a switch and no budget.
        (Some("enabled"), None) if fields.peek("budget_tokens").is_none() => ThinkingAmount::Free,
        _ => return ThinkingMode::default(),
    };
    fields.take("type");
    fields.take("budget_tokens");
    if thoughts.is_some() {
        fields.take("display");
    }
    ThinkingMode { amount: Some(amount), effort: None, thoughts }
}

/// The mode that comes nearest to what is asked for, of those that the model takes.
pub(crate) fn fitted(
    asked: ThinkingMode,
    model: Model,
    options: &Options,
    family: Family,
    adjustments: &mut Adjustments,
) -> ThinkingMode {
    let most_tokens = options.max_tokens;
    let mode = match takes_effort(model, options, family) {
        true => with_effort(asked, adjustments),
        false => without_effort(asked, most_tokens, adjustments),
    };
    let mode = with_amount(mode, model, most_tokens, adjustments);
    if mode.thoughts.is_some() && !mode.is_on() {
        let detail = "thoughts: only where the model is asked to think";
        adjustments.add_general(AdjustmentKind::OptionDropped, detail);
        return ThinkingMode { thoughts: None, ..mode };
    }
    mode
}

/// Whether a request makes the model think, in its own words or in those that stand for
/// them.
pub(super) fn asks_to_think(
    asked: ThinkingMode,
    model: Model,
    options: &Options,
    family: Family,
) -> bool {
    let is_implied = asked.amount.is_none() && asked.effort.is_some();
    asked.is_on() || is_implied && !takes_effort(model, options, family)
}

/// Whether an effort can be sent. Whoever sent one before is understood.
fn takes_effort(model: Model, options: &Options, family: Family) -> bool {
    model.takes_effort() || options.rest.is_of(family)
}

fn with_effort(asked: ThinkingMode, adjustments: &mut Adjustments) -> ThinkingMode {
    let Some(effort) = asked.effort else { return asked };
    let nearest = effort.max(Effort::Low);
    if nearest != effort {
        let detail = format!("effort: {nearest} is the least there is");
        adjustments.add_general(AdjustmentKind::OptionChanged, detail);
    }
    asked.with_effort(nearest)
}

/// A budget in place of the effort.
fn without_effort(
    asked: ThinkingMode,
    most_tokens: Option<u64>,
    adjustments: &mut Adjustments,
) -> ThinkingMode {
    let Some(effort) = asked.effort else { return asked };
    let amount = match asked.amount {
        None | Some(ThinkingAmount::Free) => {
            let budget = room(effort.budget(), most_tokens);
            let detail = format!("effort: {budget} tokens to think stand for it");
            adjustments.add_general(AdjustmentKind::OptionChanged, detail);
            Some(ThinkingAmount::Budget(budget))
        }
        Some(ThinkingAmount::Off | ThinkingAmount::Budget(_)) => {
            let detail = "effort: the model has no such setting";
            adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            asked.amount
        }
    };
    ThinkingMode { amount, effort: None, ..asked }
}

fn with_amount(
    mode: ThinkingMode,
    model: Model,
    most_tokens: Option<u64>,
    adjustments: &mut Adjustments,
) -> ThinkingMode {
    let modes = model.modes();
    let with = |amount| ThinkingMode { amount, ..mode };
    let refused = match mode.amount {
        Some(ThinkingAmount::Budget(tokens)) if !modes.enabled => {
            let effort = mode.effort.unwrap_or(Effort::of_budget(tokens));
            let detail = format!(
                "thinking.budget_tokens: the model itself decides how much it thinks, at an effort that is {effort}"
            );
            adjustments.add_general(AdjustmentKind::OptionChanged, detail);
            return with(Some(ThinkingAmount::Free)).with_effort(effort);
        }
        Some(ThinkingAmount::Free) if !modes.adaptive => {
            let budget = room(Effort::Medium.budget(), most_tokens);
            let detail = format!("thinking: the model needs a budget, and gets {budget} tokens");
            adjustments.add_general(AdjustmentKind::OptionChanged, detail);
            return with(Some(ThinkingAmount::Budget(budget)));
        }
        Some(ThinkingAmount::Budget(..LEAST_BUDGET)) => "budget_tokens must be at least 1024",
        Some(ThinkingAmount::Budget(tokens)) if most_tokens.is_some_and(|most| tokens >= most) => {
            "budget_tokens must be less than max_tokens"
        }
        Some(ThinkingAmount::Off) if !modes.disabled => "the model always thinks",
        Some(ThinkingAmount::Off)
            if model.needs_thinking_for_effort() && mode.effort > Some(Effort::High) =>
        {
            "the model thinks at this effort"
        }
        Some(_) | None => return mode,
    };
    adjustments.add_general(AdjustmentKind::OptionDropped, format!("thinking: {refused}"));
    with(None)
}

/// A budget of ours, with room for an answer beside it, if the limit leaves any.
fn room(budget: u64, most_tokens: Option<u64>) -> u64 {
    let half = most_tokens.map_or(u64::MAX, |most| most / 2);
    budget.min(half.max(LEAST_BUDGET))
}
