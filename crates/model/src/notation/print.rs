//! From a message to its line.

use std::borrow::Cow;
use std::fmt::Write as _;

use smol_str::SmolStr;

use crate::form::write_part;
use crate::{
    Arguments, Message, Origin, PartRef, Role, Source, Status, ToolCall, is_hidden, shown,
};

/// The line of a message with nothing left out: parsing it gives the message back.
pub fn print_whole(message: &Message) -> String {
    let mut line = head(message, Detail::Whole);
    for piece in pieces(message, Detail::Whole) {
        line.push(' ');
        line.push_str(&piece);
    }
    line
}

/// The line of a message in at most `width` characters, without id, time, seals and
/// vendors' fields. What is cut shows as `…`.
pub fn print_line(message: &Message, width: usize) -> String {
    let mut line = head(message, Detail::Short);
    let pieces = pieces(message, Detail::Short);
    let spent = line.chars().count() + pieces.len();
    for piece in shorten(pieces, width.saturating_sub(spent)) {
        line.push(' ');
        line.push_str(&piece);
    }
    // Raw JSON may hold characters that a terminal obeys.
    cut(shown(&line.replace(char::is_control, " ")).into_owned(), width)
}

/// How much is printed.
#[derive(Clone, Copy, PartialEq)]
enum Detail {
    /// What a reader wants to see at a glance.
    Short,
    /// All of it.
    Whole,
}

fn head(message: &Message, detail: Detail) -> String {
    let mut line = String::from(match message.role() {
        Role::System => "s",
        Role::User => "u",
        Role::Assistant => "a",
        Role::Tool => "t",
    });
    let attributes = attributes(message, detail);
    if !attributes.is_empty() {
        // Writing into a String cannot fail.
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

fn attributes(message: &Message, detail: Detail) -> Vec<String> {
    let whole = detail == Detail::Whole;
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
fn pieces(message: &Message, detail: Detail) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut after_text = false;
    for part in message.parts() {
        let is_plain = detail == Detail::Short || is_plain(part);
        let (piece, is_text) = match part {
            _ if !is_plain => (form(part), false),
            PartRef::Text(text) if text.text.is_empty() => ("[empty]".to_owned(), false),
            PartRef::Text(text) => (escaped(&text.text).into_owned(), true),
            PartRef::Call(call) => (short_call(call), false),
            PartRef::Thinking(thinking) => (format!("[think {}]", escaped(&thinking.text)), false),
            PartRef::Image(image) => (short_media("image", None, &image.source), false),
            PartRef::File(file) => {
                let name = file.name.as_ref().or(file.media_type.as_ref());
                (short_media("file", name.map(SmolStr::as_str), &file.source), false)
            }
            PartRef::Opaque(opaque) => {
                (format!("[{} {}]", opaque.owner, one_line(opaque.value.as_str())), false)
            }
        };
        if after_text && is_text {
            pieces.push("[+]".to_owned());
        }
        pieces.push(piece);
        after_text = is_text;
    }
    pieces
}

/// Whether the part's short form says all there is.
fn is_plain(part: PartRef<'_>) -> bool {
    match part {
        PartRef::Text(text) => text.extra.is_empty(),
        PartRef::Call(call) => call.extra.is_empty(),
        PartRef::Thinking(t) => t.seal.is_none() && t.producer.is_none() && t.extra.is_empty(),
        PartRef::Image(_) | PartRef::File(_) | PartRef::Opaque(_) => false,
    }
}

/// A picture or file for the eye: its name if it has one, else where it is.
fn short_media(kind: &str, name: Option<&str>, source: &Source) -> String {
    let shown = match (name, source) {
        (Some(name), _) => name,
        (None, Source::Url(url)) => url,
        (None, Source::Id { id, .. }) => id,
        (None, Source::Base64(_)) => "inline",
    };
    format!("[{kind} {}]", escaped(shown))
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
    let special = |c: char| is_hidden(c) || matches!(c, '\\' | '[' | ']');
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
