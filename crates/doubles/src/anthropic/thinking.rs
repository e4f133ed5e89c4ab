//! Rules of thinking.

use serde_json::Value;

use crate::Api;
use crate::claude::claude;
use crate::family::{Incoming, Rule, rules};
use crate::place::blocks;
use crate::refusal::{Refusal, Verdict, demand};
use crate::seal::is_sealed;
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![
    the_mode_is_the_models,
    the_budget_fits,
    thoughts_are_signed,
    thoughts_are_not_last,
    thoughts_are_not_repeated,
    signatures_are_right,
    a_thinking_model_goes_on_with_a_thought,
    without_thinking_the_last_message_has_no_thought,
    thinking_leaves_the_choice_free,
];

fn mode<'a>(incoming: &Incoming<'a>) -> &'a str {
    text(&incoming.body["thinking"]["type"])
}

fn the_mode_is_the_models(incoming: &Incoming<'_>) -> Verdict {
    let thinking = &incoming.body["thinking"];
    if thinking.is_null() {
        return Ok(());
    }
    let mode = mode(incoming);
    let known = ["enabled", "disabled", "adaptive", "between_tools"];
    demand(known.contains(&mode), || {
        Refusal::new(format!(
            "thinking: Input tag '{mode}' found using 'type' does not match any of the expected tags: 'enabled', 'disabled', 'adaptive'"
        ))
    })?;
    let Some(claude) = claude(incoming.model) else { return Ok(()) };
    demand(claude.version >= 3.7 || mode == "disabled", || {
        Refusal::new("thinking is not supported on this model")
    })?;
    let effort = text(&incoming.body["output_config"]["effort"]);
    let is_hard = ["xhigh", "max"].contains(&effort) && claude.thinks_when_it_tries_hard();
    demand(!(mode == "disabled" && is_hard), || {
        Refusal::new("thinking cannot be disabled at this effort on this model")
    })?;
    match mode {
        "adaptive" => demand(claude.takes_adaptive(), || {
            Refusal::new("adaptive thinking is not supported on this model")
        }),
        "enabled" => demand(claude.takes_a_budget(), || {
            Refusal::new(
                "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.",
            )
        }),
        "disabled" => demand(!claude.refuses_disabled(), || {
            Refusal::new("\"thinking.type.disabled\" is not supported for this model.")
        }),
        _ => demand(claude.family == "sonnet" && claude.version >= 5.5, || {
            Refusal::new("\"thinking.type.between_tools\" is not supported for this model.")
        }),
    }
}

fn the_budget_fits(incoming: &Incoming<'_>) -> Verdict {
    if mode(incoming) != "enabled" {
        return Ok(());
    }
    let budget = &incoming.body["thinking"]["budget_tokens"];
    let Some(budget) = budget.as_u64() else {
        return Err(Refusal::new("thinking.enabled.budget_tokens: Field required"));
    };
    demand(budget >= 1_024, || {
        let words = "Input should be greater than or equal to 1024";
        Refusal::new(format!("thinking.enabled.budget_tokens: {words}"))
    })?;
    let most = incoming.body["max_tokens"].as_u64();
    demand(most.is_none_or(|most| budget < most), || {
        Refusal::new(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size",
        )
    })
}

fn thoughts_are_signed(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming) {
        match place.kind() {
            "thinking" => {
                let has = place.block["thinking"].is_string();
                demand(has, || place.refuse("", "each thinking block must contain thinking"))?;
                let signature = &place.block["signature"];
                demand(signature.is_string(), || {
                    place.refuse(".thinking.signature", "Field required")
                })?;
                let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=_-".contains(c);
                let is_right = text(signature).chars().all(is_base64);
                demand(signature != "" && is_right, || {
                    place.refuse("", "Invalid `signature` in `thinking` block")
                })?;
            }
            "redacted_thinking" => {
                let data = text(&place.block["data"]);
                demand(!data.is_empty(), || {
                    place.refuse(".redacted_thinking.data", "Field required")
                })?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn signatures_are_right(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming).filter(|place| incoming.verify && place.kind() == "thinking") {
        let (thought, signature) =
            (text(&place.block["thinking"]), text(&place.block["signature"]));
        demand(is_sealed(Api::Anthropic, thought, signature), || {
            place.refuse("", "Invalid `signature` in `thinking` block")
        })?;
    }
    Ok(())
}

fn thoughts_are_not_last(incoming: &Incoming<'_>) -> Verdict {
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        let last = list(&message["content"]).last().map_or("", |block| text(&block["type"]));
        demand(last != "thinking" && last != "redacted_thinking", || {
            Refusal::new(format!(
                "messages.{i}: The final block in an assistant message cannot be `{last}`."
            ))
        })?;
    }
    Ok(())
}

fn thoughts_are_not_repeated(incoming: &Incoming<'_>) -> Verdict {
    for (i, message) in list(&incoming.body["messages"]).iter().enumerate() {
        let blocks = list(&message["content"]).iter();
        let mut seals = blocks.filter_map(|block| match text(&block["type"]) {
            "thinking" => block["signature"].as_str(),
            "redacted_thinking" => block["data"].as_str(),
            _ => None,
        });
        let mut seen = std::collections::BTreeSet::new();
        demand(seals.all(|seal| seen.insert(seal)), || {
            Refusal::new(format!(
                "messages.{i}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
            ))
        })?;
    }
    Ok(())
}

/// With a budget, the loop of calls that is running began with a thought.
fn a_thinking_model_goes_on_with_a_thought(incoming: &Incoming<'_>) -> Verdict {
    let messages = list(&incoming.body["messages"]);
    let is_result = |block: &Value| block["type"] == "tool_result";
    let is_question = |message: &Value| {
        let blocks = list(&message["content"]);
        message["role"] == "user" && (blocks.is_empty() || !blocks.iter().any(is_result))
    };
    let from = messages.iter().rposition(is_question).map_or(0, |at| at + 1);
    let mut loop_of = messages.iter().enumerate().skip(from);
    let Some((i, last)) = loop_of.find(|(_, message)| message["role"] == "assistant") else {
        return Ok(());
    };
    let first = text(&last["content"][0]["type"]);
    let first = if last["content"].is_string() { "text" } else { first };
    let begins = ["thinking", "redacted_thinking", ""].contains(&first);
    demand(mode(incoming) != "enabled" || begins, || {
        let rule = "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.";
        Refusal::new(format!(
            "messages.{i}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`. {rule}"
        ))
    })
}

fn without_thinking_the_last_message_has_no_thought(incoming: &Incoming<'_>) -> Verdict {
    let is_off = mode(incoming) == "disabled"
        || mode(incoming).is_empty()
            && claude(incoming.model).is_some_and(|claude| !claude.always_thinks());
    let last = list(&incoming.body["messages"]).last().filter(|last| last["role"] == "assistant");
    let has = last
        .is_some_and(|last| list(&last["content"]).iter().any(|block| block["type"] == "thinking"));
    demand(!(is_off && has), || {
        Refusal::new(
            "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
        )
    })
}

fn thinking_leaves_the_choice_free(incoming: &Incoming<'_>) -> Verdict {
    let forced = ["any", "tool"].contains(&text(&incoming.body["tool_choice"]["type"]));
    demand(!(forced && mode(incoming) == "enabled"), || {
        Refusal::new("Thinking may not be enabled when tool_choice forces tool use.")
    })
}
