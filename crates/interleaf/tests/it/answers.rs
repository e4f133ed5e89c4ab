//! Answer, take, request: what a model said goes back to it in order, nothing is lost,
//! and what is known of the answer can be asked later.

use interleaf::assemble::{Agent, OpenBlock, Recipe};
use interleaf::model::{
    ContextKind, Finish, Message, Origin, PartRef, Reply, Role, Tool, notation,
};
use interleaf::wire::{Decoder, Family, NameMap, Vendor, decode_request};
use interleaf::{ErrorKind, Next, Session, Target};
use serde_json::json;

use crate::{block_on, memory, target_of};

/// An answer of each API that thinks, speaks, calls and, where the API can say so, speaks
/// again, with a part that only the vendor knows, where there is one.
fn answer(family: Family) -> (&'static str, &'static str) {
    match family {
        Family::OpenaiChat => (
            "deepseek",
            r#"{"id":"r1","model":"m-1","choices":[{"index":0,"finish_reason":"tool_calls","message":
            {"role":"assistant","reasoning_content":"A list is needed.","content":"I look.",
             "tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\": \".\"}"}},
                           {"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]}}],
            "usage":{"prompt_tokens":50,"completion_tokens":7,"total_tokens":57}}"#,
        ),
        Family::OpenaiResponses => (
            "openai-responses",
            r#"{"id":"r1","object":"response","model":"m-1","status":"completed","output":[
            {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"A list is needed."}],"encrypted_content":"ZW5j"},
            {"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]},
            {"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{\"path\": \".\"}","status":"completed"},
            {"type":"compaction","id":"cmp_1","encrypted_content":"c3Vt"},
            {"type":"message","id":"msg_2","role":"assistant","status":"completed","content":[{"type":"output_text","text":"And wait.","annotations":[]}]}],
            "usage":{"input_tokens":50,"output_tokens":7,"total_tokens":57}}"#,
        ),
        Family::Anthropic => (
            "anthropic",
            r#"{"id":"r1","type":"message","role":"assistant","model":"m-1","stop_reason":"tool_use","content":[
            {"type":"thinking","thinking":"A list is needed.","signature":"c2ln"},
            {"type":"text","text":"I look."},
            {"type":"tool_use","id":"c1","name":"ls","input":{"path": "."}},
            {"type":"compaction","content":"what went before"},
            {"type":"text","text":"And wait."}],
            "usage":{"input_tokens":50,"output_tokens":7}}"#,
        ),
        Family::Gemini => (
            "google",
            r#"{"responseId":"r1","modelVersion":"m-1","candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[
            {"text":"A list is needed.","thought":true},
            {"text":"I look."},
            {"functionCall":{"id":"c1","name":"ls","args":{"path": "."}},"thoughtSignature":"c2ln"},
            {"text":"And wait."}]}}],
            "usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":7,"totalTokenCount":57}}"#,
        ),
        Family::Bedrock => (
            "bedrock",
            r#"{"output":{"message":{"role":"assistant","content":[
            {"reasoningContent":{"reasoningText":{"text":"A list is needed.","signature":"c2ln"}}},
            {"text":"I look."},
            {"toolUse":{"toolUseId":"c1","name":"ls","input":{"path": "."}}},
            {"text":"And wait."}]}},
            "stopReason":"tool_use","usage":{"inputTokens":50,"outputTokens":7,"totalTokens":57}}"#,
        ),
    }
}

/// What a part says, in a word; fields that vendors attach are not compared.
fn said(part: PartRef<'_>) -> String {
    match part {
        PartRef::Text(text) => format!("text {}", text.text),
        PartRef::Thinking(thinking) => format!("thinking {} {:?}", thinking.text, thinking.seal),
        PartRef::Call(call) => {
            format!("call {} {} {}", call.id, call.name, call.arguments.as_str())
        }
        PartRef::Image(_) | PartRef::File(_) => panic!("no model said this"),
        PartRef::Opaque(opaque) => format!("opaque {} {}", opaque.owner, opaque.value.as_str()),
    }
}

