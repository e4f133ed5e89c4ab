//! Spans by OpenTelemetry's conventions for generative AI, as a subscriber sees them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use interleaf::plan::Plan;
use interleaf::wire::Family;
use interleaf_agent::{Agent, PlanEnd, PlanRunner, Tool as _};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::world::{agent, changing, double, echo, n_said, says, session, target, transport};

/// A span as it was seen.
#[derive(Debug, Clone, Default)]
struct Seen {
    name: &'static str,
    fields: BTreeMap<String, String>,
    above: Option<u64>,
}

/// Keeps all spans, and the words of all events.
#[derive(Clone, Default)]
struct Watcher {
    spans: Arc<Mutex<Vec<Seen>>>,
    /// The spans that are entered.
    open: Arc<Mutex<Vec<u64>>>,
    said: Arc<Mutex<String>>,
}

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Watcher {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("interleaf_agent")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut spans = self.spans.lock().unwrap();
        let open = self.open.lock().unwrap();
        let above = attributes.parent().map(Id::into_u64).or_else(|| open.last().copied());
        let mut seen = Seen { name: attributes.metadata().name(), above, ..Seen::default() };
        attributes.record(&mut Fields(&mut seen.fields));
        spans.push(seen);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut spans = self.spans.lock().unwrap();
        values.record(&mut Fields(&mut spans[span.into_u64() as usize - 1].fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        self.said.lock().unwrap().push_str(&format!("{fields:?}"));
    }

    fn enter(&self, span: &Id) {
        self.open.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut open = self.open.lock().unwrap();
        let at = open.iter().rposition(|id| *id == span.into_u64());
        open.remove(at.unwrap());
    }
}

fn brain(asked: &Asked) -> Answer {
    match (says(asked, "You look for causes."), n_said(asked)) {
        (false, 0) => Answer::text("The secret plan.")
            .with_call("scout", &json!({"task": "The secret task."}))
            .with_call("fails", &json!({"name": "a secret name"})),
        (true, 0) => Answer::new().with_call("echo", &json!({"name": "another secret"})),
        (true, _) => Answer::text("The secret report."),
        _ => Answer::text("The secret end."),
    }
}

async fn watched(content: bool) -> Watcher {
    let watcher = Watcher::default();
    // With a single subscriber, a span that another test makes first would be switched off for all.
    let _second = tracing::Dispatch::new(Watcher::default());
    let guard = tracing::subscriber::set_default(watcher.clone());
    let double = double(brain).await;
    let scout = Agent::new("scout")
        .described("Looks for a cause.")
        .with_role("You look for causes.")
        .with_tool(echo());
    let fails = changing("fails", |_, _| async {
        Err("a secret reason".parse::<u8>().unwrap_err().into())
    });
    let mut main = agent(&double).with_tool(fails).with_sub_agent(scout);
    if content {
        main = main.with_content_in_spans();
    }
    main.run(&transport(), session().await, "The secret question.").await.unwrap();
    drop(guard);
    watcher
}

#[tokio::test]
async fn a_run_is_told_in_spans_of_the_genai_conventions_and_none_holds_what_was_said() {
    let watcher = watched(false).await;
    let spans = watcher.spans.lock().unwrap().clone();
    let mut told: Vec<String> = Vec::new();
    for span in &spans {
        let above = span.above.map(|id| spans[id as usize - 1].fields["otel.name"].clone());
        let name = &span.fields["otel.name"];
        assert_eq!(span.fields["gen_ai.operation.name"], span.name);
        told.push(format!("{name} < {}", above.unwrap_or_default()));
    }
    told.sort();
    insta::assert_snapshot!(told.join("\n"), @r"
    chat claude-sonnet-4-5 < invoke_agent mender
    chat claude-sonnet-4-5 < invoke_agent mender
    chat claude-sonnet-4-5 < invoke_agent scout
    chat claude-sonnet-4-5 < invoke_agent scout
    execute_tool echo < invoke_agent scout
    execute_tool fails < invoke_agent mender
    execute_tool scout < invoke_agent mender
    invoke_agent mender < 
    invoke_agent scout < execute_tool scout
    ");
    let of = |name: &str| spans.iter().find(|span| span.fields["otel.name"] == name).unwrap();
    let chat = &of("chat claude-sonnet-4-5").fields;
    assert_eq!(chat["gen_ai.provider.name"], "anthropic");
    assert_eq!(chat["gen_ai.request.model"], "claude-sonnet-4-5");
    assert_eq!(chat["otel.kind"], "client");
    for field in ["input_tokens", "output_tokens", "cache_read.input_tokens"] {
        let n: u64 = chat[&format!("gen_ai.usage.{field}")].parse().unwrap();
        assert!(n > 0 || field.starts_with("cache"), "{field}");
    }
    assert!(chat.contains_key("gen_ai.response.id") && chat.contains_key("gen_ai.response.model"));
    assert_eq!(chat["gen_ai.response.finish_reasons"], "tool_calls");
    let invoked = &of("invoke_agent scout").fields;
    assert_eq!(invoked["gen_ai.agent.description"], "Looks for a cause.");
    assert_eq!(invoked["gen_ai.conversation.id"], chat["gen_ai.conversation.id"]);
    let failed = &of("execute_tool fails").fields;
    assert_eq!(failed["error.type"], "tool_error");
    assert_eq!(failed["gen_ai.tool.type"], "function");
    assert!(failed.contains_key("gen_ai.tool.call.id"));
    assert!(!of("execute_tool echo").fields.contains_key("error.type"));
    let all = format!("{spans:?} {}", watcher.said.lock().unwrap());
    assert!(!all.contains("ecret") && !all.contains("invalid digit"), "{all}");
}

#[tokio::test]
async fn a_request_of_a_plan_s_step_is_told_as_any_other() {
    let watcher = Watcher::default();
    let _second = tracing::Dispatch::new(Watcher::default());
    let guard = tracing::subscriber::set_default(watcher.clone());
    let double =
        double(|_: &Asked| Answer::new().with_call("echo", &json!({"name": "a secret"}))).await;
    let step = json!({"objective": "Say it.", "steps": [{"id": "a", "tool": "echo"}]});
    let plan = Plan::read_with(&step.to_string(), &[echo().spec()]).unwrap();
    let runner = PlanRunner::new(plan).with_target(target(Family::Anthropic, &double));
    let run = runner.with_tool(echo()).start(&transport(), session().await).await.unwrap();
    assert_eq!(run.finish().await.unwrap().end, PlanEnd::Completed);
    drop(guard);
    let spans = watcher.spans.lock().unwrap().clone();
    let names: Vec<&str> = spans.iter().map(|span| span.name).collect();
    assert_eq!(names, ["run_plan", "chat", "execute_tool"]);
    let chat = &spans[1].fields;
    assert_eq!((&*chat["otel.name"], spans[1].above), ("chat claude-sonnet-4-5", Some(1)));
    assert!(chat["gen_ai.usage.input_tokens"].parse::<u64>().unwrap() > 0);
    assert!(!format!("{spans:?}").contains("secret"));
}

#[tokio::test]
async fn spans_hold_what_was_said_if_that_is_asked_for() {
    let watcher = watched(true).await;
    let spans = watcher.spans.lock().unwrap().clone();
    let of = |name: &str| spans.iter().find(|span| span.fields["otel.name"] == name).unwrap();
    let failed = &of("execute_tool fails").fields;
    assert!(failed["gen_ai.tool.call.arguments"].contains("a secret name"));
    assert!(failed["gen_ai.tool.call.result"].contains("invalid digit"));
    let chat = spans.iter().filter(|span| span.name == "chat");
    let said: Vec<_> = chat.filter_map(|span| span.fields.get("gen_ai.output.messages")).collect();
    assert!(said.iter().any(|said| said.contains("The secret plan.")), "{said:?}");
    // A sub-agent is asked by itself.
    assert!(!said.iter().any(|said| said.contains("The secret report.")), "{said:?}");
}
