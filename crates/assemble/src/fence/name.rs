//! The name of a further source in its heading.

use super::escape::breaks;

/// The name on one line, without an end like that of a heading. Two names never become one: a
/// reader would take what is said of one source for another.
pub(super) fn shown(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '\\' | '(' | ')' => out.extend(['\\', c]),
            c if breaks(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// The name that is shown so.
pub(super) fn read(shown: &str) -> String {
    let mut out = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (c, n) = unescaped(&rest[at..]).unwrap_or(('\\', 1));
        out.push(c);
        rest = &rest[at + n..];
    }
    out.push_str(rest);
    out
}

/// The character that an escape at the beginning stands for, and how many bytes it has.
fn unescaped(text: &str) -> Option<(char, usize)> {
    Some(match text.as_bytes().get(1)? {
        c @ (b'\\' | b'(' | b')') => (char::from(*c), 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b'u' => {
            let (code, _) = text.get(2..)?.strip_prefix('{')?.split_once('}')?;
            (u32::from_str_radix(code, 16).ok().and_then(char::from_u32)?, code.len() + 4)
        }
        _ => return None,
    })
}
