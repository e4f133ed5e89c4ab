use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, ContentPart, Extra, Json, Message, Opaque, Parts,
    Prompt, Role, Status, Text, Tool, ToolCall, ToolResult,
};
use interleaf_samples::strategy::{conversation, message};
use interleaf_wire::lint::lint;
use interleaf_wire::{Effort, Number, ResponseFormat, ThinkingMode};
use interleaf_wire::{
    ErrorKind, Family, NameMap, Options, OwnFields, StreamDecoder, ToolChoice, VENDORS, Vendor,
    encode,
};

use super::answers::{recorded, streamed, streams};
use super::decode_request;
use super::{prompt, text};
use crate::{decode_response, lints_clean};

fn chat_vendors() -> impl Iterator<Item = &'static Vendor> {
    VENDORS.iter().filter(|vendor| vendor.family == Family::OpenaiChat)
}

/// What a conversation is after a round trip through OpenAI's own chat:
///
/// - thinking is left out;
/// - a blank text is left out, and a result that says nothing has one empty text;
/// - a failed result says so in its text, for lack of a flag;
/// - when a message was said is not told.
fn normal(messages: &[Message]) -> Vec<Message> {
    messages.iter().map(normal_message).collect()
}

fn normal_message(message: &Message) -> Message {
    let body = match &message.body {
        Body::Assistant(parts) => {
            let stays = |part: &&AssistantPart| match part {
                AssistantPart::Thinking(_) => false,
                AssistantPart::Text(text) => !text.is_blank(),
                _ => true,
            };
            Body::Assistant(Parts::new(parts.iter().filter(stays).cloned().collect()).unwrap())
        }
        Body::Tool(result) => {
            let said = result.parts[0].as_text().unwrap();
            let said = if said.is_blank() { "" } else { &said.text };
            let says_error = said.trim_start().to_ascii_lowercase().starts_with("error");
            let said = match result.status {
                Status::Error if said.is_empty() => "Error: the tool failed".to_owned(),
                Status::Error if !says_error => format!("Error: {said}"),
                _ => said.to_owned(),
            };
            let parts = Parts::one(ContentPart::Text(Text::new(said)));
            Body::Tool(ToolResult { status: Status::Ok, parts, ..result.clone() })
        }
        body => body.clone(),
    };
    Message { at: None, ..Message::from(body) }
}

/// The calls with their arguments, and the results, whatever is around them.
fn tool_use(messages: &[Message]) -> Vec<String> {
    let mut list = Vec::new();
    for message in messages {
        for call in message.calls() {
            list.push(format!("{} {}", call.name, call.arguments.as_str()));
        }
        if message.as_result().is_some() {
            list.push(message.text().into_owned());
        }
    }
    list
}

/// A prompt around any message, whatever it holds.
fn around(message: Message) -> Option<Prompt> {
    let user = || Message::user("hi");
    let answer = |id: &CallId| Message::tool(id.clone(), Status::Ok, "done");
    let messages = match &message.body {
        Body::System(_) => vec![message, user()],
        Body::User(_) => vec![message, Message::assistant("well")],
        Body::Assistant(_) => {
            let answers: Vec<_> = message.calls().map(|call| answer(&call.id)).collect();
            [vec![user(), message], answers].concat()
        }
        Body::Tool(result) => {
            let call = AssistantPart::Call(ToolCall {
                id: result.call.clone(),
                name: "f".into(),
                arguments: Arguments::none(),
                extra: Extra::NONE,
            });
            vec![user(), Body::Assistant(Parts::one(call)).into(), message, user()]
        }
    };
    let entries = messages.into_iter().map(|message| interleaf_model::Entry {
        message: Arc::new(message),
        provenance: interleaf_model::Provenance::Original,
    });
    Prompt::check_for(crate::taking_blanks(), entries.collect(), Vec::new().into()).ok()
}

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

