//! C15: thinking goes back only after exactly what it was made after.

use interleaf::assemble::{Carrier, Recipe, SystemMessages};
use interleaf::conversation::Conversation;
use interleaf::model::{
    AssistantPart, Body, ContextKind, Finish, Message, Parts, Producer, Reply, Seal, Status, Text,
    Thinking, notation,
};
use interleaf::wire::{Adjustment, AdjustmentKind};
use interleaf::{Session, Single, Target};
use serde_json::{Value, json};

use crate::{block_on, memory};

fn target(bound: Option<bool>) -> Target {
    let mut target = Target::new("anthropic", "claude-sonnet-4-5").unwrap().with_key("k");
    target.bound_thinking = bound;
    target
}

/// An answer that thinks and calls a tool.
fn answer(n: usize) -> Message {
    let mut message = notation::parse(&format!("a [call c{n} ls]")).unwrap().remove(0);
    let Body::Assistant(parts) = &message.body else { panic!() };
    let thinking = AssistantPart::Thinking(Thinking {
        text: format!("th{n}!").into(),
        seal: Some(Seal::Signature("s".into())),
        producer: Some(Producer { vendor: "anthropic".into(), model: None }),
        extra: Default::default(),
    });
    let text = AssistantPart::Text(Text::new(format!("step {n}")));
    let parts = [vec![thinking, text], parts.to_vec()].concat();
    message.body = Body::Assistant(Parts::new(parts).unwrap());
    message
}

fn recipe(todo: Option<String>) -> Recipe {
    let recipe = Recipe::new().with_system("You are careful.");
    match todo {
        Some(todo) => recipe.with_context(ContextKind::Todo, todo),
        None => recipe,
    }
}

/// Which of the thoughts are in a body.
fn thoughts(body: &[u8]) -> Vec<usize> {
    let body = std::str::from_utf8(body).unwrap();
    (0..20).filter(|n| body.contains(&format!("\"th{n}!\""))).collect()
}

/// Runs a loop; the thoughts in each request.
fn run(
    target: &Target,
    todo: impl Fn(usize) -> Option<String>,
    n_nodes: usize,
) -> (Vec<Vec<usize>>, usize) {
    block_on(async {
        let store = memory().await;
        let mut first = Session::create(store.clone(), "").await.unwrap();
        first.append(Message::user("go")).await.unwrap();
        let mut sent = Vec::new();
        let mut n_told = 0;
        for n in 0..10 {
            // Another node, or the same one started anew, makes each request and takes its answer.
            let mut anew = Session::open(store.clone(), first.id()).await.unwrap();
            let session = if n_nodes > 1 { &mut anew } else { &mut first };
            let request = session.request(&recipe(todo(n)), target).await.unwrap();
            let request = request.request().unwrap();
            sent.push(thoughts(&request.body.to_bytes()));
            let dropped = |a: &&Adjustment| a.kind == AdjustmentKind::ThinkingDropped;
            n_told += request.adjustments().filter(dropped).count();
            let mut reply = Reply::new(answer(n), Finish::ToolCalls);
            reply.request = request.number;
            if n_nodes > 1 {
                anew = Session::open(store.clone(), anew.id()).await.unwrap();
            }
            let session = if n_nodes > 1 { &mut anew } else { &mut first };
            let said = session.take(reply).await.unwrap();
            let call = said.calls().next().unwrap();
            session.append(Message::tool(call.id.clone(), Status::Ok, "src")).await.unwrap();
        }
        (sent, n_told)
    })
}

#[test]
fn thinking_stays_while_nothing_before_it_changes() {
    let (sent, n_told) = run(&target(Some(true)), |_| None, 1);
    let all: Vec<Vec<usize>> = (0..10).map(|n| (0..n).collect()).collect();
    assert_eq!((sent, n_told), (all.clone(), 0));
    // A model that does not bind its thinking gets all of it.
    assert_eq!(run(&target(None), |n| Some(format!("{n} done")), 1).0, all);
}

#[test]
fn thinking_after_a_block_that_changed_is_dropped_and_stays_dropped() {
    for n_nodes in [1, 2] {
        let (sent, n_told) = run(&target(Some(true)), |n| Some(format!("{n} done")), n_nodes);
        for (n, shown) in sent.iter().enumerate() {
            // The list is another in every request, and every thought was made after one.
            assert_eq!(shown, &[] as &[usize], "request {n}");
        }
        assert_eq!(n_told, (0..10).sum::<usize>(), "each is told");
        // While the list stands still before the thoughts, they stay; then it changes.
        let once = |n: usize| Some(format!("{} done", n / 3));
        let (sent, _) = run(&target(Some(true)), once, n_nodes);
        let mut dropped = std::collections::BTreeSet::new();
        for (n, shown) in sent.iter().enumerate() {
            assert!(shown.iter().all(|thought| !dropped.contains(thought)), "one came back");
            dropped.extend((0..n).filter(|thought| !shown.contains(thought)));
        }
        assert_eq!(sent[2], [0, 1]);
        assert_eq!(sent[3], [] as [usize; 0]);
    }
}

#[test]
fn c15_thinking_of_an_answer_that_was_appended_is_bound_to_the_request_before_it() {
    block_on(async {
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user("go")).await.unwrap();
        let target = target(Some(true));
        for (todo, shown) in [("one", vec![]), ("one", vec![0]), ("two", vec![])] {
            // The same holds for a session that was opened since.
            session = Session::open(store.clone(), session.id()).await.unwrap();
            let n = session.conversation().log_len() / 2;
            let recipe = recipe(Some(todo.to_owned()));
            let preview = session.preview(&recipe, &target).await.unwrap().request().unwrap();
            let request = session.record(&recipe, &target).await.unwrap().request().unwrap();
            let body = request.body.to_bytes();
            assert_eq!(preview.body.to_bytes(), body);
            assert_eq!(thoughts(&body), shown, "request {n}");
            session = Session::open(store.clone(), session.id()).await.unwrap();
            session.append(answer(n)).await.unwrap();
            let call = session.open_calls()[0].clone();
            session.append(call.result("src")).await.unwrap();
        }
    });
}

