//! Calls that came without an id: each has one of its own, and finds its result.

use interleaf::assemble::Recipe;
use interleaf::model::{CallId, Message, Reply, notation};
use interleaf::wire::{Decoder, Family, NameMap, Vendor};
use interleaf::{Next, OnConflict, Session, append_said, read};
use proptest::prelude::*;
use serde_json::json;

use crate::{block_on, memory, target_of};

/// An answer that calls `ls`, without any id.
const ANSWER: &[u8] = br#"{"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[
    {"functionCall":{"name":"ls","args":{}}}]}}]}"#;

/// The answer, read by who knows nothing of the request.
fn reply() -> Reply {
    Decoder::new(Family::Gemini, NameMap::default()).whole(200, [], ANSWER).unwrap()
}

async fn append(session: &mut Session, said: &str) {
    append_said(session, read::said(said).unwrap(), OnConflict::Retry).await.unwrap();
}

/// The ids of the calls and of the results of the log, in order.
fn ids(session: &Session) -> (Vec<String>, Vec<String>) {
    let log = || session.conversation().log();
    let calls = log().flat_map(|message| message.calls().map(|call| call.id.to_string()));
    let results = log().filter_map(|message| Some(message.as_result()?.call.to_string()));
    (calls.collect(), results.collect())
}

#[test]
fn a1_calls_of_answers_that_say_the_same_have_ids_of_their_own_and_find_their_results() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("go")).await.unwrap();
        for n in 0..12 {
            let reply = reply();
            let told = reply.message.calls().next().unwrap().id.clone();
            session.take(reply).await.unwrap();
            // Who only read the answer knows the call by the id that was made then.
            let result = json!({"role": "tool", "tool_call_id": told, "content": n.to_string()});
            append(&mut session, &result.to_string()).await;
        }
        let (calls, results) = ids(&session);
        let told = reply().message.calls().next().unwrap().id.to_string();
        let numbered = (2..=12).map(|n| format!("{told}_{n}"));
        assert_eq!(calls, [told.clone()].into_iter().chain(numbered).collect::<Vec<_>>());
        assert_eq!(results, calls);

        let target = target_of(Vendor::named("openai").unwrap(), "gpt-4o");
        let next = session.request(&Recipe::new(), &target).await.unwrap();
        let Next::Send(request) = next else { panic!("a request is expected") };
        assert!(request.report.steps.iter().all(|step| step.findings.is_empty()));
    });
}

#[test]
fn results_of_calls_with_one_made_id_go_to_the_nearest_that_waits() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("go")).await.unwrap();
        let told = reply().message.calls().next().unwrap().id.clone();
        for _ in 0..3 {
            session.take(reply()).await.unwrap();
        }
        for n in 0..4 {
            let result = json!({"role": "tool", "tool_call_id": told, "content": n.to_string()});
            append(&mut session, &result.to_string()).await;
        }
        let (mut calls, results) = ids(&session);
        calls.reverse();
        assert_eq!(results[..3], calls[..]);
        // The fourth answers nothing that waits, and is kept as it came.
        assert_eq!(results[3], told.as_str());
    });
}

