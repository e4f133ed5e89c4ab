//! The errors of the API: named by a header, by `__type`, or by a frame of a stream.

use serde_json::Value;
use smol_str::SmolStr;

use crate::ApiErrorKind::{
    Authentication, NotFound, Overloaded, PermissionDenied, QuotaExceeded, RateLimited, Refused,
    Server,
};
use crate::api_error::{ErrorReader, Told, text_at};

/// The family's errors.
pub(super) const READER: ErrorReader = ErrorReader { words: WORDS, read };

const WORDS: &[(&str, crate::ApiErrorKind)] = &[
    ("ValidationException", Refused),
    ("ThrottlingException", RateLimited),
    ("TooManyRequestsException", RateLimited),
    ("ModelNotReadyException", Overloaded),
    ("ServiceUnavailableException", Overloaded),
    ("ServiceQuotaExceededException", QuotaExceeded),
    ("AccessDeniedException", PermissionDenied),
    ("UnrecognizedClientException", Authentication),
    ("InvalidSignatureException", Authentication),
    ("IncompleteSignatureException", Authentication),
    ("MissingAuthenticationTokenException", Authentication),
    ("ExpiredTokenException", Authentication),
    ("ResourceNotFoundException", NotFound),
    ("UnknownOperationException", NotFound),
    ("ModelErrorException", Server),
    ("ModelStreamErrorException", Server),
    ("ModelTimeoutException", Server),
    ("InternalServerException", Server),
    ("InternalFailure", Server),
];

/// Reads `{"__type": …, "message": …}`; the type may stand behind a `#`.
fn read(body: &Value) -> Option<Told> {
    let words = ["message", "Message", "originalMessage"];
    let message = words.into_iter().find_map(|name| text_at(body, name))?;
    let named = text_at(body, "__type").or_else(|| text_at(body, "code"));
    let code = named.map(|name| SmolStr::new(name.rsplit('#').next().unwrap_or_default()));
    Some(Told { codes: code.into_iter().collect(), message: message.into(), ..Told::default() })
}
