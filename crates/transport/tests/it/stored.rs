//! Answers that the vendor keeps: only what is new is sent, and all of it as soon as that does
//! not go on from the last answer.

use std::sync::Arc;

use interleaf::assemble::{PlacementRule, Recipe};
use interleaf::model::{ContextKind, Finish, Json, Message, Tool, ToolCall};
use interleaf::store::{self, Page};
use interleaf::wire::{Family, OwnFields, Vendor};
use interleaf::{GoesOn, Next, Session, StoredAnswers, Target, WholeCause};
use interleaf_doubles::{Answer, Asked, Double, Exchange, Fault, Role, Settings};
use interleaf_transport::{Because, Retries};
use serde_json::json;

use crate::families::{KEY, builder, saying, transport};
use crate::server::{Act, Server};

/// Calls a tool in every second answer.
fn brain(asked: &Asked) -> Answer {
    let n = asked.turns.iter().filter(|turn| turn.role == Role::Assistant).count();
    match n % 2 {
        0 => {
            Answer::text(format!("Looking, {n}.")).with_call("ls", &json!({"path": n.to_string()}))
        }
        _ => Answer::text(format!("Done, {n}.")),
    }
}

async fn double() -> Double {
    Double::start(Settings::new().with_brain(brain)).await.unwrap()
}

fn target(double: &Double) -> Target {
    of_row("openai-responses", double)
}

fn of_row(name: &str, double: &Double) -> Target {
    let vendor = Vendor::named(name).unwrap().clone();
    let vendor = vendor.base_url(format!("{}/v1", double.base_url()));
    let mut target = Target::of(vendor, "gpt-4.1").with_key(KEY);
    target.stored = StoredAnswers::GoOn;
    target
}

fn recipe() -> Recipe {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    Recipe::new()
        .with_system("You are careful.")
        .with_tools(vec![Tool::new("ls", "Lists.", schema)])
}

async fn session() -> Session {
    Session::create(store::open("memory:").await.unwrap(), "").await.unwrap()
}

/// Asks, and answers the calls.
async fn ask(session: &mut Session, recipe: &Recipe, target: &Target) -> Option<GoesOn> {
    let answer = transport().ask(session, recipe, target).await.unwrap();
    let calls = session.open_calls();
    session.results(calls.iter().map(|call: &ToolCall| call.result("a.rs"))).await.unwrap();
    answer.impact.unwrap().goes_on
}

/// A question, and requests until it is answered.
async fn round(session: &mut Session, recipe: &Recipe, target: &Target) -> Vec<Option<GoesOn>> {
    session.append(Message::user("And now?")).await.unwrap();
    let first = ask(session, recipe, target).await;
    vec![first, ask(session, recipe, target).await]
}

fn is_from(goes_on: &Option<GoesOn>) -> bool {
    matches!(goes_on, Some(GoesOn::From { .. }))
}

/// Why the next request says all.
async fn cause(session: &mut Session, recipe: &Recipe, target: &Target) -> WholeCause {
    let Next::Send(request) = session.preview(recipe, target).await.unwrap() else { panic!() };
    match request.impact.goes_on {
        Some(GoesOn::Whole(cause)) => {
            let body = String::from_utf8(request.body.to_bytes()).unwrap();
            assert!(!body.contains("previous_response_id"), "{body}");
            cause
        }
        other => panic!("{other:?}"),
    }
}

fn plain(session: &Session) -> Vec<String> {
    session
        .conversation()
        .visible()
        .map(|message| format!("{}: {}", message.role(), message.text()))
        .collect()
}

/// What the model was asked, without the ids of calls.
fn seen(exchange: &Exchange) -> String {
    let asked = exchange.asked.as_ref().unwrap();
    let texts: Vec<&str> = asked.texts().collect();
    format!("{} {:?} {:?}", asked.turns.len(), asked.system.len(), texts)
}