#[test]
fn a_fork_takes_an_answer_that_says_what_one_of_its_past_said() {
    block_on(async {
        let store = memory().await;
        let target = target_of(Vendor::named("google").unwrap(), "gemini-2.5-pro");
        let mut root = Session::create(store.clone(), "").await.unwrap();
        root.append(Message::user("go")).await.unwrap();
        let ask = async |session: &mut Session| {
            let next = session.request(&Recipe::new(), &target).await.unwrap();
            let request = next.request().unwrap();
            let kept = session.take(request.decoder.whole(200, [], ANSWER).unwrap()).await.unwrap();
            let call = kept.calls().next().unwrap().clone();
            session.results([call.result("src")]).await.unwrap();
        };
        ask(&mut root).await;
        let fork = root.fork("").await.unwrap();
        // Its first request has the number of its past's first.
        for mut fork in [
            Session::open(store, fork.id()).await.unwrap(),
            fork.fork("").await.unwrap(),
            fork.fork_at(fork.seq(), "").await.unwrap(),
        ] {
            ask(&mut fork).await;
            let (calls, results) = ids(&fork);
            assert_eq!((calls.len(), calls[1].clone()), (2, format!("{}_2", calls[0])));
            assert_eq!(results, calls);

            // The same answer again is there once.
            let next = fork.request(&Recipe::new(), &target).await.unwrap();
            let reply = next.request().unwrap().decoder.whole(200, [], ANSWER).unwrap();
            for _ in 0..2 {
                fork.take(reply.clone()).await.unwrap();
            }
            assert_eq!(fork.conversation().log_len(), 6);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is said in whatever pieces, made ids are unique, and all others stay.
    #[test]
    fn made_ids_are_unique_and_the_others_are_as_they_were_said(
        said in prop::collection::vec(("call_0_0|call_1_0|call_00000000000000ff|c1", any::<bool>()), 1..12),
        pieces in any::<u16>(),
    ) {
        let text: String = said.iter().map(|(id, is_answered)| {
            let result = if *is_answered { format!("t {id}= src\n") } else { String::new() };
            format!("a [call {id} ls]\n{result}")
        }).collect();
        let messages = notation::parse(&text).unwrap();
        let (whole, pieced) = block_on(async {
            let mut whole = Session::create(memory().await, "").await.unwrap();
            let mut pieced = Session::create(memory().await, "").await.unwrap();
            let all = || messages.iter().cloned().map(std::sync::Arc::new);
            whole.append_all(all()).await.unwrap();
            let mut piece = vec![];
            for (i, message) in all().enumerate() {
                piece.push(message);
                if pieces >> (i % 16) & 1 == 1 {
                    pieced.append_all(std::mem::take(&mut piece)).await.unwrap();
                    pieced = Session::open(pieced.store().clone(), pieced.id()).await.unwrap();
                }
            }
            pieced.append_all(piece).await.unwrap();
            (whole, pieced)
        });
        let (calls, results) = ids(&whole);
        prop_assert_eq!((&calls, &results), (&ids(&pieced).0, &ids(&pieced).1));
        let mut made: Vec<_> = calls.iter().filter(|id| *id != "c1").collect();
        made.sort();
        prop_assert!(made.windows(2).all(|pair| pair[0] != pair[1]), "{:?}", calls);
        prop_assert_eq!(calls.len() - made.len(), said.iter().filter(|(id, _)| id == "c1").count());
        prop_assert!(results.iter().all(|id| calls.contains(id)));
    }
}

#[test]
fn d9_results_without_an_id_answer_the_open_calls_of_their_tool_in_order() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("Read both.")).await.unwrap();
        let answer = r#"{"candidates":[{"content":{"role":"model","parts":[
            {"functionCall":{"name":"read","args":{"n":1}}},{"functionCall":{"name":"list","args":{}}},
            {"functionCall":{"name":"read","args":{"n":2}}}]},"finishReason":"STOP"}]}"#;
        let decoder = Decoder::new(Family::Gemini, NameMap::default());
        session.take(decoder.whole(200, [], answer.as_bytes()).unwrap()).await.unwrap();
        let results = r#"[{"role":"user","parts":[
            {"functionResponse":{"name":"read","response":{"output":"one"}}},
            {"functionResponse":{"name":"read","response":{"output":"two"}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"list","response":{"output":"all"}}}]}]"#;
        append_said(&mut session, read::said(results).unwrap(), OnConflict::Retry).await.unwrap();
        assert!(session.open_calls().is_empty());
        let calls: Vec<_> = session.conversation().log().flat_map(|m| m.calls()).collect();
        let text = |id: &CallId| {
            let mut results = session.conversation().log().filter(|m| m.as_result().is_some());
            results.find(|m| m.as_result().unwrap().call == *id).unwrap().text().into_owned()
        };
        let answers: Vec<String> = calls.iter().map(|call| text(&call.id)).collect();
        assert_eq!(answers, ["one", "all", "two"]);
    });
}

#[test]
fn d9_one_message_of_any_api_is_read_like_a_list_of_one() {
    let messages = [
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}]}),
        json!({"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]}),
        json!({"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {}}}]}),
        json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "ls", "input": {}}}]}),
    ];
    for message in messages {
        let one = read::said(&message.to_string()).unwrap();
        assert_eq!(one, read::said(&json!([message]).to_string()).unwrap());
    }
    // What no API has is refused by the rule of the usual form.
    let refused = read::said(r#"{"role": "user", "content": [{"typo": "text"}]}"#).unwrap_err();
    assert!(refused.to_string().contains("type"), "{refused}");
}
