//! Messages of one role in a row, made one.

use interleaf_model::{AssistantPart, Body, ContentPart, Message, Parts, SystemPart, Text};

/// Merges neighbours of one role. Nothing is lost: texts are joined with a blank line,
/// calls, ids, images and all other parts stay as they are and in order. Tool results
/// are never merged, for each answers a call of its own. System messages go to the head.
pub fn merge_adjacent(messages: Vec<Message>) -> Vec<Message> {
    let (systems, others): (Vec<Message>, Vec<Message>) =
        messages.into_iter().partition(|message| matches!(message.body, Body::System(_)));
    let mut merged: Vec<Message> = Vec::with_capacity(others.len() + 1);
    for message in systems.into_iter().chain(others) {
        match merged.pop() {
            None => merged.push(message),
            Some(last) => match joined(last, message) {
                Ok(one) => merged.push(one),
                Err(pair) => merged.extend(*pair),
            },
        }
    }
    merged
}

fn joined(first: Message, second: Message) -> Result<Message, Box<[Message; 2]>> {
    // A message with calls is followed by their results, whatever comes after them.
    let body = match (&first.body, &second.body) {
        (Body::System(a), Body::System(b)) => Parts::new(concat(a, b)).map(Body::System),
        (Body::User(a), Body::User(b)) => Parts::new(concat(a, b)).map(Body::User),
        (Body::Assistant(a), Body::Assistant(b)) => Parts::new(concat(a, b)).map(Body::Assistant),
        _ => return Err(Box::new([first, second])),
    };
    match body {
        Ok(body) => Ok(Message { body, ..first }),
        Err(_) => Err(Box::new([first, second])),
    }
}

/// A part that may be a text.
trait Texty: Clone {
    fn text(&self) -> Option<&Text>;
    fn of_text(text: Text) -> Self;
}

impl Texty for SystemPart {
    fn text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            Self::Opaque(_) => None,
        }
    }

    fn of_text(text: Text) -> Self {
        Self::Text(text)
    }
}

impl Texty for ContentPart {
    fn text(&self) -> Option<&Text> {
        self.as_text()
    }

    fn of_text(text: Text) -> Self {
        Self::Text(text)
    }
}

impl Texty for AssistantPart {
    fn text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn of_text(text: Text) -> Self {
        Self::Text(text)
    }
}

/// Two lists of parts; the texts where they meet become one, unless a vendor attached
/// something to either.
fn concat<P: Texty>(first: &[P], second: &[P]) -> Vec<P> {
    let mut parts = first.to_vec();
    let mut rest = second;
    if let (Some(last), Some((next, after))) = (parts.last(), second.split_first())
        && let (Some(a), Some(b)) = (last.text(), next.text())
        && a.extra.is_empty()
        && b.extra.is_empty()
    {
        let text = match (a.is_blank(), b.is_blank()) {
            (true, _) => b.text.to_string(),
            (_, true) => a.text.to_string(),
            (false, false) => format!("{}\n\n{}", a.text, b.text),
        };
        parts.pop();
        parts.push(P::of_text(Text::new(text)));
        rest = after;
    }
    parts.extend_from_slice(rest);
    parts
}
