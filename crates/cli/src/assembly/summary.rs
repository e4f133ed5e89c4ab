//! A summary in a file.

use std::collections::BTreeSet;
use std::path::Path;

use interleaf::assemble::Summary;
use interleaf::conversation::Conversation;
use interleaf::model::{Message, MessageId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::arguments::ByteCount;
use crate::failure::Failure;
use crate::input::Input;

/// A summary as its file has it.
pub(crate) struct SummaryFile {
    name: String,
    text: String,
    start: MessageId,
    covers: Covers,
}

/// What a summary covers.
enum Covers {
    List(Vec<MessageId>),
    /// From the first to the last, as they are seen.
    Span(Span),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form<'a> {
    text: String,
    start: MessageId,
    #[serde(borrow)]
    covers: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    first: MessageId,
    last: MessageId,
}

impl SummaryFile {
    pub(crate) fn read(path: &Path, limit: ByteCount) -> Result<Self, Failure> {
        let file = Input::read_any(path, limit)?;
        let form: Form<'_> =
            serde_json::from_str(&file.text).map_err(|e| Failure::json(&file.name, &e))?;
        let covers = form.covers.get();
        let covers = match covers.starts_with('{') {
            true => serde_json::from_str(covers).map(Covers::Span),
            false => serde_json::from_str(covers).map(Covers::List),
        };
        let covers = covers.map_err(|_| {
            let rule = "it must be a list of message ids, or {\"first\": ID, \"last\": ID}";
            Failure::new(&file.name, rule).at("covers")
        })?;
        if form.text.trim().is_empty() {
            return Err(Failure::new(&file.name, "it says nothing").at("text"));
        }
        Ok(Self { name: file.name, text: form.text, start: form.start, covers })
    }

    /// The summary of this conversation.
    pub(crate) fn over(&self, conversation: &Conversation) -> Result<Summary, Failure> {
        let known = |id: &MessageId| conversation.log().any(|message| message.id == *id);
        let covers = match &self.covers {
            Covers::List(ids) => ids.iter().cloned().collect(),
            // Assembling says so, and sends the messages themselves.
            Covers::Span(_) if !known(&self.start) => BTreeSet::new(),
            Covers::Span(Span { first, last }) => {
                let visible = span(conversation.visible(), first, last);
                let span = visible.or_else(|| span(conversation.log(), first, last));
                span.ok_or_else(|| {
                    let rule = match [first, last].into_iter().find(|id| !known(id)) {
                        Some(id) => format!("there is no message {:?}", id.as_str()),
                        None => format!("{last} does not stand behind {first}"),
                    };
                    Failure::new(&self.name, rule).at("covers")
                })?
            }
        };
        Ok(Summary { text: self.text.as_str().into(), start: self.start.clone(), covers })
    }
}

/// The ids from one message to another, if they stand in this order.
fn span<'a>(
    messages: impl Iterator<Item = &'a std::sync::Arc<Message>>,
    first: &MessageId,
    last: &MessageId,
) -> Option<BTreeSet<MessageId>> {
    let ids: Vec<&MessageId> = messages.map(|message| &message.id).collect();
    let start = ids.iter().position(|id| *id == first)?;
    let length = ids[start..].iter().position(|id| *id == last)?;
    Some(ids[start..=start + length].iter().copied().cloned().collect())
}