#[tokio::test]
async fn twenty_rounds_send_only_what_is_new_and_end_with_the_same_conversation() {
    for name in ["openai-responses", "azure-responses"] {
        let (kept, whole) = (double().await, double().await);
        let (on, mut off) = (of_row(name, &kept), of_row(name, &whole));
        off.stored = StoredAnswers::Off;
        let (mut session, mut expected) = (session().await, self::session().await);
        for n in 0..20 {
            let told = round(&mut session, &recipe(), &on).await;
            assert_eq!(is_from(&told[0]), n > 0, "{told:?}");
            assert!(is_from(&told[1]), "{told:?}");
            round(&mut expected, &recipe(), &off).await;
        }
        assert_eq!(plain(&session), plain(&expected));
        let (sent, all) = (kept.requests(), whole.requests());
        assert_eq!((sent.len(), all.len()), (40, 40));
        for (number, (own, other)) in sent.iter().zip(&all).enumerate() {
            assert!(own.refusal.is_none(), "{:?}", own.refusal);
            assert_eq!(own.body["store"], true, "{number}");
            let n_items = own.body["input"].as_array().unwrap().len();
            assert_eq!(own.body["previous_response_id"].is_string(), number > 0, "{number}");
            // The first has the system text, which the vendor keeps with the rest.
            let expected = if number == 0 { 2 } else { 1 };
            assert_eq!(n_items, expected, "{number}: {}", own.body["input"]);
            // The model sees all of it.
            assert_eq!(seen(own), seen(other), "{number}");
            // What is recorded is what was sent, and all that was seen is known as well.
            let no = number as u64;
            let rebuilt = session.rebuild(no).await.unwrap();
            assert_eq!(serde_json::from_slice::<serde_json::Value>(&rebuilt).unwrap(), own.body);
            let rebuilt = session.rebuild_whole(no).await.unwrap();
            let rebuilt: serde_json::Value = serde_json::from_slice(&rebuilt).unwrap();
            assert_eq!(
                rebuilt["input"].as_array().unwrap().len(),
                other.body["input"].as_array().unwrap().len()
            );
        }
        // The window counts all, and so does the prediction.
        let last = session.requests(Page::newest(1)).await.unwrap();
        let explained = session.explain(None, None, 1).await.unwrap();
        let usage = last[0].usage.unwrap();
        let tokens = explained[0].impact.as_ref().unwrap().tokens;
        assert!(tokens.abs_diff(usage.prompt) * 2 < usage.prompt, "{tokens} {usage:?}");
    }
}

#[tokio::test]
async fn what_is_recorded_has_the_bytes_of_what_was_sent() {
    let double = double().await;
    let mut session = session().await;
    round(&mut session, &recipe(), &target(&double)).await;
    session.append(Message::user("Again.")).await.unwrap();
    let Next::Send(request) = session.request(&recipe(), &target(&double)).await.unwrap() else {
        panic!()
    };
    assert!(is_from(&request.impact.goes_on));
    assert_eq!(session.rebuild(request.number.unwrap()).await.unwrap(), request.body.to_bytes());
}

#[tokio::test]
async fn the_first_request_says_all() {
    let double = double().await;
    let mut session = session().await;
    session.append(Message::user("Hello.")).await.unwrap();
    assert_eq!(cause(&mut session, &recipe(), &target(&double)).await, WholeCause::First);
}

#[tokio::test]
async fn another_vendor_or_model_is_told_all() {
    let double = double().await;
    let mut session = session().await;
    round(&mut session, &recipe(), &target(&double)).await;
    session.append(Message::user("Again.")).await.unwrap();
    let other = of_row("azure-responses", &double);
    assert_eq!(cause(&mut session, &recipe(), &other).await, WholeCause::Vendor);
    let mut other = target(&double);
    other.options.model = "gpt-4.1-mini".into();
    assert_eq!(cause(&mut session, &recipe(), &other).await, WholeCause::Model);
    let mut other = Target::new("anthropic", "claude-sonnet-4-5").unwrap().with_key(KEY);
    other.stored = StoredAnswers::GoOn;
    assert_eq!(cause(&mut session, &recipe(), &other).await, WholeCause::Unsupported);
    // Once it was told all, it goes on from its own answers.
    let mut other = target(&double);
    other.options.model = "gpt-4.1-mini".into();
    ask(&mut session, &recipe(), &other).await;
    assert!(is_from(&ask(&mut session, &recipe(), &other).await));
}

