//! The errors of the API.
//!
//! | in the body | what it is |
//! |---|---|
//! | `error.details.error_code`, `error.type` | the words |
//! | `error.message` | the sentence; it often begins with the place that it blames |
//! | `request_id` | what support asks for |

use serde_json::Value;
use smol_str::SmolStr;

use crate::ApiErrorKind::{
    Authentication, NotFound, Overloaded, PermissionDenied, QuotaExceeded, RateLimited, Refused,
    Server, TooLong,
};
use crate::api_error::{ErrorForm, Told, Wording, text_at};
use crate::write_answer::{Put as _, Quoted};

/// The family's errors.
pub(super) const FORM: ErrorForm = ErrorForm {
    words: WORDS,
    statuses: &[
        (QuotaExceeded, 402),
        (TooLong { tokens: None, limit: None }, 413),
        (Overloaded, 529),
    ],
    request_id: "request-id",
    read,
    write,
};

const WORDS: &[(&str, crate::ApiErrorKind)] = &[
    ("invalid_request_error", Refused),
    ("authentication_error", Authentication),
    ("billing_error", QuotaExceeded),
    ("permission_error", PermissionDenied),
    ("not_found_error", NotFound),
    ("request_too_large", TooLong { tokens: None, limit: None }),
    ("rate_limit_error", RateLimited),
    ("api_error", Server),
    ("timeout_error", Server),
    ("overloaded_error", Overloaded),
];

fn read(body: &Value) -> Option<Told> {
    let error = body.get("error").filter(|error| error.is_object())?;
    let details = error.get("details").unwrap_or(&Value::Null);
    let codes = [text_at(details, "error_code"), text_at(error, "type")];
    let message = String::from(text_at(error, "message").unwrap_or_default());
    let param = place(&message);
    Some(Told {
        codes: codes.into_iter().flatten().collect(),
        message,
        param,
        request_id: text_at(body, "request_id"),
        ..Told::default()
    })
}

pub(super) fn write(error: &Wording<'_>) -> String {
    let (code, message) = (Quoted(error.code), Quoted(&error.message));
    let mut body = format!(r#"{{"type":"error","error":{{"type":{code},"message":{message}}}"#);
    if let Some(id) = error.request_id {
        body.put(format_args!(r#","request_id":{}"#, Quoted(id)));
    }
    body.push('}');
    body
}

/// The place that a sentence such as `messages.6: …` begins with.
fn place(message: &str) -> Option<SmolStr> {
    let (place, _) = message.split_once(": ")?;
    let is_step = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.');
    (!place.is_empty() && place.chars().all(is_step)).then(|| SmolStr::new(place))
}