fn recipe() -> Recipe {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let mut recipe = Recipe::new().with_tools([Tool::new("ls", "Lists files.", schema)]);
    recipe.open_block = OpenBlock::Wait;
    recipe
}

#[test]
fn what_a_request_waits_for_may_be_answered_also_after_a_message_that_says_nothing() {
    block_on(async {
        for agent in [None, Some("scout")] {
            let mut session = Session::create(memory().await, "").await.unwrap();
            let origin = agent.map_or(Origin::Main, |name| Origin::SubAgent(name.into()));
            let said = notation::parse("u go\na [call c1 ls]\na [empty]\n").unwrap();
            for message in said {
                session.append(message.with_origin(origin.clone())).await.unwrap();
            }
            session
                .append(Message::user("to someone else").with_origin(Origin::Internal))
                .await
                .unwrap();
            let mut recipe = recipe().with_context(ContextKind::Role, "You look.");
            if let Some(name) = agent {
                recipe = recipe.with_agent(Agent::Sub(name.into()));
            }
            let target = target_of(Vendor::named("openai").unwrap(), "m-1");
            let Next::Wait(calls) = session.request(&recipe, &target).await.unwrap() else {
                panic!("it does not wait")
            };
            let results = calls.iter().map(|open| open.call.result("src")).collect::<Vec<_>>();
            match agent {
                None => session.results(results).await.unwrap(),
                Some(name) => session.sub_agent(name).results(results).await.unwrap(),
            };
            let next = session.request(&recipe, &target).await.unwrap();
            assert!(matches!(next, Next::Send(_)), "{agent:?}");
        }
    });
}

#[test]
fn what_a_model_said_goes_back_in_order_and_nothing_of_it_is_lost() {
    for family in Family::ALL {
        block_on(async {
            let (vendor, body) = answer(family);
            let target = target_of(Vendor::named(vendor).unwrap(), "m-1");
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user("Which files are here?")).await.unwrap();
            let request = session.request(&recipe(), &target).await.unwrap().request().unwrap();
            let reply = request.decoder.whole(200, [], body.as_bytes()).unwrap();
            let message = session.take(reply.clone()).await.unwrap();
            assert_eq!(message.body, reply.message.body, "{family}");

            // It waits for the calls themselves.
            let next = session.request(&recipe(), &target).await.unwrap();
            let Next::Wait(calls) = next else { panic!("it does not wait") };
            let waits: Vec<_> = calls.iter().map(|open| open.call.clone()).collect();
            assert_eq!(waits, message.calls().cloned().collect::<Vec<_>>());
            assert_eq!(waits, session.open_calls());
            session.results(waits.iter().map(|call| call.result("src"))).await.unwrap();
            assert!(session.open_calls().is_empty());

            let request = session.request(&recipe(), &target).await.unwrap().request().unwrap();
            let text = String::from_utf8(request.body.to_bytes()).unwrap();
            let sent = decode_request(vendor_family(vendor), &text).unwrap().messages;
            let assistant = sent.iter().filter(|message| message.role() == Role::Assistant);
            let back: Vec<_> = assistant.flat_map(|message| message.parts().map(said)).collect();
            let before: Vec<_> = message.parts().map(said).collect();
            assert_eq!(back, before, "{family}: {text}");
        });
    }
}

fn vendor_family(name: &str) -> Family {
    Vendor::named(name).unwrap().family
}

