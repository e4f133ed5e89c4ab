//! A tool that failed, in words.

use std::borrow::Cow;

/// What a failed result says that says nothing itself.
pub(crate) const FAILED: &str = "the tool failed";

/// The text of a failed result, for APIs that have no flag for it.
pub(crate) fn stated<'a>(text: &'a str) -> Cow<'a, str> {
    match text {
        _ if text.trim().is_empty() => Cow::Owned(format!("Error: {FAILED}")),
        _ if says_error(text) => Cow::Borrowed(text),
        _ => Cow::Owned(format!("Error: {text}")),
    }
}

/// Whether a text begins with the word.
fn says_error(text: &str) -> bool {
    let start = text.trim_start().get(.."error".len());
    start.is_some_and(|start| start.eq_ignore_ascii_case("error"))
}
