//! Laws, tried on conversations at random.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use interleaf_model::{
    AssistantPart, Body, ContentPart, Json, Message, Producer, Role, Seal, Status, Thinking,
};
use interleaf_samples::strategy::{conversation, json_object};
use interleaf_wire::lint::lint;
use interleaf_wire::{
    CacheMarks, Family, NameMap, Options, StreamDecoder, Vendor, decode_request, encode,
};
use interleaf_wire::{Effort, Number, ThinkingMode, Thoughts};

use super::answers::exchange;
use super::{prompt, text_of, vendor};
use crate::{decode_response, lints_clean};

const MODEL: &str = "claude-sonnet-4-5";

/// A conversation that a request can be made of.
fn valid() -> impl Strategy<Value = Vec<Message>> {
    conversation(2..30).prop_filter("someone must speak", |messages| {
        messages.iter().any(|message| message.role() == Role::User)
    })
}

fn settings() -> impl Strategy<Value = Options> {
    let models = [MODEL, "claude-opus-4-6", "claude-opus-5-5", "claude-3-5-haiku-20241022", "m"];
    let thinking = [
        None,
        Some(ThinkingMode::budget(2000)),
        Some(ThinkingMode::on()),
        Some(ThinkingMode::on().with_effort(Effort::High).with_thoughts(Thoughts::Shown)),
        Some(ThinkingMode::effort(Effort::Minimal)),
        Some(ThinkingMode::off()),
    ];
    (select(models.to_vec()), select(thinking.to_vec()), any::<bool>(), any::<bool>()).prop_map(
        |(model, thinking, is_marked, is_warm)| {
            let mut options = Options::model(model);
            options.thinking = thinking;
            options.cache = if is_marked { CacheMarks::On } else { CacheMarks::Off };
            options.temperature =
                is_warm.then(|| Json::parse("0.7").unwrap()).map(Number::from_json);
            options
        },
    )
}

/// A conversation as this API can say it: neighbours of one side are one, thinking
/// that does not go back and blank texts are gone, and something stands where
/// something must stand.
fn normal(messages: &[Message]) -> Vec<(Role, Vec<String>)> {
    let mut turns: Vec<(Role, Vec<String>)> = Vec::new();
    for message in messages {
        let (side, parts) = match &message.body {
            Body::System(_) => {
                (Role::System, message.texts().filter(said).map(str::to_owned).collect())
            }
            Body::User(_) => {
                (Role::User, message.texts().filter(said).map(str::to_owned).collect())
            }
            Body::Assistant(parts) => {
                (Role::Assistant, parts.iter().filter_map(assistant_part).collect())
            }
            Body::Tool(result) => {
                let mut texts: Vec<&str> = message.texts().filter(said).collect();
                if texts.is_empty() && result.status == Status::Error {
                    texts.push("the tool failed");
                }
                (Role::User, vec![format!("{} {:?} {texts:?}", result.call, result.status)])
            }
        };
        match turns.last_mut() {
            Some((last, said)) if *last == side => said.extend::<Vec<String>>(parts),
            _ => turns.push((side, parts)),
        }
    }
    for (_, said) in &mut turns {
        if said.is_empty() {
            said.push(".".to_owned());
        }
    }
    turns
}

