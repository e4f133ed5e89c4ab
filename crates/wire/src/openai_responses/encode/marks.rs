//! Marks for the cache, on what is put in.

use std::borrow::Cow;

use super::content;
use crate::encode::Context;
use crate::openai_chat::{EXPLICIT, MARK};
use crate::openai_responses::wire::{Content, Part, Rest};

/// The content of what is put in. Where marks are set it is a list in any case: a mark that
/// moves on would make another form of the same text. Marks that it came with give way.
pub(super) fn input_content<'a>(
    cx: &Context<'_>,
    mut parts: Vec<Part<'a>>,
    is_marked: bool,
) -> Content<'a> {
    if !cx.sets_marks {
        return content(parts);
    }
    parts.iter_mut().for_each(unmark);
    let mut content = Content::Parts(parts);
    if is_marked {
        set_mark(&mut content);
    }
    content
}

/// Sets the mark on the last part that can have one, if any can.
pub(super) fn set_mark(content: &mut Content<'_>) -> bool {
    let Content::Parts(parts) = content else { return false };
    let extra = parts.iter_mut().rev().find_map(Part::extra_mut);
    extra.map(|extra| extra.push_static(MARK, EXPLICIT)).is_some()
}

fn unmark(part: &mut Part<'_>) {
    if let Some(extra) = part.extra_mut() {
        extra.take(MARK);
    } else if let Part::Raw(Cow::Borrowed(raw)) = part
        && raw.get().contains(MARK)
    {
        *part = Part::Changed(Rest::of_value(raw, &[MARK]));
    }
}
