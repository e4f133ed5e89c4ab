//! What an error means.

use super::length::too_long;
use super::{ApiErrorKind, ErrorForm, Told};

/// Texts of errors that share their code with others.
const TEXTS: &[(&str, ApiErrorKind)] = &[
    ("credit balance is too low", ApiErrorKind::QuotaExceeded),
    ("insufficient balance", ApiErrorKind::QuotaExceeded),
    ("blocked by content filtering policy", ApiErrorKind::ContentFiltered),
    ("content management policy", ApiErrorKind::ContentFiltered),
    ("content exists risk", ApiErrorKind::ContentFiltered),
    ("prompt was flagged", ApiErrorKind::ContentFiltered),
    ("api key not valid", ApiErrorKind::Authentication),
    ("incorrect api key", ApiErrorKind::Authentication),
];

pub(super) fn kind(reader: &ErrorForm, told: &Told, status: Option<u16>) -> ApiErrorKind {
    if let Some((tokens, limit)) = told.length.or_else(|| too_long(&told.message)) {
        return ApiErrorKind::TooLong { tokens, limit };
    }
    let word = |code: &str| {
        let mut words = reader.words.iter();
        words.find(|(word, _)| word.eq_ignore_ascii_case(code)).map(|(_, kind)| *kind)
    };
    let by_text = || {
        let lower = told.message.to_ascii_lowercase();
        TEXTS.iter().find(|(text, _)| lower.contains(text)).map(|(_, kind)| *kind)
    };
    let by_word = told.codes.iter().find_map(|code| word(code));
    // The word of any bad request says less than a status of its own, too.
    let is_own = matches!(status, Some(401 | 403 | 404 | 408 | 409));
    let is_general = by_word == Some(ApiErrorKind::Refused) && is_own;
    let by_word = by_word.filter(|_| !is_general);
    // The word of any bad request says less than the text.
    match by_word {
        None | Some(ApiErrorKind::Refused | ApiErrorKind::RateLimited) => {
            by_text().or(by_word).unwrap_or_else(|| by_status(status))
        }
        Some(kind) => kind,
    }
}

fn by_status(status: Option<u16>) -> ApiErrorKind {
    match status {
        Some(400 | 405 | 415 | 422) => ApiErrorKind::Refused,
        Some(401) => ApiErrorKind::Authentication,
        Some(402) => ApiErrorKind::QuotaExceeded,
        Some(403) => ApiErrorKind::PermissionDenied,
        Some(404 | 410) => ApiErrorKind::NotFound,
        Some(413) => ApiErrorKind::TooLong { tokens: None, limit: None },
        Some(429) => ApiErrorKind::RateLimited,
        Some(503 | 529) => ApiErrorKind::Overloaded,
        // A timeout and a conflict of locks pass, like a fault of the server.
        Some(408 | 409 | 424 | 500..) => ApiErrorKind::Server,
        Some(_) | None => ApiErrorKind::Unknown,
    }
}
