//! `script`: replies that were written before.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value};

use super::Brain;
use crate::answer::{Answer, Finish, Said};
use crate::asked::Asked;

/// Gives the replies of a list, one for each request.
///
/// As JSON it is a list of objects with `thinking`, `text`, `calls` (each with `name`, and maybe
/// `arguments` and `id`) and `finish` (`stop`, `calls`, `length` or `refusal`), said in this
/// order. A string is a text. Where another order matters, `parts` is a list of objects with one
/// of `text`, `thinking` and `call`.
#[derive(Debug, Default)]
pub struct Script {
    replies: Vec<Answer>,
    next: AtomicUsize,
}

impl Script {
    /// These replies.
    pub fn new(replies: impl IntoIterator<Item = Answer>) -> Self {
        Self { replies: replies.into_iter().collect(), next: AtomicUsize::new(0) }
    }

    /// The replies of a JSON text, or the place and the rule that it breaks.
    pub fn read(json: &str) -> Result<Self, String> {
        let list: Vec<Value> =
            serde_json::from_str(json).map_err(|error| format!("a script is a list: {error}"))?;
        let read = |(i, reply): (usize, &Value)| reply_of(reply).map_err(|e| format!("/{i}{e}"));
        let replies: Result<Vec<Answer>, String> = list.iter().enumerate().map(read).collect();
        Ok(Self::new(replies?))
    }
}

impl Brain for Script {
    fn answer(&self, _: &Asked) -> Result<Answer, String> {
        let n = self.next.fetch_add(1, Ordering::SeqCst);
        let over = || match self.replies.len() {
            1 => "The script has 1 reply, and it is used up.".to_owned(),
            n => format!("The script has {n} replies, and they are used up."),
        };
        self.replies.get(n).cloned().ok_or_else(over)
    }
}

/// A reply of a script; an error begins with the pointer to its place.
pub(super) fn reply_of(reply: &Value) -> Result<Answer, String> {
    if let Some(text) = reply.as_str() {
        return Ok(Answer::text(text));
    }
    let fields = reply.as_object().ok_or(": a reply is a string or an object")?;
    let known = ["text", "thinking", "calls", "parts", "finish"];
    if let Some(name) = fields.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("/{name}: a reply has {}", known.join(", ")));
    }
    let mut answer = Answer::new();
    if let Some(thinking) = text_of(fields, "thinking")? {
        answer = answer.with_thinking(thinking);
    }
    if let Some(text) = text_of(fields, "text")? {
        answer = answer.with_text(text);
    }
    for (i, call) in list_of(fields, "calls")?.iter().enumerate() {
        answer.parts.push(call_of(call).map_err(|error| format!("/calls/{i}{error}"))?);
    }
    for (i, part) in list_of(fields, "parts")?.iter().enumerate() {
        answer.parts.push(part_of(part).map_err(|error| format!("/parts/{i}{error}"))?);
    }
    answer.finish = match fields.get("finish") {
        None => None,
        Some(finish) => Some(Finish::deserialize_from(finish)?),
    };
    Ok(answer)
}

impl Finish {
    fn deserialize_from(value: &Value) -> Result<Self, String> {
        serde_json::from_value(value.clone())
            .map_err(|_| "/finish: it is stop, calls, length or refusal".to_owned())
    }
}

fn text_of(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("/{name}: it is a string")),
    }
}

fn list_of<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a [Value], String> {
    match fields.get(name) {
        None => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(format!("/{name}: it is a list")),
    }
}

fn part_of(part: &Value) -> Result<Said, String> {
    let fields = part.as_object().filter(|fields| fields.len() == 1);
    let fields = fields.ok_or(": a part has one of text, thinking and call")?;
    if let Some(text) = text_of(fields, "text")? {
        return Ok(Said::Text(text));
    }
    if let Some(text) = text_of(fields, "thinking")? {
        return Ok(Said::Thinking(text));
    }
    match fields.get("call") {
        Some(call) => call_of(call).map_err(|error| format!("/call{error}")),
        None => Err(": a part has one of text, thinking and call".to_owned()),
    }
}

/// A call of a script; arguments that are a string are taken as they are, valid JSON or not.
pub(super) fn call_of(call: &Value) -> Result<Said, String> {
    let fields = call.as_object().ok_or(": a call is an object")?;
    let name = text_of(fields, "name")?.ok_or(": a call has a name")?;
    let arguments = match fields.get("arguments") {
        None => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    Ok(Said::Call { id: text_of(fields, "id")?, name, arguments })
}