fn options() -> impl Strategy<Value = Options> {
    let models = ["m", "gpt-4o", "gpt-5", "gpt-5.4-mini", "gpt-5.6", "o3", "o4-mini", "kimi-k2"];
    let formats = [
        ResponseFormat::Text,
        ResponseFormat::Json,
        ResponseFormat::schema("a b", json("{}"), false),
        ResponseFormat::schema("x", json(r#"{"type":"object"}"#), true),
    ];
    let modes = [
        ThinkingMode::off(),
        ThinkingMode::on(),
        ThinkingMode::budget(2000),
        ThinkingMode::effort(Effort::High),
        ThinkingMode::off().with_effort(Effort::Low),
    ];
    let rests = [
        ("reasoning_effort", r#""high""#),
        ("reasoning_effort", "5"),
        ("response_format", "{}"),
        ("response_format", r#"{"x":1,"json_schema":{"y":2}}"#),
        ("thinking", r#"{"type":"auto"}"#),
        ("n", "0"),
        ("tool_choice", r#"{"type":"custom","custom":{"name":"sql"}}"#),
        ("tool_choice", r#""sometimes""#),
        ("stream_options", r#"{"include_usage":false}"#),
        ("prompt_cache_options", r#"{"mode":"explicit","ttl":"12h"}"#),
        ("max_tokens", "7"),
        ("messages", "[]"),
        ("seed", "1e2"),
    ];
    let hosted = [
        r#"{"type":"custom","custom":{"name":"sql"}}"#,
        r#"{"type":"custom","custom":{"name":"s q l"}}"#,
        r#"{"type":"web_search"}"#,
        r#"{"type":"function","function":{}}"#,
        "7",
    ];
    let choice = prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Required),
        select(vec!["ls", "no.such", "fs.read"]).prop_map(|name| ToolChoice::Tool(name.into())),
    ];
    let number = || prop::option::of(select(vec!["0", "0.5", "1", "1.0"]).prop_map(json));
    (
        (select(models.to_vec()), prop::option::of(1_u64..100), number(), number(), number()),
        (prop::collection::vec("[a-z]{1,3}", 0..6), any::<bool>(), prop::option::of(choice)),
        (prop::option::of(any::<bool>()), prop::option::of(select(formats.to_vec()))),
        prop::collection::vec(select(hosted.to_vec()), 0..3),
        prop::collection::vec(select(rests.to_vec()), 0..4),
        prop::option::of(select(modes.to_vec())),
    )
        .prop_map(|(first, second, third, hosted, rest, thinking)| {
            let (model, max_tokens, temperature, top_p, top_k) = first;
            let (stop, stream, tool_choice) = second;
            let (parallel_tool_calls, format) = third;
            let hosted =
                hosted.into_iter().map(|text| Opaque { owner: "openai".into(), value: json(text) });
            let mut options = Options::model(model);
            options.max_tokens = max_tokens;
            options.temperature = temperature.map(Number::from_json);
            options.top_p = top_p.map(Number::from_json);
            options.top_k = top_k.map(Number::from_json);
            options.stop = stop;
            options.stream = stream;
            options.tool_choice = tool_choice;
            options.parallel_tool_calls = parallel_tool_calls;
            options.thinking = thinking;
            options.response_format = format;
            options.hosted_tools = hosted.collect();
            options.rest =
                rest.into_iter().fold(OwnFields::of(Family::OpenaiChat), |own, (name, text)| {
                    own.with(name, json(text))
                });
            options.cache_key = Some("k".into());
            options
        })
}

fn tools() -> impl Strategy<Value = Vec<Tool>> {
    let schemas = [
        r#"{"type":"object"}"#,
        r#"{"type":"string"}"#,
        "7",
        "{}",
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}"##,
    ];
    let tool = (
        select(vec!["ls", "fs.read", "", "日本"]),
        prop::option::of(select(schemas.to_vec())),
        prop::option::of(any::<bool>()),
    );
    let tool = tool.prop_map(|(name, parameters, strict)| Tool {
        name: name.into(),
        description: None,
        parameters: parameters.map(json),
        strict,
        extra: Extra::NONE,
    });
    prop::collection::vec(tool, 0..3)
}

proptest! {
    #[test]
    fn a_conversation_comes_back_in_its_normal_form(messages in conversation(2..30)) {
        prop_assume!(messages.iter().any(|message| message.role() != Role::System));
        let options = Options::model("m");
        let encoded = encode(&prompt(&messages, Vec::new()), Vendor::of(Family::OpenaiChat), &options);
        let body = text(&encoded.unwrap());
        let again = decode_request(&body).unwrap().messages;
        prop_assert_eq!(&again, &normal(&messages));
        let twice = encode(&prompt(&again, Vec::new()), Vendor::of(Family::OpenaiChat), &options);
        prop_assert_eq!(text(&twice.unwrap()), body);
    }
}

// These write a body for each of the vendors.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_vendor_is_told_the_same_calls_and_results(messages in conversation(2..30)) {
        prop_assume!(messages.iter().any(|message| message.role() != Role::System));
        let prompt = prompt(&messages, Vec::new());
        let expected = tool_use(&normal(&messages));
        for vendor in chat_vendors() {
            let encoded = encode(&prompt, vendor, &Options::model("m")).unwrap();
            prop_assert_eq!(&encoded, &encode(&prompt, vendor, &Options::model("m")).unwrap());
            let body = text(&encoded);
            prop_assert_eq!(lint(vendor, &body).unwrap(), vec![], "{}: {}", vendor.name, body);
            let again = decode_request(&body).unwrap().messages;
            prop_assert_eq!(&tool_use(&again), &expected, "{}", vendor.name);
        }
    }

    #[test]
    fn no_body_that_was_written_breaks_a_rule(message in message()) {
        let Some(prompt) = around(message) else { return Ok(()) };
        for vendor in chat_vendors() {
            let body = text(&encode(&prompt, vendor, &Options::model("m")).unwrap());
            if lints_clean(vendor, &body) {
                prop_assert!(decode_request(&body).is_ok(), "{}: {}", vendor.name, body);
            }
        }
    }

    #[test]
    fn no_settings_that_were_written_break_a_rule(options in options(), tools in tools()) {
        let prompt = prompt(&[Message::user("hi")], tools);
        for vendor in chat_vendors() {
            let body = text(&encode(&prompt, vendor, &options).unwrap());
            prop_assert_eq!(lint(vendor, &body).unwrap(), vec![], "{}: {}", vendor.name, body);
        }
    }
}

proptest! {
    #[test]
    fn a_stream_may_be_cut_anywhere(
        name in select(streams()),
        cuts in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let bytes = recorded(&format!("{name}.sse"));
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        cuts.sort_unstable();
        let mut decoder = StreamDecoder::new(Family::OpenaiChat, NameMap::default());
        let mut reply = Ok(());
        let mut from = 0;
        for to in cuts.into_iter().chain([bytes.len()]) {
            reply = reply.and_then(|()| decoder.push(&bytes[from..to]).map(drop));
            from = to;
        }
        prop_assert_eq!(reply.and_then(|()| decoder.finish()), streamed(&bytes));
    }

    #[test]
    fn any_bytes_are_an_answer_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        name in select(streams()),
        at in any::<Index>(),
        with in select(vec!["", "null", "[]", "{}", "\"\"", "7", "true", "\n\n", "data:", "\u{0}"]),
    ) {
        let _ = streamed(&bytes);
        let _ = decode_response(Family::OpenaiChat, &String::from_utf8_lossy(&bytes), &NameMap::default());
        let mut broken = recorded(&format!("{name}.sse"));
        let at = at.index(broken.len());
        broken.splice(at..(at + 3).min(broken.len()), with.bytes());
        let _ = streamed(&broken);
        let text = String::from_utf8(recorded(&format!("{name}.json"))).unwrap();
        let broken: String = text.char_indices().map(|(i, c)| if i == at { with.to_owned() } else { c.to_string() }).collect();
        let _ = decode_response(Family::OpenaiChat, &broken, &NameMap::default());
    }
}

#[test]
fn a_stream_cut_once_at_any_byte_is_the_same_and_cut_off_is_an_error() {
    for name in streams().into_iter().filter(|name| name != "error") {
        let bytes = recorded(&format!("{name}.sse"));
        let whole = streamed(&bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let (finish, reason) = text.match_indices("\"finish_reason\":\"").last().unwrap();
        let end = finish + reason.len();
        for at in 0..bytes.len() {
            let mut decoder = StreamDecoder::new(Family::OpenaiChat, NameMap::default());
            decoder.push(&bytes[..at]).unwrap();
            decoder.push(&bytes[at..]).unwrap();
            assert_eq!(decoder.finish().unwrap(), whole, "{name} at {at}");
            if at < end {
                let kind = streamed(&bytes[..at]).unwrap_err().kind();
                assert_eq!(kind, ErrorKind::Cut, "{name} cut off at {at}");
            }
        }
    }
}
