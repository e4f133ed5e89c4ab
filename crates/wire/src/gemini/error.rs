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
use crate::api_error::{ErrorForm, Told, Wording, seconds, text_at};
use crate::write_answer::{Put as _, Quoted};

/// The family's errors.
pub(super) const FORM: ErrorForm =
    ErrorForm { words: WORDS, statuses: &[], request_id: "x-request-id", read, write };

const WORDS: &[(&str, crate::ApiErrorKind)] = &[
    ("UNAUTHENTICATED", Authentication),
    ("API_KEY_INVALID", Authentication),
    ("ACCESS_TOKEN_EXPIRED", Authentication),
    ("CREDENTIALS_MISSING", Authentication),
    ("BILLING_DISABLED", QuotaExceeded),
    ("RATE_LIMIT_EXCEEDED", RateLimited),
    ("RESOURCE_EXHAUSTED", RateLimited),
    ("UNAVAILABLE", Overloaded),
    ("MODEL_CAPACITY_EXHAUSTED", Overloaded),
    ("PERMISSION_DENIED", PermissionDenied),
    // The account, or where it is used: no billing, a country that is not served.
    ("FAILED_PRECONDITION", PermissionDenied),
    ("NOT_FOUND", NotFound),
    ("INVALID_ARGUMENT", Refused),
    ("OUT_OF_RANGE", Refused),
    ("UNIMPLEMENTED", Refused),
    ("INTERNAL", Server),
    ("DEADLINE_EXCEEDED", Server),
    ("ABORTED", Server),
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

/// The words to search for that are a status themselves; others are reasons, which have a place of
/// their own.
const STATUSES: [(u16, &str); 8] = [
    (400, "INVALID_ARGUMENT"),
    (401, "UNAUTHENTICATED"),
    (403, "PERMISSION_DENIED"),
    (404, "NOT_FOUND"),
    (429, "RESOURCE_EXHAUSTED"),
    (500, "INTERNAL"),
    (503, "UNAVAILABLE"),
    (504, "DEADLINE_EXCEEDED"),
];

pub(super) fn write(error: &Wording<'_>) -> String {
    let Wording { code, status, message, param, wait, .. } = error;
    let word = STATUSES.iter().find(|(known, _)| known == status).map_or(*code, |(_, word)| word);
    let mut details = Vec::new();
    let kind = "type.googleapis.com/google.rpc";
    if word != *code {
        let reason = Quoted(code);
        details.push(format!(r#"{{"@type":"{kind}.ErrorInfo","reason":{reason}}}"#));
    }
    if let Some(wait) = wait {
        let seconds = wait.as_secs_f64();
        details.push(format!(r#"{{"@type":"{kind}.RetryInfo","retryDelay":"{seconds}s"}}"#));
    }
    if let Some(param) = param {
        let field = Quoted(param);
        details.push(format!(
            r#"{{"@type":"{kind}.BadRequest","fieldViolations":[{{"field":{field}}}]}}"#
        ));
    }
    let message = Quoted(message);
    let mut body = format!(r#"{{"error":{{"code":{status},"message":{message},"status":"{word}""#);
    if !details.is_empty() {
        body.put(format_args!(r#","details":[{}]"#, details.join(",")));
    }
    body.push_str("}}");
    body
}
