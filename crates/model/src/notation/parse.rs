//! From lines to messages.

use serde_json::value::RawValue;

use crate::any_part::{Speaker, make_body};
use crate::form::read_part;
use crate::fragment::read_json;
use crate::{
    AgentName, Arguments, AssistantPart, CallId, Error, ErrorKind, Extra, Message, MessageId,
    Origin, Status, Text, Thinking, ToolCall, ToolName,
};

/// Reads lines of notation.
///
/// # Errors
/// If a line does not follow the notation, or says what no message may say. The
/// error names line and column.
pub fn parse(text: &str) -> Result<Vec<Message>, Error> {
    let mut messages = Vec::new();
    for (i, line) in text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let mut cursor = Cursor { line, at: 0 };
        let message = read_line(&mut cursor);
        let column = line[..cursor.at].chars().count() + 1;
        messages.push(message.map_err(|e| e.moved_to(i + 1, column))?);
    }
    Ok(messages)
}

fn read_line(cursor: &mut Cursor<'_>) -> Result<Message, Error> {
    cursor.skip_while(|c| c == ' ');
    cursor.skip_while(|c| c.is_ascii_digit());
    cursor.skip_while(|c| c == ' ');
    let role = cursor.next().unwrap_or(' ');
    let mut envelope = Message::user("");
    if cursor.eat("{") {
        read_envelope(cursor, &mut envelope)?;
    }
    let speaker = match role {
        's' => Speaker::System,
        'u' => Speaker::User,
        'a' => Speaker::Assistant,
        't' => read_result_head(cursor)?,
        other => {
            return Err(syntax(format!(
                "{other:?} is not a role: a line starts with s, u, a or t"
            )));
        }
    };
    if !cursor.rest().is_empty() && !cursor.eat(" ") {
        return Err(syntax("a space must separate the head of the line from what is said"));
    }
    let (parts, starts) = read_parts(cursor)?;
    let body = make_body(speaker, parts).map_err(|(illegal, e)| {
        cursor.at = illegal.map_or(cursor.at, |i| starts[i]);
        e
    })?;
    Ok(Message { body, ..envelope })
}

fn read_envelope(cursor: &mut Cursor<'_>, message: &mut Message) -> Result<(), Error> {
    loop {
        cursor.skip_while(|c| c == ' ');
        if cursor.eat("}") {
            return Ok(());
        }
        let key = cursor.take_while(|c| c.is_ascii_alphabetic());
        if key == "internal" {
            message.origin = Origin::Internal;
            continue;
        }
        if !cursor.eat("=") {
            return Err(syntax("the envelope is written {key=value …} and ends with `}`"));
        }
        match key {
            "id" => message.id = MessageId::new(cursor.word()?),
            "agent" => message.origin = Origin::SubAgent(AgentName::new(cursor.word()?)),
            "at" => message.at = Some(cursor.word()?.parse()?),
            "extra" => message.extra = Extra::from_map(read_json(cursor.json()?)?)?,
            other => {
                let rule = format!(
                    "unknown envelope field {other:?}: id, at, agent, internal and extra are known"
                );
                return Err(syntax(rule));
            }
        }
    }
}

fn read_result_head(cursor: &mut Cursor<'_>) -> Result<Speaker, Error> {
    cursor.skip_while(|c| c == ' ');
    let call = CallId::new(cursor.word()?)?;
    let mut name = None;
    if cursor.eat("(") {
        name = Some(ToolName::new(cursor.word()?));
        if !cursor.eat(")") {
            return Err(syntax("the tool's name must be closed with `)`"));
        }
    }
    let status = match (cursor.eat("="), cursor.eat("!")) {
        (true, false) => Status::Ok,
        (false, true) => Status::Error,
        _ => {
            return Err(syntax(
                "a tool line names its call: `t ID= text`, or `t ID! text` for an error",
            ));
        }
    };
    Ok(Speaker::Tool { call, name, status })
}

/// The parts, and where each one starts in the line.
fn read_parts(cursor: &mut Cursor<'_>) -> Result<(Vec<AssistantPart>, Vec<usize>), Error> {
    let (mut parts, mut starts) = (Vec::new(), Vec::new());
    while !cursor.rest().is_empty() {
        let start = cursor.at;
        if !cursor.eat("[") {
            let (mut text, stop) = read_text(cursor)?;
            match stop {
                Some(']') => return Err(syntax("a `]` in text is written `\\]`")),
                // The one space before a bracket only sets it apart.
                Some(_) if text.ends_with(' ') => _ = text.pop(),
                _ => {}
            }
            if !text.is_empty() {
                parts.push(AssistantPart::Text(Text::new(text)));
                starts.push(start);
            }
            continue;
        }
        if let Some(part) = read_bracket(cursor)? {
            parts.push(part);
            starts.push(start);
        }
        if !cursor.rest().is_empty() {
            cursor.eat(" ");
        }
    }
    Ok((parts, starts))
}

