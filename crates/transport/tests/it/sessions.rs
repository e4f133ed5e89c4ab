//! A session's requests and answers over real connections.

use std::time::Duration;

use interleaf::assemble::Recipe;
use interleaf::model::{Message, PartRef, Reply, ToolCall};
use interleaf::store::Page;
use interleaf::wire::{Decoder, Family, NameMap, lint};
use interleaf::{Next, Session, Target, store};
use interleaf_transport::{Because, Call, ErrorKind, Limit, Retries, Timeouts, Transport};
use serde_json::json;

use crate::families::{FAMILIES, builder, recorded, saying, target, transport};
use crate::server::{Act, Piece, Server};

pub(crate) async fn session() -> Session {
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store, "").await.unwrap();
    session.append(Message::user("Which files are here?")).await.unwrap();
    session
}

/// The next request, which must be one that the API takes.
pub(crate) async fn assert_goes_on(session: &mut Session, target: &Target) {
    session.append(Message::user("Go on.")).await.unwrap();
    let Next::Send(request) = session.preview(&Recipe::new(), target).await.unwrap() else {
        panic!("it waits");
    };
    let body = String::from_utf8(request.body.to_bytes()).unwrap();
    let faults = lint::lint(&target.vendor, &body).unwrap();
    assert!(faults.is_empty(), "{faults:?} in {body}");
}

#[tokio::test]
async fn a_session_asks_and_keeps_the_answer_its_usage_and_its_calls_on_every_api() {
    for family in FAMILIES {
        let (whole, stream) = recorded(family);
        for streams in [false, true] {
            let act =
                if streams { Act::stream(&stream, 11) } else { Act::json(200, whole.clone()) };
            let server = Server::start([act]).await;
            let target = target(family, &server);
            let mut session = session().await;
            let recipe = Recipe::new();
            let answer = match streams {
                false => transport().ask(&mut session, &recipe, &target).await.unwrap(),
                true => {
                    let targets = std::slice::from_ref(&target);
                    let mut asking =
                        transport().ask_streaming(&mut session, &recipe, targets).await.unwrap();
                    while let Some(delta) = asking.next().await {
                        delta.unwrap();
                    }
                    asking.finish().await.unwrap()
                }
            };
            let kept = answer.message.unwrap();
            assert_eq!(kept.text(), answer.reply.message.text(), "{family}");
            assert_eq!(session.open_calls().len(), kept.calls().count(), "{family}");
            let sent = &session.requests(Page::from(0, 1)).await.unwrap()[0];
            assert_eq!(sent.usage, answer.reply.usage, "{family}");
            assert!(
                sent.body.is(&server.seen()[0].body),
                "{family}: what was sent is what is kept"
            );
            let results: Vec<Message> =
                session.open_calls().iter().map(|call: &ToolCall| call.result("done")).collect();
            session.results(results).await.unwrap();
            assert_goes_on(&mut session, &target).await;
        }
    }
}

#[tokio::test]
async fn a_vendor_that_asks_for_a_model_is_not_asked_without_one() {
    for family in FAMILIES {
        let server = Server::start([Act::Silence]).await;
        let mut target = target(family, &server);
        target.options.model = "".into();
        let mut session = session().await;
        let error = transport().ask(&mut session, &Recipe::new(), &target).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Request, "{family}");
        assert!(error.to_string().contains("model"), "{family}: {error}");
        let sent = Call::new(target, "{}");
        let error = transport().send(&sent).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Request, "{family}");
        assert!(server.seen().is_empty(), "{family}");
        assert!(session.requests(Page::from(0, 1)).await.unwrap().is_empty(), "{family}");
    }
}

#[tokio::test]
async fn calls_and_streams_may_move_between_threads() {
    fn moves<T: Send>(thing: T) -> T {
        thing
    }
    let server = Server::start([Act::stream(&saying(Family::Anthropic, "Yes."), 64)]).await;
    let target = target(Family::Anthropic, &server);
    let answer = tokio::spawn(moves(async move {
        let (mut session, recipe) = (session().await, Recipe::new());
        transport().ask(&mut session, &recipe, &target).await.unwrap();
        let targets = [target];
        let asking = transport().ask_streaming(&mut session, &recipe, &targets).await.unwrap();
        moves(asking).finish().await.unwrap()
    }));
    assert_eq!(answer.await.unwrap().reply.message.text(), "Yes.");
}

