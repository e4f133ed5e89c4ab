//! Texts that stand inside a line of ours.

use std::borrow::Cow;

/// The text on one line: each run of line breaks and control characters is a space. So no
/// text that somebody gave can pass for a line of ours.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(breaks) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let mut in_break = false;
    for c in text.chars() {
        match (breaks(c), in_break) {
            (true, true) => {}
            (true, false) => line.push(' '),
            (false, _) => line.push(c),
        }
        in_break = breaks(c);
    }
    Cow::Owned(line)
}

fn breaks(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}
