//! The errors of the API and of those who imitate it.
//!
//! | in the body | what it is |
//! |---|---|
//! | `error.code`, `error.type` | the words; some servers put the HTTP status into `code` |
//! | `error.message`, `error.param` | the sentence, and what it blames |
//! | `error.innererror.code` | Azure's word for its filter |
//! | `error.n_prompt_tokens`, `error.n_ctx` | the figures of llama.cpp |

use serde_json::Value;

use crate::ApiErrorKind::{
    Authentication, ContentFiltered, NotFound, Overloaded, PermissionDenied, QuotaExceeded,
    RateLimited, Refused, Server, TooLong,
};
use crate::api_error::{ErrorForm, Told, Wording, text_at};
use crate::write_answer::{Quoted, QuotedOrNull};

/// The family's errors.
pub(super) const FORM: ErrorForm =
    ErrorForm { words: WORDS, statuses: &[], request_id: "x-request-id", read, write };

const LENGTH: crate::ApiErrorKind = TooLong { tokens: None, limit: None };

/// The words to search for of both APIs of OpenAI's, and of those who imitate them.
pub(crate) const WORDS: &[(&str, crate::ApiErrorKind)] = &[
    ("context_length_exceeded", LENGTH),
    ("exceed_context_size_error", LENGTH),
    ("insufficient_quota", QuotaExceeded),
    ("billing_hard_limit_reached", QuotaExceeded),
    ("billing_not_active", QuotaExceeded),
    ("exceeded_current_quota_error", QuotaExceeded),
    ("Arrearage", QuotaExceeded),
    ("rate_limit_exceeded", RateLimited),
    ("rate_limit_reached_error", RateLimited),
    ("rate_limit_error", RateLimited),
    ("Throttling", RateLimited),
    ("slow_down", Overloaded),
    ("engine_overloaded_error", Overloaded),
    ("server_overloaded", Overloaded),
    ("overloaded_error", Overloaded),
    ("invalid_api_key", Authentication),
    ("invalid_authentication_error", Authentication),
    ("authentication_error", Authentication),
    ("permission_denied", PermissionDenied),
    ("unsupported_country_region_territory", PermissionDenied),
    ("model_not_found", NotFound),
    ("DeploymentNotFound", NotFound),
    ("content_filter", ContentFiltered),
    ("content_policy_violation", ContentFiltered),
    ("ResponsibleAIPolicyViolation", ContentFiltered),
    ("moderation_blocked", ContentFiltered),
    ("invalid_prompt", ContentFiltered),
    ("data_inspection_failed", ContentFiltered),
    ("DataInspectionFailed", ContentFiltered),
    ("server_error", Server),
    ("internal_error", Server),
    ("invalid_request_error", Refused),
    ("string_above_max_length", Refused),
    ("BadRequestError", Refused),
    ("invalid_parameter_error", Refused),
    ("InvalidParameter", Refused),
];

/// Reads `{"error": {…}}`.
pub(crate) fn read(body: &Value) -> Option<Told> {
    let error = body.get("error").filter(|error| error.is_object())?;
    let inner = error.get("innererror").unwrap_or(&Value::Null);
    let codes = [text_at(error, "code"), text_at(inner, "code"), text_at(error, "type")];
    let figure = |name: &str| error.get(name).and_then(Value::as_u64);
    let figures = (figure("n_prompt_tokens"), figure("n_ctx"));
    Some(Told {
        codes: codes.into_iter().flatten().collect(),
        message: text_at(error, "message").unwrap_or_default().into(),
        param: text_at(error, "param"),
        length: figures.0.and(figures.1).map(|_| figures),
        ..Told::default()
    })
}

/// Writes `{"error": {…}}`. The type is the class, the code the exact word.
pub(crate) fn write(error: &Wording<'_>) -> String {
    let kind = match error.status {
        500.. => "server_error",
        429 => error.code,
        _ => "invalid_request_error",
    };
    let code = QuotedOrNull(Some(error.code).filter(|code| *code != kind));
    let (message, kind, param) = (Quoted(&error.message), Quoted(kind), QuotedOrNull(error.param));
    format!(r#"{{"error":{{"message":{message},"type":{kind},"param":{param},"code":{code}}}}}"#)
}
