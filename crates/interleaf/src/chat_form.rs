//! A reply as an OpenAI-style chat message, with the extensions that the reader of
//! such messages takes back: `thinking_blocks`, and the signature of a call in its
//! `provider_specific_fields`.

use interleaf_model::{
    Extra, File, Image, Message, Opaque, PartRef, Seal, Source, Thinking, ToolCall,
};
use interleaf_wire::Family;
use serde_json::{Map, Value, json};

/// An assistant's message in chat form.
pub fn of_reply(message: &Message) -> Value {
    let mut out = Map::new();
    out.insert("role".into(), "assistant".into());
    out.insert("content".into(), content(message));
    let mut thinking = Vec::new();
    let mut calls = Vec::new();
    let mut opaque = Vec::new();
    for part in message.parts() {
        match part {
            PartRef::Thinking(thought) => thinking.push(thinking_block(thought)),
            PartRef::Call(tool_call) => calls.push(call(tool_call)),
            PartRef::Opaque(part) => match refusal(part) {
                Some(refusal) => {
                    out.insert("refusal".into(), refusal);
                }
                None => opaque.push(json!({
                    "owner": part.owner.as_str(),
                    "value": part.value.to_value(),
                })),
            },
            PartRef::Text(_) | PartRef::Image(_) | PartRef::File(_) => {}
        }
    }
    if !thinking.is_empty() {
        out.insert("thinking_blocks".into(), thinking.into());
    }
    if !calls.is_empty() {
        out.insert("tool_calls".into(), calls.into());
    }
    if !opaque.is_empty() {
        out.insert("provider_specific_fields".into(), json!({ "parts": opaque }));
    }
    merge(&mut out, &message.extra, Family::OpenaiChat.owner());
    Value::Object(out)
}

/// A text where there is only text, a list of parts where there are pictures or
/// files, null where there is nothing.
fn content(message: &Message) -> Value {
    let has_media = message.parts().any(|p| matches!(p, PartRef::Image(_) | PartRef::File(_)));
    if has_media {
        let part = |part: PartRef<'_>| match part {
            PartRef::Text(text) => Some(json!({"type": "text", "text": *text.text})),
            PartRef::Image(image) => Some(image_part(image)),
            PartRef::File(file) => Some(file_part(file)),
            PartRef::Thinking(_) | PartRef::Call(_) | PartRef::Opaque(_) => None,
        };
        return message.parts().filter_map(part).collect();
    }
    match message.texts().collect::<String>() {
        text if text.is_empty() => Value::Null,
        text => text.into(),
    }
}

fn image_part(image: &Image) -> Value {
    let url = match &image.source {
        Source::Base64(data) => {
            format!("data:{};base64,{data}", image.media_type.as_deref().unwrap_or("image/png"))
        }
        Source::Url(url) | Source::Id { id: url, .. } => url.to_string(),
    };
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn file_part(file: &File) -> Value {
    let mut out = Map::new();
    match &file.source {
        Source::Base64(data) => {
            let media_type = file.media_type.as_deref().unwrap_or("application/octet-stream");
            out.insert("file_data".into(), format!("data:{media_type};base64,{data}").into());
        }
        Source::Url(url) => {
            out.insert("file_data".into(), url.to_string().into());
        }
        Source::Id { id, .. } => {
            out.insert("file_id".into(), id.to_string().into());
        }
    }
    if let Some(name) = &file.name {
        out.insert("filename".into(), name.as_str().into());
    }
    json!({"type": "file", "file": out})
}

fn thinking_block(thinking: &Thinking) -> Value {
    let mut out = Map::new();
    let vendor = thinking.producer.as_ref().map_or("", |producer| producer.vendor.as_str());
    let is_redacted = [Family::Anthropic.owner(), Family::Bedrock.owner()].contains(&vendor);
    match &thinking.seal {
        Some(Seal::Encrypted(data)) if is_redacted && thinking.text.is_empty() => {
            out.insert("type".into(), "redacted_thinking".into());
            out.insert("data".into(), data.to_string().into());
        }
        seal => {
            out.insert("type".into(), "thinking".into());
            out.insert("thinking".into(), thinking.text.to_string().into());
            if let Some(Seal::Signature(seal) | Seal::Encrypted(seal)) = seal {
                out.insert("signature".into(), seal.to_string().into());
            }
        }
    }
    merge(&mut out, &thinking.extra, vendor);
    Value::Object(out)
}

fn call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name.as_str(), "arguments": call.arguments.as_str()});
    let mut out = Map::new();
    out.insert("id".into(), call.id.as_str().into());
    out.insert("type".into(), "function".into());
    out.insert("function".into(), function);
    let google = call.extra.get(Family::Gemini.owner()).map(|fields| fields.to_value());
    if let Some(signature) = google.as_ref().and_then(|fields| fields.get("thoughtSignature")) {
        let fields = json!({"thought_signature": signature});
        out.insert("provider_specific_fields".into(), fields);
    }
    merge(&mut out, &call.extra, Family::OpenaiChat.owner());
    Value::Object(out)
}

fn refusal(part: &Opaque) -> Option<Value> {
    let value = part.value.to_value();
    (value["type"] == "refusal").then(|| value["refusal"].clone())
}

/// Adds an owner's fields, where there is none of that name.
fn merge(out: &mut Map<String, Value>, extra: &Extra, owner: &str) {
    if let Some(Value::Object(fields)) = extra.get(owner).map(|fields| fields.to_value()) {
        for (name, value) in fields {
            out.entry(name).or_insert(value);
        }
    }
}
