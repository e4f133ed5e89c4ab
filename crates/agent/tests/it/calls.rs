//! Calls that are interrupted, killed, refused or of tools that are not there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use interleaf::model::{Message, ToolCall};
use interleaf::{Session, store};
use interleaf_agent::{Agent, Allow, Boxed, Effect, End, Event, Hook, Scene, Tool};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;

use crate::world::{agent, changing, double, echo, n_said, results, session, transport};

/// Calls a tool once, and then says what it gave.
fn once(tool: &'static str) -> impl Fn(&Asked) -> Answer {
    move |asked| match n_said(asked) {
        0 => Answer::new().with_call(tool, &json!({"name": "a"})),
        _ => Answer::text(results(asked).join(" ")),
    }
}

/// A tool that never ends, and counts how often it was begun.
fn endless(effect: Effect, begun: &Arc<AtomicUsize>) -> impl Tool + use<> {
    let begun = begun.clone();
    changing("endless", move |_, _| {
        begun.fetch_add(1, Ordering::Relaxed);
        std::future::pending()
    })
    .with_effect(effect)
}

/// Starts a run, and ends the process's part in it while its call runs.
async fn killed(agent: &Agent, session: Session) {
    let mut run = agent.start(&transport(), session).unwrap();
    while let Some(event) = run.next().await {
        if matches!(event, Event::Started(_)) {
            break;
        }
    }
    // The tool has begun.
    tokio::task::yield_now().await;
}

#[tokio::test]
async fn live_row_25_a_call_that_changes_something_is_never_run_twice_in_silence() {
    let double = double(once("endless")).await;
    let begun = Arc::new(AtomicUsize::new(0));
    let agent = agent(&double).with_tool(endless(Effect::Changes, &begun));
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "").await.unwrap();
    session.append(Message::user("Go.")).await.unwrap();
    let id = session.id();
    killed(&agent, session).await;
    let session = Session::open(store, id).await.unwrap();
    let ended = agent.start(&transport(), session).unwrap().finish().await.unwrap();
    assert!(begun.load(Ordering::Relaxed) <= 1);
    assert!(ended.text.contains("It may have taken effect"), "{}", ended.text);
    assert_eq!(ended.end, End::Completed);
}

#[tokio::test]
async fn a_call_that_only_reads_is_run_again() {
    let double = double(once("endless")).await;
    let begun = Arc::new(AtomicUsize::new(0));
    let reads = agent(&double).with_tool(endless(Effect::Reads, &begun));
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "").await.unwrap();
    session.append(Message::user("Go.")).await.unwrap();
    let id = session.id();
    killed(&reads, session).await;
    let now = changing("endless", |_, _| async { Ok("it ends".into()) }).reads();
    let session = Session::open(store, id).await.unwrap();
    let ended = agent(&double).with_tool(now).start(&transport(), session).unwrap();
    assert_eq!(ended.finish().await.unwrap().text, "it ends");
}

#[tokio::test]
async fn an_interrupted_call_says_so_and_the_session_goes_on() {
    let double = double(once("endless")).await;
    let begun = Arc::new(AtomicUsize::new(0));
    let agent = agent(&double).with_tool(endless(Effect::Changes, &begun)).with_tool(echo());
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent.start(&transport(), session).unwrap();
    let handle = run.handle();
    while let Some(event) = run.next().await {
        if matches!(event, Event::Started(_)) {
            handle.interrupt();
        }
    }
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, End::Interrupted);
    let last = ended.session.conversation().visible().next_back().unwrap().clone();
    assert!(last.as_result().is_some() && last.text().contains("was interrupted"), "{last:?}");
    let again = agent.run(&transport(), ended.session, "Go on.").await.unwrap();
    assert_eq!(again.end, End::Completed);
    assert!(double.requests().iter().all(|request| request.status == 200));
}

#[tokio::test]
async fn an_interrupted_answer_is_kept_as_far_as_it_came() {
    let long = "one word after another ".repeat(2_000);
    let double = double(move |_: &Asked| Answer::text(long.clone())).await;
    double.fail_next("stall:at=3000:ms=600000".parse().unwrap());
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent(&double).start(&transport(), session).unwrap();
    let handle = run.handle();
    while let Some(event) = run.next().await {
        if matches!(event, Event::Text(_)) {
            handle.interrupt();
        }
    }
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, End::Interrupted);
    assert_eq!(
        (ended.used.requests, ended.used.unknown),
        (1, 1),
        "what it took in the end is not known"
    );
    let kept = ended.session.conversation().visible().next_back().unwrap().text().into_owned();
    assert!(kept.starts_with("one word"), "{kept}");
}