#[test]
fn what_is_known_of_an_answer_is_kept_with_it_in_one_transaction() {
    for family in Family::ALL {
        block_on(async {
            let (vendor, body) = answer(family);
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            session.append(Message::user("Which files are here?")).await.unwrap();
            let target = target_of(Vendor::named(vendor).unwrap(), "asked-for");
            let request = session.request(&recipe(), &target).await.unwrap().request().unwrap();
            let before = session.seq();
            // Another node takes the answer.
            let mut session = Session::open(store.clone(), session.id()).await.unwrap();
            let reply = request.decoder.whole(200, [], body.as_bytes()).unwrap();
            session.take(reply).await.unwrap();
            assert_eq!(session.seq(), before + 2, "the message and what it cost");

            let opened = Session::open(store, session.id()).await.unwrap();
            let kept = opened.conversation().visible().last().unwrap();
            let answered = kept.answered().unwrap();
            assert_eq!((answered.request, answered.vendor.as_deref()), (Some(0), Some(vendor)));
            let model = if family == Family::Bedrock { "asked-for" } else { "m-1" };
            assert_eq!(answered.model.as_deref(), Some(model));
            assert_eq!(answered.finish, Some(Finish::ToolCalls));
            let named = (family != Family::Bedrock).then_some("r1");
            assert_eq!(answered.response.as_deref(), named);
            let counters = opened.conversation().usage();
            assert_eq!((counters.current.prompt, counters.current.completion), (50, 7));
            let request = &opened.requests(interleaf::store::Page::newest(1)).await.unwrap()[0];
            assert_eq!(request.usage.unwrap().prompt, 50);
        });
    }
}

#[test]
fn a_result_that_answers_no_open_call_is_refused() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        let decoder = Decoder::new(Family::Anthropic, NameMap::default());
        let reply = decoder.whole(200, [], answer(Family::Anthropic).1.as_bytes()).unwrap();
        let message = session.take(reply).await.unwrap();
        let call = message.calls().next().unwrap();
        for (results, rule) in [
            (vec![Message::user("src")], "a result is expected, not a user message"),
            (
                vec![call.result("src"), call.result("src")],
                "the result for c1 answers no open call",
            ),
        ] {
            let error = session.results(results).await.unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Invalid, rule));
        }
        session.results([call.failure("there is no such folder")]).await.unwrap();
        assert_eq!(session.conversation().view_len(), 3);
    });
}

#[test]
fn results_are_not_lost_to_what_another_writes_while_the_tools_run() {
    fn is_send<T: Send>(future: T) -> T {
        future
    }
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        let decoder = Decoder::new(Family::Anthropic, NameMap::default());
        let reply = decoder.whole(200, [], answer(Family::Anthropic).1.as_bytes()).unwrap();
        let call = session.take(reply).await.unwrap().calls().next().unwrap().clone();
        let mut elsewhere = Session::open(session.store().clone(), session.id()).await.unwrap();
        elsewhere.mark(0, "decision").await.unwrap();
        // An agent's loop may run on any thread.
        assert_eq!(is_send(session.results([call.result("src")])).await.unwrap(), 2);
        // Who ran the same tool is told that its call has its result.
        let error = elsewhere.results([call.result("src")]).await.unwrap_err();
        assert_eq!(error.to_string(), "the result for c1 answers no open call");
        assert_eq!(elsewhere.conversation().log_len(), 3);
    });
}

#[test]
fn estimates_of_tokens_learn_from_what_the_api_reports() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user(&"a few words ".repeat(500))).await.unwrap();
        let target = Target::new("anthropic", "m-1").unwrap().with_key("k");
        // The ledger is the session's own.
        let recipe = Recipe::new().with_budget(target.budget());
        let mut counted = vec![];
        for _ in 0..2 {
            let request = session.request(&recipe, &target).await.unwrap().request().unwrap();
            counted.push(request.report.tokens.as_ref().unwrap().total());
            let body = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "."}],
                "usage": {"input_tokens": counted[0] * 2, "output_tokens": 1}});
            let body = body.to_string();
            let reply = request.decoder.whole(200, [], body.as_bytes()).unwrap();
            session.take(reply).await.unwrap();
        }
        assert!(counted[1] > counted[0] + 50, "{counted:?}");
    });
}

