//! Texts as a terminal or a log may show them.

use std::borrow::Cow;

/// Whether a character does something and shows nothing: moves the cursor, breaks the line,
/// turns the words around, or hides between them.
pub fn is_hidden(c: char) -> bool {
    let is_mark = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    );
    is_mark || c.is_control()
}

/// The text with its hidden characters escaped, so that it shows all that is in it, and
/// does nothing.
///
/// ```
/// use interleaf_model::shown;
///
/// assert_eq!(shown("fi\u{202e}fdp.exe\u{9b}2J"), "fi\\u{202e}fdp.exe\\u{9b}2J");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, |_| 0)
}

/// The same for lines that we have laid out: their line breaks and colors stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |rest| match rest.strip_prefix("\u{1b}[") {
        Some(style) => {
            let end = style.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(0);
            if style[end..].starts_with('m') { end + 3 } else { 0 }
        }
        None => usize::from(rest.starts_with('\n')),
    })
}

/// The same for what somebody else said, line by line: its line breaks and tabs stay. Colors do
/// not, for they could hide words.
///
/// ```
/// use interleaf_model::shown_speech;
///
/// assert_eq!(shown_speech("a\tb\n\u{1b}[8mhidden"), "a\tb\n\\u{1b}[8mhidden");
/// ```
pub fn shown_speech(text: &str) -> Cow<'_, str> {
    escaped(text, |rest| usize::from(rest.starts_with(['\n', '\t'])))
}

/// The text with its hidden characters escaped; at each of them `kept` says how many bytes
/// are to stay as they are.
fn escaped(text: &str, kept: impl Fn(&str) -> usize) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(is_hidden) {
        let (plain, hidden) = rest.split_at(at);
        out.push_str(plain);
        let kept = kept(hidden);
        out.push_str(&hidden[..kept]);
        let mut after = hidden[kept..].chars();
        if kept == 0 {
            out.extend(after.next().into_iter().flat_map(char::escape_default));
        }
        rest = after.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}
