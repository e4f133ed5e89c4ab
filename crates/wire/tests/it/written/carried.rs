//! What each API can carry: an oracle that knows nothing of the writers.
//!
//! | API | what it cannot carry |
//! |---|---|
//! | every one | empty texts; opaque parts and fields of others |
//! | OpenAI chat | seals; files; order and borders of parts; pictures by id; pauses and reasons of others |
//! | OpenAI Responses | signatures; pictures by address; files; pauses and reasons of others; calls and refusals without what they imply |
//! | Anthropic | encrypted thoughts beside their summary; pictures and files; refusals as such; reasons of others |
//! | Gemini | encrypted thoughts; borders between texts; refusals as such; pauses and reasons of others; tokens written to a cache |
//! | Bedrock | ids and models; encrypted thoughts beside their summary; pictures by address; refusals as such; pauses and reasons of others; tokens of reasoning; in streams files and fields |

use std::collections::BTreeSet;

use interleaf_model::{
    AssistantPart, Body, Extra, Finish, Json, Message, Parts, Reply, Seal, Source, Text, Usage,
};
use interleaf_wire::{AdjustmentKind, Family};
use serde_json::Value;

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Whole,
    Streamed,
}

struct Carrier {
    family: Family,
    form: Form,
    losses: BTreeSet<AdjustmentKind>,
}

/// The reply that is read where this one was written, and what must have been told.
pub(super) fn carried(
    reply: &Reply,
    family: Family,
    form: Form,
) -> (Reply, BTreeSet<AdjustmentKind>) {
    let mut carrier = Carrier { family, form, losses: BTreeSet::new() };
    let Body::Assistant(parts) = &reply.message.body else { panic!("the assistant's") };
    let parts: Vec<AssistantPart> = parts.iter().filter_map(|part| carrier.part(part)).collect();
    let parts = carrier.joined(parts);
    let has_calls = parts.iter().any(|part| matches!(part, AssistantPart::Call(_)));
    let refuses = parts.iter().any(|part| refusal_of(part).is_some());
    let (id, model) = match family {
        Family::Bedrock => (None, None),
        Family::Gemini => (reply.id.clone(), reply.model.clone()),
        _ => (
            Some(reply.id.clone().unwrap_or_else(|| unnamed(family).into())),
            Some(reply.model.clone().unwrap_or_else(|| "unknown".into())),
        ),
    };
    if family == Family::Bedrock && (reply.id.is_some() || reply.model.is_some()) {
        carrier.losses.insert(AdjustmentKind::NamesDropped);
    }
    let keeps_message = match family {
        Family::OpenaiChat | Family::Gemini => true,
        Family::Bedrock => form == Form::Whole,
        Family::OpenaiResponses | Family::Anthropic => false,
    };
    let extra = carrier.own(&reply.message.extra, keeps_message);
    let finish = carrier.finish(&reply.finish, has_calls, refuses);
    let usage = carrier.usage(reply.usage);
    let parts =
        Parts::new(parts).unwrap_or_else(|_| Parts::one(AssistantPart::Text(Text::new(""))));
    let message = Message { extra, ..Body::Assistant(parts).into() };
    (Reply { usage, model, id, ..Reply::new(message, finish) }, carrier.losses)
}

fn unnamed(family: Family) -> &'static str {
    match family {
        Family::OpenaiChat => "chatcmpl-unnamed",
        Family::OpenaiResponses => "resp_unnamed",
        _ => "msg_unnamed",
    }
}

impl Carrier {
    fn lose(&mut self, kind: AdjustmentKind) {
        self.losses.insert(kind);
    }

    /// The fields of the API itself, if there is a place for them.
    fn own(&mut self, extra: &Extra, has_place: bool) -> Extra {
        let owner = self.family.owner();
        let own = extra.get(owner).filter(|_| has_place);
        if extra.iter().count() > usize::from(own.is_some()) {
            self.lose(AdjustmentKind::FieldsDropped);
        }
        own.map_or(Extra::NONE, |own| Extra::of(owner.into(), own.clone()).unwrap())
    }