#[test]
fn an_answer_is_credited_to_the_request_that_it_answers_whichever_node_asked() {
    block_on(async {
        let store = memory().await;
        let target = Target::new("anthropic", "m-1").unwrap().with_key("k");
        let reply = |request: &interleaf::Request, prompt: u64| {
            let body = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "."}],
                "usage": {"input_tokens": prompt, "output_tokens": 1}});
            request.decoder.whole(200, [], body.to_string().as_bytes()).unwrap()
        };
        let mut one = Session::create(store.clone(), "").await.unwrap();
        one.append(Message::user("hello")).await.unwrap();
        let first = one.request(&recipe(), &target).await.unwrap().request().unwrap();
        one.take(reply(&first, 10)).await.unwrap();

        let mut other = Session::open(store.clone(), one.id()).await.unwrap();
        other.append(Message::user("and?")).await.unwrap();
        let second = other.request(&recipe(), &target).await.unwrap().request().unwrap();
        let third = other.request(&recipe(), &target).await.unwrap().request().unwrap();
        // The node that asked last takes the answer to the request before, and the other
        // node the answer to the last.
        other.take(reply(&second, 20)).await.unwrap();
        one.refresh().await.unwrap();
        one.take(reply(&third, 30)).await.unwrap();

        let requests = one.requests(interleaf::store::Page::newest(3)).await.unwrap();
        let spent: Vec<_> = requests.iter().map(|request| request.usage.unwrap().prompt).collect();
        assert_eq!(spent, [10, 20, 30]);
        let answered = one.conversation().visible().filter_map(|message| message.answered());
        let numbers: Vec<_> = answered.map(|answered| answered.request).collect();
        assert_eq!(numbers, [Some(0), Some(1), Some(2)]);
    });
}

#[test]
fn what_a_cut_stream_left_is_taken_and_its_finish_says_so() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        let target = Target::new("openai", "gpt-5").unwrap().with_key("k");
        let request = session.request(&recipe(), &target).await.unwrap().request().unwrap();
        let mut stream = request.decoder.stream();
        stream.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\ndata: {").unwrap();
        stream.finish().unwrap_err();
        session.take(stream.partial().unwrap()).await.unwrap();

        let opened = Session::open(session.store().clone(), session.id()).await.unwrap();
        let kept = opened.conversation().visible().last().unwrap();
        assert_eq!(kept.text(), "hel");
        assert_eq!(kept.answered().unwrap().finish, Some(Finish::Cut));
    });
}

#[test]
fn an_answer_that_is_taken_again_is_there_once() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        let target = Target::new("anthropic", "m-1").unwrap().with_key("k");
        let request = session.request(&recipe(), &target).await.unwrap().request().unwrap();
        let (_, body) = answer(Family::Anthropic);
        let reply = request.decoder.whole(200, [], body.as_bytes()).unwrap();
        let first = session.take(reply.clone()).await.unwrap();
        let again = session.take(reply).await.unwrap();
        assert_eq!((first.id.clone(), session.conversation().log_len()), (again.id.clone(), 2));
    });
}

#[test]
fn a_session_waits_for_results_unless_it_is_told_to_mend() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        let target = Target::new("anthropic", "m-1").unwrap().with_key("k");
        let request = session.request(&Recipe::new(), &target).await.unwrap().request().unwrap();
        let (_, body) = answer(Family::Anthropic);
        session.take(request.decoder.whole(200, [], body.as_bytes()).unwrap()).await.unwrap();
        assert!(matches!(session.request(&Recipe::new(), &target).await.unwrap(), Next::Wait(_)));
        let mut recipe = Recipe::new();
        recipe.open_block = OpenBlock::Mend;
        assert!(matches!(session.request(&recipe, &target).await.unwrap(), Next::Send(_)));
    });
}

#[test]
fn a_model_that_takes_no_prefill_is_asked_after_its_own_last_word() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("List the files.")).await.unwrap();
        session.append(Message::assistant("There are none.")).await.unwrap();
        let target = Target::new("anthropic", "claude-opus-4-6").unwrap().with_key("k");
        let request = session.request(&Recipe::new(), &target).await.unwrap().request().unwrap();
        let body: serde_json::Value = serde_json::from_slice(&request.body.to_bytes()).unwrap();
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.last().unwrap()["role"], "user");
    });
}

