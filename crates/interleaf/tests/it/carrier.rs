//! C16: context in a tool loop, for chat templates that drop the reasoning before the last
//! user message.

use interleaf::assemble::{Carrier, PlacementRule, Recipe};
use interleaf::model::{
    AssistantPart, Body, ContextKind, Finish, Message, Parts, Reply, Status, Thinking, notation,
};
use interleaf::wire::CacheMarks;
use interleaf::{Session, Target};
use serde_json::Value;

use crate::{block_on, memory};

/// An answer that thinks and calls a tool.
fn answer(n: usize) -> Message {
    let mut message = notation::parse(&format!("a [call call{n:05} ls]")).unwrap().remove(0);
    let Body::Assistant(parts) = &message.body else { panic!() };
    let thinking = AssistantPart::Thinking(Thinking {
        text: format!("thought {n}").into(),
        seal: None,
        producer: None,
        extra: Default::default(),
    });
    message.body = Body::Assistant(Parts::new([vec![thinking], parts.to_vec()].concat()).unwrap());
    message
}

/// The bodies of a session on vLLM that runs in a loop of eight rounds.
fn bodies(rule: PlacementRule, carrier: Carrier) -> Vec<Value> {
    let mut target = Target::new("vllm", "qwen3").unwrap();
    target.vendor.base_url = "http://localhost:8000/v1".into();
    bodies_for(target, rule, carrier)
}

fn bodies_for(target: Target, rule: PlacementRule, carrier: Carrier) -> Vec<Value> {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("Fix the alarm.")).await.unwrap();
        let mut bodies = Vec::new();
        for n in 0..8 {
            let recipe = Recipe::new()
                .with_system("You are careful.")
                .with_context(ContextKind::Role, "You mend programs.")
                .with_context(ContextKind::Todo, format!("{n} done"))
                .with_rule(rule.clone())
                .with_carrier(carrier);
            let request = session.request(&recipe, &target).await.unwrap().request().unwrap();
            bodies.push(serde_json::from_slice(&request.body.to_bytes()).unwrap());
            let mut reply = Reply::new(answer(n), Finish::ToolCalls);
            reply.request = request.number;
            let call = session.take(reply).await.unwrap().calls().next().unwrap().id.clone();
            session.append(Message::tool(call, Status::Ok, "src")).await.unwrap();
        }
        bodies
    })
}

/// How much of the reasoning in a body such a template shows: what comes after the last
/// user message.
fn shown(body: &Value) -> usize {
    let messages = body["messages"].as_array().unwrap();
    let last = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    messages[last..].iter().filter(|message| message["reasoning_content"].is_string()).count()
}

#[test]
fn c16_with_attached_context_a_running_loop_keeps_its_reasoning() {
    for rule in ["after_tool_result(3)", "tail", "sticky(14)", "delta(24)", "auto(8)"] {
        let rule: PlacementRule = rule.parse().unwrap();
        for (n, body) in bodies(rule.clone(), Carrier::Attached).iter().enumerate() {
            let messages = body["messages"].as_array().unwrap();
            let users: Vec<usize> =
                (0..messages.len()).filter(|&at| messages[at]["role"] == "user").collect();
            // The task is the only user message, but for context that stands before it.
            let task = messages.iter().position(|m| {
                m["content"].as_str().is_some_and(|text| text.contains("Fix the alarm."))
            });
            assert_eq!(users.last().copied(), task, "{rule} in request {n}");
            assert_eq!(shown(body), n, "{rule} in request {n}");
            let all = body.to_string();
            assert!(all.contains("## Agent TODO List"), "{rule} in request {n}");
        }
    }
}

#[test]
fn c16_with_messages_of_its_own_it_loses_it() {
    let shown_last = |rule: &str| {
        let bodies = bodies(rule.parse().unwrap(), Carrier::Message);
        shown(bodies.last().unwrap())
    };
    assert_eq!(shown_last("tail"), 0);
    assert_eq!(shown_last("after_tool_result(3)"), 2);
    assert_eq!(shown_last("delta(24)"), 0);
}

#[test]
fn c16_every_request_of_an_attached_delta_repeats_the_one_before() {
    let bodies = bodies("delta(24)".parse().unwrap(), Carrier::Attached);
    for pair in bodies.windows(2) {
        let [before, now] = [&pair[0], &pair[1]].map(|body| body["messages"].as_array().unwrap());
        assert_eq!(before[..], now[..before.len()]);
    }
}

#[test]
fn c11_the_mark_stands_on_the_newest_element_in_whatever_carries_it() {
    for carrier in [Carrier::Message, Carrier::Attached, Carrier::System] {
        let mut target = Target::new("anthropic", "claude-opus-5").unwrap().with_key("k");
        target.options.cache = CacheMarks::On;
        let bodies = bodies_for(target, "delta(24)".parse().unwrap(), carrier);
        for body in &bodies {
            let messages = body["messages"].as_array().unwrap();
            let last = messages.last().unwrap()["content"].as_array().unwrap().last().unwrap();
            assert!(last["cache_control"].is_object(), "{carrier}: {last}");
            let marks = body["messages"].to_string().matches("cache_control").count();
            assert_eq!(marks, 1, "{carrier}: {body}");
        }
        // But for the marks, each repeats the one before.
        let unmarked = |body: &Value| {
            let mark = r#","cache_control":{"type":"ephemeral"}"#;
            body["messages"].to_string().replace(mark, "")
        };
        for pair in bodies.windows(2) {
            let [before, now] = [&pair[0], &pair[1]].map(unmarked);
            let before = before.strip_suffix(']').unwrap();
            assert!(now.starts_with(before), "{carrier}: {before}\n{now}");
        }
    }
}
