//! Tools, calls and results as text: what is rendered for a model that calls no functions, and
//! read back.

use interleaf::assemble::{Budget, Carrier, PlacementRule, Recipe};
use interleaf::model::{
    Arguments, Body, ContentPart, Finish, Message, Parts, Reply, Role, Spoken, Status, Text, Tool,
    ToolCall, ToolResult,
};
use interleaf::plan::calls::TextTools;
use interleaf::wire::{Decoder, Family, NameMap, ToolChoice, Vendor, decode_request};
use interleaf::{BreakCause, Next, Session, Single, Target, store};
use interleaf_samples::strategy::conversation;
use proptest::prelude::*;
use serde_json::{Value, json};

fn target() -> Target {
    let mut target = Target::new("openai", "gpt-4.1").unwrap().with_key("k");
    target.text_tools = Some(true);
    target
}

/// A schema under which values of any kind may stand, or only some.
fn schema() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        Just(json!({})),
        Just(json!({"type": "string"})),
        Just(json!({"type": ["integer", "string"]})),
        Just(json!({"type": "object"})),
        Just(json!({"type": "array", "items": {"type": "string"}})),
    ];
    (kind.clone(), kind).prop_map(|(a, b)| {
        json!({"type": "object", "properties": {"path": a, "query": b}, "additionalProperties": true})
    })
}

/// A value whatever the spelling of its JSON.
fn value(arguments: &Arguments) -> Value {
    match arguments {
        Arguments::Object(json) => json.to_value(),
        Arguments::Invalid(_) => json!("unreadable"),
    }
}

/// What one message says to a model: words, calls, results.
#[derive(Debug, PartialEq)]
enum Said {
    Words(String),
    Call(String, Value),
    Result(String, bool, Vec<String>),
}

/// What a message of the conversation says.
fn meant(message: &Message, called: &mut Vec<String>, said: &mut Vec<Said>) {
    let words = |text: &str| (!text.trim().is_empty()).then(|| Said::Words(text.trim().to_owned()));
    match &message.body {
        Body::System(_) => {}
        Body::User(parts) => {
            said.extend(
                parts.iter().filter_map(ContentPart::as_text).filter_map(|t| words(&t.text)),
            );
        }
        Body::Assistant(_) => {
            said.extend(message.texts().filter_map(words));
            for call in message.calls() {
                called.push(call.name.to_string());
                said.push(Said::Call(call.name.to_string(), value(&call.arguments)));
            }
        }
        Body::Tool(result) => {
            let texts = result.parts.iter().filter_map(ContentPart::as_text);
            let texts = texts.map(|text| text.text.to_string()).collect();
            said.push(Said::Result(called.remove(0), result.status == Status::Ok, texts));
        }
    }
}

