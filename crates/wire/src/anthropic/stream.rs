//! A streamed answer. A block is put together and then read like one that came whole.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use smol_str::SmolStr;

use interleaf_model::Extra;

use super::answer::{Tokens, block_extra, finish, read_block};
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_text, list, text};
use crate::reply_builder::ReplyBuilder;
use crate::sse::Event;
use crate::stream::{ANOTHER, Machine};
use crate::{Delta, Error, Family};

/// A machine for the events of one answer.
pub(crate) fn machine() -> Box<dyn Machine> {
    Box::new(Blocks::default())
}

#[derive(Default)]
struct Blocks {
    /// Blocks that have begun and not ended, by their index.
    open: BTreeMap<u64, Open>,
    tokens: Tokens,
    is_complete: bool,
}

/// A block that grows.
struct Open {
    /// As it began.
    start: Box<RawValue>,
    /// What was added to its texts: `text`, `thinking`, `signature`, `content`.
    texts: BTreeMap<&'static str, String>,
    input: String,
    citations: Vec<Box<RawValue>>,
}

impl Machine for Blocks {
    fn event(
        &mut self,
        event: &Event,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let mut fields = Fields::read(event.json()?).map_err(|fault| event.faulty(fault))?;
        let kind = fields.take_text("type").ok().flatten();
        let kind = kind.as_deref().unwrap_or(&event.name);
        if kind == "error" {
            return Err(Error::api(Family::Anthropic, &event.data));
        }
        let known = self.known(kind, &mut fields, reply, deltas);
        if !known.map_err(|fault| event.faulty(fault))? {
            deltas.push(event.unknown());
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn put_open(&self, reply: &mut ReplyBuilder) {
        for (index, open) in self.open.iter().filter(|(_, open)| open.is_said()) {
            // A block that cannot be read is none that was said.
            let _ = open.end(*index, reply);
        }
    }
}

impl Blocks {
    /// Takes an event; says whether we have a word for it.
    fn known<'a>(
        &mut self,
        kind: &str,
        fields: &mut Fields<'a>,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<bool, Fault<'a>> {
        match kind {
            "message_start" if self.has_begun(reply) => {
                return Err(fields.incomplete(ANOTHER));
            }
            "message_start" => {
                if let Some(mut message) = fields.take_object("message")? {
                    reply.id = message.take_text("id")?.map(SmolStr::new);
                    reply.model = message.take_text("model")?.map(SmolStr::new);
                    self.usage(&message, reply, deltas);
                }
            }
            "content_block_start" => {
                let index = index(fields)?;
                let Some(start) = fields.take("content_block") else {
                    return Err(fields.incomplete("a block needs `content_block`"));
                };
                begin(index, start, reply, deltas)?;
                self.open.insert(index, Open::new(start));
            }
            "content_block_delta" => {
                let index = index(fields)?;
                let Some(mut delta) = fields.take_object("delta")? else {
                    return Err(fields.incomplete("a delta needs `delta`"));
                };
                let Some(open) = self.open.get_mut(&index) else {
                    return Err(fields.incomplete("no block with this index has begun"));
                };
                return open.grow(index, &mut delta, deltas);
            }
            "content_block_stop" => {
                let index = index(fields)?;
                if let Some(open) = self.open.remove(&index) {
                    open.end(index, reply).map_err(|rule| fields.incomplete(rule))?;
                    reply.is_whole(index, deltas);
                }
            }
            "message_delta" => {
                if let Some(mut delta) = fields.take_object("delta")?
                    && let Some(reason) = delta.take_text("stop_reason")?
                {
                    let finish = finish(&reason);
                    reply.finish = Some(finish.clone());
                    deltas.push(Delta::Finish(finish));
                }
                self.usage(fields, reply, deltas);
            }
            "message_stop" => {
                for (index, open) in std::mem::take(&mut self.open) {
                    open.end(index, reply).map_err(|rule| fields.incomplete(rule))?;
                }
                self.is_complete = true;
            }
            "ping" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn has_begun(&self, reply: &ReplyBuilder) -> bool {
        !self.open.is_empty() || reply.has_parts()
    }

    fn usage(&mut self, fields: &Fields<'_>, reply: &mut ReplyBuilder, deltas: &mut Vec<Delta>) {
        if let Some(usage) = fields.peek("usage") {
            reply.usage = self.tokens.read(usage);
            deltas.extend(reply.usage.map(Delta::Usage));
        }
    }
}

fn index<'a>(fields: &mut Fields<'a>) -> Result<u64, Fault<'a>> {
    let index = fields.take("index").and_then(|raw| raw.get().parse().ok());
    index.ok_or_else(|| fields.incomplete("an event of a block needs `index`"))
}

/// Says what a block begins with.
fn begin<'a>(
    part: u64,
    start: &'a RawValue,
    reply: &ReplyBuilder,
    deltas: &mut Vec<Delta>,
) -> Result<(), Fault<'a>> {
    let mut fields = Fields::read(start)?;
    reply.begins(part, start_extra(start)?, deltas);
    match fields.take_text("type")?.as_deref() {
        None => return Err(fields.incomplete("a block needs `type`")),
        Some("tool_use") => {
            let id = fields.take_text("id")?.unwrap_or_default().into_owned();
            let name = fields.take_text("name")?.unwrap_or_default().into_owned();
            deltas.push(Delta::Call { part, id, name });
        }
        Some("text") => {
            let text = fields.take_text("text")?.unwrap_or_default().into_owned();
            if !text.is_empty() {
                deltas.push(Delta::Text { part, text });
            }
        }
        Some("thinking") => {
            let text = fields.take_text("thinking")?.unwrap_or_default().into_owned();
            if !text.is_empty() {
                deltas.push(Delta::Thinking { part, text });
            }
        }
        Some(_) => {}
    }
    Ok(())
}

