//! The message that answers a call: what the model is shown, and what is kept beside it.
//!
//! Beside it stand the whole text, if the model is shown a part of it, and how an agent ended that
//! the call sent. Both are fields of the message, so that they are written with it or not at all;
//! no request carries them.

use interleaf::Session;
use interleaf::conversation::Conversation;
use interleaf::model::{Body, ContentPart, ENGINE, Json, Message, MessageId, Parts, Status, Text};
use interleaf::model::{ToolCall, ToolResult, VendorName};
use serde::{Deserialize, Serialize};

use crate::{End, Output};

/// The most bytes that are kept of a text of which a part is shown.
const MOST_KEPT: usize = 4 * 1024 * 1024;

/// What is kept beside what the model is shown.
#[derive(Default, Serialize, Deserialize)]
struct Beside {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<End>,
}

impl Beside {
    fn of(result: &Message) -> Option<Self> {
        result.as_result()?;
        serde_json::from_str(result.extra.get(ENGINE)?.as_str()).ok()
    }
}

impl End {
    /// How the agent ended whose report a result is. None, if the result is no such report.
    pub fn of(result: &Message) -> Option<Self> {
        Beside::of(result)?.end
    }
}

/// The reports of all agents that were sent in a session, as they came: the results of the calls
/// that sent them, and how each ended.
///
/// ```
/// # async fn shown(session: &interleaf::Session) {
/// for (report, end) in interleaf_agent::reports(session) {
///     println!("{end}: {}", report.text());
/// }
/// # }
/// ```
pub fn reports(session: &Session) -> impl Iterator<Item = (&Message, End)> {
    session.conversation().log().filter_map(|message| Some((&**message, End::of(message)?)))
}

/// All that a tool said, if the model is shown a part of it.
pub(crate) fn whole(result: &Message) -> Option<String> {
    Beside::of(result)?.whole
}

impl Output {
    /// The message that answers a call. One that shows a part has an id, which it names.
    pub(crate) fn answer(&self, call: &ToolCall, conversation: &Conversation) -> Message {
        let mut beside = Beside { whole: None, end: self.end.clone() };
        let mut id = MessageId::default();
        let mut text = self.text.as_str();
        let shown;
        if let Some(most) = self.most_shown.filter(|most| text.len() > *most) {
            id = free_id(call, conversation);
            shown = shortened(text, most, &format!(": see message {id}"));
            beside.whole = Some(shortened(text, MOST_KEPT, ""));
            text = &shown;
        }
        let mut parts = vec![ContentPart::Text(Text::new(text))];
        parts.extend(self.images.iter().cloned().map(ContentPart::from));
        // There is always a text.
        let Ok(parts) = Parts::new(parts) else { return call.result("") };
        let status = if self.is_error { Status::Error } else { Status::Ok };
        let (call, name) = (call.id.clone(), Some(call.name.clone()));
        let mut message = Message::from(Body::Tool(ToolResult { call, name, status, parts }));
        message.id = id;
        if beside.whole.is_some() || beside.end.is_some() {
            let fields = Json::of(&beside);
            let extra =
                fields.and_then(|it| message.extra.clone().with(VendorName::new(ENGINE), it));
            message.extra = extra.unwrap_or_default();
        }
        message
    }
}

/// An id for the result of a call. Some servers give the calls of every answer the same ids.
fn free_id(call: &ToolCall, conversation: &Conversation) -> MessageId {
    let mut id = MessageId::new(format!("result-{}", call.id));
    let mut n = 1;
    while conversation.find(&id).is_some() {
        n += 1;
        id = MessageId::new(format!("result-{}_{n}", call.id));
    }
    id
}

/// The beginning and the end of a text that is longer than `most` bytes, with what is left out.
pub(crate) fn shortened(text: &str, most: usize, where_it_is: &str) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(most / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - most / 2)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[… {left_out} bytes are left out here{where_it_is} …]\n{tail}")
}