/// Refuses what changes something.
struct Careful;

impl Hook for Careful {
    fn before_call<'a>(
        &'a self,
        _: &'a ToolCall,
        effect: Effect,
        _: &'a Scene,
    ) -> Boxed<'a, Allow> {
        Box::pin(async move {
            match effect {
                Effect::Reads => Allow::Run,
                _ => Allow::Refuse("not today".to_owned()),
            }
        })
    }
}

#[tokio::test]
async fn a_hook_may_refuse_a_call_and_the_model_is_told() {
    let double = double(once("break_it")).await;
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let break_it = changing("break_it", move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Ok("broken".into()) }
    });
    let agent = agent(&double).with_tool(break_it).with_hook(Careful);
    let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ended.text, "[This call was refused: not today]");
    assert_eq!(ran.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn live_row_24_a_tool_that_is_gone_stays_in_the_requests_and_its_call_is_told() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call("echo", &json!({"name": "a"})),
        1 => Answer::text("Well."),
        2 => Answer::new().with_call("echo", &json!({"name": "b"})),
        _ => Answer::text(results(asked).pop().unwrap_or_default()),
    })
    .await;
    let other = changing("other", |_, _| async { Ok("done".into()) });
    let with = agent(&double).with_tool(echo());
    let ended = with.run(&transport(), session().await, "Go.").await.unwrap();
    let without = agent(&double).with_tool(other);
    let ended = without.run(&transport(), ended.session, "Again.").await.unwrap();
    assert!(ended.text.contains(r#"there is no tool "echo" now; there are: other"#));
    let names: Vec<Vec<String>> = double
        .requests()
        .iter()
        .filter_map(|request| {
            let asked = request.asked.as_ref()?;
            Some(asked.tools.iter().map(|tool| tool.name.clone()).collect())
        })
        .collect();
    assert_eq!(names[0], ["echo"]);
    // What was there first stays first.
    assert_eq!(names.last().unwrap(), &["echo", "other"]);
}

#[tokio::test]
async fn a_tool_that_panics_and_arguments_that_do_not_fit_are_told_to_the_model() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new()
            .with_call("breaks", &json!({"name": "a"}))
            .with_call("echo", &json!({"nam": "a"})),
        _ => Answer::text(results(asked).join(" | ")),
    })
    .await;
    let breaks = changing("breaks", |named, _| async move {
        assert!(named.name.is_empty(), "on purpose");
        Ok("".into())
    });
    let agent = agent(&double).with_tool(breaks).with_tool(echo());
    let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
    assert!(ended.text.contains("the tool breaks broke"), "{}", ended.text);
    assert!(ended.text.contains("do not fit the tool's schema"), "{}", ended.text);
}

#[tokio::test]
async fn results_that_are_there_at_the_same_time_are_kept_in_one_transaction() {
    let brain = |asked: &Asked| match n_said(asked) {
        0 => (0..280).fold(Answer::new(), |answer, n| {
            answer.with_call("echo", &json!({"name": n.to_string()}))
        }),
        _ => Answer::text(results(asked).join(" ")),
    };
    let double = double(brain).await;
    let agent = agent(&double).with_tool(echo());
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "").await.unwrap();
    session.append(Message::user("Go.")).await.unwrap();
    let mut written = store.watch().await.unwrap();
    let ended = agent.start(&transport(), session).unwrap().finish().await.unwrap();
    assert_eq!(ended.end, End::Completed);
    let expected: Vec<String> = (0..280).map(|n| format!("{n}!")).collect();
    assert_eq!(ended.text, expected.join(" "), "in the order of the calls");
    let mut n_written = 0;
    while let Ok(Some(notice)) = tokio::time::timeout(Duration::ZERO, written.next()).await {
        assert_ne!(notice, store::Notice::Missed);
        n_written += 1;
    }
    assert!((4..40).contains(&n_written), "{n_written} transactions");
}
