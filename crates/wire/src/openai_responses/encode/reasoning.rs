//! Thoughts on their way back to the one who had them.

use std::borrow::Cow;

use interleaf_model::{Producer, Thinking};

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

/// The thought, its model forgotten if it is a snapshot of the one that is asked:
/// who asks for `gpt-5` is answered by `gpt-5-2025-08-07`.
pub(super) fn same_model<'t>(thinking: &'t Thinking, asked: &str) -> Cow<'t, Thinking> {
    let made_by = thinking.producer.as_ref().and_then(|producer| producer.model.as_deref());
    if made_by.is_some_and(|made_by| undated(made_by) == undated(asked)) {
        let producer =
            thinking.producer.clone().map(|producer| Producer { model: None, ..producer });
        return Cow::Owned(Thinking { producer, ..thinking.clone() });
    }
    Cow::Borrowed(thinking)
}

/// A model's name without the date of its snapshot.
fn undated(model: &str) -> &str {
    const DATE: &str = "-0000-00-00";
    let Some(start) = model.len().checked_sub(DATE.len()) else { return model };
    let is_date = model.as_bytes()[start..]
        .iter()
        .zip(DATE.bytes())
        .all(|(byte, form)| if form == b'-' { *byte == b'-' } else { byte.is_ascii_digit() });
    if is_date { &model[..start] } else { model }
}
