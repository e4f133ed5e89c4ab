//! What an attacker, a careless program or a strange server may do to a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use interleaf::assemble::ContextText;
use interleaf::model::{Message, ToolCall};
use interleaf::wire::Family;
use interleaf::{Session, store};
use interleaf_agent::{
    Agent, Allow, Boxed, ContextSource, Effect, End, Event, Hook, Limit, Limits, Scene, Unread,
};
use interleaf_doubles::{Answer, Asked, Finish, Said};
use serde_json::json;
use tokio::sync::Barrier;

use crate::world::{
    PATIENCE, agent, changing, double, echo, events, n_said, results, says, session, target,
    transport,
};

fn scout() -> Agent {
    Agent::new("scout").with_role("You look for causes.").without_instructions()
}

fn is_scout(asked: &Asked) -> bool {
    says(asked, "You look for causes.")
}

/// Holds calls back until two runs have come to the same.
struct Together(Arc<Barrier>);

impl Hook for Together {
    fn before_call<'a>(&'a self, _: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        Box::pin(async {
            self.0.wait().await;
            Allow::Run
        })
    }
}

#[tokio::test]
async fn two_runs_on_one_session_run_a_call_that_changes_something_once() {
    let double = double(|asked: &Asked| match n_said(asked) {
        1 => Answer::text(results(asked).join(" ")),
        n => Answer::text(format!("unexpected: {n}")),
    })
    .await;
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let once = changing("once", move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok("it is done".into()) }
    });
    let agent = agent(&double).with_tool(once).with_hook(Together(Arc::new(Barrier::new(2))));
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "").await.unwrap();
    session.append(Message::user("Go.")).await.unwrap();
    session.append(calling("call_0", "once", r#"{"name":"a"}"#)).await.unwrap();
    let other = Session::open(store.clone(), session.id()).await.unwrap();
    let id = session.id();
    let runs = [session, other].map(|session| agent.start(&transport(), session).unwrap().finish());
    let [first, second] = runs;
    let both = async { tokio::join!(first, second) };
    let (first, second) = tokio::time::timeout(PATIENCE, both).await.expect("they do not end");
    assert_eq!(first.unwrap().end, End::Completed);
    assert_eq!(second.unwrap().end, End::Completed);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let session = Session::open(store, id).await.unwrap();
    let n_results = session.conversation().visible().filter(|m| m.as_result().is_some()).count();
    assert_eq!(n_results, 1);
    assert!(double.requests().iter().all(|request| request.status == 200));
}

/// An answer that makes one call.
fn calling(id: &str, tool: &str, arguments: &str) -> Message {
    let call = ToolCall::new(id, tool, arguments).unwrap();
    Message::assistant_parts([call.into()]).unwrap()
}

/// As servers do that number the calls of each answer from 0.
fn numbered(tool: &str, arguments: &serde_json::Value) -> Answer {
    let mut answer = Answer::new();
    let (id, name) = (Some("call_0".to_owned()), tool.to_owned());
    answer.parts.push(Said::Call { id, name, arguments: arguments.to_string() });
    answer
}

#[tokio::test]
async fn calls_of_one_id_in_several_answers_send_a_sub_agent_each() {
    let double = double(|asked: &Asked| match (is_scout(asked), n_said(asked)) {
        (false, n @ 0..3) => numbered("scout", &json!({"task": format!("Look at lamp {n}.")})),
        (false, _) => Answer::text(results(asked).join(" + ")),
        (true, _) => {
            let task = asked.user_texts().find(|text| text.contains("Look at lamp")).unwrap();
            Answer::text(format!("I was told: {task}"))
        }
    })
    .await;
    let main = agent(&double).with_sub_agent(scout());
    let ended = main.run(&transport(), session().await, "Go.").await.unwrap();
    let expected =
        [0, 1, 2].map(|n| format!("[scout: completed]\n\nI was told: Look at lamp {n}."));
    assert_eq!(ended.text, expected.join(" + "));
}

#[tokio::test]
async fn of_two_calls_of_one_id_in_one_answer_each_has_a_result_and_neither_is_run_twice() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => {
            let mut answer = numbered("once", &json!({"name": "a"}));
            answer.parts.extend(numbered("once", &json!({"name": "b"})).parts);
            answer
        }
        _ => Answer::text(results(asked).join(" | ")),
    })
    .await;
    let ran = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = ran.clone();
    let once = changing("once", move |named, _| {
        noted.lock().unwrap().push(named.name.clone());
        async move { Ok(format!("{} is done", named.name).into()) }
    });
    let agent = agent(&double).with_tool(once);
    let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ended.end, End::Completed, "{:?}", ended.text);
    let mut ran = ran.lock().unwrap().clone();
    ran.dedup();
    assert!(ran == ["a"] || ran == ["a", "b"], "{ran:?}");
    let conversation = ended.session.conversation();
    assert_eq!(conversation.visible().filter(|m| m.as_result().is_some()).count(), 2);
}

