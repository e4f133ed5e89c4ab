//! Why one try failed.

use std::time::Duration;

use interleaf::model::Reply;
use interleaf::wire::{self, ApiError, ApiErrorKind, Decoder};

use crate::{ErrorKind, Limit};

/// Why one try failed: what decides whether there is another.
#[derive(Debug, Clone)]
pub(crate) struct Failed {
    pub(crate) kind: ErrorKind,
    /// A sentence without a key in it.
    pub(crate) text: String,
    pub(crate) status: Option<u16>,
    /// Whether the status itself says that nothing was computed.
    pub(crate) is_refused: bool,
    pub(crate) api: Option<Box<ApiError>>,
    /// What came of the answer before, if somebody waited for all of it.
    pub(crate) partial: Option<Box<Reply>>,
}

impl Failed {
    pub(crate) fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), status: None, is_refused: false, api: None, partial: None }
    }

    pub(crate) fn timeout(limit: Limit, waited: Duration) -> Self {
        let (what, name) = (limit.sentence(), limit.as_str());
        let text = format!("{what} after {} (the {name} time-out)", seconds(waited));
        Self::new(ErrorKind::Timeout(limit), text)
    }

    /// What reading an answer refused.
    pub(crate) fn wire(error: &wire::Error, status: Option<u16>) -> Self {
        let Some(api) = error.api_error() else {
            let kind = match error.kind() {
                wire::ErrorKind::Cut => ErrorKind::Cut,
                _ => ErrorKind::Unreadable,
            };
            return Self { status, ..Self::new(kind, error.to_string()) };
        };
        let text = match api.request_id() {
            Some(id) => format!("{api} (request {id})"),
            None => api.to_string(),
        };
        let status = status.or(api.status());
        let kind = ErrorKind::Api(api.kind());
        Self { status, api: Some(Box::new(api.clone())), ..Self::new(kind, text) }
    }

    /// What the HTTP client tells. The address may hold a key and is left out; what the
    /// system itself says stands at the end of the chain.
    pub(crate) fn http(error: reqwest::Error, connect: Option<Duration>) -> Self {
        let error = error.without_url();
        if error.is_timeout() && error.is_connect() {
            return Self::timeout(Limit::Connect, connect.unwrap_or_default());
        }
        let mut innermost: &dyn std::error::Error = &error;
        while let Some(cause) = innermost.source() {
            innermost = cause;
        }
        if error.is_builder() {
            return Self::new(
                ErrorKind::Request,
                format!("the request cannot be sent: {innermost}"),
            );
        }
        if error.is_connect() {
            return Self::new(ErrorKind::Connect, format!("no connection: {innermost}"));
        }
        Self::broken(&innermost.to_string())
    }

    /// Says to which host there is no connection. The rest of an address may hold a key.
    pub(crate) fn at(mut self, url: &str) -> Self {
        let host = reqwest::Url::parse(url).ok().map(|url| url.origin().ascii_serialization());
        if let (ErrorKind::Connect, Some(host)) = (self.kind, host) {
            self.text = self.text.replacen("no connection", &format!("no connection to {host}"), 1);
        }
        self
    }

    /// The same with a remark.
    pub(crate) fn saying(&self, remark: &str) -> Self {
        Self { text: format!("{} ({remark})", self.text), ..self.clone() }
    }

    /// The connection ended in the middle of an answer, or before it.
    pub(crate) fn broken(why: &str) -> Self {
        Self::new(ErrorKind::Cut, format!("the connection broke: {why}"))
    }

    /// Takes a key out that a server repeats where no reader of its API looks, as in the
    /// address of a redirect.
    pub(crate) fn hide(&mut self, decoder: &Decoder) {
        self.text = decoder.hidden(&self.text);
    }

    /// Whether no model saw the request: it did not go out, or was refused before.
    pub(crate) fn is_unseen(&self) -> bool {
        match self.kind {
            ErrorKind::Connect | ErrorKind::Redirect | ErrorKind::Key | ErrorKind::Request => true,
            ErrorKind::Timeout(limit) => limit == Limit::Connect,
            ErrorKind::Api(_)
            | ErrorKind::Cut
            | ErrorKind::Unreadable
            | ErrorKind::TooLarge
            | ErrorKind::Waiting
            | ErrorKind::Session
            | ErrorKind::NotKept => self.is_refused,
        }
    }

    /// Whether the same request may succeed in another try.
    pub(crate) fn is_retryable(&self) -> bool {
        match self.kind {
            ErrorKind::Api(_) => self.api.as_ref().is_some_and(|api| api.is_retryable()),
            ErrorKind::Connect | ErrorKind::Cut => true,
            // The limit in all is that of all tries.
            ErrorKind::Timeout(limit) => limit != Limit::Total,
            ErrorKind::Unreadable
            | ErrorKind::TooLarge
            | ErrorKind::Redirect
            | ErrorKind::Key
            | ErrorKind::Request
            | ErrorKind::Waiting
            | ErrorKind::Session
            | ErrorKind::NotKept => false,
        }
    }

    /// Whether another vendor may answer where this one did not: what is wrong is not the
    /// request.
    pub(crate) fn is_vendors(&self) -> bool {
        match self.kind {
            ErrorKind::Api(kind) => !matches!(
                kind,
                ApiErrorKind::TooLong { .. }
                    | ApiErrorKind::Refused
                    | ApiErrorKind::ContentFiltered
            ),
            ErrorKind::Connect
            | ErrorKind::Cut
            | ErrorKind::Unreadable
            | ErrorKind::TooLarge
            | ErrorKind::Redirect
            | ErrorKind::Key => true,
            ErrorKind::Timeout(limit) => limit != Limit::Total,
            ErrorKind::Request | ErrorKind::Waiting | ErrorKind::Session | ErrorKind::NotKept => {
                false
            }
        }
    }

    /// How long the API asks to wait.
    pub(crate) fn asked_wait(&self) -> Option<Duration> {
        let api = self.api.as_ref()?;
        api.retry_after().or_else(|| {
            let now = interleaf::now().ok()?.as_microseconds();
            let left = api.retry_at()?.as_microseconds().saturating_sub(now);
            Some(Duration::from_micros(u64::try_from(left).unwrap_or(0)))
        })
    }

    /// Whether the API does not know the answer that a request goes on from.
    pub(crate) fn is_unknown_answer(&self) -> bool {
        let Some(api) = &self.api else { return false };
        let words = api.message().to_lowercase();
        api.code() == Some("previous_response_not_found")
            || (words.contains("previous response") && words.contains("not found"))
    }

    /// Whether the API does not take back thinking that was sent to it.
    pub(crate) fn is_signature(&self) -> bool {
        if self.kind != ErrorKind::Api(ApiErrorKind::Refused) {
            return false;
        }
        let Some(api) = &self.api else { return false };
        let words = api.message().to_lowercase();
        words.contains("signature") && (words.contains("think") || words.contains("thought"))
    }
}

/// A duration for a sentence.
pub(crate) fn seconds(duration: Duration) -> String {
    const YEAR: f64 = 365.0 * 24.0 * 3600.0;
    match duration.as_secs_f64() {
        years if years > YEAR => "more than a year".to_owned(),
        short if short < 10.0 => format!("{short:.1} s"),
        long => format!("{long:.0} s"),
    }
}