/// What follows a `[`, up to and with its `]`. A border between texts is no part.
fn read_bracket(cursor: &mut Cursor<'_>) -> Result<Option<AssistantPart>, Error> {
    if cursor.eat("+]") {
        return Ok(None);
    }
    if cursor.eat("empty]") {
        return Ok(Some(AssistantPart::Text(Text::new(""))));
    }
    if cursor.eat("think ") {
        let (text, stop) = read_text(cursor)?;
        if stop != Some(']') {
            return Err(syntax("`[think …` must be closed with `]`"));
        }
        cursor.eat("]");
        let text = text.into();
        let thinking = Thinking { text, seal: None, producer: None, extra: Extra::NONE };
        return Ok(Some(AssistantPart::Thinking(thinking)));
    }
    let part = if cursor.eat("call ") {
        let id = CallId::new(cursor.word()?)?;
        cursor.skip_while(|c| c == ' ');
        let name = ToolName::new(cursor.word()?);
        cursor.skip_while(|c| c == ' ');
        let arguments = match cursor.rest().chars().next() {
            Some('"') => Arguments::from_text(&cursor.word()?),
            Some('{') => Arguments::from_text(cursor.json()?),
            _ => Arguments::none(),
        };
        AssistantPart::Call(ToolCall { id, name, arguments, extra: Extra::NONE })
    } else if cursor.rest().starts_with('{') {
        let start = cursor.at;
        let json = cursor.json()?;
        read_part(json).inspect_err(|_| cursor.at = start)?
    } else {
        return Err(syntax(
            "a bracket is one of [call …], [think …], [empty], [+] or [{\"type\":…}]; a `[` in text is written `\\[`",
        ));
    };
    if !cursor.eat("]") {
        return Err(syntax("the bracket must be closed with `]`"));
    }
    Ok(Some(part))
}

/// Text up to an unescaped bracket or the end of the line; the bracket is left.
fn read_text(cursor: &mut Cursor<'_>) -> Result<(String, Option<char>), Error> {
    let mut text = String::new();
    loop {
        let Some(c) = cursor.rest().chars().next() else {
            return Ok((text, None));
        };
        if matches!(c, '[' | ']') {
            return Ok((text, Some(c)));
        }
        cursor.next();
        if c != '\\' {
            text.push(c);
            continue;
        }
        text.push(match cursor.next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(c @ ('\\' | '[' | ']')) => c,
            Some('u') => read_code_point(cursor)?,
            _ => return Err(syntax("after `\\` comes one of n r t \\ [ ] u{…}")),
        });
    }
}

fn read_code_point(cursor: &mut Cursor<'_>) -> Result<char, Error> {
    let hex = cursor.eat("{").then(|| cursor.take_while(|c| c.is_ascii_hexdigit()));
    let code = hex.filter(|_| cursor.eat("}")).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    code.and_then(char::from_u32)
        .ok_or_else(|| syntax("`\\u{…}` needs the code of a character in hex"))
}

/// A place in a line.
struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn skip_while(&mut self, skip: impl Fn(char) -> bool) {
        self.take_while(skip);
    }

    /// A bare word or a JSON string.
    fn word(&mut self) -> Result<String, Error> {
        if self.rest().starts_with('"') {
            return read_json(self.json()?);
        }
        let word = self.take_while(|c| c.is_ascii_alphanumeric() || "_-.:/@+".contains(c));
        if word.is_empty() {
            return Err(syntax(
                "a word is missing here; one with special characters is written as a JSON string",
            ));
        }
        Ok(word.to_owned())
    }

    /// The JSON value that starts here.
    fn json(&mut self) -> Result<&'a str, Error> {
        let mut values = serde_json::Deserializer::from_str(self.rest()).into_iter::<&RawValue>();
        match values.next() {
            Some(Ok(raw)) => {
                self.at += values.byte_offset();
                Ok(raw.get())
            }
            _ => Err(syntax("a JSON value must be here")),
        }
    }
}

fn syntax(rule: impl Into<String>) -> Error {
    Error::new(ErrorKind::Syntax, rule)
}
