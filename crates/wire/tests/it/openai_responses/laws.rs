use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, ContentPart, Entry, Extra, Json, Message, Opaque,
    Parts, Producer, Prompt, Provenance, Role, Seal, Status, Text, Thinking, ToolCall, ToolResult,
    VendorName,
};
use interleaf_samples::strategy::{conversation, message};
use interleaf_wire::lint::lint;
use interleaf_wire::{NameMap, Options, StreamDecoder, decode_request, encode};

use super::{FAMILY, OWNER, body_of, exchange, vendor};
use crate::{decode_response, decode_stream, lints_clean};

/// A prompt of these messages, if it is one.
fn prompt_of(messages: &[Message]) -> Option<Prompt> {
    let entry = |message: &Message| Entry {
        message: Arc::new(message.clone()),
        provenance: Provenance::Original,
    };
    Prompt::check_for(crate::taking_blanks(), messages.iter().map(entry).collect(), Arc::new([]))
        .ok()
}

/// Any messages at all, put in an order that is a prompt: every kind of part, with
/// everything attached, part of it this family's own.
fn odd_prompt() -> impl Strategy<Value = Vec<Message>> {
    let typed = prop::collection::vec((any::<Index>(), select(TYPED.to_vec())), 0..6);
    (prop::collection::vec(message(), 1..12), typed).prop_map(|(messages, typed)| {
        let mut out = vec![Message::user("first")];
        let mut messages = messages;
        for (n, (at, value)) in typed.into_iter().enumerate() {
            insert_own(&mut messages, at, &value.replace('#', &n.to_string()));
        }
        let mut results: Vec<Parts<ContentPart>> = Vec::new();
        for message in &messages {
            if let Body::Tool(result) = &message.body {
                results.push(result.parts.clone());
            }
        }
        for (i, message) in messages.into_iter().enumerate() {
            let message = adopted(message);
            match &message.body {
                Body::User(_) => out.push(message),
                Body::Assistant(parts) => {
                    let (parts, ids) = renamed(parts, i);
                    out.push(Message { body: Body::Assistant(parts), ..message });
                    for id in ids {
                        let parts = results.pop();
                        let parts = parts
                            .unwrap_or_else(|| Parts::one(ContentPart::Text(Text::new("done"))));
                        let (name, status) = (None, Status::Error);
                        out.push(Body::Tool(ToolResult { call: id, name, status, parts }).into());
                    }
                }
                Body::System(_) | Body::Tool(_) => {}
            }
        }
        out
    })
}

/// Parts and items of the API's own, legal and not; every id occurs once.
const TYPED: [&str; 20] = [
    r##"{"type":"web_search_call","id":"ws_#","status":"completed"}"##,
    r##"{"type":"computer_call","id":"cu_#","call_id":"x#","action":{}}"##,
    r##"{"type":"computer_call_output","call_id":"x#","output":{}}"##,
    r##"{"type":"refusal","refusal":"no"}"##,
    r##"{"type":"input_text","text":"a"}"##,
    r##"{"type":"output_text","text":"a"}"##,
    r##"{"type":"input_image"}"##,
    r##"{"type":"content_part","part":{"type":"odd"}}"##,
    r##"{"type":"content_part","part":{"type":"text"}}"##,
    r##"{"type":"compaction_trigger"}"##,
    r##"{"type":"compaction","id":"cmp_#","encrypted_content":"gAAA"}"##,
    r##"{"type":"configuration_update","reasoning":{"effort":"low"}}"##,
    r##"{"type":"item_reference","id":"ref_#"}"##,
    r##"{"type":"reasoning","id":"rs_x#","summary":[]}"##,
    r##"{"type":"function_call","call_id":"y#","name":"f","arguments":"{}"}"##,
    r##"{"type":"function_call_output","call_id":"y#","output":""}"##,
    r##"{"type":"message","id":"msg_#","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}"##,
    r##"{"type":"message","id":"item_#","role":"assistant","content":[]}"##,
    r##"{"type":"message","role":"user","content":5}"##,
    r##"{"type":5}"##,
];