    fn part(&mut self, part: &AssistantPart) -> Option<AssistantPart> {
        let (chat, bedrock) = (self.family == Family::OpenaiChat, self.family == Family::Bedrock);
        let streamed_bedrock = bedrock && self.form == Form::Streamed;
        let mut part = part.clone();
        match &mut part {
            AssistantPart::Text(text) => {
                text.extra = self.own(&text.extra, !chat && !streamed_bedrock);
                if text.text.is_empty() && text.extra.is_empty() {
                    return None;
                }
            }
            AssistantPart::Thinking(thinking) => {
                thinking.extra = self.own(&thinking.extra, !chat && !streamed_bedrock);
                thinking.producer = None;
                let had_seal = thinking.seal.is_some();
                let text = &thinking.text;
                thinking.seal = thinking.seal.take().filter(|seal| self.seals(text, seal));
                if text.is_empty() && thinking.seal.is_none() && thinking.extra.is_empty() {
                    self.lose(AdjustmentKind::ThinkingDropped);
                    return None;
                }
                if had_seal && thinking.seal.is_none() {
                    self.lose(AdjustmentKind::SealDropped);
                }
            }
            AssistantPart::Call(call) => {
                let wraps = match self.family {
                    Family::Gemini => true,
                    Family::Bedrock => self.form == Form::Whole,
                    // What begins as an object goes out before anyone knows better.
                    Family::Anthropic => {
                        let text = call.arguments.as_str().trim_start();
                        self.form == Form::Whole || !text.starts_with('{')
                    }
                    _ => false,
                };
                if wraps && matches!(call.arguments, interleaf_model::Arguments::Invalid(_)) {
                    self.lose(AdjustmentKind::ArgumentsWrapped);
                }
                call.extra = self.call_fields(&call.extra, !streamed_bedrock);
            }
            AssistantPart::Image(image) => {
                image.extra = self.own(&image.extra, !chat && !streamed_bedrock);
                let is_inline = matches!(image.source, Source::Base64(_));
                let has_place = match self.family {
                    Family::OpenaiChat | Family::Gemini => true,
                    Family::OpenaiResponses | Family::Bedrock => is_inline,
                    Family::Anthropic => false,
                };
                if !has_place {
                    self.lose(AdjustmentKind::MediaDropped);
                    return None;
                }
            }
            AssistantPart::File(file) => {
                file.extra = self.own(&file.extra, !streamed_bedrock);
                let has_place =
                    self.family == Family::Gemini || (bedrock && self.form == Form::Whole);
                if !has_place {
                    self.lose(AdjustmentKind::MediaDropped);
                    return None;
                }
            }
            AssistantPart::Opaque(opaque) => {
                let is_own = opaque.owner.as_str() == self.family.owner();
                if !is_own || chat {
                    return self.foreign(&opaque.value);
                }
            }
        }
        Some(part)
    }

    /// Google's signature has a place in chat.
    fn call_fields(&mut self, extra: &Extra, has_place: bool) -> Extra {
        let google = extra.get("google").map(Json::to_value);
        let signature = google.as_ref().and_then(|google| google.get("thoughtSignature"));
        match signature {
            Some(signature) if self.family == Family::OpenaiChat => {
                if google.as_ref().is_some_and(|google| google.as_object().unwrap().len() > 1) {
                    self.lose(AdjustmentKind::FieldsDropped);
                }
                let lent = serde_json::json!({ "thoughtSignature": signature });
                Extra::of("google".into(), Json::from(&lent)).unwrap()
            }
            _ => self.own(extra, has_place),
        }
    }

    fn seals(&self, text: &str, seal: &Seal) -> bool {
        let (signature, encrypted) = match seal {
            Seal::Signature(signature) => (&**signature, ""),
            Seal::Encrypted(data) => ("", &**data),
        };
        match self.family {
            Family::OpenaiChat => false,
            Family::OpenaiResponses => !encrypted.is_empty(),
            Family::Gemini => is_base64(signature),
            Family::Anthropic => {
                !signature.is_empty() || (text.is_empty() && !encrypted.is_empty())
            }
            Family::Bedrock => !signature.is_empty() || (text.is_empty() && is_base64(encrypted)),
        }
    }

    /// A part of another API: its words, if it has any.
    fn foreign(&mut self, value: &Json) -> Option<AssistantPart> {
        let json = value.to_value();
        let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
        if let Some(pieces) = json.pointer("/citationsContent/content") {
            self.lose(AdjustmentKind::FieldsDropped);
            let pieces = pieces.as_array().unwrap().iter();
            let said: String = pieces.filter_map(|piece| text(piece, "text")).collect();
            return Some(AssistantPart::Text(Text::new(said)));
        }
        let inner = json.pointer("/content/0/refusal").and_then(Value::as_str).map(str::to_owned);
        let Some(words) = text(&json, "refusal").or(inner) else {
            self.lose(AdjustmentKind::OpaqueDropped);
            return None;
        };
        match self.family {
            Family::OpenaiChat | Family::OpenaiResponses => Some(refusal(&words, self.family)),
            _ => {
                self.lose(AdjustmentKind::RefusalInText);
                Some(AssistantPart::Text(Text::new(words)))
            }
        }
    }