fn said(text: &&str) -> bool {
    !text.chars().all(|c| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

fn assistant_part(part: &AssistantPart) -> Option<String> {
    match part {
        AssistantPart::Text(text) => Some(text.text.to_string()).filter(|text| said(&&**text)),
        AssistantPart::Call(call) => {
            Some(format!("{} {} {}", call.id, call.name, call.arguments.as_str()))
        }
        AssistantPart::Thinking(thinking) => goes_back(thinking),
        AssistantPart::Image(_) | AssistantPart::File(_) | AssistantPart::Opaque(_) => None,
    }
}

fn goes_back(thinking: &Thinking) -> Option<String> {
    let is_own = |producer: &Producer| {
        producer.vendor.as_str() == "anthropic"
            && producer.model.as_ref().is_none_or(|model| model == MODEL)
    };
    if !thinking.producer.as_ref().is_none_or(is_own) {
        return None;
    }
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=-_".contains(c);
    match thinking.seal.as_ref()? {
        Seal::Signature(signature) => (!signature.is_empty() && signature.chars().all(is_base64))
            .then(|| format!("{} {signature}", thinking.text)),
        Seal::Encrypted(data) => {
            (thinking.text.is_empty() && said(&&**data)).then(|| data.to_string())
        }
    }
}

proptest! {
    #[test]
    fn the_same_prompt_gives_the_same_bytes_and_these_are_clean(
        messages in valid(),
        options in settings(),
    ) {
        let prompt = prompt(messages, Vec::new());
        let text = text_of(&encode(&prompt, vendor(), &options).unwrap());
        let again = text_of(&encode(&prompt, vendor(), &options).unwrap());
        prop_assert_eq!(&text, &again);
        lints_clean(vendor(), &text);
    }

    #[test]
    fn what_is_written_is_read_as_the_same_conversation(messages in valid()) {
        let mut messages = messages;
        if messages.last().is_some_and(|last| last.role() == Role::Assistant) {
            messages.push(Message::user("go on"));
        }
        let options = Options::model(MODEL);
        let text = text_of(&encode(&prompt(messages.clone(), Vec::new()), vendor(), &options).unwrap());
        let read = decode_request(Family::Anthropic, &text).unwrap();
        prop_assert_eq!(normal(&messages), normal(&read.messages));
        // What was read is written with the same bytes.
        let again = encode(&prompt(read.messages, Vec::new()), vendor(), &options).unwrap();
        prop_assert_eq!(text, text_of(&again));
    }

    #[test]
    fn unknown_fields_keep_their_bytes(value in json_object()) {
        let field = |name: &str| format!("\"x_{name}\":{}", value.as_str());
        let body = format!(
            r#"{{"model":"m","max_tokens":1,"tools":[{{"name":"t","input_schema":{{"type":"object"}},{}}}],
            "system":[{{"type":"text","text":"s",{}}}],
            "messages":[{{"role":"user","content":[{{"type":"text","text":"a",{}}}],{}}},
            {{"role":"assistant","content":[{{"type":"thinking","thinking":"","signature":"s",{}}},
             {{"type":"new_block",{}}},{{"type":"tool_use","id":"c","name":"t","input":{{}},{}}}],{}}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c",{}}}],{}}}],{}}}"#,
            field("tool"), field("system"), field("text"), field("user"), field("thinking"),
            field("block"), field("call"), field("assistant"), field("result"), field("results"),
            field("body"),
        );
        let read = decode_request(Family::Anthropic, &body).unwrap();
        let prompt = prompt(read.messages, read.tools);
        // Who only speaks the API may know more fields than Anthropic does.
        let gateway = Vendor::new("gateway", Family::Anthropic);
        let written = text_of(&encode(&prompt, &gateway, &read.options).unwrap());
        for name in ["tool", "system", "text", "user", "thinking", "block", "call", "assistant", "result", "results", "body"] {
            prop_assert!(written.contains(&field(name)), "{}: {}", name, written);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut decoder = StreamDecoder::new(Family::Anthropic, NameMap::default());
        let _ = decoder.push(&bytes).map(|_| decoder.finish());
        read_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_broken_text_is_read_or_refused(
        name in select(vec!["unknown-fields.request.json", "calls.json", "search.sse", "thinking.sse"]),
        cuts in prop::collection::vec((any::<Index>(), 0_usize..12, select(SPLICES.to_vec())), 1..5),
    ) {
        let mut text: Vec<char> = exchange(name).chars().collect();
        for (at, len, splice) in cuts {
            let start = at.index(text.len());
            let end = (start + len).min(text.len());
            text.splice(start..end, splice.chars());
        }
        read_all(&text.into_iter().collect::<String>());
    }

    #[test]
    fn a_value_of_any_type_in_any_place_is_read_or_refused(
        tokens in prop::collection::vec((any::<Index>(), select(SPLICES[1..10].to_vec())), 1..5),
    ) {
        let mut body: serde_json::Value =
            serde_json::from_str(&exchange("unknown-fields.request.json")).unwrap();
        for (at, token) in tokens {
            let mut places = Vec::new();
            pointers(&body, String::new(), &mut places);
            let place = &places[at.index(places.len())];
            *body.pointer_mut(place).unwrap() = serde_json::from_str(token).unwrap();
        }
        read_all(&body.to_string());
    }
}

/// Pieces that turn one valid token into another; the first few are values.
const SPLICES: [&str; 16] = [
    "",
    "null",
    "[]",
    "{}",
    "\"\"",
    "1e9",
    "true",
    "\"tool_use\"",
    "[{}]",
    "\"srvtoolu_1\"",
    ",",
    ":",
    "{",
    "\\",
    "\"",
    "\\ud800",
];

fn pointers(value: &serde_json::Value, at: String, places: &mut Vec<String>) {
    match value {
        serde_json::Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                pointers(value, format!("{at}/{i}"), places);
            }
        }
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                pointers(value, format!("{at}/{name}"), places);
            }
        }
        _ => {}
    }
    places.push(at);
}

/// Reads a text in every way; nothing panics. What can be read as a request, without
/// its calls, is written as one that is clean.
fn read_all(text: &str) {
    let names = NameMap::default();
    let _ = lint(vendor(), text);
    let _ = decode_response(Family::Anthropic, text, &names);
    let _ = crate::decode_stream(Family::Anthropic, text.as_bytes(), &names);
    if let Ok(request) = decode_request(Family::Anthropic, text) {
        let mut messages = request.messages;
        messages.retain(|message| !message.has_calls() && message.as_result().is_none());
        messages.insert(
            0,
            Message::from(Body::User(interleaf_model::Parts::one(ContentPart::Text(
                interleaf_model::Text::new("hello"),
            )))),
        );
        let prompt = prompt(messages, request.tools);
        let mut options = request.options;
        if options.model.trim().is_empty() {
            options.model = "m".into();
        }
        let written = text_of(&encode(&prompt, vendor(), &options).unwrap());
        lints_clean(vendor(), &written);
    }
}