#[tokio::test]
async fn an_answer_waits_for_a_store_that_another_program_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("held.db");
    let store = store::open(&format!("sqlite:{}", path.display())).await.unwrap();
    let mut session = Session::create(store, "").await.unwrap();
    session.append(Message::user("Is it done?")).await.unwrap();
    let server = Server::start([Act::stream(&saying(Family::Anthropic, "Yes."), 64)]).await;
    let (recipe, targets) = (Recipe::new(), [target(Family::Anthropic, &server)]);
    let asking = transport().ask_streaming(&mut session, &recipe, &targets).await.unwrap();
    let holder = rusqlite::Connection::open(path).unwrap();
    holder.execute_batch("begin immediate").unwrap();
    let held = tokio::spawn(async move {
        // Longer than a store waits by itself.
        tokio::time::sleep(Duration::from_secs(7)).await;
        holder.execute_batch("rollback").unwrap();
    });
    let answer = asking.finish().await.unwrap();
    assert_eq!(answer.message.unwrap().text(), "Yes.");
    held.await.unwrap();
}

#[tokio::test]
async fn an_answer_that_cannot_be_kept_is_handed_back_with_what_it_cost() {
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "").await.unwrap();
    session.append(Message::user("Is it done?")).await.unwrap();
    let id = session.id();
    let server = Server::start([Act::stream(&saying(Family::Anthropic, "Yes."), 64)]).await;
    let (recipe, targets) = (Recipe::new(), [target(Family::Anthropic, &server)]);
    let asking = transport().ask_streaming(&mut session, &recipe, &targets).await.unwrap();
    store.remove(id).await.unwrap();
    let error = asking.finish().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotKept);
    assert_eq!(error.partial().unwrap().message.text(), "Yes.");
    assert!(error.session().is_some());
    assert!(error.to_string().contains("made"), "{error}");
}

/// However an answer ends and whatever of it came, that it cannot be kept is told beside what is
/// known of it.
#[tokio::test]
async fn an_answer_that_cannot_be_kept_hides_neither_how_it_broke_off_nor_what_was_tried() {
    let said = saying(Family::Anthropic, "Yes.");
    let text = String::from_utf8_lossy(&said);
    let at = text.find("Yes.").unwrap();
    let half = &said[..at + text[at..].find("\n\n").unwrap() + 2];
    let cut = Act::stream(half, 64).then(Piece::Cut);
    let stalled = Act::stream(half, 64).then(Piece::Stall);
    enum Way {
        Finished,
        Cancelled,
        AtOnce,
    }
    let cases = [
        (Act::stream(&said, 64), Way::Finished, ErrorKind::NotKept),
        (cut, Way::Finished, ErrorKind::Cut),
        (stalled.clone(), Way::Cancelled, ErrorKind::NotKept),
        (stalled, Way::AtOnce, ErrorKind::Timeout(Limit::Idle)),
    ];
    for (act, way, kind) in cases {
        let store = store::open("memory:").await.unwrap();
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user("Is it done?")).await.unwrap();
        let id = session.id();
        let (recipe, server) = (Recipe::new(), Server::start([Act::json(503, "busy"), act]).await);
        let targets = [target(Family::Anthropic, &server)];
        let limits = Timeouts::default().idle(Duration::from_secs(2));
        let transport = builder().timeouts(limits).retries(Retries::at_most(1)).build().unwrap();
        let error = match way {
            Way::AtOnce => {
                let removed = async {
                    server.has_seen(2).await;
                    store.remove(id).await.unwrap();
                };
                let ask = transport.ask(&mut session, &recipe, &targets[0]);
                tokio::join!(ask, removed).0.unwrap_err()
            }
            way => {
                let asking = transport.ask_streaming(&mut session, &recipe, &targets).await;
                let asking = asking.unwrap();
                store.remove(id).await.unwrap();
                match way {
                    Way::Cancelled => asking.cancel().await.unwrap_err(),
                    _ => asking.finish().await.unwrap_err(),
                }
            }
        };
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(error.attempts().len(), 2, "{error}");
        assert!(error.kept().is_none() && error.partial().is_some(), "{error}");
        assert!(error.session().is_some(), "{error}");
        assert!(error.to_string().contains("could not keep it"), "{error}");
    }
}