    /// Parts that become one.
    fn joined(&mut self, parts: Vec<AssistantPart>) -> Vec<AssistantPart> {
        match self.family {
            Family::Gemini => self.neighbours(parts),
            Family::OpenaiChat => self.kinds(parts),
            _ => parts,
        }
    }

    fn neighbours(&mut self, parts: Vec<AssistantPart>) -> Vec<AssistantPart> {
        let mut out: Vec<AssistantPart> = Vec::new();
        for part in parts {
            match (out.last_mut(), &part) {
                (Some(AssistantPart::Text(last)), AssistantPart::Text(text))
                    if last.extra.is_empty() && text.extra.is_empty() =>
                {
                    last.text = format!("{}{}", last.text, text.text).into();
                }
                (Some(AssistantPart::Thinking(last)), AssistantPart::Thinking(thinking))
                    if last.extra.is_empty()
                        && last.seal.is_none()
                        && thinking.extra.is_empty() =>
                {
                    last.text = format!("{}{}", last.text, thinking.text).into();
                    last.seal = thinking.seal.clone();
                }
                _ => {
                    out.push(part);
                    continue;
                }
            }
            self.lose(AdjustmentKind::PartsMerged);
        }
        out
    }

    fn kinds(&mut self, parts: Vec<AssistantPart>) -> Vec<AssistantPart> {
        let rank = |part: &AssistantPart| match part {
            AssistantPart::Thinking(_) => 0,
            AssistantPart::Text(_) => 1,
            AssistantPart::Opaque(_) => 2,
            AssistantPart::Image(_) | AssistantPart::File(_) => 3,
            AssistantPart::Call(_) => 4,
        };
        let mut out: Vec<AssistantPart> = Vec::new();
        let mut last = None;
        for part in parts {
            let joint = if last == Some(rank(&part)) { "" } else { "\n\n" };
            let before = out.iter_mut().find(|other| rank(other) == rank(&part));
            match (before, &part) {
                (Some(AssistantPart::Text(all)), AssistantPart::Text(text)) => {
                    all.text = format!("{}{joint}{}", all.text, text.text).into();
                    self.lose(AdjustmentKind::PartsMerged);
                }
                (Some(AssistantPart::Thinking(all)), AssistantPart::Thinking(thought)) => {
                    all.text = format!("{}{joint}{}", all.text, thought.text).into();
                    self.lose(AdjustmentKind::PartsMerged);
                }
                (Some(all @ AssistantPart::Opaque(_)), AssistantPart::Opaque(_)) => {
                    let words = refusal_of(all).unwrap() + &refusal_of(&part).unwrap();
                    *all = refusal(&words, self.family);
                    self.lose(AdjustmentKind::PartsMerged);
                }
                _ => {
                    if last.is_some_and(|last| last > rank(&part)) {
                        self.lose(AdjustmentKind::PartsReordered);
                    }
                    out.push(part.clone());
                }
            }
            last = Some(rank(&part));
        }
        out.sort_by_key(rank);
        out
    }

    fn finish(&mut self, finish: &Finish, has_calls: bool, refuses: bool) -> Finish {
        let plain = if has_calls { Finish::ToolCalls } else { Finish::Stop };
        let responses = self.family == Family::OpenaiResponses;
        let others: &[&str] = match self.family {
            Family::Gemini => &["MALFORMED_FUNCTION_CALL", "OTHER"],
            Family::Bedrock => &["malformed_tool_use"],
            Family::OpenaiResponses => &["cancelled"],
            Family::OpenaiChat | Family::Anthropic => &[],
        };
        let kept = match finish {
            Finish::Stop if self.family == Family::OpenaiChat => Finish::Stop,
            Finish::Stop => plain.clone(),
            Finish::ToolCalls if responses || self.family == Family::Gemini => plain.clone(),
            Finish::Paused if self.family != Family::Anthropic => plain.clone(),
            Finish::Other(word) if !others.contains(&word.as_str()) => plain.clone(),
            kept => kept.clone(),
        };
        let kept = if responses && refuses && kept == plain { Finish::ContentFilter } else { kept };
        if kept != *finish {
            self.lose(AdjustmentKind::FinishChanged);
        }
        kept
    }

