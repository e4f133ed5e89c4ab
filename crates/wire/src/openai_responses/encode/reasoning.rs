//! Thoughts on their way back to the one who had them.

use super::own::Own;
use crate::openai_responses::decode::joined;
use crate::openai_responses::wire;

/// The summary as it came, if it still says the same.
pub(super) fn summary<'a>(own: &mut Own<'a>, said: &'a str) -> wire::Summary<'a> {
    let kept = own.take("summary").filter(|raw| raw.get().starts_with('['));
    let content = own.peek("content").map(joined).unwrap_or_default();
    match kept {
        Some(kept) if joined(kept) == said || content == said => wire::Summary::Raw(kept),
        None if !said.is_empty() && content == said => wire::Summary::Empty([]),
        _ if said.trim().is_empty() => wire::Summary::Empty([]),
        _ => wire::Summary::One([wire::SummaryText { r#type: "summary_text", text: said }]),
    }
}
