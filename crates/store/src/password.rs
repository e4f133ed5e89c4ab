//! Texts that may hold the address of a store, or a key, without what nobody is to see.

use std::borrow::Cow;

use interleaf_model::{is_key_letter, key_start};

/// What stands where a password was.
pub(crate) const HIDDEN: &str = "***";

/// What a value is called that nobody is to see.
const NAMES: [&str; 8] =
    ["password", "passwd", "pwd", "secret", "api_key", "api-key", "apikey", "access_token"];

/// What such a value is called in the query of a URL; elsewhere these are words like others.
const QUERY_NAMES: [&str; 4] = ["?key", "&key", "?token", "&token"];

/// A key or token of an API has this many characters, or more.
const SHORTEST_TOKEN: usize = 16;

/// The text with every password of an address in it hidden, whichever way the address is
/// written: as a URL, with or without its scheme, or as `key=value`. Keys and tokens of APIs
/// are hidden as well: the values of their usual names, `Bearer …`, and what begins as a known
/// maker's keys do (`sk-…`). Where it is not certain what belongs to a secret, rather too much
/// is hidden.
///
/// ```
/// use interleaf_store::hide_passwords;
///
/// assert_eq!(hide_passwords("no postgres://me:s3cret@host/db"), "no postgres://me:***@host/db");
/// assert_eq!(hide_passwords("host=h password=s3cret user=me"), "host=h password=*** user=me");
/// ```
pub fn hide_passwords(text: &str) -> Cow<'_, str> {
    let mut hidden = Cow::Borrowed(text);
    let mut from = 0;
    while let Some((start, end)) = next_secret(&hidden, from) {
        hidden.to_mut().replace_range(start..end, HIDDEN);
        from = start + HIDDEN.len();
    }
    hidden
}

/// Where the next password is.
fn next_secret(text: &str, from: usize) -> Option<(usize, usize)> {
    let url = text[from..].match_indices("://").find_map(|(at, _)| of_url(text, from + at + 3));
    let pair = text[from..].match_indices(':').find_map(|(at, _)| of_pair(text, from, from + at));
    [url, of_value(text, from), pair, token(text, from)].into_iter().flatten().min()
}

/// A token that shows by itself what it is.
fn token(text: &str, from: usize) -> Option<(usize, usize)> {
    let lower = text.to_ascii_lowercase();
    let after =
        |sign: &'static str| lower[from..].match_indices(sign).map(move |(at, _)| from + at);
    let long = |start: usize, end: usize| (end - start >= SHORTEST_TOKEN).then_some((start, end));
    let run = |start: usize, more: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
        text[start..].find(|c| !is_part(c)).map_or(text.len(), |len| start + len)
    };
    let bearer = after("bearer ").find_map(|at| {
        let start = at + "bearer ".len();
        long(start, run(start, "-._~+/="))
    });
    let mut start = from;
    let key = text[from..].split_inclusive(|c| !is_key_letter(c)).find_map(|piece| {
        let word = piece.trim_end_matches(|c| c == '.' || !is_key_letter(c));
        let found = key_start(word, false).map(|at| (start + at, start + word.len()));
        start += piece.len();
        found
    });
    bearer.into_iter().chain(key).min()
}

/// The password of an address that lacks its scheme, such as `me:s3cret@host`, at its colon.
fn of_pair(text: &str, from: usize, colon: usize) -> Option<(usize, usize)> {
    let is_name = |c: char| c.is_alphanumeric() || "_.%/+-".contains(c);
    let (before, after) = (&text[from..colon], &text[colon + 1..]);
    let ends_word = |c: char| c.is_whitespace() || "\"'`".contains(c);
    let word = &after[..after.find(ends_word).unwrap_or(after.len())];
    let named = before.chars().next_back().is_some_and(is_name) && !before.ends_with("sqlite");
    // A whole URL is looked at by itself.
    let start_of_word = text[..colon].rfind(ends_word).map_or(0, |at| at + 1);
    let is_url = text[start_of_word..colon].contains("://") || word.starts_with("//");
    let end = word.rfind('@').filter(|end| *end > 0 && named && !is_url)?;
    Some((colon + 1, colon + 1 + end))
}

/// The password of a URL whose user begins here.
fn of_url(text: &str, user: usize) -> Option<(usize, usize)> {
    let scheme = text[..user - 3].rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
    let rest = &text[user..];
    let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
    let is_ours = scheme.is_some_and(|scheme| scheme.starts_with("postgres"));
    // Of our own addresses, one that is not written as it should be is hidden as well.
    let authority = match is_ours {
        true => rest,
        false => &word[..word.find(['/', '?', '#']).unwrap_or(word.len())],
    };
    let colon = authority.find([':', '/', '?']).filter(|&at| authority[at..].starts_with(':'))?;
    let end = match authority.rfind('@') {
        Some(at) if at > colon => at,
        // What is no port is a password before a host that was forgotten.
        _ if is_ours && !word.starts_with('[') => {
            let until = |ends: &[char]| word[colon..].find(ends).map_or(word.len(), |n| colon + n);
            let port = &word[colon + 1..until(&[',', '/', '?'])];
            (!port.bytes().all(|byte| byte.is_ascii_digit())).then(|| until(&['/', '?']))?
        }
        _ => return None,
    };
    (colon + 1 < end).then_some((user + colon + 1, user + end))
}

/// The value after the name of a password.
fn of_value(text: &str, from: usize) -> Option<(usize, usize)> {
    let lower = text.to_ascii_lowercase();
    let named = |name: &str| {
        let mut ends = lower[from..].match_indices(name).map(|(at, _)| from + at + name.len());
        ends.find_map(|end| value_at(text, end))
    };
    NAMES.into_iter().chain(QUERY_NAMES).filter_map(named).min()
}

/// The value that an equals sign here gives.
fn value_at(text: &str, name_end: usize) -> Option<(usize, usize)> {
    let rest = text[name_end..].trim_start_matches(' ');
    let signs = ["=", "%3d", "%3D"];
    let value = signs.iter().find_map(|sign| rest.strip_prefix(sign))?.trim_start_matches(' ');
    let start = text.len() - value.len();
    let len = match value.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        Some(quote) => {
            let mut escaped = false;
            let closing = value.char_indices().skip(1).find(|&(_, c)| {
                let closes = c == quote && !escaped;
                escaped = c == '\\' && !escaped;
                closes
            });
            closing.map_or(value.len(), |(at, quote)| at + quote.len_utf8())
        }
        None => value.find(|c: char| c.is_whitespace() || c == '&').unwrap_or(value.len()),
    };
    (len > 0).then_some((start, start + len))
}
