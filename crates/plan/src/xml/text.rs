//! Text between tags: escaping, entities, CDATA, white space.

use std::borrow::Cow;

pub(crate) const CDATA: &str = "<![CDATA[";
pub(crate) const CDATA_END: &str = "]]>";

/// Text that can stand between tags and in an attribute.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    quick_xml::escape::escape(text)
}

/// The text of a parameter as it is written: nothing in it is taken for a tag, and the
/// white space at its ends is kept.
pub(crate) fn escape_value(text: &str) -> String {
    let inner = text.trim();
    if inner.is_empty() {
        return text.chars().map(reference).collect();
    }
    let (start, rest) = text.split_at(text.len() - text.trim_start().len());
    let (inner, end) = rest.split_at(inner.len());
    let mut out: String = start.chars().map(reference).collect();
    out += &quick_xml::escape::partial_escape(inner);
    out.extend(end.chars().map(reference));
    out
}

fn reference(c: char) -> String {
    format!("&#{};", u32::from(c))
}

/// The text of a parameter, as it was meant.
///
/// White space that only lays the tags out is no part of it: around a single line all of
/// it, around several lines the line break after the start tag and the one before the
/// end tag. CDATA is taken as it is; elsewhere entities are decoded, once.
pub(crate) fn plain(raw: &str) -> String {
    let trimmed = raw.trim();
    let is_cdata = trimmed.starts_with(CDATA) && trimmed.ends_with(CDATA_END);
    let laid_out = if is_cdata || !trimmed.contains('\n') { trimmed } else { unframed(raw) };
    let mut out = String::with_capacity(laid_out.len());
    let mut rest = laid_out;
    while let Some(start) = rest.find(CDATA) {
        let inner = &rest[start + CDATA.len()..];
        let Some(end) = inner.find(CDATA_END) else {
            // The end is missing: the mark itself is no part of the text.
            let before = &rest[..start];
            out += &decode(if is_blank(before) { "" } else { before });
            return out + inner;
        };
        let before = &rest[..start];
        if !(is_cdata && is_blank(before)) {
            out += &decode(before);
        }
        out += &inner[..end];
        rest = &inner[end + CDATA_END.len()..];
    }
    if !(is_cdata && is_blank(rest)) {
        out += &decode(rest);
    }
    out
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Several lines without the line break after the start tag and the one before the end
/// tag, with the blanks that indent it.
fn unframed(raw: &str) -> &str {
    let blanks = [' ', '\t', '\r'];
    let start = match raw.split_once('\n') {
        Some((first, rest)) if first.trim_matches(blanks).is_empty() => rest,
        _ => raw,
    };
    match start.rsplit_once('\n') {
        Some((rest, last)) if last.trim_matches(blanks).is_empty() => {
            rest.strip_suffix('\r').unwrap_or(rest)
        }
        _ => start,
    }
}

/// Decodes entities, once: `&amp;lt;` is `&lt;`. What is no entity stays.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out += &rest[..at];
        rest = &rest[at..];
        match entity(rest) {
            Some((c, len)) => {
                out.push(c);
                rest = &rest[len..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out += rest;
    Cow::Owned(out)
}

/// The character that an entity at the start of a text stands for, and its length.
fn entity(text: &str) -> Option<(char, usize)> {
    // The longest is `&#1114111;`.
    const LONGEST: usize = 10;
    let end = text.bytes().take(LONGEST).position(|b| b == b';')?;
    let c = match &text[1..end] {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        name => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((c, end + 1))
}

/// What a fence of three backticks holds, if the text is one.
pub(crate) fn unfenced(text: &str) -> &str {
    let trimmed = text.trim();
    let Some(inner) = trimmed.strip_prefix("```") else { return trimmed };
    let inner = inner.split_once('\n').map_or(inner, |(_, inner)| inner);
    inner.strip_suffix("```").unwrap_or(inner).trim()
}
