//! From the events of a stream to a reply.
//!
//! | event | what it does |
//! |---|---|
//! | `messageStart` | nothing; an error once there is something: another answer begins |
//! | `contentBlockStart` | begins a call, a picture, or what the API runs itself; text and thinking begin with their first delta |
//! | `contentBlockDelta` | adds text, thinking, a signature, redacted thinking, arguments, a citation, bytes of a picture |
//! | `contentBlockStop` | puts together what has no word of ours: cited text, what the API ran itself |
//! | `messageStop` | the message is whole; says why the model stopped |
//! | `metadata` | what it cost |
//! | any other | is handed on |

use std::collections::BTreeMap;

use interleaf_model::{Extra, Image, Json, Seal, Source};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::answer::{finish, usage};
use super::decode::read_citations;
use super::media::MediaKind;
use super::wire::OWNER;
use crate::error::Fault;
use crate::raw::{Fields, ObjectText, is_list, list};
use crate::reply_builder::ReplyBuilder;
use crate::sse::Event;
use crate::stream::{ANOTHER, Machine};
use crate::{Delta, Error};

/// The machine of this family.
pub(crate) fn machine() -> Box<dyn Machine> {
    Box::new(Converse::default())
}

#[derive(Default)]
struct Converse {
    open: BTreeMap<u64, Open>,
    is_complete: bool,
    /// After the end came what the answer cost.
    is_over: bool,
}

/// A block that is put together at its end.
#[derive(Default)]
struct Open {
    /// The text of a block that may turn out to be cited.
    said: String,
    citations: Vec<String>,
    /// The format of a picture, and its base64.
    image: Option<(SmolStr, String)>,
    /// A call of a tool that the API runs, or its result: what the start event said,
    /// and what came since.
    hosted: Option<(&'static str, String)>,
    input: String,
    results: Vec<String>,
}

impl Machine for Converse {
    fn event(
        &mut self,
        event: &Event,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let raw = event.json()?;
        let outcome = match event.name.as_str() {
            "messageStart" if self.is_complete || reply.has_parts() => {
                Err(Fault::form(raw, ANOTHER))
            }
            "messageStart" => Ok(()),
            "contentBlockStart" => self.start(raw, reply, deltas),
            "contentBlockDelta" => self.delta(event, raw, reply, deltas),
            "contentBlockStop" => self.stop(raw, reply).map(|key| reply.is_whole(key, deltas)),
            "messageStop" => self.end(raw, reply, deltas),
            "metadata" => {
                self.is_over = self.is_complete;
                metadata(raw, reply, deltas)
            }
            _ => {
                deltas.push(event.unknown());
                Ok(())
            }
        };
        outcome.map_err(|fault| event.faulty(fault))
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

fn key<'a>(fields: &mut Fields<'a>) -> Result<u64, Fault<'a>> {
    let number = fields.take("contentBlockIndex").and_then(|raw| raw.get().parse().ok());
    number.ok_or_else(|| fields.incomplete("a block needs `contentBlockIndex`"))
}

impl Converse {
    fn start<'a>(
        &mut self,
        raw: &'a RawValue,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let mut fields = Fields::read(raw)?;
        let key = key(&mut fields)?;
        let Some(mut start) = fields.take_object("start")? else { return Ok(()) };
        if let Some(mut call) = start.take_object("toolUse")? {
            let kind = call.peek("type").map_or(r#""tool_use""#, RawValue::get);
            if kind != r#""tool_use""# {
                self.open.entry(key).or_default().hosted = Some(("toolUse", fields_of(&call)));
                return Ok(());
            }
            let id = call.take_text("toolUseId")?.unwrap_or_default();
            let name = call.take_text("name")?.unwrap_or_default();
            reply.call(key, &id, &name);
            deltas.push(Delta::Call { part: key, id: id.into_owned(), name: name.into_owned() });
        } else if let Some(result) = start.take_object("toolResult")? {
            self.open.entry(key).or_default().hosted = Some(("toolResult", fields_of(&result)));
        } else if let Some(mut image) = start.take_object("image")? {
            let format = SmolStr::new(image.take_text("format")?.unwrap_or_default());
            self.open.entry(key).or_default().image = Some((format, String::new()));
        }
        Ok(())
    }

