//! The errors of the API. A request is refused as by the chat API; an answer that failed
//! holds its error below `response`, and an event `error` is one itself.

use serde_json::Value;

use crate::Family;
use crate::api_error::{ErrorForm, Told, text_at};

/// The family's errors.
pub(super) const FORM: ErrorForm = ErrorForm {
    words: CHAT.words,
    statuses: CHAT.statuses,
    request_id: CHAT.request_id,
    read,
    write: CHAT.write,
};

/// What both APIs share.
const CHAT: &ErrorForm = &Family::OpenaiChat.codec().errors;

fn read(body: &Value) -> Option<Told> {
    if let Some(told) = (CHAT.read)(body) {
        return Some(told);
    }
    let response = body.get("response");
    if let Some(told) = response.and_then(CHAT.read) {
        return Some(Told { request_id: response.and_then(|r| text_at(r, "id")), ..told });
    }
    // An event `error`: `type` is the event's, not the error's.
    let is_event = body.get("type").is_some_and(|kind| kind == "error");
    is_event.then(|| Told {
        codes: text_at(body, "code").into_iter().collect(),
        message: text_at(body, "message").unwrap_or_default().into(),
        param: text_at(body, "param"),
        ..Told::default()
    })
}
