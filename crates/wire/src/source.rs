//! Where the bytes of a picture or a file are.

use std::sync::Arc;

use interleaf_model::Source;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::error::Fault;

/// What an address stands for: `data:image/png;base64,AAAA` is inline, everything else is
/// an address.
pub(crate) fn of_url(url: &str) -> (Source, Option<SmolStr>) {
    let inline = url
        .get("data:".len()..)
        .filter(|_| is_data_url(url))
        .and_then(|rest| rest.split_once(','))
        .and_then(|(head, data)| Some((head.strip_suffix(";base64")?, data)));
    match inline {
        Some((media_type, data)) => {
            let media_type = Some(media_type).filter(|m| !m.is_empty()).map(SmolStr::new);
            (Source::Base64(Arc::from(data)), media_type)
        }
        None => (Source::Url(Arc::from(url)), None),
    }
}

/// What a text in a place for bytes stands for: base64, with or without `data:` in front, or
/// an address, which some servers take there.
pub(crate) fn of_data(text: &str) -> (Source, Option<SmolStr>) {
    match is_data_url(text) || has_scheme(text) {
        true => of_url(text),
        false => (Source::Base64(Arc::from(text)), None),
    }
}

/// Refuses bytes that are no base64; `at` is where they stand.
pub(crate) fn check<'a>(source: &Source, at: &'a RawValue) -> Result<(), Fault<'a>> {
    match source {
        Source::Base64(data) if !is_base64(data) => {
            Err(Fault::rule(at, "the bytes are not in base64"))
        }
        Source::Base64(_) | Source::Url(_) | Source::Id { .. } => Ok(()),
    }
}

fn is_data_url(url: &str) -> bool {
    url.get(.."data:".len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Whether a text begins like `gs://`.
fn has_scheme(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    text.split_once("://").is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_name))
}

/// Whether a text is base64 of either alphabet, with or without padding and line breaks.
fn is_base64(text: &str) -> bool {
    let data = text.trim_end().trim_end_matches('=');
    let mut n_digits = 0_usize;
    let is_legal = data.bytes().all(|byte| {
        let is_digit = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        n_digits += usize::from(is_digit);
        is_digit || matches!(byte, b'\n' | b'\r' | b' ' | b'\t')
    });
    is_legal && n_digits % 4 != 1
}
