//! How much thinking a model of Anthropic's can be asked for, whoever serves it.

use serde::Serialize;

use super::max_tokens::most_tokens;
use super::models::Model;
use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::raw::{Fields, text};
use crate::rest::Rest;
use crate::{Effort, Options, ThinkingAmount, ThinkingMode, Thoughts};

/// The least that a model may be told to think.
pub(crate) const LEAST_BUDGET: u64 = 1024;

/// Why a type of thinking is refused, if it is.
pub(crate) fn thinking_fault(model: Model, kind: &str) -> Option<&'static str> {
    let modes = model.modes();
    match kind {
        "enabled" | "adaptive" if model.never_thinks() => Some("the model does not think"),
        "enabled" if !modes.enabled => Some("the model has no budget"),
        "adaptive" if !modes.adaptive => Some("the model has no adaptive thinking"),
        "disabled" if !modes.disabled => Some("the model always thinks"),
        _ => None,
    }
}

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
/// `no_budget` says why the history allows no budget, where it allows none.
pub(crate) fn fitted(
    asked: ThinkingMode,
    model: Model,
    options: &Options,
    no_budget: Option<&'static str>,
    adjustments: &mut Adjustments,
) -> ThinkingMode {
    if model.never_thinks() && asked != ThinkingMode::default() {
        if asked.amount != Some(ThinkingAmount::Off) || asked.effort.is_some() {
            leave_out("the model does not think", adjustments);
        }
        return ThinkingMode::default();
    }
    let room = Room { most: most_tokens(options, model), refused: no_budget };
    let mode = match model.takes_effort() {
        true => with_effort(asked, model, adjustments),
        false => without_effort(asked, &room, adjustments),
    };
    let mode = with_amount(mode, model, &room, adjustments);
    if mode.thoughts.is_some() && !mode.is_on() {
        let detail = "thoughts: only where the model is asked to think";
        adjustments.add_general(AdjustmentKind::OptionDropped, detail);
        return ThinkingMode { thoughts: None, ..mode };
    }
    mode
}

/// Whether a request makes the model think, in its own words or in those that stand for
/// them.
pub(super) fn asks_to_think(asked: ThinkingMode, model: Model) -> bool {
    let is_implied = asked.amount.is_none() && asked.effort.is_some();
    !model.never_thinks() && (asked.is_on() || is_implied && !model.takes_effort())
}

fn with_effort(asked: ThinkingMode, model: Model, adjustments: &mut Adjustments) -> ThinkingMode {
    let nearest = asked.effort.and_then(|effort| model.nearest_effort(effort));
    if nearest != asked.effort
        && let Some(nearest) = nearest
    {
        let detail = format!("effort: {nearest} is the nearest that the model knows");
        adjustments.add_general(AdjustmentKind::OptionChanged, detail);
    }
    ThinkingMode { effort: nearest, ..asked }
}

/// A budget in place of the effort.
fn without_effort(asked: ThinkingMode, room: &Room, adjustments: &mut Adjustments) -> ThinkingMode {
    let Some(effort) = asked.effort else { return asked };
    let amount = match asked.amount {
        None | Some(ThinkingAmount::Free) => match room.own(effort) {
            Ok(budget) => {
                let detail = format!("effort: {budget} tokens to think stand for it");
                adjustments.add_general(AdjustmentKind::OptionChanged, detail);
                Some(ThinkingAmount::Budget(budget))
            }
            Err(refused) => {
                leave_out(refused, adjustments);
                None
            }
        },
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
    room: &Room,
    adjustments: &mut Adjustments,
) -> ThinkingMode {
    let Some(amount) = mode.amount else { return mode };
    let modes = model.modes();
    let mut change = |detail| adjustments.add_general(AdjustmentKind::OptionChanged, detail);
    let fitting = match amount {
        ThinkingAmount::Budget(tokens) if !modes.enabled => {
            let effort = mode.effort.unwrap_or(Effort::of_budget(tokens));
            change(format!(
                "thinking.budget_tokens: the model itself decides how much it thinks, at an effort that is {effort}"
            ));
            return ThinkingMode { amount: Some(ThinkingAmount::Free), ..mode }.with_effort(effort);
        }
        ThinkingAmount::Budget(tokens) => room.nearest(tokens).map(|budget| {
            if budget > tokens {
                change(format!("thinking.budget_tokens: {budget} is the least there is"));
            } else if budget < tokens {
                change(format!("thinking.budget_tokens: {budget} leaves room for an answer"));
            }
            ThinkingAmount::Budget(budget)
        }),
        ThinkingAmount::Free if !modes.adaptive => room.own(Effort::Medium).map(|budget| {
            change(format!("thinking: the model needs a budget, and gets {budget} tokens"));
            ThinkingAmount::Budget(budget)
        }),
        ThinkingAmount::Off if !modes.disabled => Err("the model always thinks"),
        ThinkingAmount::Off
            if model.needs_thinking_for_effort() && mode.effort > Some(Effort::High) =>
        {
            Err("the model thinks at this effort")
        }
        ThinkingAmount::Free | ThinkingAmount::Off => Ok(amount),
    };
    if let Err(refused) = fitting {
        leave_out(refused, adjustments);
    }
    ThinkingMode { amount: fitting.ok(), ..mode }
}

fn leave_out(refused: &str, adjustments: &mut Adjustments) {
    adjustments.add_general(AdjustmentKind::OptionDropped, format!("thinking: {refused}"));
}

/// What a budget has to fit into.
struct Room {
    /// The most tokens for thinking and answer together.
    most: u64,
    /// Why no budget fits, however small.
    refused: Option<&'static str>,
}

impl Room {
    /// The budget that comes nearest to this many tokens and leaves some for an answer.
    fn nearest(&self, tokens: u64) -> Result<u64, &'static str> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        match tokens.max(LEAST_BUDGET) {
            _ if self.most <= LEAST_BUDGET => Err("max_tokens leaves no room for it"),
            tokens if tokens < self.most => Ok(tokens),
            _ => Ok(self.half()),
        }
    }

    /// A budget of ours in place of an effort.
    fn own(&self, effort: Effort) -> Result<u64, &'static str> {
        self.nearest(effort.budget().min(self.half()))
    }

    fn half(&self) -> u64 {
        (self.most / 2).max(LEAST_BUDGET)
    }
}