#[tokio::test]
async fn c9_a_sub_agent_of_a_sub_agent_without_a_role_is_an_error_before_anything_is_sent() {
    let double = double(|_: &Asked| Answer::text("Done.")).await;
    let main = agent(&double).with_sub_agent(scout().with_sub_agent(Agent::new("helper")));
    let error = main.start(&transport(), session().await).err().map(|e| e.to_string());
    let error = error.unwrap_or_default();
    assert!(error.contains("the agent helper") && error.contains("role"), "{error}");
    let twice = agent(&double).with_sub_agent(scout().with_tool(echo()).with_tool(echo()));
    let error = twice.start(&transport(), session().await).err().map(|e| e.to_string());
    assert!(error.unwrap_or_default().contains("the agent scout: two of its tools"));
    assert!(double.requests().is_empty());
}

/// Refuses everything.
struct No;

impl Hook for No {
    fn before_call<'a>(&'a self, _: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        Box::pin(async { Allow::Refuse("no".to_owned()) })
    }
}

/// Refuses one tool.
struct NoBreaking;

impl Hook for NoBreaking {
    fn before_call<'a>(&'a self, call: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        Box::pin(async move {
            match call.name.as_str() {
                "break_it" => Allow::Refuse("no".to_owned()),
                _ => Allow::Run,
            }
        })
    }
}

#[tokio::test]
async fn what_a_hook_refuses_to_an_agent_its_sub_agents_may_not_do_either() {
    let double = double(|asked: &Asked| match (is_scout(asked), n_said(asked)) {
        (false, 0) => Answer::new().with_call("scout", &json!({"task": "Break it."})),
        (true, 0) => Answer::new().with_call("break_it", &json!({"name": "a"})),
        _ => Answer::text(results(asked).join(" ")),
    })
    .await;
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let break_it = changing("break_it", move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok("broken".into()) }
    });
    let main = agent(&double).with_sub_agent(scout().with_tool(break_it)).with_hook(NoBreaking);
    let ended = main.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(ended.text.contains("[This call was refused: no]"), "{}", ended.text);
}

#[tokio::test]
async fn a_hook_that_refuses_everything_leaves_a_valid_run_that_its_limit_ends() {
    let double = double(|_: &Asked| {
        let names = json!({"name": "a"});
        Answer::new().with_call("echo", &names).with_call("scout", &json!({"task": "Look."}))
    })
    .await;
    let mut limits = Limits::default();
    limits.rounds = Some(5);
    let main = agent(&double).with_tool(echo()).with_sub_agent(scout());
    let main = main.with_hook(No).with_limits(limits);
    let ended = main.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ended.end, End::OutOfBudget(Limit::Rounds));
    assert_eq!(double.requests().len(), 5);
    assert!(double.requests().iter().all(|request| request.status == 200));
}

/// Breaks, as a hook or as a source.
struct Breaks;

impl Hook for Breaks {
    fn before_call<'a>(&'a self, _: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        panic!("the hook breaks on purpose")
    }
}

impl ContextSource for Breaks {
    fn context<'a>(&'a self, _: &'a Scene) -> Boxed<'a, Result<Option<ContextText>, Unread>> {
        panic!("the source breaks on purpose")
    }
}

