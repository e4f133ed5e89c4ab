//! A request body as it was sent: what a cache sees of it, piece by piece, and nothing made
//! anew.

use std::sync::Arc;

use interleaf_assemble::FencedContext;
use interleaf_model::{
    Body, ContentPart, Extra, Message, PartRef, Parts, Role, Text, Tool, ToolResult,
};

use super::Decoded;
use super::seen::Class;
use super::stretches::{Stretch, stretches};
use crate::cache_marks::{is_marked, is_point, unmark};

/// A body as it was sent. Pieces that two bodies have in common at their beginnings are the
/// same in memory.
#[derive(Debug)]
pub(crate) struct AsSent {
    pub(super) tools: Arc<[Tool]>,
    pub(super) pieces: Vec<(Class, Arc<Message>)>,
    /// After how many pieces there is a mark for the cache; 0 is after the tools. A mark inside
    /// a message counts as one at its end.
    pub(super) marks: Vec<usize>,
}

/// A piece of a body.
pub(super) enum Piece {
    /// A message of the conversation, by its index.
    Said(usize),
    /// Something else.
    Own(Class, Message),
}

impl AsSent {
    /// A body after the one before it, given the messages of its conversation.
    pub(super) fn of(
        body: &mut Decoded,
        said: &[Arc<Message>],
        tools: Arc<[Tool]>,
        before: Option<&Self>,
    ) -> Self {
        let mut pieces: Vec<(Class, Arc<Message>)> = Vec::with_capacity(body.pieces.len());
        for piece in body.pieces.drain(..) {
            pieces.push(match piece {
                Piece::Said(index) => (Class::of(&said[index]), said[index].clone()),
                Piece::Own(class, message) => {
                    let known = before.and_then(|before| before.pieces.get(pieces.len()));
                    let is_it = |(other, known): &&(Class, Arc<Message>)| {
                        *other == class && known.body == message.body
                    };
                    match known.filter(is_it) {
                        Some((_, known)) => (class, known.clone()),
                        None => (class, Arc::new(message)),
                    }
                }
            });
        }
        Self { tools, pieces, marks: std::mem::take(&mut body.marks) }
    }
}

/// What a cache sees of a message, and what of it is followed by a mark: its texts of the
/// context, and what stands between them. `said` is its index in the conversation.
pub(super) fn pieces(message: &Message, said: Option<usize>) -> Vec<(Option<Piece>, bool)> {
    let parts: &[ContentPart] = match &message.body {
        Body::User(parts) => parts,
        Body::Tool(result) => &result.parts,
        Body::System(_) | Body::Assistant(_) => &[],
    };
    let fenced = |part: &ContentPart| part.as_text().is_some_and(|text| has_context(&text.text));
    let system = message.texts().next().filter(|_| message.role() == Role::System);
    let system = system.and_then(FencedContext::read).map(|fenced| fenced.kind);
    if let Some(kind) = system {
        return vec![own(Class::Context(kind), message.clone())];
    }
    if !parts.iter().any(fenced) {
        let Some(index) = said else { return vec![own(Class::of(message), message.clone())] };
        let is_mark =
            |part: PartRef<'_>| matches!(part, PartRef::Opaque(opaque) if is_point(opaque));
        let is_empty = message.parts().count() > 0 && message.parts().all(is_mark);
        return vec![((!is_empty).then_some(Piece::Said(index)), has_mark(message))];
    }
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        let add = |part: ContentPart, class: Class| {
            let parts = Parts::new(vec![part]).ok();
            parts.map(|parts| own(class, with_parts(message, parts)))
        };
        let Some(text) = part.as_text().filter(|text| has_context(&text.text)) else {
            pieces.extend(add(part.clone(), Class::of(message)));
            continue;
        };
        for Stretch { raw, fenced } in stretches(&text.text) {
            let class = fenced.map_or_else(|| Class::of(message), |f| Class::Context(f.kind));
            let stretch = Text { text: raw.into(), extra: Extra::NONE };
            pieces.extend(add(ContentPart::Text(stretch), class).filter(|_| !raw.is_empty()));
        }
        if let Some(last) = pieces.last_mut() {
            last.1 |= is_marked(&text.extra);
        }
    }
    if let Some(last) = pieces.last_mut() {
        last.1 |= is_marked(&message.extra);
    }
    pieces
}

/// A piece that is no message of the conversation, and whether it is marked.
fn own(class: Class, message: Message) -> (Option<Piece>, bool) {
    let (message, is_marked) = unmark(message);
    (message.map(|message| Piece::Own(class, message)), is_marked)
}

fn has_context(text: &str) -> bool {
    stretches(text).iter().any(|stretch| stretch.fenced.is_some())
}

/// Some parts of a message.
fn with_parts(message: &Message, parts: Parts<ContentPart>) -> Message {
    let body = match &message.body {
        Body::Tool(ToolResult { call, name, status, .. }) => {
            let (call, name, status) = (call.clone(), name.clone(), *status);
            Body::Tool(ToolResult { call, name, status, parts })
        }
        _ => Body::User(parts),
    };
    // Its own parts may be thousands.
    let Message { id, at, origin, .. } = message;
    Message { id: id.clone(), at: *at, origin: origin.clone(), body, extra: Extra::NONE }
}

fn has_mark(message: &Message) -> bool {
    let in_part = |part: PartRef<'_>| match part {
        PartRef::Text(text) => is_marked(&text.extra),
        PartRef::Thinking(thinking) => is_marked(&thinking.extra),
        PartRef::Call(call) => is_marked(&call.extra),
        PartRef::Image(image) => is_marked(&image.extra),
        PartRef::File(file) => is_marked(&file.extra),
        PartRef::Opaque(opaque) => is_point(opaque),
    };
    is_marked(&message.extra) || message.parts().any(in_part)
}
