//! A tool block as text: the calls in what the assistant says, the results in what it is told.

use std::collections::HashMap;
use std::sync::Arc;

use interleaf_model::{
    AssistantPart, Body, ContentPart, Entry, Message, MessageId, Parts, Provenance, Text, ToolCall,
    ToolResult,
};
use interleaf_plan::Datum;
use interleaf_plan::calls::TextTools;

use super::words::Words;

/// A message as it was written, and what it was written from: itself, and the results of its
/// block whose pictures it has.
pub(super) struct Written {
    from: Vec<Arc<Message>>,
    /// The name of the tool, if it is a result.
    tool: String,
    /// The number of its first picture.
    first: usize,
    n_media: usize,
    /// Its pictures, if they go elsewhere.
    media: Vec<ContentPart>,
    made: Arc<Message>,
}

impl Written {
    /// The message whose pictures stand after the results.
    pub(super) fn moved(&self) -> Option<&MessageId> {
        (self.n_media > 0).then(|| &self.made.id)
    }
}

/// Messages in which nothing is called. What is known is taken from `known`; all goes to
/// `kept`.
pub(super) fn entries(
    entries: &[Entry],
    words: &Words,
    known: &mut HashMap<usize, Written>,
    kept: &mut HashMap<usize, Written>,
) -> Vec<Entry> {
    let mut made = Vec::with_capacity(entries.len());
    let mut block = Block::default();
    for (number, entry) in entries.iter().enumerate() {
        let address = Arc::as_ptr(&entry.message).addr();
        let own = known.remove(&address);
        let written = match &entry.message.body {
            Body::Assistant(parts) if entry.message.has_calls() => {
                block = Block::of(&entry.message);
                let is_it = |own: &Written| Arc::ptr_eq(&own.from[0], &entry.message);
                own.filter(is_it).unwrap_or_else(|| Written {
                    from: vec![entry.message.clone()],
                    tool: String::new(),
                    first: 0,
                    n_media: 0,
                    media: Vec::new(),
                    made: Arc::new(assistant(&entry.message, parts, &words.tools)),
                })
            }
            Body::Tool(own_result) => {
                let next = entries.get(number + 1);
                let is_last = next.is_none_or(|next| next.message.as_result().is_none());
                block.result(entry, own_result, is_last, own)
            }
            Body::Assistant(_) | Body::System(_) | Body::User(_) => {
                made.push(entry.clone());
                continue;
            }
        };
        let message = written.made.clone();
        made.push(Entry { message, provenance: entry.provenance.clone() });
        kept.insert(address, written);
    }
    made
}

/// What is known of a block while its results are written.
#[derive(Default)]
struct Block {
    /// The tools that were called, the last first.
    tools: Vec<String>,
    n_media: usize,
    /// The results that have pictures, and these.
    sources: Vec<Arc<Message>>,
    media: Vec<ContentPart>,
}

impl Block {
    fn of(caller: &Message) -> Self {
        let mut tools: Vec<String> = caller.calls().map(|call| call.name.to_string()).collect();
        tools.reverse();
        Self { tools, ..Self::default() }
    }

    fn result(
        &mut self,
        entry: &Entry,
        own: &ToolResult,
        is_last: bool,
        known: Option<Written>,
    ) -> Written {
        let tool = self.tools.pop().unwrap_or_default();
        let first = self.n_media;
        let mut from = vec![entry.message.clone()];
        if is_last {
            from.extend(self.sources.iter().cloned());
        }
        let is_it = |known: &Written| {
            let is_same = |(a, b): (&Arc<Message>, &Arc<Message>)| Arc::ptr_eq(a, b);
            known.from.len() == from.len()
                && known.from.iter().zip(&from).all(is_same)
                && (known.first, known.tool.as_str()) == (first, tool.as_str())
        };
        let written = known.filter(is_it).unwrap_or_else(|| {
            let n_carried = match &entry.provenance {
                Provenance::Carrying(carrying) => carrying.texts.len(),
                _ => 0,
            };
            let mut n_media = first;
            let (message, media) = result(&entry.message, own, &tool, n_carried, &mut n_media);
            let n_media = n_media - first;
            let (made, media) = match is_last {
                true => {
                    (with_media(message, self.media.iter().chain(&media), n_carried), Vec::new())
                }
                false => (message, media),
            };
            let made = Arc::new(made);
            Written { from, tool, first, n_media, media, made }
        });
        self.n_media += written.n_media;
        if !written.media.is_empty() {
            self.sources.push(entry.message.clone());
            self.media.extend(written.media.iter().cloned());
        }
        written
    }
}

/// What the assistant said, with its calls in words. What a vendor attached to a text belongs
/// to the text as it was.
pub(super) fn assistant(
    message: &Message,
    parts: &Parts<AssistantPart>,
    tools: &TextTools,
) -> Message {
    let mut made: Vec<AssistantPart> = Vec::with_capacity(parts.len());
    let mut rest = parts.iter().peekable();
    while let Some(part) = rest.next() {
        let AssistantPart::Call(first) = part else {
            made.push(part.clone());
            continue;
        };
        let mut calls: Vec<&ToolCall> = vec![first];
        while let Some(AssistantPart::Call(call)) = rest.peek() {
            calls.push(call);
            rest.next();
        }
        let block = tools.write_made(&calls);
        let text = match made.pop() {
            Some(AssistantPart::Text(before)) if before.is_blank() => block,
            Some(AssistantPart::Text(before)) => format!("{}\n\n{block}", before.text.trim_end()),
            other => {
                made.extend(other);
                block
            }
        };
        made.push(AssistantPart::Text(Text::new(text)));
    }
    let body = Parts::new(made).map_or_else(|_| message.body.clone(), Body::Assistant);
    Message { body, ..message.clone() }
}

/// What a tool gave, in words, and its pictures and files. The last `n_carried` texts are not
/// the tool's.
pub(super) fn result(
    message: &Message,
    result: &ToolResult,
    tool: &str,
    n_carried: usize,
    n_media: &mut usize,
) -> (Message, Vec<ContentPart>) {
    let (own, carried) = result.parts.split_at(result.parts.len().saturating_sub(n_carried));
    let mut media = Vec::new();
    let data: Vec<Datum<'_>> = own
        .iter()
        .map(|part| match part {
            ContentPart::Text(text) => Datum::Text(&text.text),
            other => {
                media.push(other.clone());
                *n_media += 1;
                Datum::Media(*n_media)
            }
        })
        .collect();
    let text = TextTools::write_result(tool, result.status, &data);
    let mut parts = vec![ContentPart::Text(Text::new(text))];
    parts.extend(carried.iter().cloned());
    let body = Parts::new(parts).map_or_else(|_| message.body.clone(), Body::User);
    (Message { body, ..message.clone() }, media)
}

/// A result with pictures after it, before what it carries.
fn with_media<'a>(
    message: Message,
    media: impl Iterator<Item = &'a ContentPart>,
    n_carried: usize,
) -> Message {
    let Body::User(parts) = message.body else { return message };
    let mut parts = parts.into_vec();
    let end = parts.len() - n_carried.min(parts.len());
    let carried = parts.split_off(end);
    parts.extend(media.cloned());
    parts.extend(carried);
    match Parts::new(parts) {
        Ok(parts) => Message { body: Body::User(parts), ..message },
        Err(_) => Message { body: Message::user("").body, ..message },
    }
}
