//! What holds for all conversations, streams and texts.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, Entry, Message, Parts, Prompt, Provenance, Role, Seal,
    Status, SystemPart, Thinking, ToolCall, ToolResult,
};
use interleaf_samples::strategy::{conversation, message};
use interleaf_wire::lint::lint;
use interleaf_wire::{Family, NameMap, Options, StreamDecoder, Vendor, decode_request, encode};

use super::{fixture, google};
use crate::{decode_response, decode_stream, lints_clean};

const MODELS: &[&str] = &["", "gemini-2.5-flash", "gemini-3-pro-preview"];

const EXCHANGES: &[&str] = &[
    "call.response.json",
    "text.response.json",
    "text.chunks.json",
    "code.response.json",
    "full.request.json",
    "unknown.request.json",
];

const STREAMS: &[&str] = &["text.stream.sse", "calls.stream.sse", "growing.stream.sse"];

const SPLICES: &[&str] = &[
    "",
    "null",
    "5",
    "\"\"",
    "[]",
    "{}",
    "true",
    "\"x\"",
    ",",
    "}",
    "]",
    "\"",
    "\\",
    "é",
    "{\"a\":",
    "\"text\":",
    "-",
    "data: ",
    "\n\n",
];

fn checked(messages: Vec<Message>) -> Option<Prompt> {
    let entry = |message| Entry { message: Arc::new(message), provenance: Provenance::Original };
    Prompt::check_for(
        crate::taking_blanks(),
        messages.into_iter().map(entry).collect(),
        Arc::from([]),
    )
    .ok()
}

fn options(model: &str) -> Options {
    Options::model(model)
}

/// A part as the API can tell it. Calls are known by their number, because the API has
/// no ids of its own.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    System(String),
    Result { call: usize, status: Status, text: String },
    User(String),
    Thought(String, Option<String>),
    Text(String),
    Call { name: String, arguments: String },
}

/// What the API can tell of a conversation: blank texts and foreign thinking are left
/// out, turns of one role are one, and something stands where nothing was said.
fn told(messages: &[Message], model: &str) -> Vec<Told> {
    let mut told = Vec::new();
    let mut calls: Vec<CallId> = Vec::new();
    let mut before = None;
    for message in messages {
        let start = told.len();
        let starts_turn = before != Some(message.role());
        match &message.body {
            Body::System(parts) => told.extend(parts.iter().filter_map(|part| match part {
                SystemPart::Text(text) => Some(Told::System(text.text.to_string())),
                SystemPart::Opaque(_) => None,
            })),
            Body::User(_) => told.push(Told::User(message.text().into_owned())),
            Body::Tool(result) => told.push(Told::Result {
                call: calls.iter().position(|id| *id == result.call).unwrap(),
                status: result.status,
                text: match (&*message.text(), result.status) {
                    (said, Status::Error) if said.trim().is_empty() => "the tool failed".to_owned(),
                    (said, _) => said.to_owned(),
                },
            }),
            Body::Assistant(parts) => {
                for part in parts.iter() {
                    match part {
                        AssistantPart::Text(text) if !text.is_blank() => {
                            told.push(Told::Text(text.text.to_string()));
                        }
                        AssistantPart::Thinking(thinking) => told.extend(thought(thinking, model)),
                        AssistantPart::Call(call) => {
                            calls.push(call.id.clone());
                            told.push(called(call));
                        }
                        _ => {}
                    }
                }
                if told.len() == start && starts_turn {
                    told.push(Told::Text(".".to_owned()));
                }
            }
        }
        before = Some(message.role());
    }
    if before == Some(Role::Assistant) {
        told.push(Told::User("Continue.".to_owned()));
    }
    told
}

fn called(call: &ToolCall) -> Told {
    let arguments = match &call.arguments {
        Arguments::Object(json) => json.as_str().to_owned(),
        Arguments::Invalid(text) => serde_json::json!({"raw_arguments": &**text}).to_string(),
    };
    Told::Call { name: call.name.to_string(), arguments }
}

fn thought(thinking: &Thinking, model: &str) -> Option<Told> {
    let producer = thinking.producer.as_ref();
    let is_googles = producer.is_some_and(|producer| producer.vendor.as_str() == "google");
    let made_by = producer.and_then(|producer| producer.model.as_deref());
    let is_same = made_by.is_none_or(|made_by| model.is_empty() || made_by == model);
    if producer.is_some() && !(is_googles && is_same) {
        return None;
    }
    let is_base64 = |text: &str| {
        let bare = text.trim_end_matches('=');
        let legal = |c: char| c.is_ascii_alphanumeric() || "+/-_".contains(c);
        !bare.is_empty() && text.len() - bare.len() <= 2 && bare.chars().all(legal)
    };
    let seal = match &thinking.seal {
        Some(Seal::Signature(signature)) if is_googles && is_base64(signature) => {
            Some(signature.to_string())
        }
        _ => None,
    };
    let is_blank = thinking.text.trim().is_empty() && seal.is_none();
    (!is_blank).then(|| Told::Thought(thinking.text.to_string(), seal))
}

