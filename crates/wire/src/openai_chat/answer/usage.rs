//! What an answer cost.

use interleaf_model::Usage;
use serde_json::Value;

use crate::Delta;
use crate::raw::{Fields, is_object};
use crate::reply_builder::ReplyBuilder;

/// Takes a report of usage, if there is one. Some servers put it into the choice,
/// one below a name of its own.
pub(super) fn read(
    fields: &mut Fields<'_>,
    reply: &mut ReplyBuilder,
    deltas: &mut Vec<Delta>,
) -> bool {
    let raw = fields.peek("usage").or_else(|| {
        let groq = fields.peek("x_groq").filter(|groq| is_object(groq))?;
        Fields::read(groq).ok()?.take("usage")
    });
    let Some(raw) = raw.filter(|raw| is_object(raw)) else {
        return false;
    };
    // What cannot be read is not known, and is not 0.
    let Some(usage) = serde_json::from_str(raw.get()).ok().and_then(|value| usage(&value)) else {
        return false;
    };
    deltas.push(Delta::Usage(usage));
    reply.usage = Some(usage);
    true
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |value: &Value| value.as_u64();
    let count = |value: &Value| if value.is_null() { Some(0) } else { number(value) };
    let sent = &value["prompt_tokens_details"];
    let made = &value["completion_tokens_details"];
    let prompt = count(&value["prompt_tokens"])?;
    let completion = count(&value["completion_tokens"])?;
    let reasoning = number(&made["reasoning_tokens"]).unwrap_or(0);
    let cache_read = number(&sent["cached_tokens"])
        .or_else(|| number(&value["prompt_cache_hit_tokens"]))
        .or_else(|| number(&value["cached_tokens"]));
    // One vendor counts reasoning beside the completion, and the total tells.
    let total = number(&value["total_tokens"]).unwrap_or(0);
    let is_apart =
        reasoning > 0 && total == prompt.saturating_add(completion).saturating_add(reasoning);
    Some(Usage {
        prompt,
        cache_read: cache_read.unwrap_or(0),
        cache_write: number(&sent["cache_write_tokens"]).unwrap_or(0),
        cache_write_hour: 0,
        completion: if is_apart { completion.saturating_add(reasoning) } else { completion },
        reasoning,
    })
}