#[tokio::test]
async fn a_store_that_another_program_holds_is_waited_for_no_longer_than_the_call_may_take() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let store = store::open(&format!("sqlite:{}", path.display())).await.unwrap();
    let mut session = Session::create(store, "").await.unwrap();
    session.append(Message::user("Is it done?")).await.unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let server = Server::start([Act::stream(&saying(Family::Anthropic, "Yes."), 64)]).await;
    let timeouts = Timeouts::default().total(Duration::from_millis(900));
    let transport = Transport::builder().timeouts(timeouts).build().unwrap();
    let target = target(Family::Anthropic, &server);
    let error = transport.ask(&mut session, &Recipe::new(), &target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Limit::Total), "{error}");
    assert!(error.to_string().contains("the store did not take the request"), "{error}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_session_that_waits_for_results_sends_nothing() {
    let (whole, _) = recorded(Family::Anthropic);
    let server = Server::start([Act::json(200, whole)]).await;
    let target = target(Family::Anthropic, &server);
    let mut session = session().await;
    let recipe = Recipe::new();
    transport().ask(&mut session, &recipe, &target).await.unwrap();
    let error = transport().ask(&mut session, &recipe, &target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Waiting);
    assert!(error.to_string().contains("toolu_01 (read_file), toolu_02 (now)"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn live_row_1_arguments_arrive_whole_however_the_bytes_are_cut() {
    for family in FAMILIES {
        let (whole, stream) = recorded(family);
        let mut expected: Option<Vec<String>> = None;
        let mut acts: Vec<Act> = [1, 2, 3, 13, 100_000].map(|n| Act::stream(&stream, n)).into();
        acts.push(Act::json(200, whole));
        for act in acts {
            let server = Server::start([act]).await;
            let mut session = session().await;
            let target = target(family, &server);
            let targets = std::slice::from_ref(&target);
            let recipe = Recipe::new();
            let asking = transport().ask_streaming(&mut session, &recipe, targets).await.unwrap();
            let answer = asking.finish().await.unwrap();
            let calls = answer.reply.message.calls();
            let calls: Vec<String> =
                calls.map(|call| format!("{} {}", call.name, call.arguments.as_str())).collect();
            assert!(!calls.is_empty(), "{family}");
            let first = expected.get_or_insert_with(|| calls.clone());
            assert_eq!(&calls, first, "{family}");
        }
    }
}

/// A stream in which the arguments of a call come in a single piece: in one chunk, with the event
/// that opens the call, or only with the one that ends it.
fn in_one_piece(family: Family) -> Vec<Vec<u8>> {
    let events = |events: &[serde_json::Value]| {
        let event = |event: &serde_json::Value| match event["type"].as_str() {
            Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        };
        events.iter().map(event).collect::<String>().into_bytes()
    };
    let arguments = r#"{"path":"src"}"#;
    match family {
        Family::OpenaiChat => {
            let call = json!({"index": 0, "id": "c1", "type": "function",
                "function": {"name": "ls", "arguments": arguments}});
            vec![events(&[
                json!({"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]}),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            ])]
        }
        Family::OpenaiResponses => {
            let item = |arguments: &str| {
                json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "ls",
                    "arguments": arguments, "status": "completed"})
            };
            let begin = [
                json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}),
                json!({"type": "response.output_item.added", "output_index": 0, "item": item("")}),
            ];
            let told = json!({"type": "response.function_call_arguments.done", "item_id": "fc_1",
                "output_index": 0, "arguments": arguments});
            let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item(arguments)});
            let end = json!({"type": "response.completed",
                "response": {"id": "resp_1", "status": "completed", "output": [item(arguments)]}});
            let with = |middle: &[serde_json::Value]| {
                events(&[&begin[..], middle, std::slice::from_ref(&end)].concat())
            };
            vec![with(&[told.clone(), done.clone()]), with(&[done]), with(&[])]
        }
        Family::Anthropic => {
            let stream = |input: serde_json::Value, delta: Option<&str>| {
                let mut all = vec![
                    json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [],
                        "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                    json!({"type": "content_block_start", "index": 0,
                        "content_block": {"type": "tool_use", "id": "c1", "name": "ls", "input": input}}),
                ];
                all.extend(delta.map(|json| {
                    json!({"type": "content_block_delta", "index": 0,
                        "delta": {"type": "input_json_delta", "partial_json": json}})
                }));
                all.extend([
                    json!({"type": "content_block_stop", "index": 0}),
                    json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}),
                    json!({"type": "message_stop"}),
                ]);
                events(&all)
            };
            vec![stream(json!({}), Some(arguments)), stream(json!({"path": "src"}), None)]
        }
        Family::Gemini => {
            vec![events(&[json!({"candidates": [{"content": {"role": "model", "parts":
            [{"functionCall": {"name": "ls", "args": {"path": "src"}}}]}, "finishReason": "STOP"}]})])]
        }
        Family::Bedrock => {
            let whole = json!({"output": {"message": {"role": "assistant", "content": [{"toolUse":
                {"toolUseId": "c1", "name": "ls", "input": {"path": "src"}}}]}}, "stopReason": "tool_use",
                "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}});
            let reply = Decoder::new(family, NameMap::default()).whole(
                200,
                [],
                whole.to_string().as_bytes(),
            );
            vec![
                interleaf::wire::write_stream(family, &reply.unwrap(), &Default::default(), 4_096)
                    .bytes,
            ]
        }
    }
}

