//! What holds for every conversation.

use interleaf_model::{
    AssistantPart, Body, CallId, ContentPart, Extra, Json, Message, MessageId, Parts, Producer,
    Prompt, Role, Seal, Status, SystemPart, Text, Thinking, Transcript, VendorName,
};
use interleaf_samples::strategy::{conversation, json, message};
use interleaf_wire::{
    CacheMarks, Error, Family, NameMap, Options, Request, ToolChoice, decode_request, encode, lint,
};
use interleaf_wire::{Number, ResponseFormat};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};

use super::{fixture, prompt, text, tool, vendor};
use crate::decode_response;

/// Options that change how turns are written.
fn options() -> impl Strategy<Value = Options> {
    let model = select(&["", "us.anthropic.claude-sonnet-4-6", "meta.llama3-3-70b", "nova"][..]);
    let cache = select(&[CacheMarks::Off, CacheMarks::On][..]);
    let choice = select(
        &[None, Some(ToolChoice::None), Some(ToolChoice::Auto), Some(ToolChoice::Required)][..],
    );
    (model, cache, choice, prop::option::of(json())).prop_map(|(model, cache, choice, number)| {
        let mut options = Options::model(model);
        options.cache = cache;
        options.tool_choice = choice;
        options.temperature = number.clone().map(Number::from_json);
        options.top_p = number.clone().map(Number::from_json);
        options.response_format = number.map(|schema| ResponseFormat::schema("a", &schema, true));
        options.stop = vec!["\n".to_owned(), "END".to_owned()];
        options
    })
}

/// Any messages at all, put into an order that a prompt may have. Half of what other
/// vendors attached is ours.
fn anything() -> impl Strategy<Value = Prompt> {
    prop::collection::vec(message(), 1..12).prop_map(|messages| {
        let ours = Transcript::of(messages).write().replace("\"openai\"", "\"bedrock\"");
        let ours = ours.replace("application/pdf", "image/gif").replace("audio/wav", "text/csv");
        let messages = Transcript::read(&ours).unwrap().messages;
        let parts = messages.iter().find_map(|m| m.as_result()).map(|result| result.parts.clone());
        let parts = parts.unwrap_or_else(|| Parts::one(ContentPart::Text(Text::new(""))));
        let mut ids = HashSet::new();
        let mut out = vec![Message::user("go")];
        for message in messages {
            match message.role() {
                Role::System | Role::User => out.push((*message).clone()),
                Role::Tool => {}
                Role::Assistant => {
                    if !message.calls().all(|call| ids.insert(call.id.clone())) {
                        continue;
                    }
                    let calls: Vec<CallId> = message.calls().map(|call| call.id.clone()).collect();
                    out.push((*message).clone());
                    for (i, call) in calls.into_iter().enumerate() {
                        let status = if i % 2 == 0 { Status::Ok } else { Status::Error };
                        let (name, parts) = (None, parts.clone());
                        let result = interleaf_model::ToolResult { call, name, status, parts };
                        out.push(Body::Tool(result).into());
                    }
                }
            }
        }
        for (i, message) in out.iter_mut().enumerate() {
            message.id = MessageId::of_index(i);
        }
        prompt(out, vec![])
    })
}

/// JSON lets values pass that no program can hold: half a surrogate pair, 1e999, and in a
/// part that is given back as it came two fields of one name.
fn is_readable(text: &str) -> bool {
    let is_double = |error: Error| error.message().starts_with("duplicate field");
    serde_json::from_str::<Value>(text).is_ok()
        && !decode_request(Family::Bedrock, text).is_err_and(is_double)
}

/// A conversation as it is after it went through this API: neighbours of one role are
/// one message, what is blank or another's is gone.
fn normal(messages: &[Message]) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    for message in messages {
        let body = match &message.body {
            Body::System(parts) => {
                let parts = parts.iter().filter(|part| match part {
                    SystemPart::Text(text) => !text.is_blank(),
                    SystemPart::Opaque(_) => true,
                });
                match Parts::new(parts.cloned().collect()) {
                    Ok(parts) => Body::System(parts),
                    Err(_) => continue,
                }
            }
            Body::User(parts) => Body::User(parts.clone()),
            Body::Assistant(parts) => {
                let parts: Vec<_> = parts.iter().filter_map(assistant_part).collect();
                let dot = || Parts::one(AssistantPart::Text(Text::new(".")));
                Body::Assistant(Parts::new(parts).unwrap_or_else(|_| dot()))
            }
            Body::Tool(result) => {
                let mut result = result.clone();
                result.name = None;
                if result.parts.iter().all(|p| p.as_text().is_some_and(Text::is_blank)) {
                    let instead =
                        if result.status == Status::Error { "the tool failed" } else { "" };
                    result.parts = Parts::one(ContentPart::Text(Text::new(instead)));
                }
                Body::Tool(result)
            }
        };
        out.push(body.into());
    }
    if let Some(Message { body: Body::Assistant(parts), .. }) = out.last_mut() {
        let mut list = parts.clone().into_vec();
        if let Some(AssistantPart::Text(text)) = list.last_mut() {
            text.text = text.text.trim_end().into();
        }
        *parts = Parts::new(list).unwrap();
    }
    out
}

