//! From a message to its line.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::form::write_part;
use crate::{Arguments, Message, Origin, PartRef, Role, Status, ToolCall};

/// The line of a message with nothing left out: parsing it gives the message back.
pub fn print_whole(message: &Message) -> String {
    let mut line = head(message, Envelope::Whole);
    for piece in pieces(message) {
        line.push(' ');
        line.push_str(&piece);
    }
    line
}

/// The line of a message in at most `width` characters, without id and time.
/// What is cut shows as `…`.
pub fn print_line(message: &Message, width: usize) -> String {
    let mut line = head(message, Envelope::Origin);
    let pieces = pieces(message);
    let spent = line.chars().count() + pieces.len();
    for piece in shorten(pieces, width.saturating_sub(spent)) {
        line.push(' ');
        line.push_str(&piece);
    }
    // Raw JSON may hold characters that a terminal obeys.
    cut(line, width).replace(char::is_control, " ")
}

/// How much of the envelope is printed.
#[derive(Clone, Copy, PartialEq)]
enum Envelope {
    /// Only whose conversation it is.
    Origin,
    /// All of it.
    Whole,
}

fn head(message: &Message, envelope: Envelope) -> String {
    let mut line = String::from(match message.role() {
        Role::System => "s",
        Role::User => "u",
        Role::Assistant => "a",
        Role::Tool => "t",
    });
    let attributes = attributes(message, envelope);
    if !attributes.is_empty() {
        // Writing into a String can not fail.
        let _ = write!(line, "{{{}}}", attributes.join(" "));
    }
    if let Some(result) = message.as_result() {
        let _ = write!(line, " {}", word(result.call.as_str()));
        if let Some(name) = &result.name {
            let _ = write!(line, "({})", word(name.as_str()));
        }
        line.push(if result.status == Status::Error { '!' } else { '=' });
    }
    line
}

fn attributes(message: &Message, envelope: Envelope) -> Vec<String> {
    let whole = envelope == Envelope::Whole;
    let mut attributes = Vec::new();
    if whole && !message.id.is_unassigned() {
        attributes.push(format!("id={}", word(message.id.as_str())));
    }
    if let Some(at) = message.at.filter(|_| whole) {
        attributes.push(format!("at={at}"));
    }
    match &message.origin {
        Origin::Main => {}
        Origin::SubAgent(agent) => attributes.push(format!("agent={}", word(agent.as_str()))),
        Origin::Internal => attributes.push("internal".to_owned()),
    }
    if whole && !message.extra.is_empty() {
        let fields = message
            .extra
            .iter()
            .map(|(owner, json)| format!("{}:{}", quoted(owner.as_str()), one_line(json.as_str())));
        attributes.push(format!("extra={{{}}}", fields.collect::<Vec<_>>().join(",")));
    }
    attributes
}

/// The parts, each as its piece of the line, with borders between two texts.
fn pieces(message: &Message) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut after_text = false;
    for part in message.parts() {
        let (piece, is_text) = match part {
            PartRef::Text(text) if !text.extra.is_empty() => (form(part), false),
            PartRef::Text(text) if text.text.is_empty() => ("[empty]".to_owned(), false),
            PartRef::Text(text) => (escaped(&text.text).into_owned(), true),
            PartRef::Call(call) if call.extra.is_empty() => (short_call(call), false),
            PartRef::Thinking(t)
                if t.seal.is_none() && t.producer.is_none() && t.extra.is_empty() =>
            {
                (format!("[think {}]", escaped(&t.text)), false)
            }
            PartRef::Thinking(_)
            | PartRef::Call(_)
            | PartRef::Image(_)
            | PartRef::File(_)
            | PartRef::Opaque(_) => (form(part), false),
        };
        if after_text && is_text {
            pieces.push("[+]".to_owned());
        }
        pieces.push(piece);
        after_text = is_text;
    }
    pieces
}

fn short_call(call: &ToolCall) -> String {
    let arguments = match &call.arguments {
        Arguments::Object(json) if json.as_str() == "{}" => String::new(),
        // Line breaks between tokens would end the line; a quoted text keeps them.
        Arguments::Object(json) if !json.as_str().contains(char::is_control) => {
            format!(" {}", json.as_str())
        }
        Arguments::Object(json) => format!(" {}", quoted(json.as_str())),
        Arguments::Invalid(text) => format!(" {}", quoted(text)),
    };
    format!("[call {} {}{arguments}]", word(call.id.as_str()), word(call.name.as_str()))
}

fn form(part: PartRef<'_>) -> String {
    format!("[{}]", one_line(&write_part(part)))
}

/// Gives each piece its share of `room` characters; what a short one leaves goes
/// to the long ones.
fn shorten(pieces: Vec<String>, mut room: usize) -> Vec<String> {
    let mut lengths: Vec<(usize, usize)> =
        pieces.iter().map(|piece| piece.chars().count()).enumerate().collect();
    lengths.sort_by_key(|&(i, length)| (length, i));
    let mut shares = vec![0; pieces.len()];
    for (done, &(i, length)) in lengths.iter().enumerate() {
        let share = length.min(room / (lengths.len() - done));
        shares[i] = share;
        room -= share;
    }
    pieces.into_iter().zip(shares).map(|(piece, share)| cut(piece, share)).collect()
}

/// At most `width` characters. A bracket that is cut still closes, so that the eye
/// sees where it ends.
fn cut(piece: String, width: usize) -> String {
    if piece.chars().nth(width).is_none() {
        return piece;
    }
    let end = if piece.starts_with('[') && width > 1 { "…]" } else { "…" };
    let keep = width.saturating_sub(end.chars().count());
    piece.chars().take(keep).chain(end.chars()).take(width).collect()
}

/// A bare word where that reads back as itself, else a JSON string.
fn word(text: &str) -> Cow<'_, str> {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_-.:/@".contains(c);
    if !text.is_empty() && text.chars().all(bare) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(quoted(text))
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// JSON on one line. Line breaks in it stand between tokens, where any white space
/// will do.
fn one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) {
        Cow::Owned(json.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(json)
    }
}

fn escaped(text: &str) -> Cow<'_, str> {
    let special =
        |c: char| c.is_control() || matches!(c, '\\' | '[' | ']' | '\u{2028}' | '\u{2029}');
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' | '[' | ']' => out.extend(['\\', c]),
            c if special(c) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}
