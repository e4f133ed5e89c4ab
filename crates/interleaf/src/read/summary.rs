//! A summary by itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_assemble::Summary;
use interleaf_conversation::Conversation;
use interleaf_model::{Message, MessageId, read_json};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::unmarked;
use crate::{Error, InputFault};

/// A summary, and what it covers in the words of its file:
/// `{"text": …, "start": ID, "covers": [ID, …] or {"first": ID, "last": ID}}`.
#[derive(Debug, Clone)]
pub struct SummaryForm {
    text: String,
    start: MessageId,
    covers: Covers,
}

#[derive(Debug, Clone)]
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

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    first: MessageId,
    last: MessageId,
}

impl SummaryForm {
    /// Reads a summary.
    ///
    /// # Errors
    /// If it has another shape, or says nothing.
    pub fn read(text: &str) -> Result<Self, Error> {
        let form: Form<'_> = read_json(unmarked(text)).map_err(|e| InputFault::model(&e))?;
        let covers = form.covers.get();
        let covers = match covers.starts_with('{') {
            true => read_json(covers).map(Covers::Span),
            false => read_json(covers).map(Covers::List),
        };
        let covers = covers.map_err(|_| {
            let rule = "a list of message ids, or {\"first\": ID, \"last\": ID}, is expected";
            InputFault::new(rule).at("covers")
        })?;
        if form.text.trim().is_empty() {
            return Err(InputFault::new("the summary says nothing").at("text").into());
        }
        Ok(Self { text: form.text, start: form.start, covers })
    }

    /// The summary of this conversation. If its start is not there, it covers nothing:
    /// assembling says so, and sends the messages themselves.
    ///
    /// # Errors
    /// If something that it covers is not there, or the two ends stand the other way round.
    pub fn over(&self, conversation: &Conversation) -> Result<Summary, Error> {
        let known = |id: &MessageId| conversation.find(id).is_some();
        let covers = match &self.covers {
            Covers::List(ids) => {
                let unknown = ids.iter().position(|id| !known(id)).filter(|_| known(&self.start));
                if let Some(at) = unknown {
                    let rule = format!("there is no message {:?}", ids[at].as_str());
                    return Err(InputFault::new(rule).at(format!("covers[{at}]")).into());
                }
                ids.iter().cloned().collect()
            }
            Covers::Span(_) if !known(&self.start) => BTreeSet::new(),
            Covers::Span(Span { first, last }) => {
                let visible = span(conversation.visible(), first, last);
                let span = visible.or_else(|| span(conversation.log(), first, last));
                span.ok_or_else(|| {
                    let rule = match [first, last].into_iter().find(|id| !known(id)) {
                        Some(id) => format!("there is no message {:?}", id.as_str()),
                        None => format!("{last} does not come after {first}"),
                    };
                    InputFault::new(rule).at("covers")
                })?
            }
        };
        Ok(Summary { text: self.text.as_str().into(), start: self.start.clone(), covers })
    }
}

/// The ids from one message to another, if they stand in this order.
fn span<'a>(
    messages: impl Iterator<Item = &'a Arc<Message>>,
    first: &MessageId,
    last: &MessageId,
) -> Option<BTreeSet<MessageId>> {
    let ids: Vec<&MessageId> = messages.map(|message| &message.id).collect();
    let start = ids.iter().position(|id| *id == first)?;
    let length = ids[start..].iter().position(|id| *id == last)?;
    Some(ids[start..=start + length].iter().copied().cloned().collect())
}