    fn delta<'a>(
        &mut self,
        event: &Event,
        raw: &'a RawValue,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let mut fields = Fields::read(raw)?;
        let key = key(&mut fields)?;
        let Some(mut delta) = fields.take_object("delta")? else { return Ok(()) };
        if let Some(text) = delta.take_text("text")? {
            self.open.entry(key).or_default().said.push_str(&text);
            if !text.is_empty() {
                reply.text(key, &text);
                deltas.push(Delta::Text { part: key, text: text.into_owned() });
            }
        } else if let Some(mut call) = delta.take_object("toolUse")? {
            let input = call.take_text("input")?.unwrap_or_default();
            match self.open.get_mut(&key) {
                Some(open) if open.hosted.is_some() => open.input.push_str(&input),
                _ => {
                    reply.arguments(key, &input);
                    deltas.push(Delta::Arguments { part: key, text: input.into_owned() });
                }
            }
        } else if let Some(thought) = delta.take_object("reasoningContent")? {
            think(key, thought, reply, deltas)?;
        } else if let Some(citation) = delta.take("citation") {
            self.open.entry(key).or_default().citations.push(citation.get().to_owned());
        } else if let Some(result) = delta.take("toolResult") {
            let pieces = if is_list(result) { list(result)? } else { vec![result] };
            let pieces = pieces.into_iter().map(|piece| piece.get().to_owned());
            self.open.entry(key).or_default().results.extend(pieces);
        } else if let Some(mut image) = delta.take_object("image")? {
            if let Some(mut source) = image.take_object("source")?
                && let Some(data) = source.take_text("bytes")?
                && let Some((_, bytes)) = &mut self.open.entry(key).or_default().image
            {
                bytes.push_str(&data);
            }
        } else {
            deltas.push(event.unknown());
        }
        Ok(())
    }

    fn stop<'a>(&mut self, raw: &'a RawValue, reply: &mut ReplyBuilder) -> Result<u64, Fault<'a>> {
        let mut fields = Fields::read(raw)?;
        let key = key(&mut fields)?;
        reply.end_call(key);
        let Some(open) = self.open.remove(&key) else { return Ok(key) };
        if let Some((format, data)) = open.image {
            let source = Source::Base64(data.into());
            let known =
                MediaKind::Image.format(&format).and_then(|known| known.media_types.first());
            let media_type = known.map(|media_type| SmolStr::new_static(media_type));
            reply.image(key, Image { source, media_type, extra: Extra::NONE });
        } else if let Some((name, start)) = open.hosted {
            let end = match name {
                "toolUse" if open.input.trim().is_empty() => r#""input":{}"#.to_owned(),
                "toolUse" => format!(r#""input":{}"#, open.input),
                _ => format!(r#""content":[{}]"#, open.results.join(",")),
            };
            let comma = if start.is_empty() { "" } else { "," };
            let block = Json::parse(format!(r#"{{"{name}":{{{start}{comma}{end}}}}}"#));
            if let Ok(block) = block {
                reply.opaque(key, OWNER, block);
            }
        } else if !open.citations.is_empty()
            && let Some(block) = read_citations(&open.said, &open.citations)
        {
            reply.opaque(key, OWNER, block);
        }
        Ok(key)
    }

    fn end<'a>(
        &mut self,
        raw: &'a RawValue,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let mut fields = Fields::read(raw)?;
        if let Some(reason) = fields.take_text("stopReason")? {
            let finish = finish(&reason);
            reply.finish = Some(finish.clone());
            deltas.push(Delta::Finish(finish));
        }
        self.is_complete = true;
        Ok(())
    }
}

fn think<'a>(
    key: u64,
    mut thought: Fields<'a>,
    reply: &mut ReplyBuilder,
    deltas: &mut Vec<Delta>,
) -> Result<(), Fault<'a>> {
    if let Some(text) = thought.take_text("text")? {
        reply.thinking(key, &text);
        deltas.push(Delta::Thinking { part: key, text: text.into_owned() });
    }
    if let Some(signature) = thought.take_text("signature")? {
        reply.sign(key, &signature);
    }
    if let Some(data) = thought.take_text("redactedContent")? {
        reply.seal(key, Seal::Encrypted(data.into()));
    }
    Ok(())
}

fn metadata<'a>(
    raw: &'a RawValue,
    reply: &mut ReplyBuilder,
    deltas: &mut Vec<Delta>,
) -> Result<(), Fault<'a>> {
    let mut fields = Fields::read(raw)?;
    if let Some(cost) = fields.take("usage") {
        reply.usage = usage(cost);
        deltas.extend(reply.usage.map(Delta::Usage));
    }
    Ok(())
}

/// The fields of an object without its brackets.
fn fields_of(fields: &Fields<'_>) -> String {
    let mut text = ObjectText::default();
    text.push_all(fields);
    let text = text.into_json().ok().flatten();
    let inner = text.as_ref().and_then(|json| json.as_str().get(1..json.as_str().len() - 1));
    inner.unwrap_or_default().to_owned()
}