    fn usage(&mut self, usage: Option<Usage>) -> Option<Usage> {
        let mut told = usage;
        match (self.family, &mut told) {
            (Family::Anthropic | Family::Bedrock, none @ None) => *none = Some(Usage::default()),
            (Family::Bedrock, Some(usage)) => usage.reasoning = 0,
            (Family::Gemini, Some(usage)) => {
                (usage.cache_write, usage.cache_write_hour) = (0, 0);
            }
            (Family::OpenaiChat | Family::OpenaiResponses, Some(usage)) => {
                usage.cache_write_hour = 0;
            }
            _ => {}
        }
        if told != usage {
            self.lose(AdjustmentKind::UsageChanged);
        }
        told
    }
}

fn is_base64(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    !text.is_empty() && text.len().is_multiple_of(4) && text.chars().all(legal)
}

fn refusal(words: &str, family: Family) -> AssistantPart {
    let value = serde_json::json!({ "type": "refusal", "refusal": words });
    let owner = family.owner().into();
    AssistantPart::Opaque(interleaf_model::Opaque { owner, value: Json::from(&value) })
}

fn refusal_of(part: &AssistantPart) -> Option<String> {
    let AssistantPart::Opaque(opaque) = part else { return None };
    let value = opaque.value.to_value();
    let inner = value.pointer("/content/0/refusal");
    value.get("refusal").or(inner)?.as_str().map(str::to_owned)
}

/// Fields that a writer makes up, because its API insists on them.
const MADE: [&str; 6] = ["id", "status", "item", "functionCall", "output_format", "type"];

/// Fields that name a file.
const NAMES: [&str; 3] = ["inlineData", "document", "image"];

/// What differs between two replies, if anything does. White space of JSON does not
/// count, nor do fields that had to be made up.
pub(super) fn difference(expected: &Reply, read: &Reply, family: Family) -> Option<String> {
    let (expected, read) = (shown(expected), shown(read));
    let (Value::Object(expected), Value::Object(read)) = (&expected, &read) else { panic!() };
    for (name, value) in expected {
        if name != "parts" && read[name] != *value {
            return Some(format!("{name} is {}, not {value}", read[name]));
        }
    }
    let list = |reply: &serde_json::Map<String, Value>| reply["parts"].as_array().unwrap().clone();
    let (expected, read) = (list(expected), list(read));
    if expected.len() != read.len() {
        return Some(format!("the parts are\n{read:#?}\nnot\n{expected:#?}"));
    }
    let differs = |(expected, read): (Value, Value)| {
        let read = without_made(&expected, read, family);
        (expected != read).then(|| format!("a part is\n{read:#}\nnot\n{expected:#}"))
    };
    expected.into_iter().zip(read).find_map(differs)
}

fn shown(reply: &Reply) -> Value {
    let message = serde_json::to_value(&reply.message).unwrap();
    let mut parts = message["parts"].clone();
    for part in parts.as_array_mut().unwrap() {
        let part = part.as_object_mut().unwrap();
        // Who writes a thought is taken for who made it.
        part.retain(|name, _| name != "vendor" && name != "model");
    }
    serde_json::json!({
        "parts": parts,
        "extra": message.get("extra"),
        "finish": reply.finish,
        "usage": reply.usage,
        "id": reply.id.as_deref(),
        "model": reply.model.as_deref(),
    })
}

fn without_made(expected: &Value, mut read: Value, family: Family) -> Value {
    // A refusal that nothing stands before is a message of its own.
    if expected["value"]["type"] == "refusal"
        && read["value"]["content"] == serde_json::json!([expected["value"]])
    {
        return expected.clone();
    }
    let owner = family.owner();
    let wanted = expected.pointer(&format!("/extra/{owner}")).cloned().unwrap_or(Value::Null);
    if let Some(fields) = read.pointer_mut(&format!("/extra/{owner}")) {
        strip(fields, &wanted);
        if fields.as_object().unwrap().is_empty() {
            let extra = read["extra"].as_object_mut().unwrap();
            extra.remove(owner);
            if extra.is_empty() {
                read.as_object_mut().unwrap().remove("extra");
            }
        }
    }
    read
}

fn strip(fields: &mut Value, wanted: &Value) {
    let Value::Object(fields) = fields else { return };
    fields.retain(|name, value| {
        let is_made = MADE.contains(&name.as_str()) || NAMES.contains(&name.as_str());
        match wanted.get(name) {
            None => !is_made,
            Some(wanted) => {
                if is_made {
                    strip(value, wanted);
                }
                true
            }
        }
    });
}