#[test]
fn an_answer_without_a_number_finds_its_request_however_long_ago_it_was_made() {
    block_on(async {
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        let target = target_of(Vendor::named("openai").unwrap(), "gpt-4o");
        session.request(&Recipe::new(), &target).await.unwrap();
        let role = Recipe::new().with_context(ContextKind::Role, "You look for causes.");
        let mut scout = session.sub_agent("scout");
        scout.append(Message::user("look")).await.unwrap();
        for _ in 0..70 {
            scout.request(&role, &target).await.unwrap();
        }
        let mut opened = Session::open(store, session.id()).await.unwrap();
        let reply = Reply::new(Message::assistant("hello"), Finish::Stop);
        let taken = opened.main_agent().take(reply).await.unwrap();
        assert_eq!(taken.answered().unwrap().request, Some(0));
    });
}

/// It does not end in time if each result is looked for among all calls.
#[test]
fn results_of_calls_without_number_are_taken_in_any_order() {
    const CALLS: usize = 20_000;
    block_on(async {
        let calls: String = (0..CALLS).map(|n| format!(" [call c{n} ls]")).collect();
        let said = notation::parse(&format!("u go\na{calls}\n")).unwrap();
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append_all(said.into_iter().map(std::sync::Arc::new)).await.unwrap();
        let waits = session.open_calls();
        session.results(waits.iter().rev().map(|call| call.result("src"))).await.unwrap();
        assert!(session.open_calls().is_empty());
        assert_eq!(session.conversation().log_len(), CALLS + 2);
    });
}

#[test]
fn d11_an_answer_that_was_read_without_the_request_gets_the_names_of_the_tools_back() {
    block_on(async {
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user("Tell her.")).await.unwrap();
        let tool = Tool::new("notify.user", "It tells a user.", json!({"type": "object"}));
        let recipe = Recipe::new().with_tools(vec![tool]);
        let target = target_of(Vendor::of(Family::OpenaiChat), "gpt-4o");
        session.request(&recipe, &target).await.unwrap();
        let answer = r#"{"id":"r1","choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[
            {"id":"c1","type":"function","function":{"name":"notify_user","arguments":"{}"}}]}}]}"#;
        let decoder = Decoder::new(Family::OpenaiChat, NameMap::default());
        let reply = decoder.whole(200, [], answer.as_bytes()).unwrap();
        // Another process takes it.
        let mut opened = Session::open(store, session.id()).await.unwrap();
        let kept = opened.take(reply.clone()).await.unwrap();
        assert_eq!(kept.calls().next().unwrap().name.as_str(), "notify.user");
        let again = Reply { request: Some(0), ..reply };
        assert_eq!(opened.take(again).await.unwrap().id, kept.id);
    });
}

#[test]
fn d11_a_name_that_two_tools_share_on_their_way_back_is_the_one_that_was_called() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        // A tool that is gone has the name that the declared one gets on this API.
        let said = "u Tell them.\na [call c0 notify_user {}]\nt c0= told\nu Again.";
        for message in notation::parse(said).unwrap() {
            session.append(message).await.unwrap();
        }
        let tool = Tool::new("notify.user", "Tells the user.", json!({"type": "object"}));
        let recipe = Recipe::new().with_tools([tool]);
        let target = target_of(Vendor::named("openai").unwrap(), "gpt-4.1");
        let request = session.request(&recipe, &target).await.unwrap().request().unwrap();
        let body = String::from_utf8(request.body.to_bytes()).unwrap();
        let at = body.find("notify_user_").unwrap();
        let written = body[at..].split('"').next().unwrap();
        let called = |name: &str| {
            format!(
                r#"{{"choices":[{{"index":0,"finish_reason":"tool_calls","message":{{"role":"assistant",
                "tool_calls":[{{"id":"c1","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}]}}}}]}}"#
            )
        };
        let reply = request.decoder.whole(200, [], called(written).as_bytes()).unwrap();
        let taken = session.take(reply).await.unwrap();
        assert_eq!(taken.calls().next().unwrap().name.as_str(), "notify_user");
    });
}