/// All that a body gives the model, without what it thought itself: the system, the tools and
/// the messages, or those before a thought, if the body has that thought.
fn given(body: &[u8], before: Option<&str>) -> Option<String> {
    let mut body: Value = serde_json::from_slice(body).unwrap();
    let mut messages = Vec::new();
    let mut is_found = before.is_none();
    for message in body["messages"].as_array_mut().unwrap() {
        if let Some(blocks) = message["content"].as_array_mut() {
            if before.is_some_and(|thought| blocks.iter().any(|b| b["thinking"] == thought)) {
                is_found = true;
                break;
            }
            blocks.retain(|block| block["type"] != "thinking");
        }
        messages.push(message.clone());
    }
    is_found.then(|| json!([body["system"], body["tools"], messages]).to_string())
}

/// Ten rounds of a loop under a rule and a carrier; how many thoughts were sent back, and how
/// many were told of as dropped. Each that is sent back stands after the bytes that it was made
/// after.
async fn rounds(rule: &str, carrier: Carrier) -> (usize, usize) {
    let mut session = Session::create(memory().await, "").await.unwrap();
    session.append(Message::user("go")).await.unwrap();
    let target = Target::new("anthropic", "claude-opus-5-5").unwrap().with_key("k");
    let (mut n_sent, mut n_told) = (0, 0);
    let mut made_after: Vec<String> = Vec::new();
    for n in 0..10 {
        let recipe = recipe(Some(format!("{n} done")))
            .with_carrier(carrier)
            .with_system_messages(SystemMessages::InPlace)
            .with_rule(rule.parse().unwrap());
        let request = session.request(&recipe, &target).await.unwrap().request().unwrap();
        let body = request.body.to_bytes();
        for (thought, made_after) in made_after.iter().enumerate() {
            if let Some(before) = given(&body, Some(&format!("th{thought}!"))) {
                assert_eq!(&before, made_after, "{rule} {carrier}: {thought} in {n}");
                n_sent += 1;
            }
        }
        let dropped = |a: &&Adjustment| a.kind == AdjustmentKind::ThinkingDropped;
        n_told += request.adjustments().filter(dropped).count();
        made_after.push(given(&body, None).unwrap());
        let mut reply = Reply::new(answer(n), Finish::ToolCalls);
        reply.request = request.number;
        let call = session.take(reply).await.unwrap().calls().next().unwrap().id.clone();
        session.append(Message::tool(call, Status::Ok, "src")).await.unwrap();
        if n == 4 {
            session.append(Message::system("Be brief.")).await.unwrap();
        }
    }
    (n_sent, n_told)
}

#[test]
fn c15_thinking_stands_after_the_bytes_it_was_made_after_for_every_rule_and_carrier() {
    let all: usize = (0..10).sum();
    for carrier in [Carrier::Message, Carrier::Attached, Carrier::System] {
        for rule in [
            "after_tool_result(3)",
            "before_assistant(2)",
            "from_end(4)",
            "after_system",
            "tail",
            "sticky(14)",
            "delta(24)",
            "auto(8)",
        ] {
            let (n_sent, n_told) = block_on(rounds(rule, carrier));
            assert_eq!(n_sent + n_told, all, "{rule} {carrier}: each is sent or told of");
            match rule {
                // What stays where it was shown costs no thinking.
                "delta(24)" | "auto(8)" => assert_eq!(n_told, 0, "{rule} {carrier}"),
                // What is another in every request costs all that comes after it.
                "tail" | "after_system" => assert_eq!(n_sent, 0, "{rule} {carrier}"),
                _ => assert!(n_told > 0, "{rule} {carrier}"),
            }
        }
    }
}

#[test]
fn a_model_that_binds_its_thinking_is_known_by_its_name() {
    let mut target = Target::new("anthropic", "claude-sonnet-5-5").unwrap().with_key("k");
    let changing = |n: usize| Some(format!("{n} done"));
    assert!(run(&target, changing, 1).0.iter().all(Vec::is_empty));
    target.bound_thinking = Some(false);
    assert!(run(&target, changing, 1).0.iter().skip(1).all(|shown| !shown.is_empty()));
}

#[test]
fn single_requests_in_a_chain_keep_dropped_thinking_out() {
    let mut conversation = Conversation::new();
    conversation.append(Message::user("go")).unwrap();
    let (mut previous, mut dropped) = (None, std::collections::BTreeSet::new());
    for n in 0..8 {
        let recipe = recipe(Some(format!("{n} done")));
        let mut single = Single::of(&conversation, &recipe);
        single.previous = previous.as_ref();
        single.bound_thinking = true;
        let body = single.preview(Some(&target(None))).unwrap().body.unwrap().to_bytes();
        let neutral = single.preview(None).unwrap();
        let shown = thoughts(&body);
        assert!(shown.iter().all(|thought| !dropped.contains(thought)), "{shown:?} at {n}");
        dropped.extend((0..n).filter(|thought| !shown.contains(thought)));
        let messages = neutral.entries().iter().map(|entry| entry.message.clone());
        previous = Some(interleaf::assemble::Previous::of(messages));
        conversation.append(answer(n)).unwrap();
        let result = notation::parse(&format!("t c{n}= src")).unwrap().remove(0);
        conversation.append(result).unwrap();
    }
    assert!(dropped.len() > 3, "{dropped:?}");
}