/// What is attached to a block when it begins; nothing to what the API runs itself.
fn start_extra(start: &RawValue) -> Result<Extra, Fault<'_>> {
    const KNOWN: [&str; 7] = ["type", "text", "thinking", "signature", "id", "name", "input"];
    let mut fields = Fields::read(start)?;
    let kind = fields.peek("type").map(RawValue::get);
    if !matches!(kind, Some(r#""text""# | r#""thinking""# | r#""tool_use""#)) {
        return Ok(Extra::NONE);
    }
    for name in KNOWN {
        fields.take(name);
    }
    Ok(block_extra(&fields)?)
}

impl Open {
    fn new(start: &RawValue) -> Self {
        let (texts, citations) = (BTreeMap::new(), Vec::new());
        Self { start: start.to_owned(), texts, input: String::new(), citations }
    }

    /// Takes a delta; says whether we have a word for it.
    fn grow<'a>(
        &mut self,
        part: u64,
        delta: &mut Fields<'a>,
        deltas: &mut Vec<Delta>,
    ) -> Result<bool, Fault<'a>> {
        let kind = delta.take_text("type")?;
        let name = match kind.as_deref() {
            Some("text_delta") => "text",
            Some("thinking_delta") => "thinking",
            Some("signature_delta") => "signature",
            Some("compaction_delta") => "content",
            Some("input_json_delta") => {
                let text = delta.take_text("partial_json")?.unwrap_or_default().into_owned();
                self.input.push_str(&text);
                // The input of a tool that the API runs itself is no call of ours.
                if !text.is_empty() && self.is_call() {
                    deltas.push(Delta::Arguments { part, text });
                }
                return Ok(true);
            }
            Some("citations_delta") => {
                self.citations.extend(delta.take("citation").map(ToOwned::to_owned));
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let text = delta.take_text(name)?.unwrap_or_default().into_owned();
        self.texts.entry(name).or_default().push_str(&text);
        match name {
            "text" => deltas.push(Delta::Text { part, text }),
            "thinking" => deltas.push(Delta::Thinking { part, text }),
            _ => {}
        }
        Ok(true)
    }

    fn is_call(&self) -> bool {
        self.kind() == Some(r#""tool_use""#)
    }

    /// Whether it is text or thinking.
    fn is_said(&self) -> bool {
        matches!(self.kind(), Some(r#""text""# | r#""thinking""#))
    }

    fn kind(&self) -> Option<&str> {
        Some(Fields::read(&self.start).ok()?.peek("type")?.get())
    }

    /// The block is whole.
    fn end(&self, index: u64, reply: &mut ReplyBuilder) -> Result<(), String> {
        let told = |fault: Fault<'_>| fault.locate("").message().to_owned();
        let whole = self.whole().map_err(told)?;
        let whole = RawValue::from_string(whole).map_err(|e| e.to_string())?;
        let input = (!self.input.trim().is_empty()).then_some(self.input.as_str());
        read_block(reply, index, &whole, input).map_err(told)
    }

    /// The block as it would have come whole.
    fn whole(&self) -> Result<String, Fault<'_>> {
        let start = Fields::read(&self.start)?;
        let mut out = ObjectText::default();
        for (name, value) in start.iter() {
            out.push(name, &self.field(name, Some(value))?);
        }
        for name in self.texts.keys().copied().chain(["citations"]) {
            let is_new = start.iter().all(|(known, _)| known != name);
            if is_new && (name != "citations" || !self.citations.is_empty()) {
                out.push(name, &self.field(name, None)?);
            }
        }
        Ok(out.into_json()?.map_or_else(|| "{}".to_owned(), |json| json.as_str().to_owned()))
    }

    fn field<'a>(&'a self, name: &str, start: Option<&'a RawValue>) -> Result<String, Fault<'a>> {
        let unchanged = || start.map_or("null", RawValue::get).to_owned();
        if let Some(more) = self.texts.get(name) {
            let before = start.filter(|start| is_text(start)).map(text).transpose()?;
            let whole = format!("{}{more}", before.unwrap_or_default());
            return Ok(serde_json::Value::from(whole).to_string());
        }
        match name {
            "input" if serde_json::from_str::<&RawValue>(&self.input).is_ok() => {
                Ok(self.input.trim().to_owned())
            }
            "citations" if !self.citations.is_empty() => {
                let before = start.map(list).and_then(Result::ok).unwrap_or_default();
                let all = before.into_iter().map(RawValue::get);
                let all: Vec<&str> =
                    all.chain(self.citations.iter().map(|raw| raw.get())).collect();
                Ok(format!("[{}]", all.join(",")))
            }
            _ => Ok(unchanged()),
        }
    }
}
