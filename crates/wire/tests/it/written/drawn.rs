//! Replies, and pieces of replies, that are drawn at random.

use std::collections::BTreeMap;

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, Extra, File, Finish, Image, Json, Message, Opaque,
    PartRef, Parts, Reply, Seal, Source, Text, Thinking, ToolCall, Usage,
};
use interleaf_samples::strategy::{arguments, text};
use interleaf_wire::Delta;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

pub(super) fn reply() -> impl Strategy<Value = Reply> {
    let finish = prop_oneof![
        Just(Finish::Stop),
        Just(Finish::Length),
        Just(Finish::ToolCalls),
        Just(Finish::ContentFilter),
        Just(Finish::Paused),
        select(&["OTHER", "malformed_tool_use", "cancelled", "tired"][..])
            .prop_map(|word| Finish::Other(word.into())),
    ];
    let name = || option::of(select(&["resp_1", "msg-2", "a \"name\""][..]));
    (vec(part(), 1..7), finish, option::of(usage()), name(), name()).prop_map(
        |(parts, finish, usage, id, model)| {
            let message = Message::from(Body::Assistant(Parts::new(numbered(parts)).unwrap()));
            Reply {
                usage,
                id: id.map(Into::into),
                model: model.map(Into::into),
                ..Reply::new(message, finish)
            }
        },
    )
}

fn usage() -> impl Strategy<Value = Usage> {
    let small = || 0..1000_u64;
    (small(), small(), small(), small(), small()).prop_map(|(fresh, read, write, said, thought)| {
        Usage {
            prompt: fresh + read + write,
            cache_read: read,
            cache_write: write,
            cache_write_hour: write / 2,
            completion: said + thought,
            reasoning: thought,
        }
    })
}

/// Calls with ids of their own, as a model's are.
fn numbered(mut parts: Vec<AssistantPart>) -> Vec<AssistantPart> {
    for (n, part) in parts.iter_mut().enumerate() {
        if let AssistantPart::Call(call) = part {
            call.id = CallId::new(format!("id_{n}")).unwrap();
        }
    }
    parts
}