fn assistant_part(part: &AssistantPart) -> Option<AssistantPart> {
    let AssistantPart::Thinking(thinking) = part else {
        let is_blank = matches!(part, AssistantPart::Text(text) if text.is_blank());
        return (!is_blank).then(|| part.clone());
    };
    let is_ours = thinking.producer.as_ref().is_none_or(|producer| {
        let vendor = producer.vendor.as_str();
        vendor == "bedrock" || (vendor == "anthropic" && producer.model.is_none())
    });
    let text = match &thinking.seal {
        Some(Seal::Signature(signature)) if !signature.is_empty() => thinking.text.clone(),
        Some(Seal::Encrypted(data))
            if data.len() % 4 == 0 && !data.is_empty() && data.is_ascii() =>
        {
            if !data.bytes().all(|b| b.is_ascii_alphanumeric()) {
                return None;
            }
            "".into()
        }
        _ => return None,
    };
    let producer = Some(Producer { vendor: VendorName::new("bedrock"), model: None });
    let thinking = Thinking { text, seal: thinking.seal.clone(), producer, extra: Extra::NONE };
    is_ours.then_some(AssistantPart::Thinking(thinking))
}

fn again(request: Request) -> Prompt {
    prompt(request.messages, request.tools)
}

proptest! {
    #[test]
    fn encoding_is_deterministic(messages in conversation(1..30), options in options()) {
        prop_assume!(messages.iter().any(|m| m.role() == Role::User));
        let prompt = prompt(messages, vec![tool("bash")]);
        let once = encode(&prompt, vendor(), &options).unwrap();
        prop_assert_eq!(once, encode(&prompt, vendor(), &options).unwrap());
    }

    #[test]
    fn no_body_fails_lint(messages in conversation(1..30), options in options()) {
        prop_assume!(messages.iter().any(|m| m.role() == Role::User));
        let text = text(&encode(&prompt(messages, vec![]), vendor(), &options).unwrap());
        if is_readable(&text) {
            prop_assert_eq!(lint::lint(vendor(), &text).unwrap(), [], "{}", text);
        }
    }

    #[test]
    fn no_body_of_any_parts_fails_lint(prompt in anything(), options in options()) {
        let text = text(&encode(&prompt, vendor(), &options).unwrap());
        if is_readable(&text) {
            // A turn is written without regard to how many documents others have.
            let mut faults = lint::lint(vendor(), &text).unwrap();
            faults.retain(|fault| fault.rule.id != "bedrock/document-count");
            prop_assert_eq!(faults, [], "{}", text);
        }
    }

    #[test]
    fn a_body_of_any_parts_is_read_and_written_as_it_was(prompt in anything()) {
        let options = Options::default();
        let first = text(&encode(&prompt, vendor(), &options).unwrap());
        prop_assume!(is_readable(&first));
        let request = decode_request(Family::Bedrock, &first).unwrap();
        let options = request.options.clone();
        let second = text(&encode(&again(request), vendor(), &options).unwrap());
        let (first, second): (Value, Value) =
            (serde_json::from_str(&first).unwrap(), serde_json::from_str(&second).unwrap());
        prop_assert_eq!(first, second);
    }

    #[test]
    fn a_conversation_comes_back(messages in conversation(1..30)) {
        prop_assume!(messages.iter().any(|m| m.role() == Role::User));
        let expected = normal(&messages);
        let encoded = encode(&prompt(messages, vec![]), vendor(), &Options::default()).unwrap();
        let request = decode_request(Family::Bedrock, &text(&encoded)).unwrap();
        prop_assert_eq!(request.messages, expected);
    }

    #[test]
    fn an_unknown_field_survives_anywhere(at in any::<Index>(), value in json()) {
        prop_assume!(is_readable(value.as_str()));
        let mut body: Value = serde_json::from_str(&fixture(EVERY_FIELD)).unwrap();
        let places = objects(&body);
        let place = &places[at.index(places.len())];
        let object = body.pointer_mut(place).unwrap().as_object_mut().unwrap();
        object.insert("zz_unknown".to_owned(), value.to_value());
        prop_assert_eq!(&round_trip(&body.to_string()), &body, "at {:?}", place);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = decode_request(Family::Bedrock, &text);
        let _ = decode_response(Family::Bedrock, &text, &NameMap::default());
        let _ = lint::lint(vendor(), &text);
    }

    #[test]
    fn a_body_with_any_value_anywhere_is_read_or_refused(
        adjustments in prop::collection::vec((any::<Index>(), json()), 1..4),
    ) {
        let mut body: Value = serde_json::from_str(&fixture(EVERY_FIELD)).unwrap();
        for (at, value) in adjustments {
            let places = all(&body);
            *body.pointer_mut(&places[at.index(places.len())]).unwrap() = value.to_value();
        }
        let text = body.to_string();
        let _ = decode_request(Family::Bedrock, &text);
        let _ = lint::lint(vendor(), &text);
        let mut answer: Value =
            serde_json::from_str(&fixture("exchanges/bedrock/cited.response.json")).unwrap();
        answer["output"]["message"] = body["messages"][1].clone();
        let _ = decode_response(Family::Bedrock, &answer.to_string(), &NameMap::default());
    }
}

