//! What the body of a recorded request tells of what it was made from.

use std::collections::BTreeMap;
use std::sync::Arc;

use interleaf_assemble::{ContextText, FencedContext, FencedText};
use interleaf_model::{
    Body, ContentPart, ContextKind, Message, Parts, Role, SystemPart, Text, Tool, ToolResult,
};
use interleaf_wire::{Error, Family, decode_request};

use super::as_sent::{Piece, pieces};
use super::stretches::{Stretch, stretches};
use crate::cache_marks::{unmark, unmark_tool};

/// What summaries of ours begin with.
const SUMMARY: &str = "[Previous conversation summary] (";

/// A body that was read.
pub(crate) struct Decoded {
    /// The texts at the head, without a summary.
    pub(crate) system: Vec<Arc<str>>,
    /// Whether a summary stood there.
    pub(crate) has_summary: bool,
    /// The tools.
    pub(crate) tools: Vec<Tool>,
    /// The model that it names.
    pub(crate) model: String,
    /// What was said, without the context.
    pub(crate) said: Vec<Message>,
    /// What was found of the context, in its order.
    pub(crate) context: Vec<Found>,
    /// What each source says by then.
    says: BTreeMap<(ContextKind, u32), Option<Arc<str>>>,
    /// All of it in its order, as a cache sees it.
    pub(super) pieces: Vec<Piece>,
    /// After how many pieces there is a mark for the cache; 0 is after the tools.
    pub(super) marks: Vec<usize>,
}

/// A text of the context, and what its reader takes its source to say.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) kind: ContextKind,
    pub(crate) nth: u32,
    pub(crate) form: Form,
    /// Where it stands: texts with the same number stand next to each other.
    run: usize,
}

/// What a text of the context says.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// All that was shown of it, and who was said to say it.
    Whole(ContextText),
    Changes(Arc<str>),
    Withdrawn,
    Unread,
}

impl Decoded {
    /// Reads a body.
    pub(crate) fn of(family: Family, text: &str) -> Result<Self, Error> {
        let request = decode_request(family, text)?;
        let mut decoded = Self {
            system: Vec::new(),
            has_summary: false,
            says: BTreeMap::new(),
            marks: Vec::new(),
            pieces: Vec::with_capacity(request.messages.len()),
            tools: request.tools,
            model: request.options.model.to_string(),
            said: Vec::with_capacity(request.messages.len()),
            context: Vec::new(),
        };
        // Marks come and go with the requests, and say nothing of the tools.
        let marked = decoded.tools.iter_mut().filter_map(|tool| unmark_tool(tool).then_some(()));
        if marked.count() > 0 {
            decoded.marks.push(0);
        }
        for message in request.messages {
            decoded.take_pieces(&message);
            match message.role() {
                Role::System if decoded.said.is_empty() => decoded.add_system(&message),
                _ => decoded.add(message),
            }
        }
        Ok(decoded)
    }