/// Puts an opaque part after those of some message.
fn insert_own(messages: &mut [Message], at: Index, value: &str) {
    let value = Json::parse(value).unwrap();
    let opaque = Opaque { owner: VendorName::new(OWNER), value };
    let message = &mut messages[at.index(messages.len())];
    match &mut message.body {
        Body::User(parts) => {
            let mut list = parts.to_vec();
            list.push(ContentPart::Opaque(opaque));
            *parts = Parts::new(list).unwrap();
        }
        Body::Assistant(parts) => {
            let mut list = parts.to_vec();
            list.push(AssistantPart::Opaque(opaque));
            *parts = Parts::new(list).unwrap();
        }
        Body::Tool(result) => {
            let mut list = result.parts.to_vec();
            list.push(ContentPart::Opaque(opaque));
            result.parts = Parts::new(list).unwrap();
        }
        Body::System(_) => {}
    }
}

/// Calls with ids that occur once.
fn renamed(parts: &Parts<AssistantPart>, i: usize) -> (Parts<AssistantPart>, Vec<CallId>) {
    let mut ids = Vec::new();
    let parts = parts.iter().enumerate().map(|(j, part)| match part {
        AssistantPart::Call(call) => {
            let id = CallId::new(format!("{}{i}_{j}", call.id)).unwrap();
            ids.push(id.clone());
            AssistantPart::Call(ToolCall { id, ..call.clone() })
        }
        other => other.clone(),
    });
    let parts = Parts::new(parts.collect()).unwrap();
    (parts, ids)
}

/// What belongs to one vendor of the samples is made this family's.
fn adopted(message: Message) -> Message {
    let owner = |owner: &VendorName| match owner.as_str() {
        "deepseek" => VendorName::new(OWNER),
        _ => owner.clone(),
    };
    let extra = |extra: &Extra| {
        let map = extra.iter().map(|(name, fields)| (owner(name), fields.clone())).collect();
        Extra::from_map(map).unwrap()
    };
    let opaque = |opaque: &Opaque| Opaque { owner: owner(&opaque.owner), ..opaque.clone() };
    let text = |text: &Text| Text { extra: extra(&text.extra), ..text.clone() };
    let body = match message.body {
        Body::User(parts) => Body::User(
            Parts::new(
                parts
                    .iter()
                    .map(|part| match part {
                        ContentPart::Text(it) => ContentPart::Text(text(it)),
                        ContentPart::Opaque(it) => ContentPart::Opaque(opaque(it)),
                        other => other.clone(),
                    })
                    .collect(),
            )
            .unwrap(),
        ),
        Body::Assistant(parts) => Body::Assistant(
            Parts::new(
                parts
                    .iter()
                    .map(|part| match part {
                        AssistantPart::Text(it) => AssistantPart::Text(text(it)),
                        AssistantPart::Opaque(it) => AssistantPart::Opaque(opaque(it)),
                        AssistantPart::Call(it) => {
                            AssistantPart::Call(ToolCall { extra: extra(&it.extra), ..it.clone() })
                        }
                        other => other.clone(),
                    })
                    .collect(),
            )
            .unwrap(),
        ),
        other => other,
    };
    Message { body, extra: extra(&message.extra), ..message }
}

/// A thought that this API had.
fn own_thought() -> impl Strategy<Value = (String, Option<String>)> {
    (select(vec!["", "hm", "first\n\nthen"]), prop::option::of("[A-Za-z0-9_-]{1,20}"))
        .prop_map(|(text, seal)| (text.to_owned(), seal))
}

