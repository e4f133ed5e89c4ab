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
    escaped(text, |_| false)
}

/// The same for lines that we have laid out: their line breaks stay.
///
/// ```
/// use interleaf_model::shown_lines;
///
/// assert_eq!(shown_lines("a\tb\n\u{1b}[8mhidden"), "a\\tb\n\\u{1b}[8mhidden");
/// ```
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n')
}

/// The same for what somebody else said, line by line: its line breaks and tabs stay, and so do the
/// marks that spelling needs: those that join letters or keep them apart, as in Persian, Hindi and
/// emoji, and soft hyphens. Colors do not, for they could hide words, nor marks of direction.
///
/// ```
/// use interleaf_model::shown_speech;
///
/// assert_eq!(shown_speech("a\tb\n\u{1b}[8mhidden"), "a\tb\n\\u{1b}[8mhidden");
/// assert_eq!(shown_speech("می\u{200c}روم\u{202e}"), "می\u{200c}روم\\u{202e}");
/// ```
pub fn shown_speech(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t' | '\u{ad}' | '\u{200c}' | '\u{200d}'))
}

/// The same for what somebody allows by what it shows: what only looks like a space is escaped
/// too, for it is another word to a shell.
///
/// ```
/// use interleaf_model::shown_exactly;
///
/// assert_eq!(shown_exactly("rm a\u{a0}b"), "rm a\\u{a0}b");
/// ```
pub fn shown_exactly(text: &str) -> Cow<'_, str> {
    // Letters and marks that are empty, beside white space.
    let is_empty = |c| {
        matches!(
            c,
            '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}'
        )
    };
    escaped_where(text, |c| is_hidden(c) || is_empty(c) || c != ' ' && c.is_whitespace())
}

/// The text with its hidden characters escaped, but for those that are to stay.
fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    escaped_where(text, |c| is_hidden(c) && !stays(c))
}

fn escaped_where(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_escaped(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}