    /// Whether it has a mark for the cache.
    pub(crate) fn is_marked(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Takes in what a cache sees of a message.
    fn take_pieces(&mut self, message: &Message) {
        let is_head = message.role() == Role::System && self.said.is_empty();
        let said = (!is_head).then_some(self.said.len());
        for (piece, is_marked) in pieces(message, said) {
            self.pieces.extend(piece);
            if is_marked {
                self.marks.push(self.pieces.len());
            }
        }
    }

    fn add_system(&mut self, message: &Message) {
        for text in message.texts() {
            match FencedContext::read(text) {
                Some(fenced) if self.take(&fenced, 0) => {}
                _ if text.starts_with(SUMMARY) => self.has_summary = true,
                _ => self.system.push(text.into()),
            }
        }
    }

    /// Takes in a message, of which what is context goes its own way.
    fn add(&mut self, message: Message) {
        let Message { id, at, origin, body, extra } = message;
        let body = match body {
            Body::User(parts) => match self.unfenced(parts) {
                Some(parts) => Body::User(parts),
                None => return,
            },
            Body::Tool(result) => match self.unfenced(result.parts.clone()) {
                Some(parts) => Body::Tool(ToolResult { parts, ..result }),
                None => Body::Tool(result),
            },
            Body::System(parts) if self.is_context(&parts) => return,
            body @ (Body::Assistant(_) | Body::System(_)) => body,
        };
        self.said.extend(unmark(Message { id, at, origin, body, extra }).0);
    }

    /// The parts that are not context; nothing, if all are.
    fn unfenced(&mut self, parts: Parts<ContentPart>) -> Option<Parts<ContentPart>> {
        let before = self.context.len();
        let mut rest = Vec::with_capacity(parts.len());
        for part in parts.into_vec() {
            let Some(text) = part.as_text() else {
                rest.push(part);
                continue;
            };
            let stretches = stretches(&text.text);
            if stretches.iter().all(|stretch| stretch.fenced.is_none()) {
                rest.push(part);
                continue;
            }
            let mut said = Vec::new();
            for Stretch { raw, fenced } in &stretches {
                let run = (self.said.len() << 16) | (rest.len() + said.len());
                match fenced {
                    Some(fenced) if self.take(fenced, run) => {}
                    _ => said.push(*raw),
                }
            }
            if !said.is_empty() {
                let said = said.join("\n").into();
                rest.push(ContentPart::Text(Text { text: said, ..text.clone() }));
            }
        }
        match rest.is_empty() && self.context.len() > before {
            true => None,
            false => Parts::new(rest).ok(),
        }
    }

    /// Takes in a system message that carries a text of the context, if it does.
    fn is_context(&mut self, parts: &Parts<SystemPart>) -> bool {
        let [SystemPart::Text(text)] = &**parts else { return false };
        let Some(fenced) = FencedContext::read(&text.text) else { return false };
        self.take(&fenced, self.said.len() << 16)
    }

    /// Takes in a text of the context. One that amends or withdraws what was not shown, as in a
    /// log that begins in the middle of a session, cannot be understood, and is none.
    fn take(&mut self, fenced: &FencedContext<'_>, run: usize) -> bool {
        let found = Found::of(fenced, run);
        let key = (found.kind.clone(), found.nth);
        let says = match (&found.form, self.says.get(&key)) {
            (Form::Whole(text), _) => Some(text.text.clone()),
            (Form::Changes(lines), Some(Some(before))) => {
                match FencedText::Changes(lines).after(Some(before)) {
                    None => return false,
                    says => says,
                }
            }
            (Form::Changes(_), _) | (Form::Withdrawn, None) => return false,
            (Form::Withdrawn, Some(_)) | (Form::Unread, _) => None,
        };
        self.says.insert(key, says);
        self.context.push(found);
        true
    }

    /// What the sources say, to a reader of the whole request.
    pub(crate) fn texts(&self) -> Vec<ContextText> {
        let mut sources: Vec<Source<'_>> = Vec::new();
        let mut indices: BTreeMap<(&ContextKind, u32), Vec<usize>> = BTreeMap::new();
        for found in &self.context {
            let same = indices.entry((&found.kind, found.nth)).or_default();
            let known = same.iter().copied().rev().find(|&index| {
                // Two of a kind next to each other are two sources.
                !(sources[index].run == found.run && matches!(found.form, Form::Whole(_)))
            });
            let before = known.and_then(|index| sources[index].says.clone());
            let says = found.after(before);
            let is_unread = matches!(found.form, Form::Unread);
            let source = Source { kind: &found.kind, run: found.run, says, is_unread };
            match known {
                Some(index) => sources[index] = source,
                None => {
                    same.push(sources.len());
                    sources.push(source);
                }
            }
        }
        let text = |source: Source<'_>| match source.says {
            _ if source.is_unread => Some(ContextText::unread(source.kind.clone())),
            says => says,
        };
        sources.into_iter().filter_map(text).collect()
    }

    /// What the last text of each source says.
    pub(crate) fn last(&self) -> BTreeMap<(&ContextKind, u32), &Form> {
        self.context.iter().map(|found| ((&found.kind, found.nth), &found.form)).collect()
    }
}

/// A source, as far as a request has been read.
struct Source<'a> {
    kind: &'a ContextKind,
    run: usize,
    says: Option<ContextText>,
    is_unread: bool,
}

impl Found {
    fn of(fenced: &FencedContext<'_>, run: usize) -> Self {
        let said = |text: ContextText| {
            Form::Whole(match fenced.authority {
                Some(authority) => text.said_by(authority),
                None => text,
            })
        };
        let kind = fenced.kind.clone();
        let form = match fenced.text {
            FencedText::Whole(text) => said(ContextText::new(kind, text)),
            FencedText::Shortened { head, left_out, tail } => {
                said(ContextText::shortened(kind, head, left_out, tail))
            }
            FencedText::Changes(lines) => Form::Changes(lines.into()),
            FencedText::Withdrawn => Form::Withdrawn,
            _ => Form::Unread,
        };
        Self { kind: fenced.kind.clone(), nth: fenced.nth, form, run }
    }

    fn after(&self, before: Option<ContextText>) -> Option<ContextText> {
        match &self.form {
            Form::Whole(text) => Some(text.clone()),
            Form::Changes(lines) => {
                let mut said = before?;
                said.text = FencedText::Changes(lines).after(Some(&said.text))?;
                Some(said)
            }
            Form::Withdrawn | Form::Unread => None,
        }
    }
}