const EVERY_FIELD: &str = "exchanges/bedrock/every-field.request.json";

fn round_trip(body: &str) -> Value {
    let request = decode_request(Family::Bedrock, body).unwrap();
    let options = request.options.clone();
    let encoded = encode(&again(request), vendor(), &options).unwrap();
    assert_eq!(encoded.adjustments, []);
    serde_json::from_str(&text(&encoded)).unwrap()
}

/// The places of all values.
fn all(value: &Value) -> Vec<String> {
    let mut places = vec![String::new()];
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in inner {
        places.extend(all(value).into_iter().map(|place| format!("/{key}{place}")));
    }
    places
}

/// The places of all objects.
fn objects(body: &Value) -> Vec<String> {
    let is_object = |place: &String| body.pointer(place).is_some_and(Value::is_object);
    all(body).into_iter().filter(is_object).collect()
}

#[test]
fn every_field_of_a_body_survives_with_its_bytes() {
    let body = fixture(EVERY_FIELD);
    assert_eq!(lint::lint(vendor(), &body).unwrap(), []);
    assert_eq!(round_trip(&body), serde_json::from_str::<Value>(&body).unwrap());
    let request = decode_request(Family::Bedrock, &body).unwrap();
    let options = request.options.clone();
    let written = text(&encode(&again(request), vendor(), &options).unwrap());
    for bytes in ["0.10", "1e2", "12345678901234567890", "[1, 2.50]", "0.50"] {
        assert!(written.contains(bytes), "{bytes}: {written}");
    }
}

#[test]
fn an_unknown_field_survives_in_every_object() {
    let body: Value = serde_json::from_str(&fixture(EVERY_FIELD)).unwrap();
    let lost: BTreeSet<String> = objects(&body)
        .into_iter()
        .filter(|place| {
            let mut body = body.clone();
            let object = body.pointer_mut(place).unwrap().as_object_mut().unwrap();
            object.insert("zz_unknown".to_owned(), Value::from(7));
            round_trip(&body.to_string()) != body
        })
        .collect();
    assert_eq!(lost, BTreeSet::new());
}

#[test]
fn arguments_keep_their_bytes() {
    let arguments = r#"{"b":1.0, "a":[ ],"b2":1E+2}"#;
    let json = Json::parse(arguments).unwrap();
    let call = interleaf_model::ToolCall {
        id: CallId::new("c1").unwrap(),
        name: "ls".into(),
        arguments: interleaf_model::Arguments::Object(json),
        extra: Extra::NONE,
    };
    let messages = vec![
        Message::user("go"),
        Body::Assistant(Parts::one(AssistantPart::Call(call))).into(),
        Message::tool(CallId::new("c1").unwrap(), Status::Ok, "x"),
    ];
    let encoded = encode(&prompt(messages, vec![]), vendor(), &Options::default()).unwrap();
    assert!(text(&encoded).contains(&format!(r#""input":{arguments}"#)));
}