fn part() -> impl Strategy<Value = AssistantPart> {
    let seal = prop_oneof![
        Just(None),
        select(&["c2lnbmVk", "not base64!", ""][..]).prop_map(|s| Some(Seal::Signature(s.into()))),
        select(&["ZW5jcnlwdGVk", "gAAA-_"][..]).prop_map(|s| Some(Seal::Encrypted(s.into()))),
    ];
    let thinking = (text(), seal).prop_map(|(text, seal)| {
        AssistantPart::Thinking(Thinking {
            text: text.into(),
            seal,
            producer: None,
            extra: Extra::NONE,
        })
    });
    let call =
        (arguments(), option::weighted(0.2, Just(signed()))).prop_map(|(arguments, extra)| {
            let (id, name) = (CallId::new("made").unwrap(), "read_file".into());
            AssistantPart::Call(ToolCall { id, name, arguments, extra: extra.unwrap_or_default() })
        });
    let image = prop_oneof![
        Just((Source::Base64("iVBORw0KGgo=".into()), Some("image/png".into()))),
        Just((Source::Base64("R0lGODlh".into()), Some("image/gif".into()))),
    ]
    .prop_map(|(source, media_type)| {
        AssistantPart::Image(Image { source, media_type, extra: Extra::NONE })
    });
    let file = Just(AssistantPart::File(File {
        source: Source::Base64("JVBERi0xLjcK".into()),
        media_type: Some("application/pdf".into()),
        name: Some("report".into()),
        extra: Extra::NONE,
    }));
    let opaque = select(
        &[
            ("openai", r#"{"type":"refusal","refusal":"No."}"#),
            ("openai_responses", r#"{"type":"refusal","refusal":"Never."}"#),
            ("openai_responses", r#"{"type":"web_search_call","id":"ws_1","status":"completed"}"#),
            (
                "anthropic",
                r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#,
            ),
            ("google", r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#),
            ("bedrock", r#"{"toolResult":{"toolUseId":"s","content":[{"text":"hit"}]}}"#),
            (
                "bedrock",
                r#"{"citationsContent":{"content":[{"text":"said"}],"citations":[{"title":"t"}]}}"#,
            ),
        ][..],
    )
    .prop_map(|(owner, json)| {
        let (owner, value) = (owner.into(), Json::parse(json).unwrap());
        AssistantPart::Opaque(Opaque { owner, value })
    });
    prop_oneof![
        4 => text().prop_map(|text| AssistantPart::Text(Text::new(text))),
        3 => thinking,
        3 => call,
        1 => image,
        1 => file,
        2 => opaque,
    ]
}

fn signed() -> Extra {
    let fields = Json::parse(r#"{"thoughtSignature":"c2ln"}"#).unwrap();
    Extra::of("google".into(), fields).unwrap()
}

/// Pieces of up to four calls and two texts, in any order in which each begins first.
pub(super) fn deltas() -> impl Strategy<Value = Vec<Delta>> {
    // What is whole before it ends cannot be told from what is whole.
    let call = arguments().prop_map(|arguments| match arguments {
        Arguments::Object(json) => json.as_str().to_owned(),
        Arguments::Invalid(_) => r#"{"path": "a"#.to_owned(),
    });
    (vec(call, 0..4), vec(text(), 0..3), any::<u64>()).prop_map(|(calls, texts, seed)| {
        let mut queues: Vec<Vec<Delta>> = Vec::new();
        for (part, arguments) in (0..).zip(calls) {
            let (id, name) = (format!("id_{part}"), "read_file".to_owned());
            let mut queue = vec![Delta::Call { part, id, name }];
            let piece = |c: char| Delta::Arguments { part, text: c.to_string() };
            queue.extend(arguments.chars().map(piece));
            queues.push(queue);
        }
        for (part, said) in (100..).zip(texts) {
            queues.push(said.chars().map(|c| Delta::Text { part, text: c.to_string() }).collect());
        }
        shuffled(queues, seed)
    })
}

fn shuffled(queues: Vec<Vec<Delta>>, mut seed: u64) -> Vec<Delta> {
    let mut queues: Vec<_> = queues.into_iter().map(|queue| queue.into_iter().peekable()).collect();
    let mut out = Vec::new();
    loop {
        queues.retain_mut(|queue| queue.peek().is_some());
        let Some(n) = std::num::NonZeroUsize::new(queues.len()) else { return out };
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Runs, as a model makes them, with some changes between.
        let at = (seed >> 33) as usize % n;
        let run = 1 + (seed >> 60) as usize;
        out.extend(queues[at].by_ref().take(run));
    }
}

/// The calls by their ids, and all that was said in texts.
pub(super) type Heard = (BTreeMap<String, String>, String);

/// What the pieces say.
pub(super) fn said(deltas: &[Delta]) -> Heard {
    let mut heard = Heard::default();
    for delta in deltas {
        match delta {
            Delta::Call { id, .. } => drop(heard.0.insert(id.clone(), String::new())),
            Delta::Arguments { part, text } => {
                heard.0.get_mut(&format!("id_{part}")).unwrap().push_str(text);
            }
            Delta::Text { text, .. } => heard.1.push_str(text),
            _ => {}
        }
    }
    for arguments in heard.0.values_mut() {
        *arguments = Arguments::from_text(arguments).as_str().to_owned();
    }
    normal(heard)
}

/// What a reply says.
pub(super) fn heard(reply: &Reply) -> Heard {
    let mut heard = Heard::default();
    for part in reply.message.parts() {
        match part {
            PartRef::Call(call) => {
                heard.0.insert(call.id.as_str().to_owned(), call.arguments.as_str().to_owned());
            }
            PartRef::Text(text) => heard.1.push_str(&text.text),
            _ => {}
        }
    }
    normal(heard)
}

/// Texts of several parts may be mixed, and white space stands between some.
fn normal((calls, text): Heard) -> Heard {
    let mut letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    letters.sort_unstable();
    let calls = calls.into_iter().map(|(id, text)| {
        let plain: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        (id, plain.map_or(text, |value| value.to_string()))
    });
    (calls.collect(), letters.into_iter().collect())
}
