//! The errors of the API.
//!
//! | in the body | what it is |
//! |---|---|
//! | `error.details[]` of type `ErrorInfo`: `reason` | the most exact word |
//! | `error.status`, `error.code` | the word, and the HTTP status |
//! | `error.message` | the sentence |
//! | `error.details[]` of type `RetryInfo`: `retryDelay` | how long to wait |
//! | `error.details[]` of type `BadRequest`: `fieldViolations[].field` | what it blames |

use serde_json::Value;

use crate::ApiErrorKind::{
    Authentication, NotFound, Overloaded, PermissionDenied, QuotaExceeded, RateLimited, Refused,
    Server,
};
use crate::api_error::{ErrorReader, Told, seconds, text_at};

/// The family's errors.
pub(super) const READER: ErrorReader = ErrorReader { words: WORDS, read };

const WORDS: &[(&str, crate::ApiErrorKind)] = &[
    ("API_KEY_INVALID", Authentication),
    ("ACCESS_TOKEN_EXPIRED", Authentication),
    ("CREDENTIALS_MISSING", Authentication),
    ("UNAUTHENTICATED", Authentication),
    ("BILLING_DISABLED", QuotaExceeded),
    ("RATE_LIMIT_EXCEEDED", RateLimited),
    ("MODEL_CAPACITY_EXHAUSTED", Overloaded),
    ("RESOURCE_EXHAUSTED", RateLimited),
    ("UNAVAILABLE", Overloaded),
    ("PERMISSION_DENIED", PermissionDenied),
    ("NOT_FOUND", NotFound),
    ("INVALID_ARGUMENT", Refused),
    ("FAILED_PRECONDITION", Refused),
    ("OUT_OF_RANGE", Refused),
    ("UNIMPLEMENTED", Refused),
    ("DEADLINE_EXCEEDED", Server),
    ("ABORTED", Server),
    ("INTERNAL", Server),
];

fn read(body: &Value) -> Option<Told> {
    let error = body.get("error").filter(|error| error.is_object())?;
    let details = error.get("details").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let detail = |kind: &str| {
        details.iter().find(|detail| {
            detail.get("@type").and_then(Value::as_str).is_some_and(|name| name.ends_with(kind))
        })
    };
    let reason = detail("ErrorInfo").and_then(|info| text_at(info, "reason"));
    let codes = [reason, text_at(error, "status"), text_at(error, "code")];
    let wait = detail("RetryInfo").and_then(|info| seconds(&text_at(info, "retryDelay")?));
    let field = detail("BadRequest")
        .and_then(|bad| text_at(bad.get("fieldViolations")?.as_array()?.first()?, "field"));
    Some(Told {
        codes: codes.into_iter().flatten().collect(),
        message: text_at(error, "message").unwrap_or_default().into(),
        param: field,
        wait,
        ..Told::default()
    })
}
