//! An error in the form in which an API tells it: for a gateway that must pass one on.
//!
//! A kind that the API has no word for goes under its word for any bad request, and a
//! phrase that every reader of its errors knows goes before the message. An error that
//! nobody can name is told as one of the server's.

use std::borrow::Cow;
use std::mem::discriminant;
use std::time::Duration;

use super::{ApiError, ApiErrorKind, ErrorForm, Told, words};
use crate::Family;

/// An error as an API would have told it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenError {
    /// The HTTP status.
    pub status: u16,
    /// The headers beside those of the content, names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The body, a JSON object.
    pub body: String,
}

/// Writes an error as an API would have told it.
///
/// ```
/// use std::time::Duration;
/// use interleaf_wire::{ApiError, ApiErrorKind, Family, decode_error, write_error};
///
/// let error = ApiError::new(ApiErrorKind::RateLimited, "Slow down")
///     .with_retry_after(Duration::from_secs(7));
/// let written = write_error(Family::Anthropic, &error);
/// assert_eq!(written.status, 429);
/// assert_eq!(written.headers, [("retry-after", "7".to_owned())]);
/// assert_eq!(
///     written.body,
///     r#"{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}"#
/// );
/// ```
pub fn write_error(family: Family, error: &ApiError) -> WrittenError {
    let form = &family.codec().errors;
    let wording = Wording::of(form, error);
    let mut headers = Vec::new();
    if let Some(wait) = error.retry_after() {
        let part = u64::from(wait.subsec_nanos() > 0);
        headers.push(("retry-after", (wait.as_secs().saturating_add(part)).to_string()));
        if part > 0 {
            let milliseconds = wait.as_nanos().div_ceil(1_000_000);
            headers.push(("retry-after-ms", milliseconds.to_string()));
        }
    } else if let Some(date) = error.retry_at().and_then(|instant| instant.to_http_date()) {
        headers.push(("retry-after", date));
    }
    if let Some(may_retry) = error.0.may_retry {
        headers.push(("x-should-retry", may_retry.to_string()));
    }
    let is_header = |id: &&str| id.bytes().all(|byte| byte.is_ascii_graphic());
    if let Some(id) = error.request_id().filter(is_header) {
        headers.push((form.request_id, id.to_owned()));
    }
    WrittenError { status: wording.status, headers, body: (form.write)(&wording) }
}

/// An error in the words of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wording<'a> {
    /// The family's word for it.
    pub(crate) code: &'a str,
    pub(crate) status: u16,
    pub(crate) message: Cow<'a, str>,
    pub(crate) param: Option<&'a str>,
    pub(crate) request_id: Option<&'a str>,
    pub(crate) wait: Option<Duration>,
}

impl<'a> Wording<'a> {
    pub(crate) fn of(form: &'static ErrorForm, error: &'a ApiError) -> Self {
        let kind = match error.kind() {
            ApiErrorKind::Unknown => ApiErrorKind::Server,
            kind => kind,
        };
        let word_of = |wanted: ApiErrorKind| {
            form.words.iter().find(move |(_, kind)| discriminant(kind) == discriminant(&wanted))
        };
        // The API's own words come first, if the error is one of this family's.
        let own =
            error.0.told.codes.iter().filter_map(|code| {
                form.words.iter().find(|(word, _)| word.eq_ignore_ascii_case(code))
            });
        let any = word_of(ApiErrorKind::Refused);
        let mut candidates = own.chain(word_of(kind)).chain(any);
        let says_it = |(word, meant): &&(&str, ApiErrorKind), message: &str| {
            let told = Told {
                codes: vec![(*word).into()],
                message: message.to_owned(),
                ..Told::default()
            };
            words::kind(form, &told, Some(form.status(*meant))) == kind
        };
        let message = error.message();
        let (row, message) = match candidates.clone().find(|row| says_it(row, message)) {
            Some(row) => (Some(row), Cow::Borrowed(message)),
            None => {
                let phrased = match phrase(kind) {
                    Some(phrase) => Cow::Owned(format!("{phrase}: {message}")),
                    None => Cow::Borrowed(message),
                };
                let row = candidates.find(|row| says_it(row, &phrased));
                (row.or(word_of(kind)), phrased)
            }
        };
        let (code, meant) = row.copied().unwrap_or(("error", kind));
        Self {
            code,
            status: form.status(meant),
            message,
            param: error.param(),
            request_id: error.request_id(),
            wait: error.retry_after(),
        }
    }
}

impl ErrorForm {
    /// The HTTP status of an error of this kind.
    fn status(&self, kind: ApiErrorKind) -> u16 {
        let mut own = self.statuses.iter();
        match own.find(|(known, _)| discriminant(known) == discriminant(&kind)) {
            Some((_, status)) => *status,
            None => usual_status(kind),
        }
    }
}

fn usual_status(kind: ApiErrorKind) -> u16 {
    match kind {
        ApiErrorKind::Refused | ApiErrorKind::TooLong { .. } | ApiErrorKind::ContentFiltered => 400,
        ApiErrorKind::Authentication => 401,
        ApiErrorKind::PermissionDenied => 403,
        ApiErrorKind::NotFound => 404,
        ApiErrorKind::RateLimited | ApiErrorKind::QuotaExceeded => 429,
        ApiErrorKind::Server | ApiErrorKind::Unknown => 500,
        ApiErrorKind::Overloaded => 503,
    }
}

/// What says a kind in a message, for APIs that have no word of their own for it.
fn phrase(kind: ApiErrorKind) -> Option<Cow<'static, str>> {
    match kind {
        ApiErrorKind::TooLong { tokens: Some(tokens), limit: Some(limit) } => {
            Some(format!("prompt is too long: {tokens} tokens > {limit} maximum").into())
        }
        ApiErrorKind::TooLong { limit: Some(limit), .. } => {
            Some(format!("maximum context length is {limit} tokens").into())
        }
        ApiErrorKind::TooLong { .. } => Some("prompt is too long".into()),
        ApiErrorKind::ContentFiltered => Some("blocked by content filtering policy".into()),
        ApiErrorKind::QuotaExceeded => Some("insufficient balance".into()),
        ApiErrorKind::RateLimited
        | ApiErrorKind::Overloaded
        | ApiErrorKind::Authentication
        | ApiErrorKind::PermissionDenied
        | ApiErrorKind::NotFound
        | ApiErrorKind::Refused
        | ApiErrorKind::Server
        | ApiErrorKind::Unknown => None,
    }
}