/// Reads what [`meant`] expects out of the text of a user message: results by an oracle that
/// knows only the grammar of `docs/plan-xml.md`.
fn results(text: &str) -> Vec<Said> {
    let between = |text: &str, start: &str, end: &str| -> Option<(String, usize)> {
        let from = text.find(start)? + start.len();
        let to = from + text[from..].find(end)?;
        Some((unescaped(&text[from..to]), to + end.len()))
    };
    if !text.trim_start().starts_with("<result ") {
        return vec![Said::Words(text.trim().to_owned())];
    }
    let mut said = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("<result ") {
        rest = &rest[at..];
        let end = rest.find("</result>").unwrap();
        let own = &rest[..end];
        let (tool, _) = between(own, "tool=\"", "\"").unwrap();
        let is_ok =
            own.starts_with(&format!("{}success=\"true\"", &own[..own.find("success").unwrap()]));
        let (mut texts, mut inner) = (Vec::new(), own);
        while let Some((data, after)) = between(inner, "<data>", "</data>") {
            texts.push(data);
            inner = &inner[after..];
        }
        said.push(Said::Result(tool, is_ok, texts));
        rest = &rest[end + "</result>".len()..];
    }
    said
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out += &rest[..at];
        let end = at + rest[at..].find(';').unwrap();
        let name = &rest[at + 1..end];
        out.push(match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            number => char::from_u32(number[1..].parse().unwrap()).unwrap(),
        });
        rest = &rest[end + 1..];
    }
    out + rest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The request for a model that calls no functions says what the one for a model that does
    /// says: the same words, calls, arguments and results, in the same order.
    #[test]
    fn a_conversation_that_is_rendered_and_read_back_is_the_same(
        messages in conversation(2..24), schema in schema(),
    ) {
        let names: std::collections::BTreeSet<String> = messages.iter()
            .flat_map(|m| m.calls().map(|c| c.name.to_string()).collect::<Vec<_>>()).collect();
        let tools: Vec<Tool> = names.iter()
            .map(|name| Tool::new(name.as_str(), "Does it.", schema.clone())).collect();
        let text_tools = TextTools::new(&tools);
        // What the model said that reads as a call would be one.
        let is_plain = |m: &Message| m.texts().all(|t| {
            let reading = text_tools.read(t);
            reading.calls.is_empty() && reading.refusals.is_empty()
        });
        prop_assume!(messages.iter().all(|m| m.role() != Role::Assistant || is_plain(m)));
        let mut conversation = interleaf::conversation::Conversation::new();
        for message in messages {
            conversation.append(message).unwrap();
        }
        let recipe = Recipe::new().with_tools(tools);
        let native = Single::of(&conversation, &recipe).preview(None).unwrap();
        let (mut called, mut expected) = (Vec::new(), Vec::new());
        for entry in native.entries() {
            meant(&entry.message, &mut called, &mut expected);
        }
        let body = Single::of(&conversation, &recipe).preview(Some(&target())).unwrap().body.unwrap();
        let request = decode_request(Family::OpenaiChat, std::str::from_utf8(&body.to_bytes()).unwrap()).unwrap();
        prop_assert!(request.tools.is_empty());
        let mut said = Vec::new();
        for message in &request.messages {
            prop_assert!(!message.has_calls() && message.as_result().is_none());
            for text in message.texts().filter(|text| !text.trim().is_empty()) {
                match message.role() {
                    Role::User => said.extend(results(text)),
                    Role::Assistant => said.extend(text_tools.speech(text, false).into_iter().map(|own| match own {
                        Spoken::Text(text) => Said::Words(text.trim().to_owned()),
                        Spoken::Call { name, arguments } => Said::Call(name.to_string(), value(&arguments)),
                    })),
                    Role::System | Role::Tool => {}
                }
            }
        }
        prop_assert_eq!(said, expected);
    }
}

fn ls() -> Tool {
    Tool::new("ls", "Lists.", json!({"type": "object", "properties": {"path": {"type": "string"}}}))
}

fn said(text: &str) -> Reply {
    let decoder = Decoder::new(Family::OpenaiChat, NameMap::default());
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 1}});
    decoder.whole(200, [], body.to_string().as_bytes()).unwrap()
}

async fn session() -> Session {
    Session::create(store::open("memory:").await.unwrap(), "").await.unwrap()
}

async fn sent(session: &mut Session, recipe: &Recipe, target: &Target) -> interleaf::Request {
    match session.request(recipe, target).await.unwrap() {
        Next::Send(request) => *request,
        other => panic!("{other:?}"),
    }
}

fn answer(text: &str) -> Vec<u8> {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
    body.to_string().into_bytes()
}