/// A conversation in which some of the assistant's messages begin with such a one.
fn thoughtful() -> impl Strategy<Value = Vec<Message>> {
    (conversation(2..20), prop::collection::vec(prop::option::of(own_thought()), 20)).prop_map(
        |(messages, thoughts)| {
            let think = |(i, message): (usize, Message)| {
                let Some(Some((text, seal))) = thoughts.get(i) else { return message };
                let Body::Assistant(parts) = &message.body else { return message };
                let id = Json::parse(format!(r#"{{"id":"rs_{i}"}}"#)).unwrap();
                let thought = AssistantPart::Thinking(Thinking {
                    text: text.as_str().into(),
                    seal: seal.as_deref().map(|seal| Seal::Encrypted(seal.into())),
                    producer: Some(Producer { vendor: VendorName::new(OWNER), model: None }),
                    extra: Extra::of(VendorName::new(OWNER), id).unwrap(),
                });
                let parts = std::iter::once(thought).chain(parts.iter().cloned()).collect();
                Message { body: Body::Assistant(Parts::new(parts).unwrap()), ..message }
            };
            messages.into_iter().enumerate().map(think).collect()
        },
    )
}

/// What a conversation says, in the form in which this API can say it:
/// - blank texts, and messages of nothing else, are left out; a result's stay;
/// - thinking of others is left out, and all thinking that nothing follows;
/// - a failed result says so in its text;
/// - what the assistant said in a row is one message.
fn normal(messages: &[Message]) -> Vec<(Role, Vec<String>)> {
    let mut said: Vec<(Role, Vec<String>)> = Vec::new();
    for message in messages {
        let mut parts: Vec<String> = Vec::new();
        match &message.body {
            Body::System(_) | Body::User(_) => {
                let texts = message.texts().filter(|text| !text.trim().is_empty());
                parts.extend(texts.map(|text| format!("text {text}")));
            }
            Body::Assistant(list) => parts.extend(list.iter().filter_map(assistant_part)),
            Body::Tool(result) => {
                let text = message.text();
                let says_error = text
                    .trim_start()
                    .get(..5)
                    .is_some_and(|start| start.eq_ignore_ascii_case("error"));
                let failed = result.status == Status::Error && !says_error;
                let mark = if failed { "Error: " } else { "" };
                let silent = failed && text.trim().is_empty();
                let text = if silent { "the tool failed" } else { &text };
                parts.push(format!("result {} {mark}{text}", result.call));
            }
        }
        let role = message.role();
        match said.last_mut() {
            _ if parts.is_empty() => {}
            Some((Role::Assistant, before)) if role == Role::Assistant => before.extend(parts),
            _ => said.push((role, parts)),
        }
    }
    said.into_iter().filter_map(without_loose_ends).collect()
}

fn assistant_part(part: &AssistantPart) -> Option<String> {
    match part {
        AssistantPart::Text(text) if text.is_blank() => None,
        AssistantPart::Text(text) => Some(format!("text {}", text.text)),
        AssistantPart::Call(call) => {
            let arguments = match &call.arguments {
                Arguments::Object(json) => json.as_str(),
                Arguments::Invalid(text) => text,
            };
            Some(format!("call {} {} {arguments}", call.id, call.name))
        }
        AssistantPart::Thinking(thinking) => {
            let id = thinking.extra.get(OWNER)?.to_value();
            Some(format!("thought {} {} {:?}", id["id"], thinking.text, thinking.seal))
        }
        AssistantPart::Image(_) | AssistantPart::File(_) | AssistantPart::Opaque(_) => None,
    }
}

fn without_loose_ends((role, mut parts): (Role, Vec<String>)) -> Option<(Role, Vec<String>)> {
    while parts.pop_if(|part| part.starts_with("thought ")).is_some() {}
    (!parts.is_empty()).then_some((role, parts))
}

const SPLICES: [&str; 18] = [
    "", "null", "[]", "{}", "\"\"", "1e9", "true", "-1", "\"tool\"", ",", ":", "{", "]", "\\",
    "\"", "\\ud800", "é", "\n\n",
];

/// Pieces of a text replaced by others.
fn spliced(text: &str, cuts: Vec<(Index, usize, &'static str)>) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (at, len, splice) in cuts {
        let start = at.index(text.len().max(1)).min(text.len());
        let end = (start + len).min(text.len());
        text.splice(start..end, splice.chars());
    }
    text.into_iter().collect()
}

fn cuts() -> impl Strategy<Value = Vec<(Index, usize, &'static str)>> {
    prop::collection::vec((any::<Index>(), 0_usize..12, select(SPLICES.to_vec())), 0..4)
}

/// Whatever is read or refused, nothing panics, and what is read can be written.
fn read_everything(text: &str) {
    let names = NameMap::default();
    let _ = decode_response(FAMILY, text, &names);
    let _ = decode_stream(FAMILY, text.as_bytes(), &names);
    let _ = decode_stream(FAMILY, format!("data: {text}\n\n").as_bytes(), &names);
    let _ = lint(vendor(), text);
    if let Ok(request) = decode_request(FAMILY, text)
        && let Some(prompt) = prompt_of(&request.messages)
    {
        let body = body_of(&encode(&prompt, vendor(), &request.options).unwrap());
        lints_clean(vendor(), &body);
    }
}

proptest! {
    #[test]
    fn the_same_prompt_gives_the_same_bytes(messages in conversation(1..30)) {
        let Some(prompt) = prompt_of(&messages) else { return Ok(()) };
        let options = Options::model("gpt-5");
        let first = encode(&prompt, vendor(), &options).unwrap();
        prop_assert_eq!(first, encode(&prompt, vendor(), &options).unwrap());
    }

    #[test]
    fn what_is_written_lints_clean(messages in odd_prompt(), model in select(vec!["m", "gpt-5", "gpt-4o"])) {
        let Some(prompt) = prompt_of(&messages) else { return Ok(()) };
        let options = Options::model(model);
        let body = body_of(&encode(&prompt, vendor(), &options).unwrap());
        lints_clean(vendor(), &body);
    }

    #[test]
    fn a_conversation_survives_the_way_there_and_back(messages in thoughtful()) {
        let Some(prompt) = prompt_of(&messages) else { return Ok(()) };
        let body = body_of(&encode(&prompt, vendor(), &Options::model("m")).unwrap());
        prop_assert_eq!(lint(vendor(), &body).unwrap(), [], "{}", body);
        let read = decode_request(FAMILY, &body).unwrap();
        prop_assert_eq!(normal(&read.messages), normal(&messages), "{}", body);
    }

    #[test]
    fn what_was_read_is_written_as_it_was(messages in thoughtful()) {
        let Some(prompt) = prompt_of(&messages) else { return Ok(()) };
        let body = body_of(&encode(&prompt, vendor(), &Options::model("m")).unwrap());
        let request = decode_request(FAMILY, &body).unwrap();
        let prompt = prompt_of(&request.messages).expect("what was read is a prompt");
        let again = encode(&prompt, vendor(), &request.options).unwrap();
        prop_assert_eq!(body_of(&again), body);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read_everything(&text);
    }

    #[test]
    fn a_broken_body_is_read_or_refused(messages in thoughtful(), cuts in cuts()) {
        let Some(prompt) = prompt_of(&messages) else { return Ok(()) };
        let body = body_of(&encode(&prompt, vendor(), &Options::model("m")).unwrap());
        read_everything(&spliced(&body, cuts));
    }

    #[test]
    fn a_broken_answer_is_read_or_refused(
        name in select(vec!["tools.json", "hosted.json", "tools.sse", "text.sse", "failed.sse"]),
        cuts in cuts(),
    ) {
        read_everything(&spliced(&exchange(name), cuts));
    }

    #[test]
    fn a_stream_in_any_pieces_says_the_same(
        name in select(vec!["tools", "text", "hosted"]),
        sizes in prop::collection::vec(1_usize..200, 1..50),
    ) {
        let recorded = exchange(&format!("{name}.sse"));
        let whole = decode_stream(FAMILY, recorded.as_bytes(), &NameMap::default()).unwrap();
        let mut decoder = StreamDecoder::new(FAMILY, NameMap::default());
        let mut rest = recorded.as_bytes();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, others) = rest.split_at(rest.len().min(*size));
            decoder.push(piece).unwrap();
            rest = others;
        }
        prop_assert_eq!(decoder.finish().unwrap(), whole);
    }
}
