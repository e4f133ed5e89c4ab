//! What an API answers instead of a message, as something that a program can act on.
//!
//! ```text
//!   status, headers, body ──▶ family's error.rs ──▶ Told ──▶ kind ──▶ ApiError
//!                             where its words are   words    what to do
//! ```
//!
//! The kind is decided in this order: a text that says the request is too long (APIs
//! give it the code of any bad request), the family's own word, texts that have no word
//! of their own, the HTTP status. An error leaves this crate sealed: keys in it are masked,
//! and then its texts are cut to lengths that fit a log.

mod headers;
mod length;
mod mask;
mod told;
mod wait;
mod words;
mod write;

use std::fmt;
use std::time::Duration;

use interleaf_model::{Timestamp, shown};
use smol_str::SmolStr;

use self::headers::Headers;
pub(crate) use self::mask::{HEAD, Mask, head};
pub(crate) use self::told::{Told, text_at};
use self::wait::Wait;
pub(crate) use self::wait::seconds;
pub(crate) use self::write::Wording;
pub use self::write::{WrittenError, write_error};
use crate::Family;

/// An error of the API's: what it means, and the API's own words for it.
///
/// ```
/// use std::time::Duration;
/// use interleaf_wire::{ApiErrorKind, Family, decode_error};
///
/// let body = br#"{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}"#;
/// let error = decode_error(Family::Anthropic, 429, [("Retry-After", "7")], body);
/// assert_eq!(error.kind(), ApiErrorKind::RateLimited);
/// assert!(error.is_retryable());
/// assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
/// assert_eq!(error.to_string(), "rate_limit_error: Slow down");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError(Box<Repr>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Repr {
    kind: ApiErrorKind,
    status: Option<u16>,
    wait: Wait,
    /// What the API itself says of another try.
    may_retry: Option<bool>,
    told: Told,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApiErrorKind {
    /// Too many requests or tokens in a short time: wait, then send the same again.
    RateLimited,
    /// The account has no credit or quota left: waiting does not help.
    QuotaExceeded,
    /// The API is busy: wait, then send the same again.
    Overloaded,
    /// The request is longer than the model or the account takes: make it shorter.
    TooLong {
        /// The tokens of the request, where told.
        tokens: Option<u64>,
        /// The most that is taken, where told.
        limit: Option<u64>,
    },
    /// The key is missing, wrong or expired.
    Authentication,
    /// The key is right, but may not do this.
    PermissionDenied,
    /// There is no such model or address.
    NotFound,
    /// The request breaks a rule of the API: the same request fails again.
    Refused,
    /// A filter stopped the request or its answer.
    ContentFiltered,
    /// Something broke on the API's side, or on the way to it.
    Server,
    /// None of these.
    Unknown,
}

/// How a family tells its errors.
pub(crate) struct ErrorForm {
    /// Its words and what they mean, without regard to case. The first of those that mean
    /// the same is the one that is written.
    pub(crate) words: &'static [(&'static str, ApiErrorKind)],
    /// HTTP statuses that differ from those of most.
    pub(crate) statuses: &'static [(ApiErrorKind, u16)],
    /// The header of the number that support asks for.
    pub(crate) request_id: &'static str,
    /// Reads a body in the family's form.
    pub(crate) read: fn(&serde_json::Value) -> Option<Told>,
    /// Writes one.
    pub(crate) write: fn(&Wording<'_>) -> String,
}

/// Reads an answer whose HTTP status says that it is an error.
///
/// Nothing here is refused: a body that is not in the API's form (an empty one, a page of
/// a proxy) is told by its status and its first words.
pub fn decode_error<'h>(
    family: Family,
    status: u16,
    headers: impl IntoIterator<Item = (&'h str, &'h str)>,
    body: &[u8],
) -> ApiError {
    ApiError::answered(family, status, headers, body).sealed(Mask::new(&[]))
}

impl ApiError {
    /// An error of this kind, in these words.
    pub fn new(kind: ApiErrorKind, message: impl Into<String>) -> Self {
        let told = Told { message: message.into(), ..Told::default() };
        let (status, wait, may_retry) = (None, Wait::default(), None);
        Self(Box::new(Repr { kind, status, wait, may_retry, told }))
    }

