//! How hard one of OpenAI's models is to think, on either of its APIs.

use super::models::Model;
use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::{Effort, ThinkingAmount, ThinkingMode};

/// The word for a mode. These models know efforts and nothing else.
pub(crate) fn word(
    mode: ThinkingMode,
    model: &str,
    adjustments: &mut Adjustments,
) -> Option<&'static str> {
    let model = Model::named(model);
    let refused = match mode.amount {
        None if mode.effort.is_none() => return None,
        _ if model.never_reasons() => "the model does not think",
        Some(ThinkingAmount::Off) if model.always_reasons() => "the model always thinks",
        Some(ThinkingAmount::Off) => {
            if mode.effort.is_some() {
                let detail = "effort: the model does not think";
                adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            }
            return Some("none");
        }
        Some(ThinkingAmount::Budget(tokens)) => {
            let effort = mode.effort.unwrap_or(Effort::of_budget(tokens));
            let detail =
                format!("thinking.budget_tokens: an effort that is {effort} stands for it");
            adjustments.add_general(AdjustmentKind::OptionChanged, detail);
            return Some(effort.as_str());
        }
        Some(ThinkingAmount::Free) | None => {
            if mode.effort.is_none() {
                let detail = "thinking: an effort that is medium stands for it";
                adjustments.add_general(AdjustmentKind::OptionChanged, detail);
            }
            return Some(mode.effort.unwrap_or(Effort::Medium).as_str());
        }
    };
    adjustments.add_general(AdjustmentKind::OptionDropped, format!("thinking: {refused}"));
    None
}