#[tokio::test]
async fn live_row_1_arguments_that_come_in_one_piece_or_only_at_the_end_are_whole() {
    for family in FAMILIES {
        for stream in in_one_piece(family) {
            // Cut in two, everywhere.
            for at in 0..stream.len() {
                let mut decoder = Decoder::new(family, NameMap::default()).stream();
                decoder.push(&stream[..at]).unwrap();
                decoder.push(&stream[at..]).unwrap();
                let reply = decoder.finish().unwrap();
                let calls: Vec<&str> =
                    reply.message.calls().map(|call| call.arguments.as_str()).collect();
                assert_eq!(calls, [r#"{"path":"src"}"#], "{family} at {at}");
            }
            let server = Server::start([Act::stream(&stream, 7)]).await;
            let (mut session, target) = (session().await, target(family, &server));
            transport().ask(&mut session, &Recipe::new(), &target).await.unwrap();
            let open = session.open_calls();
            assert_eq!(open[0].arguments.as_str(), r#"{"path":"src"}"#, "{family}");
        }
    }
}

#[tokio::test]
async fn live_row_2_parallel_calls_stay_apart_and_in_order() {
    for family in FAMILIES {
        let (whole, stream) = recorded(family);
        let server = Server::start([Act::stream(&stream, 5)]).await;
        let mut session = session().await;
        let target = target(family, &server);
        let answer = transport().ask(&mut session, &Recipe::new(), &target).await.unwrap();
        let whole = Decoder::new(family, NameMap::default()).whole(200, [], &whole).unwrap();
        let said = |reply: &Reply| -> Vec<String> {
            let calls = reply.message.calls();
            calls.map(|call| format!("{} {}", call.name, call.arguments.as_str())).collect()
        };
        assert!(said(&whole).len() > 1, "{family}");
        assert_eq!(said(&answer.reply), said(&whole), "{family}");
        let ids: Vec<_> = answer.reply.message.calls().map(|call| call.id.clone()).collect();
        let mut distinct = ids.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), ids.len(), "{family}: {ids:?}");
        let open: Vec<_> = session.open_calls().iter().map(|call| call.id.clone()).collect();
        assert_eq!(open, ids, "{family}");
    }
}

#[tokio::test]
async fn live_row_3_text_beside_an_empty_list_of_calls_is_kept() {
    let stream = b"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Hello\",\"tool_calls\":[]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":\" there\",\"tool_calls\":[]},\"finish_reason\":\"stop\"}]}\n\n\
        data: [DONE]\n\n";
    let server = Server::start([Act::stream(stream, 9)]).await;
    let mut session = session().await;
    let target = target(Family::OpenaiChat, &server);
    let answer = transport().ask(&mut session, &Recipe::new(), &target).await.unwrap();
    assert_eq!(answer.message.unwrap().text(), "Hello there");
}

#[tokio::test]
async fn live_row_7_thinking_whose_signature_is_refused_is_left_out_and_the_request_sent_once_more()
{
    let thinking = crate::families::fixture("anthropic/thinking.sse");
    let refusal = r#"{"type":"error","error":{"type":"invalid_request_error",
        "message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#;
    let good = Act::stream(&saying(Family::Anthropic, "Here."), 64);
    let acts = [Act::stream(&thinking, 64), Act::json(400, refusal), good, Act::json(400, refusal)];
    let server = Server::start(acts).await;
    let mut session = session().await;
    let mut target = target(Family::Anthropic, &server);
    target.options.model = "claude-sonnet-4-5-20250929".into();
    let recipe = Recipe::new();
    let first = transport().ask(&mut session, &recipe, &target).await.unwrap();
    let has_thinking = first.reply.message.parts().any(|part| matches!(part, PartRef::Thinking(_)));
    assert!(has_thinking, "{:?}", first.reply);
    let results: Vec<_> = session.open_calls().iter().map(|call| call.result("done")).collect();
    session.results(results).await.unwrap();
    session.append(Message::user("Where?")).await.unwrap();
    let answer = transport().ask(&mut session, &recipe, &target).await.unwrap();
    assert_eq!(answer.reply.message.text(), "Here.");
    let because: Vec<_> = answer.attempts.iter().map(|attempt| attempt.because).collect();
    assert_eq!(because, [Because::First, Because::WithoutThinking]);
    let body = |n: usize| String::from_utf8(server.seen()[n].body.to_vec()).unwrap();
    assert!(body(1).contains("signature"), "{}", body(1));
    assert!(!body(2).contains("signature"), "{}", body(2));
    // Once: the second refusal is the answer.
    let error = transport().ask(&mut session, &recipe, &target).await.unwrap_err();
    assert_eq!(error.attempts().len(), 2, "{error}");
    assert_goes_on(&mut session, &target).await;
}

#[tokio::test]
async fn a_request_that_was_not_sent_or_was_refused_is_one_that_no_model_saw() {
    let family = Family::OpenaiChat;
    let refused = || Act::json(400, r#"{"error":{"message":"not so"}}"#);
    let broken = || Act::json(500, r#"{"error":{"message":"the model broke"}}"#);
    let server =
        Server::start([refused(), broken(), Act::stream(&saying(family, "yes"), 64)]).await;
    let (recipe, mut session) = (Recipe::new(), session().await);
    let transport = builder().retries(Retries::none()).build().unwrap();
    let mut unset = target(family, &server);
    unset.key = None;
    unset.vendor = unset.vendor.key_variable("INTERLEAF_NO_SUCH_KEY");
    let error = transport.ask(&mut session, &recipe, &unset).await.unwrap_err();
    assert_eq!((error.kind(), error.attempts().len()), (ErrorKind::Key, 1));
    assert_eq!(session.head().next_request, 0, "nothing is recorded without a key");

    let mut nowhere = target(family, &server);
    nowhere.vendor = nowhere.vendor.base_url("http://127.0.0.1:9/v1");
    transport.ask(&mut session, &recipe, &nowhere).await.unwrap_err();
    let target = target(family, &server);
    transport.ask(&mut session, &recipe, &target).await.unwrap_err();
    transport.ask(&mut session, &recipe, &target).await.unwrap_err();
    let answer = transport.ask(&mut session, &recipe, &target).await.unwrap();
    let unseen = session.explain(None, None, 9).await.unwrap();
    let unseen: Vec<bool> = unseen.iter().map(|request| request.unseen).collect();
    assert_eq!(unseen, [true, true, false, false], "a model may have seen what broke");
    assert_eq!(answer.impact.unwrap().against, Some(2));
}
