//! The errors of the API: named by a header, by `__type`, or by a frame of a stream.

use serde_json::Value;
use smol_str::SmolStr;

use crate::ApiErrorKind::{
    Authentication, NotFound, Overloaded, PermissionDenied, QuotaExceeded, RateLimited, Refused,
    Server,
};
use crate::api_error::{ErrorForm, Told, Wording, text_at};
use crate::write_answer::Quoted;

/// The family's errors.
pub(super) const FORM: ErrorForm = ErrorForm {
    words: WORDS,
    statuses: &[(QuotaExceeded, 400), (Authentication, 403)],
    request_id: "x-amzn-requestid",
    read,
    write,
};

const WORDS: &[(&str, crate::ApiErrorKind)] = &[
    ("ValidationException", Refused),
    ("ThrottlingException", RateLimited),
    ("TooManyRequestsException", RateLimited),
    ("ServiceUnavailableException", Overloaded),
    ("ModelNotReadyException", Overloaded),
    ("ServiceQuotaExceededException", QuotaExceeded),
    ("AccessDeniedException", PermissionDenied),
    ("UnrecognizedClientException", Authentication),
    ("InvalidSignatureException", Authentication),
    ("IncompleteSignatureException", Authentication),
    ("MissingAuthenticationTokenException", Authentication),
    ("ExpiredTokenException", Authentication),
    ("ResourceNotFoundException", NotFound),
    ("UnknownOperationException", NotFound),
    ("InternalServerException", Server),
    ("ModelErrorException", Server),
    ("ModelStreamErrorException", Server),
    ("ModelTimeoutException", Server),
    ("InternalFailure", Server),
];

/// Reads `{"__type": …, "message": …}`; the type may follow a `#`.
fn read(body: &Value) -> Option<Told> {
    let words = ["message", "Message", "originalMessage"];
    let message = words.into_iter().find_map(|name| text_at(body, name))?;
    let named = text_at(body, "__type").or_else(|| text_at(body, "code"));
    let code = named.map(|name| SmolStr::new(name.rsplit('#').next().unwrap_or_default()));
    Some(Told { codes: code.into_iter().collect(), message: message.into(), ..Told::default() })
}

fn write(error: &Wording<'_>) -> String {
    let (code, message) = (Quoted(error.code), Quoted(&error.message));
    format!(r#"{{"__type":{code},"message":{message}}}"#)
}