#[tokio::test]
async fn an_operation_and_a_rollback_say_all() {
    let double = double().await;
    let mut session = session().await;
    for _ in 0..3 {
        round(&mut session, &recipe(), &target(&double)).await;
    }
    let before = session.conversation().current_batch();
    let hide = interleaf::read::operation(r#"{"truncate": {"keep_last": 4}}"#).unwrap();
    session.operate(hide).await.unwrap();
    session.append(Message::user("Again.")).await.unwrap();
    let told = cause(&mut session, &recipe(), &target(&double)).await;
    assert!(matches!(&told, WholeCause::Changed(why) if why.contains("operation")), "{told:?}");
    ask(&mut session, &recipe(), &target(&double)).await;
    session.roll_back(before).await.unwrap();
    session.append(Message::user("Once more.")).await.unwrap();
    assert_eq!(cause(&mut session, &recipe(), &target(&double)).await, WholeCause::RolledBack);
}

#[tokio::test]
async fn a_summary_says_all() {
    let double = double().await;
    let mut session = session().await;
    for _ in 0..2 {
        round(&mut session, &recipe(), &target(&double)).await;
    }
    let covered = session.conversation().visible().nth(3).unwrap().id.clone();
    session.summarise_through(&covered, "They looked at files.").await.unwrap();
    session.append(Message::user("Again.")).await.unwrap();
    let told = cause(&mut session, &recipe(), &target(&double)).await;
    assert!(matches!(&told, WholeCause::Changed(_)), "{told:?}");
    ask(&mut session, &recipe(), &target(&double)).await;
    assert!(is_from(&ask(&mut session, &recipe(), &target(&double)).await));
}

#[tokio::test]
async fn a_repair_of_what_was_sent_says_all() {
    let double = double().await;
    let mut session = session().await;
    session.append(Message::user("Look.")).await.unwrap();
    transport().ask(&mut session, &recipe(), &target(&double)).await.unwrap();
    let call = session.open_calls().remove(0);
    // The call has no result yet: one is made up, which says so.
    session.append(Message::user("Never mind.")).await.unwrap();
    let mended = recipe();
    let _ = ask(&mut session, &mended, &target(&double)).await;
    // Now it comes, and stands where the made one stood.
    session.append(call.result("late.rs")).await.unwrap();
    session.append(Message::user("And?")).await.unwrap();
    let told = cause(&mut session, &mended, &target(&double)).await;
    assert!(matches!(&told, WholeCause::Changed(_)), "{told:?}");
}

#[tokio::test]
async fn context_that_moves_says_all_and_context_that_stays_goes_on() {
    let double = double().await;
    for (rule, goes_on) in [(PlacementRule::Tail, false), ("delta(1)".parse().unwrap(), true)] {
        let mut session = session().await;
        let mut told = Vec::new();
        for n in 0..4 {
            let todo = format!("{n} things are done");
            let recipe =
                recipe().with_rule(rule.clone()).with_context(ContextKind::Todo, todo.as_str());
            told.extend(round(&mut session, &recipe, &target(&double)).await);
        }
        for own in &told[1..] {
            assert_eq!(is_from(own), goes_on, "{rule}: {told:?}");
            if !goes_on {
                let words = own.as_ref().unwrap().to_string();
                assert!(words.contains("context: "), "{words}");
            }
        }
    }
    for exchange in double.requests() {
        assert!(exchange.refusal.is_none(), "{:?}", exchange.refusal);
    }
}

#[tokio::test]
async fn an_answer_that_was_never_taken_or_was_cut_says_all() {
    let double =
        Double::start(Settings::new().with_brain(brain).with_fault(3, Fault::Cut { at: 3_000 }))
            .await
            .unwrap();
    let target = target(&double);
    let mut session = session().await;
    round(&mut session, &recipe(), &target).await;
    session.append(Message::user("Again.")).await.unwrap();
    session.request(&recipe(), &target).await.unwrap();
    assert_eq!(cause(&mut session, &recipe(), &target).await, WholeCause::Unanswered);
    session.append(Message::user("And again.")).await.unwrap();
    assert_eq!(cause(&mut session, &recipe(), &target).await, WholeCause::Unanswered);
    let one = std::slice::from_ref(&target);
    let once = builder().retries(Retries::none()).build().unwrap();
    let asking = once.ask_streaming(&mut session, &recipe(), one).await.unwrap();
    let cut = asking.finish().await.unwrap_err();
    assert!(cut.kept().is_some());
    session.append(Message::user("Still there?")).await.unwrap();
    assert_eq!(cause(&mut session, &recipe(), &target).await, WholeCause::Unanswered);
}

#[tokio::test]
async fn a_fork_says_all_once() {
    let double = double().await;
    let mut session = session().await;
    round(&mut session, &recipe(), &target(&double)).await;
    let mut fork = session.fork("another way").await.unwrap();
    fork.append(Message::user("Otherwise?")).await.unwrap();
    assert_eq!(cause(&mut fork, &recipe(), &target(&double)).await, WholeCause::Fork);
    ask(&mut fork, &recipe(), &target(&double)).await;
    assert!(is_from(&ask(&mut fork, &recipe(), &target(&double)).await));
    assert!(round(&mut session, &recipe(), &target(&double)).await.iter().all(is_from));
}

#[tokio::test]
async fn an_answer_that_the_vendor_does_not_know_is_said_again_with_the_whole_history() {
    for streams in [false, true] {
        let double = double().await;
        let target = target(&double);
        let mut session = session().await;
        round(&mut session, &recipe(), &target).await;
        double.forget();
        session.append(Message::user("Still there?")).await.unwrap();
        let answer = match streams {
            false => transport().ask(&mut session, &recipe(), &target).await.unwrap(),
            true => {
                let one = std::slice::from_ref(&target);
                let asking = transport().ask_streaming(&mut session, &recipe(), one).await.unwrap();
                asking.finish().await.unwrap()
            }
        };
        let because: Vec<Because> = answer.attempts.iter().map(|own| own.because).collect();
        assert_eq!(because, [Because::First, Because::WholeHistory]);
        assert_eq!(answer.impact.unwrap().goes_on, Some(GoesOn::Whole(WholeCause::Unknown)));
        let sent = double.requests();
        assert_eq!((sent[0].status, sent[1].status), (400, 200));
        assert!(sent[1].body["previous_response_id"].is_null());
        let calls = session.open_calls();
        session.results(calls.iter().map(|call| call.result("a.rs"))).await.unwrap();
        assert!(is_from(&ask(&mut session, &recipe(), &target).await));
    }
}

#[tokio::test]
async fn an_unknown_answer_is_known_by_its_code_or_its_words_under_any_status() {
    let error = |code: &str| {
        let message = "Previous response with id 'resp_1' not found.";
        format!(
            r#"{{"error":{{"message":"{message}","type":"invalid_request_error","param":"previous_response_id","code":{code}}}}}"#
        )
    };
    for (status, code) in [
        (400, "\"previous_response_not_found\""),
        (404, "null"),
        (404, "\"previous_response_not_found\""),
    ] {
        let double = double().await;
        let mut session = session().await;
        round(&mut session, &recipe(), &target(&double)).await;
        session.append(Message::user("Still there?")).await.unwrap();
        let good = saying(Family::OpenaiResponses, "Here.");
        let acts = [Act::json(status, error(code)), Act::stream(&good, 64)];
        let server = Server::start(acts).await;
        let mut elsewhere = target(&double);
        elsewhere.vendor.base_url = format!("{}/v1", server.url).into();
        let answer = transport().ask(&mut session, &recipe(), &elsewhere).await.unwrap();
        let because: Vec<Because> = answer.attempts.iter().map(|own| own.because).collect();
        assert_eq!(because, [Because::First, Because::WholeHistory], "{status} {code}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_old_or_not_kept_says_all() {
    let double = double().await;
    let target = target(&double);
    let mut session = session().await;
    session.append(Message::user("Hello.")).await.unwrap();
    let Next::Send(request) = session.request(&recipe(), &target).await.unwrap() else { panic!() };
    let mut reply = interleaf::model::Reply::new(Message::assistant("Hello."), Finish::Stop);
    (reply.id, reply.request) = (Some("resp_1".into()), request.number);
    let now = interleaf::now().unwrap().as_microseconds();
    let month = 31 * 24 * 60 * 60 * 1_000_000;
    reply.message.at = interleaf::model::Timestamp::from_microseconds(now - month).ok();
    session.take(reply).await.unwrap();
    session.append(Message::user("Still there?")).await.unwrap();
    assert_eq!(cause(&mut session, &recipe(), &target).await, WholeCause::Expired);

    // Where nothing is to be kept, nothing is gone on from.
    let mut unkept = target.clone();
    let no = Json::parse("false").unwrap();
    unkept.options.rest = OwnFields::of(Family::OpenaiResponses).with("store", no);
    assert_eq!(cause(&mut session, &recipe(), &unkept).await, WholeCause::Unstored);
    // Nor from an answer of before that was asked for.
    let mut off = target.clone();
    off.stored = StoredAnswers::Off;
    ask(&mut session, &recipe(), &off).await;
    assert_eq!(cause(&mut session, &recipe(), &target).await, WholeCause::Unstored);
}

#[tokio::test]
async fn a_session_that_is_opened_anew_goes_on() {
    let double = double().await;
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(Arc::clone(&store), "").await.unwrap();
    round(&mut session, &recipe(), &target(&double)).await;
    let id = session.id();
    drop(session);
    let mut session = Session::open(store, id).await.unwrap();
    assert!(round(&mut session, &recipe(), &target(&double)).await.iter().all(is_from));
}

#[tokio::test]
async fn another_system_text_says_all_and_other_tools_do_not() {
    let double = double().await;
    let mut session = session().await;
    round(&mut session, &recipe(), &target(&double)).await;
    let other = recipe().with_system("Now be quick.");
    session.append(Message::user("Again.")).await.unwrap();
    let told = cause(&mut session, &other, &target(&double)).await;
    assert!(matches!(&told, WholeCause::Changed(why) if why.contains("system text")), "{told:?}");
    let mut tools = recipe().tools.to_vec();
    tools.push(Tool::new("cat", "Reads.", json!({"type": "object"})));
    assert!(is_from(&ask(&mut session, &recipe().with_tools(tools), &target(&double)).await));
    let sent = double.requests();
    assert_eq!(sent.last().unwrap().body["tools"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn instructions_are_sent_with_every_request() {
    let double = double().await;
    let mut session = session().await;
    let body = r#"{"model": "m", "instructions": "Be careful.", "input": "Hello."}"#;
    let read = interleaf::wire::decode_request(Family::OpenaiResponses, body).unwrap();
    session.append(read.messages[0].clone()).await.unwrap();
    let tools = Recipe::new().with_tools(recipe().tools.to_vec());
    for _ in 0..3 {
        round(&mut session, &tools, &target(&double)).await;
    }
    let sent = double.requests();
    assert_eq!(sent.len(), 6);
    for (number, own) in sent.iter().enumerate() {
        assert_eq!(own.body["instructions"], "Be careful.", "{number}");
        assert_eq!(own.body["previous_response_id"].is_string(), number > 0, "{number}");
        assert_eq!(own.body["input"].as_array().unwrap().len(), 1, "{number}");
    }
}

#[tokio::test]
async fn calls_made_in_words_go_on_from_kept_answers_too() {
    let said = |asked: &Asked| {
        let n = asked.turns.iter().filter(|turn| turn.role == Role::Assistant).count();
        match n % 2 {
            0 => Answer::text("<tools><invoke name=\"ls\"></invoke></tools>"),
            _ => Answer::text("Done."),
        }
    };
    let double = Double::start(Settings::new().with_brain(said)).await.unwrap();
    let mut target = target(&double);
    target.text_tools = Some(true);
    let mut session = session().await;
    let mut told = round(&mut session, &recipe(), &target).await;
    told.extend(round(&mut session, &recipe(), &target).await);
    assert!(told[1..].iter().all(is_from), "{told:?}");
}