#[tokio::test]
async fn a_hook_or_a_source_that_panics_ends_its_run_as_failed_and_the_session_goes_on() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call("echo", &json!({"name": "a"})),
        _ => Answer::text("Done."),
    })
    .await;
    let sound = || agent(&double).with_tool(echo());
    for broken in [sound().with_hook(Breaks), sound().with_source(Breaks)] {
        let mut session = session().await;
        session.append(Message::user("Go.")).await.unwrap();
        let mut run = broken.start(&transport(), session).unwrap();
        let told = tokio::time::timeout(PATIENCE, events(&mut run)).await.unwrap();
        let Some(Event::Ended(End::Failed(why))) = told.last() else { panic!("{told:?}") };
        assert!(why.contains("on purpose"), "{why}");
        let ended = run.finish().await.unwrap();
        assert!(matches!(ended.end, End::Failed(_)), "{:?}", ended.end);
        let again = sound().start(&transport(), ended.session).unwrap().finish().await.unwrap();
        assert_eq!(again.end, End::Completed);
    }
    assert!(double.requests().iter().all(|request| request.status == 200));
}

/// How many.
const N_CALLS: usize = 1_000;

#[tokio::test]
async fn a_thousand_calls_at_once_have_a_thousand_results_in_the_order_of_the_calls() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => (0..N_CALLS).fold(Answer::new(), |answer, n| {
            answer.with_call("backwards", &json!({"name": n.to_string()}))
        }),
        _ => Answer::text(results(asked).join(" ")),
    })
    .await;
    // The later a call, the sooner it ends.
    let (say, last) = tokio::sync::watch::channel(N_CALLS);
    let say = Arc::new(say);
    let backwards = changing("backwards", move |named, _| {
        let (mut last, say) = (last.clone(), say.clone());
        async move {
            let n: usize = named.name.parse()?;
            last.wait_for(|last| *last == n + 1).await?;
            say.send_replace(n);
            Ok(named.name.into())
        }
    });
    // An API that has no limit for the length of answers unless one is set.
    let target = target(Family::OpenaiChat, &double);
    let agent = Agent::new("mender").with_target(target).with_role("You mend clocks.");
    let agent = agent.with_tool(backwards);
    let transport = transport();
    let run = agent.run(&transport, session().await, "Go.");
    let ended = tokio::time::timeout(Duration::from_secs(300), run).await.unwrap().unwrap();
    let expected: Vec<String> = (0..N_CALLS).map(|n| n.to_string()).collect();
    assert_eq!(ended.text, expected.join(" "));
}

#[tokio::test]
async fn as_many_sub_agents_run_at_once_as_may_whatever_they_are_called() {
    let double = double(|asked: &Asked| match (is_scout(asked), n_said(asked)) {
        (false, 0) => ["left", "right", "left", "right"]
            .iter()
            .fold(Answer::new(), |answer, name| answer.with_call(*name, &json!({"task": "Look."}))),
        (true, 0) => Answer::new().with_call("busy", &json!({"name": "a"})),
        _ => Answer::text("Done."),
    })
    .await;
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let highest = most.clone();
    let pair = Arc::new(tokio::sync::Barrier::new(2));
    let busy = Arc::new(changing("busy", move |_, _| {
        let (now, most, pair) = (now.clone(), most.clone(), pair.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // None goes on alone.
            pair.wait().await;
            // Others have time to come.
            tokio::time::sleep(Duration::from_millis(100)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok("done".into())
        }
    }));
    let named = |name: &str| {
        let one = Agent::new(name).with_role("You look for causes.").without_instructions();
        one.with_shared_tool(busy.clone())
    };
    let mut limits = Limits::default();
    limits.at_once = 2;
    let main = agent(&double).with_sub_agent(named("left")).with_sub_agent(named("right"));
    let (main, transport) = (main.with_limits(limits), transport());
    let run = main.run(&transport, session().await, "Go.");
    let ended = tokio::time::timeout(PATIENCE, run).await.expect("one at once").unwrap();
    assert_eq!(ended.end, End::Completed);
    assert_eq!(highest.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn live_row_21_an_answer_that_the_length_cut_off_is_not_told_as_completed() {
    let double = double(|asked: &Asked| match (is_scout(asked), n_said(asked)) {
        (false, 0) => Answer::new().with_call("scout", &json!({"task": "Look."})),
        (true, _) => Answer::text("It is the spr").with_finish(Finish::Length),
        _ => Answer::text(results(asked).join(" ")),
    })
    .await;
    let main = agent(&double).with_sub_agent(scout());
    let ended = main.run(&transport(), session().await, "Go.").await.unwrap();
    assert!(!ended.text.contains("completed"), "{}", ended.text);
    assert!(ended.text.contains("out of budget") && ended.text.ends_with("It is the spr"));
}