/// A valid conversation of any messages: the first system message stands at the head, and
/// every call is answered with the parts of a tool message.
fn valid(messages: Vec<Message>) -> Vec<Message> {
    let mut pool = messages.iter().filter_map(Message::as_result).cloned().collect::<Vec<_>>();
    let system = messages.iter().position(|message| message.role() == Role::System);
    let mut out: Vec<Message> = system.map(|at| messages[at].clone()).into_iter().collect();
    out.push(Message::user("go"));
    let mut n_calls = 0;
    for mut message in messages {
        let Body::Assistant(parts) = &mut message.body else {
            if message.role() == Role::User {
                out.push(message);
            }
            continue;
        };
        let mut results = Vec::new();
        let mut own = parts.to_vec();
        for part in &mut own {
            if let AssistantPart::Call(call) = part {
                call.id = CallId::new(format!("c{n_calls}")).unwrap();
                n_calls += 1;
                let answer = Message::tool(call.id.clone(), Status::Ok, "done");
                let answer = pool.pop().or_else(|| answer.as_result().cloned()).unwrap();
                let result = ToolResult { call: call.id.clone(), ..answer };
                results.push(Message::from(Body::Tool(result)));
            }
        }
        *parts = Parts::new(own).unwrap();
        out.push(message);
        out.extend(results);
    }
    out
}

/// Runs everything that reads on a text; none of it may panic.
fn read_all(text: &str) {
    let names = NameMap::default();
    let _ = decode_response(Family::Gemini, text, &names);
    let _ = decode_stream(Family::Gemini, text.as_bytes(), &names);
    for vendor in ["google", "vertex"] {
        let _ = lint(Vendor::named(vendor).unwrap(), text);
    }
    if let Ok(request) = decode_request(Family::Gemini, text)
        && let Some(prompt) = checked(request.messages)
    {
        let _ = encode(&prompt, google(), &request.options);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_the_same_conversation_and_keeps_the_rules(
        messages in conversation(1..40),
        model in select(MODELS),
    ) {
        let Some(prompt) = checked(messages.clone()) else { return Ok(()) };
        let encoded = encode(&prompt, google(), &options(model)).unwrap();
        prop_assert_eq!(&encoded, &encode(&prompt, google(), &options(model)).unwrap());
        let text = String::from_utf8(encoded.to_bytes()).unwrap();
        lints_clean(google(), &text);
        let request = decode_request(Family::Gemini, &text).unwrap();
        prop_assert_eq!(told(&request.messages, model), told(&messages, model));
    }

    #[test]
    fn whatever_is_written_keeps_the_rules(
        messages in prop::collection::vec(message(), 1..8),
        model in select(MODELS),
        vendor in select(&["google", "vertex"][..]),
    ) {
        let vendor = Vendor::named(vendor).unwrap();
        let Some(prompt) = checked(valid(messages)) else { return Ok(()) };
        let encoded = encode(&prompt, vendor, &options(model)).unwrap();
        let text = String::from_utf8(encoded.to_bytes()).unwrap();
        if lints_clean(vendor, &text) {
            decode_request(Family::Gemini, &text).unwrap();
        }
    }

    #[test]
    fn a_stream_cut_anywhere_is_the_same_reply(
        name in select(STREAMS),
        cuts in prop::collection::vec(any::<Index>(), 0..20),
    ) {
        let text = fixture(&format!("exchanges/gemini/{name}"));
        let bytes = text.as_bytes();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        places.sort_unstable();
        let mut decoder = StreamDecoder::new(Family::Gemini, NameMap::default());
        let mut start = 0;
        for end in places.into_iter().chain([bytes.len()]) {
            decoder.push(&bytes[start..end]).unwrap();
            start = end;
        }
        let whole = decode_stream(Family::Gemini, bytes, &NameMap::default()).unwrap();
        prop_assert_eq!(decoder.finish().unwrap(), whole);
    }

    #[test]
    fn a_broken_text_is_read_or_refused(
        name in select([EXCHANGES, STREAMS].concat()),
        cuts in prop::collection::vec((any::<Index>(), 0_usize..16, select(SPLICES)), 1..5),
    ) {
        let mut text: Vec<char> = fixture(&format!("exchanges/gemini/{name}")).chars().collect();
        for (at, len, splice) in cuts {
            let start = at.index(text.len());
            let end = (start + len).min(text.len());
            text.splice(start..end, splice.chars());
        }
        read_all(&text.iter().collect::<String>());
    }

    #[test]
    fn a_value_of_any_type_in_any_place_is_read_or_refused(
        name in select(EXCHANGES),
        tokens in prop::collection::vec((any::<Index>(), select(&SPLICES[1..8])), 1..4),
    ) {
        let mut text = fixture(&format!("exchanges/gemini/{name}"));
        for (at, token) in tokens {
            let values: Vec<(usize, usize)> = text
                .match_indices(':')
                .filter_map(|(i, _)| {
                    let rest = &text[i + 1..];
                    let value: &serde_json::value::RawValue =
                        serde_json::Deserializer::from_str(rest).into_iter().next()?.ok()?;
                    let start = i + 1 + rest.find(value.get())?;
                    Some((start, start + value.get().len()))
                })
                .collect();
            prop_assume!(!values.is_empty());
            let (start, end) = values[at.index(values.len())];
            text.replace_range(start..end, token);
        }
        read_all(&text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read_all(&text);
    }
}

#[test]
fn a_stream_cut_at_every_byte_is_the_same_reply() {
    for name in STREAMS {
        let text = fixture(&format!("exchanges/gemini/{name}"));
        let bytes = text.as_bytes();
        let whole = decode_stream(Family::Gemini, bytes, &NameMap::default()).unwrap();
        for cut in 0..=bytes.len() {
            let mut decoder = StreamDecoder::new(Family::Gemini, NameMap::default());
            decoder.push(&bytes[..cut]).unwrap();
            decoder.push(&bytes[cut..]).unwrap();
            assert_eq!(decoder.finish().unwrap(), whole, "{name} at {cut}");
        }
    }
}
