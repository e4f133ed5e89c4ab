//! The JSON form of a message: the only place that knows its field names.
//!
//! Reading goes by the tag (`role`, then each part's `type`) and refuses fields
//! that do not belong there. Values that must stay byte for byte are taken as raw
//! text, which is why nothing here is flattened or untagged on the way in.

mod length;
mod quick;
mod scan;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::any_part::{Speaker, make_body};
use crate::fragment::{read_json, rebase};
use crate::{
    AgentName, Arguments, AssistantPart, CallId, Error, Extra, File, Image, Json, Message,
    MessageId, Opaque, Origin, PartRef, Producer, Role, Seal, Source, Status, Text, Thinking,
    Timestamp, ToolCall, ToolName, VendorName,
};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "P: Deserialize<'de>"))]
struct MessageForm<P> {
    #[serde(default, skip_serializing_if = "MessageId::is_unassigned")]
    id: MessageId,
    role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentName>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    internal: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<CallId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<ToolName>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    error: bool,
    parts: Vec<P>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<VendorName, Json>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Text,
    Image,
    File,
    Thinking,
    Call,
    Opaque,
}

#[derive(Deserialize)]
struct Tag {
    #[serde(rename = "type")]
    kind: Kind,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PartForm {
    Text(TextForm),
    Media(MediaForm),
    Thinking(ThinkingForm),
    Call(CallForm),
    Opaque(OpaqueForm),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextForm {
    #[serde(rename = "type")]
    kind: Kind,
    text: Arc<str>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<VendorName, Json>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MediaForm {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<VendorName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<SmolStr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<SmolStr>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<VendorName, Json>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThinkingForm {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    text: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encrypted: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vendor: Option<VendorName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<SmolStr>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<VendorName, Json>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallForm {
    #[serde(rename = "type")]
    kind: Kind,
    id: CallId,
    name: ToolName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments_text: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<VendorName, Json>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpaqueForm {
    #[serde(rename = "type")]
    kind: Kind,
    owner: VendorName,
    value: Json,
}

/// Reads one message. Places in the error are relative to `text`.
pub(crate) fn read_message(text: &str) -> Result<Message, Error> {
    quick::read_message(text).map_or_else(|| read_exactly(text), Ok)
}

fn read_exactly(text: &str) -> Result<Message, Error> {
    let form: MessageForm<&RawValue> = read_json(text)?;
    refuse_tool_fields(&form)?;
    let raw_parts = form.parts.clone();
    let at_part = |i: usize, e: Error| {
        let fragment = raw_parts.get(i).map_or(text, |raw| raw.get());
        rebase(e, text, fragment).under(&format!("parts[{i}]"))
    };
    let mut parts = Vec::with_capacity(raw_parts.len());
    for (i, raw) in raw_parts.iter().enumerate() {
        parts.push(read_part(raw.get()).map_err(|e| at_part(i, e))?);
    }
    build(form, parts).map_err(|(i, e)| match i {
        Some(i) => at_part(i, e),
        None => e,
    })
}

/// The message with these parts. An error about a part comes with its index.
fn build<P>(
    form: MessageForm<P>,
    parts: Vec<AssistantPart>,
) -> Result<Message, (Option<usize>, Error)> {
    let speaker = match form.role {
        Role::System => Speaker::System,
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::Tool => {
            let rule = "a tool message needs `call`, the id of the call that it answers";
            let call = form.call.ok_or_else(|| (None, Error::rule(rule)))?;
            let status = if form.error { Status::Error } else { Status::Ok };
            Speaker::Tool { call, name: form.name, status }
        }
    };
    let body = make_body(speaker, parts)?;
    let origin = match (form.agent, form.internal) {
        (None, false) => Origin::Main,
        (Some(agent), false) => Origin::SubAgent(agent),
        (None, true) => Origin::Internal,
        (Some(_), true) => {
            return Err((None, Error::rule("`agent` and `internal` exclude each other")));
        }
    };
    let extra = Extra::from_map(form.extra).map_err(|e| (None, e))?;
    Ok(Message { id: form.id, at: form.at, origin, body, extra })
}

fn refuse_tool_fields<P>(form: &MessageForm<P>) -> Result<(), Error> {
    if form.role == Role::Tool {
        return Ok(());
    }
    let fields =
        [("call", form.call.is_some()), ("name", form.name.is_some()), ("error", form.error)];
    match fields.into_iter().find(|&(_, present)| present) {
        None => Ok(()),
        Some((field, _)) => Err(Error::rule(format!(
            "`{field}` belongs to tool messages only, not to role {}",
            form.role
        ))),
    }
}

/// Reads one part, whatever its role.
pub(crate) fn read_part(text: &str) -> Result<AssistantPart, Error> {
    let tag: Tag = read_json(text)?;
    Ok(match tag.kind {
        Kind::Text => {
            let form: TextForm = read_json(text)?;
            AssistantPart::Text(Text { text: form.text, extra: Extra::from_map(form.extra)? })
        }
        Kind::Image => {
            let (source, form) = read_media(text)?;
            if form.name.is_some() {
                return Err(Error::rule("`name` belongs to files, not to images"));
            }
            let extra = Extra::from_map(form.extra)?;
            AssistantPart::Image(Image { source, media_type: form.media_type, extra })
        }
        Kind::File => {
            let (source, form) = read_media(text)?;
            let extra = Extra::from_map(form.extra)?;
            AssistantPart::File(File {
                source,
                media_type: form.media_type,
                name: form.name,
                extra,
            })
        }
        Kind::Thinking => AssistantPart::Thinking(read_thinking(read_json(text)?)?),
        Kind::Call => AssistantPart::Call(read_call(read_json(text)?)?),
        Kind::Opaque => {
            let form: OpaqueForm = read_json(text)?;
            AssistantPart::Opaque(Opaque { owner: form.owner, value: form.value })
        }
    })
}

fn read_media(text: &str) -> Result<(Source, MediaForm), Error> {
    let mut form: MediaForm = read_json(text)?;
    let source = match (form.base64.take(), form.url.take(), form.owner.take(), form.id.take()) {
        (Some(data), None, None, None) => Source::Base64(data),
        (None, Some(url), None, None) => Source::Url(url),
        (None, None, Some(owner), Some(id)) => Source::Id { owner, id },
        _ => {
            return Err(Error::rule(
                "an image or file needs exactly one source: `base64`, `url`, or `owner` with `id`",
            ));
        }
    };
    Ok((source, form))
}

fn read_thinking(form: ThinkingForm) -> Result<Thinking, Error> {
    let seal = match (form.signature, form.encrypted) {
        (None, None) => None,
        (Some(signature), None) => Some(Seal::Signature(signature)),
        (None, Some(data)) => Some(Seal::Encrypted(data)),
        (Some(_), Some(_)) => {
            return Err(Error::rule("`signature` and `encrypted` exclude each other"));
        }
    };
    let producer = match (form.vendor, form.model) {
        (Some(vendor), model) => Some(Producer { vendor, model }),
        (None, None) => None,
        (None, Some(_)) => return Err(Error::rule("`model` needs `vendor` beside it")),
    };
    Ok(Thinking { text: form.text, seal, producer, extra: Extra::from_map(form.extra)? })
}

fn read_call(form: CallForm) -> Result<ToolCall, Error> {
    let arguments = match (form.arguments, form.arguments_text) {
        (Some(json), None) if json.is_object() => Arguments::from_json(json),
        (Some(_), None) => {
            return Err(Error::rule(
                "`arguments` must be an object; what a model wrote that is not an object goes into `arguments_text`",
            ));
        }
        (None, Some(text)) => Arguments::from_text(&text),
        (None, None) => Arguments::none(),
        (Some(_), Some(_)) => {
            return Err(Error::rule("`arguments` and `arguments_text` exclude each other"));
        }
    };
    let extra = Extra::from_map(form.extra)?;
    Ok(ToolCall { id: form.id, name: form.name, arguments, extra })
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (agent, internal) = match &self.origin {
            Origin::Main => (None, false),
            Origin::SubAgent(agent) => (Some(agent.clone()), false),
            Origin::Internal => (None, true),
        };
        let result = self.as_result();
        let form = MessageForm::<PartForm> {
            id: self.id.clone(),
            role: self.role(),
            at: self.at,
            agent,
            internal,
            call: result.map(|r| r.call.clone()),
            name: result.and_then(|r| r.name.clone()),
            error: result.is_some_and(|r| r.status == Status::Error),
            parts: self.parts().map(PartForm::from).collect(),
            extra: write_extra(&self.extra),
        };
        form.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        read_message(raw.get()).map_err(|e| serde::de::Error::custom(without_line(&e)))
    }
}

/// The outer parser adds its own line and column, and these would contradict them.
fn without_line(error: &Error) -> Cow<'_, str> {
    match error.place().path.as_str() {
        "" => Cow::Borrowed(error.message()),
        path => Cow::Owned(format!("{path}: {}", error.message())),
    }
}

fn write_extra(extra: &Extra) -> BTreeMap<VendorName, Json> {
    extra.iter().map(|(owner, fields)| (owner.clone(), fields.clone())).collect()
}

impl From<PartRef<'_>> for PartForm {
    fn from(part: PartRef<'_>) -> Self {
        match part {
            PartRef::Text(text) => {
                let extra = write_extra(&text.extra);
                Self::Text(TextForm { kind: Kind::Text, text: text.text.clone(), extra })
            }
            PartRef::Image(image) => {
                let form = write_media(Kind::Image, &image.source, &image.extra);
                Self::Media(MediaForm { media_type: image.media_type.clone(), ..form })
            }
            PartRef::File(file) => {
                let form = write_media(Kind::File, &file.source, &file.extra);
                let (media_type, name) = (file.media_type.clone(), file.name.clone());
                Self::Media(MediaForm { media_type, name, ..form })
            }
            PartRef::Thinking(thinking) => Self::Thinking(write_thinking(thinking)),
            PartRef::Call(call) => Self::Call(write_call(call)),
            PartRef::Opaque(opaque) => Self::Opaque(OpaqueForm {
                kind: Kind::Opaque,
                owner: opaque.owner.clone(),
                value: opaque.value.clone(),
            }),
        }
    }
}

/// The JSON form of one part, as the notation writes what it has no short form for.
pub(crate) fn write_part(part: PartRef<'_>) -> String {
    // Our own types have string keys and no failing Serialize.
    serde_json::to_string(&PartForm::from(part)).unwrap_or_default()
}

fn write_media(kind: Kind, source: &Source, extra: &Extra) -> MediaForm {
    let (base64, url, owner, id) = match source {
        Source::Base64(data) => (Some(data.clone()), None, None, None),
        Source::Url(url) => (None, Some(url.clone()), None, None),
        Source::Id { owner, id } => (None, None, Some(owner.clone()), Some(id.clone())),
    };
    let extra = write_extra(extra);
    MediaForm { kind, base64, url, owner, id, media_type: None, name: None, extra }
}

fn write_thinking(thinking: &Thinking) -> ThinkingForm {
    let (signature, encrypted) = match &thinking.seal {
        None => (None, None),
        Some(Seal::Signature(signature)) => (Some(signature.clone()), None),
        Some(Seal::Encrypted(data)) => (None, Some(data.clone())),
    };
    let producer = thinking.producer.as_ref();
    ThinkingForm {
        kind: Kind::Thinking,
        text: thinking.text.clone(),
        signature,
        encrypted,
        vendor: producer.map(|p| p.vendor.clone()),
        model: producer.and_then(|p| p.model.clone()),
        extra: write_extra(&thinking.extra),
    }
}

fn write_call(call: &ToolCall) -> CallForm {
    let (arguments, arguments_text) = match &call.arguments {
        Arguments::Object(json) => (Some(json.clone()), None),
        Arguments::Invalid(text) => (None, Some(text.clone())),
    };
    CallForm {
        kind: Kind::Call,
        id: call.id.clone(),
        name: call.name.clone(),
        arguments,
        arguments_text,
        extra: write_extra(&call.extra),
    }
}

impl Message {
    /// Reads the JSON form.
    ///
    /// # Errors
    /// If the text is no message; the error names the place and the rule.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        read_message(text)
    }

    /// The length of the message's JSON form, in bytes.
    pub fn neutral_len(&self) -> usize {
        length::of(self)
    }
}