    /// The same error, and how long to wait before the next try.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.wait = Wait::lasting(wait);
        self
    }

    /// Reads an answer whose HTTP status says that it is an error.
    pub(crate) fn answered<'h>(
        family: Family,
        status: u16,
        headers: impl IntoIterator<Item = (&'h str, &'h str)>,
        body: &[u8],
    ) -> Self {
        // One byte more shows that there is more.
        let head = body.get(..=told::LARGEST_BODY).unwrap_or(body);
        let text = String::from_utf8_lossy(head);
        Self::read(family, Some(status), &Headers::new(headers), &text)
    }

    /// The same error as others may see it.
    pub(crate) fn sealed(mut self, mask: Mask<'_>) -> Self {
        mask.seal(&mut self.0.told);
        self
    }

    /// Reads an error that came where an answer was due: its own code is all there is.
    pub(crate) fn inside(family: Family, body: &str) -> Self {
        Self::read(family, None, &Headers::default(), body)
    }

    /// Reads an error whose name stands beside its body.
    pub(crate) fn named(family: Family, name: &str, body: &str) -> Self {
        Self::read(family, None, &Headers::new([(headers::ERROR_TYPE, name)]), body)
    }

    fn read(family: Family, status: Option<u16>, headers: &Headers<'_>, body: &str) -> Self {
        let reader = &family.codec().errors;
        let mut told = Told::read(reader, body, status);
        if let Some(code) = headers.error_type() {
            told.codes.insert(0, code);
        }
        told.request_id = told.request_id.take().or_else(|| headers.request_id());
        let status = status.filter(|status| *status >= 300).or_else(|| told.status());
        // A text that is quoted at length says nothing of the kind.
        let head = mask::capped(&told.message, mask::LONGEST_MESSAGE);
        let whole = std::mem::replace(&mut told.message, head);
        let kind = words::kind(reader, &told, status);
        let wait = Wait::read(headers, &told, kind);
        told.message = whole;
        Self(Box::new(Repr { kind, status, wait, may_retry: headers.may_retry(), told }))
    }

    /// What it means.
    pub fn kind(&self) -> ApiErrorKind {
        self.0.kind
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        let by_kind = match self.0.kind {
            ApiErrorKind::RateLimited | ApiErrorKind::Overloaded | ApiErrorKind::Server => true,
            ApiErrorKind::QuotaExceeded
            | ApiErrorKind::TooLong { .. }
            | ApiErrorKind::Authentication
            | ApiErrorKind::PermissionDenied
            | ApiErrorKind::NotFound
            | ApiErrorKind::Refused
            | ApiErrorKind::ContentFiltered
            | ApiErrorKind::Unknown => false,
        };
        self.0.may_retry.unwrap_or(by_kind)
    }

    /// How long to wait before the next try, where told.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.wait.duration
    }

    /// When to try again, if the API gave an instant and not its own time, from which a
    /// duration would follow.
    pub fn retry_at(&self) -> Option<Timestamp> {
        self.0.wait.instant
    }

    /// The HTTP status, or the one that an error inside an answer names.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// The API's most exact word for it, such as `context_length_exceeded`.
    pub fn code(&self) -> Option<&str> {
        self.0.told.codes.first().map(SmolStr::as_str)
    }

    /// The API's sentence, cut to a length that fits a log; keys in it are masked. It may
    /// hold line breaks and the like; `Display` escapes them.
    pub fn message(&self) -> &str {
        &self.0.told.message
    }

    /// The part of the request that the API blames, such as `messages.6`.
    pub fn param(&self) -> Option<&str> {
        self.0.told.param.as_deref()
    }

    /// What the API's support asks for.
    pub fn request_id(&self) -> Option<&str> {
        self.0.told.request_id.as_deref()
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code() {
            Some(code) if !self.message().contains(code) => {
                write!(f, "{}: {}", shown(code), shown(self.message()))
            }
            _ => write!(f, "{}", shown(self.message())),
        }
    }
}

impl std::error::Error for ApiError {}
