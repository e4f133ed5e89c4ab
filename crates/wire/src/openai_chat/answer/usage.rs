//! What an answer cost.

use interleaf_model::Usage;

use crate::Delta;
use crate::count::{Count, both};
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
    let Some(told) = Fields::read(raw).ok().filter(|told| main_counts(told) != UNTOLD) else {
        return false;
    };
    // What cannot be read takes the place of what was told before, too.
    reply.usage = usage(&told);
    deltas.extend(reply.usage.map(Delta::Usage));
    true
}

const UNTOLD: [Count; 2] = [Count::Untold; 2];

/// What was sent, and what was made.
fn main_counts(fields: &Fields<'_>) -> [Count; 2] {
    ["prompt_tokens", "completion_tokens"].map(|name| Count::Untold.then_main(fields, name))
}

fn usage(fields: &Fields<'_>) -> Option<Usage> {
    let inner = |object, name| Count::Untold.then_inner(fields, object, name);
    let other = |name| Count::Untold.then(fields.peek(name));
    let [sent, made] = main_counts(fields);
    let (prompt, completion) = both(sent, made)?;
    let reasoning = inner("completion_tokens_details", "reasoning_tokens").number()?;
    let cache_read = inner("prompt_tokens_details", "cached_tokens")
        .or(|| other("prompt_cache_hit_tokens"))
        .or(|| other("cached_tokens"));
    // One vendor counts reasoning beside the completion, and the total tells.
    let apart = prompt.saturating_add(completion).saturating_add(reasoning);
    let is_apart = reasoning > 0 && other("total_tokens") == Count::Known(apart);
    Some(Usage {
        prompt,
        cache_read: cache_read.number()?,
        cache_write: inner("prompt_tokens_details", "cache_write_tokens").number()?,
        cache_write_hour: 0,
        completion: if is_apart { completion.saturating_add(reasoning) } else { completion },
        reasoning,
    })
}