/// A long session: each request is the same from what is remembered as from nothing, and begins
/// with the bytes of the one before.
#[tokio::test]
async fn what_is_remembered_gives_the_bytes_of_a_request_made_from_nothing() {
    for name in ["openai", "anthropic", "llama-cpp", "google"] {
        let mut target = Target::of(Vendor::named(name).unwrap().clone(), "a-model").with_key("k");
        target.text_tools = Some(true);
        target.session_cache_key = false;
        let recipe = Recipe::new().with_system("Be careful.").with_tools(vec![ls()]);
        let mut session = session().await;
        for round in 0..30 {
            session.append(Message::user(&format!("Question {round}?"))).await.unwrap();
            for step in 0..3 {
                let request = sent(&mut session, &recipe, &target).await;
                let single = Single::of(session.conversation(), &recipe);
                let anew = single.preview(Some(&target)).unwrap().body.unwrap();
                assert_eq!(request.body.to_bytes(), anew.to_bytes(), "{name} {round} {step}");
                if round + step > 0 {
                    assert_eq!(request.impact.cause, BreakCause::Appended, "{name} {round} {step}");
                }
                let text = match step {
                    2 => format!("Done {round}."),
                    _ => format!(
                        "Looking.\n<tools><invoke name=\"ls\"><parameter name=\"path\">{round}/{step}</parameter></invoke></tools>"
                    ),
                };
                let family = target.vendor.family;
                let mut head = interleaf::wire::AnswerHead::default();
                head.include_usage = true;
                let spoken = Reply::new(Message::assistant(&text), Finish::Stop);
                let stream = interleaf::wire::write_stream(family, &spoken, &head, 1).bytes;
                let reply = request.decoder.recorded(&stream).unwrap();
                session.take(reply).await.unwrap();
                let calls = session.open_calls();
                assert_eq!(calls.len(), usize::from(step < 2));
                session.results(calls.iter().map(|call| call.result("a.rs"))).await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn the_budget_counts_what_is_sent() {
    // A short call is long in words.
    let recipe = Recipe::new().with_tools(vec![ls()]).with_budget(Budget::of_window(100_000));
    let mut session = session().await;
    session.append(Message::user("Look.")).await.unwrap();
    for n in 0..20 {
        let request = sent(&mut session, &recipe, &target()).await;
        let text = format!(
            "<tools><invoke name=\"ls\"><parameter name=\"path\">{n}</parameter></invoke></tools>"
        );
        session.take(request.decoder.whole(200, [], &answer(&text)).unwrap()).await.unwrap();
        let calls = session.open_calls();
        session.results(calls.iter().map(|call| call.result("<a> & <b>"))).await.unwrap();
    }
    let request = sent(&mut session, &recipe, &target()).await;
    let counted = request.report.tokens.as_ref().unwrap().total();
    let body: Value = serde_json::from_slice(&request.body.to_bytes()).unwrap();
    let ledger = interleaf::assemble::Ledger::for_model("gpt-4.1");
    let messages = body["messages"].as_array().unwrap();
    let text = |m: &Value| ledger.text(m["content"].as_str().unwrap()) + 4;
    let sent: u64 = messages.iter().map(text).sum();
    let difference = counted.abs_diff(sent);
    assert!(difference * 50 < sent, "{counted} were counted, {sent} are sent");
    let mut native = target();
    native.text_tools = Some(false);
    let Next::Send(native) = session.preview(&recipe, &native).await.unwrap() else { panic!() };
    assert!(native.report.tokens.unwrap().total() < counted);
}

#[tokio::test]
async fn pictures_of_parallel_results_come_after_all_results() {
    let mut session = session().await;
    session.append(Message::user("Look.")).await.unwrap();
    let recipe = Recipe::new().with_tools(vec![ls()]);
    let request = sent(&mut session, &recipe, &target()).await;
    let text = "<tools><invoke name=\"ls\"></invoke><invoke name=\"ls\"></invoke></tools>";
    session.take(request.decoder.whole(200, [], &answer(text)).unwrap()).await.unwrap();
    let calls = session.open_calls();
    let with_picture = |call: &ToolCall| {
        let part: ContentPart = ContentPart::Image(interleaf::model::Image {
            source: interleaf::model::Source::Base64("aGk=".into()),
            media_type: Some("image/png".into()),
            extra: Default::default(),
        });
        let parts = Parts::new(vec![ContentPart::Text(Text::new("see")), part]).unwrap();
        let (id, name) = (call.id.clone(), Some(call.name.clone()));
        Message::from(Body::Tool(ToolResult { call: id, name, status: Status::Ok, parts }))
    };
    session.results([with_picture(&calls[0]), calls[1].result("none")]).await.unwrap();
    let request = sent(&mut session, &recipe, &target()).await;
    let body: Value = serde_json::from_slice(&request.body.to_bytes()).unwrap();
    let turns = body["messages"].as_array().unwrap();
    let last = turns.last().unwrap()["content"].as_array().unwrap();
    assert!(last[0]["text"].as_str().unwrap().starts_with("<result tool=\"ls\""), "{last:?}");
    assert_eq!(last[1]["type"], "image_url");
    let first = turns[turns.len() - 2]["content"].as_str().unwrap();
    assert!(first.contains("<media number=\"1\"/>"), "{first}");
    let told: Vec<String> = request.adjustments().map(|own| own.kind.to_string()).collect();
    assert!(told.contains(&"media moved after the results".to_owned()), "{told:?}");
    assert!(told.contains(&"tools as text".to_owned()), "{told:?}");
}

#[tokio::test]
async fn what_a_tool_choice_asks_for_is_said_in_words() {
    let recipe = Recipe::new().with_tools(vec![ls()]);
    let mut session = session().await;
    session.append(Message::user("Look.")).await.unwrap();
    for (choice, words) in [
        (ToolChoice::None, "Call no tool now."),
        (ToolChoice::Required, "an answer without a call is not accepted"),
        (ToolChoice::Tool("ls".into()), "Call ls now"),
    ] {
        let mut target = target();
        target.options.tool_choice = Some(choice);
        target.options.parallel_tool_calls = Some(false);
        let body = sent(&mut session, &recipe, &target).await.body.to_bytes();
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains(words), "{body}");
        assert!(body.contains("Make one call in an answer"), "{body}");
        assert!(!body.contains("tool_choice") && !body.contains("parallel_tool_calls"), "{body}");
    }
}

#[tokio::test]
async fn a_context_block_stands_where_it_stands_with_native_tools() {
    for carrier in [Carrier::Message, Carrier::Attached] {
        let recipe = Recipe::new()
            .with_tools(vec![ls()])
            .with_rule(PlacementRule::Tail)
            .with_carrier(carrier)
            .with_context(interleaf::model::ContextKind::Todo, "1. mend the alarm");
        let mut session = session().await;
        session.append(Message::user("Look.")).await.unwrap();
        let request = sent(&mut session, &recipe, &target()).await;
        let text = "<tools><invoke name=\"ls\"></invoke></tools>";
        session.take(request.decoder.whole(200, [], &answer(text)).unwrap()).await.unwrap();
        let calls = session.open_calls();
        session.results(calls.iter().map(|call| call.result("a.rs"))).await.unwrap();
        let body = sent(&mut session, &recipe, &target()).await.body.to_bytes();
        let body = String::from_utf8(body).unwrap();
        let (result, todo) =
            (body.find("</result>").unwrap(), body.find("mend the alarm").unwrap());
        assert!(result < todo, "{carrier:?} {body}");
    }
}

#[test]
fn an_answer_that_was_read_without_the_decoder_is_words() {
    // Whoever reads it elsewhere says so with `decode --text-tools`.
    assert!(!said("<tools><invoke name=\"ls\"></invoke></tools>").message.has_calls());
    let mut answer = interleaf::read::Answer::of(
        json!({"choices": [{"message": {"content": "<tools><invoke name=\"ls\"></invoke></tools>"},
            "finish_reason": "stop"}]})
        .to_string()
        .into_bytes(),
    )
    .unwrap();
    answer.text_tools = true;
    let reply = answer.decode_for(Family::OpenaiChat, &[ls()]).unwrap();
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(reply.message.calls().count(), 1);
}
