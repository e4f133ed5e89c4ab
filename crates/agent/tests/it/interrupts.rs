//! Interrupts at the worst of moments: each run ends soon, and its session goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use interleaf::assemble::ContextText;
use interleaf::compaction::CompactionPolicy;
use interleaf::model::{Message, ToolCall};
use interleaf::store::Page;
use interleaf::{Session, Target};
use interleaf_agent::{
    Agent, Allow, Boxed, ContextSource, Effect, End, Ended, Event, Handle, Hook, Limits, Run,
    Scene, Unread, tools,
};
use interleaf_doubles::{Answer, Asked, Double};
use interleaf_transport::{KeySource, Transport};
use serde_json::json;
use tokio::sync::Notify;

use crate::world::{
    PATIENCE, agent, changing, double, n_said, results, says, session, target, transport,
};

/// Runs an agent, interrupts it once this is so, and waits for its end.
async fn interrupted(
    agent: &Agent,
    transport: &Transport,
    mut session: Session,
    is_time: impl Future<Output = ()> + Send + 'static,
) -> Ended {
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent.start(transport, session).unwrap();
    let handle = run.handle();
    tokio::spawn(async move {
        is_time.await;
        handle.interrupt();
    });
    let told = to_its_end(&mut run).await;
    // None was given up before the interrupt.
    assert!(!told.iter().any(|event| matches!(event, Event::NotCompacted(_))), "{told:?}");
    let ended = tokio::time::timeout(PATIENCE, run.finish()).await;
    ended.expect("it did not end after its last event").unwrap()
}

/// All that happens, up to the last.
async fn to_its_end(run: &mut Run) -> Vec<Event> {
    let mut told = Vec::new();
    let all = async {
        while let Some(event) = run.next().await {
            told.push(event);
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("the run did not end");
    assert!(matches!(told.last(), Some(Event::Ended(_))), "{told:?}");
    told
}

/// Waits until the double was sent this many requests.
async fn has_seen(double: &Double, n: usize) {
    while double.requests().len() < n {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The session of an interrupted run is valid, and goes on.
async fn goes_on(agent: &Agent, ended: Ended, double: &Double) {
    assert_eq!(ended.end, End::Interrupted);
    assert!(ended.session.open_calls().is_empty());
    let again = agent.run(&transport(), ended.session, "Go on.").await.unwrap();
    assert_eq!(again.end, End::Completed);
    let refused = double.requests().into_iter().find(|it| it.refusal.is_some());
    assert!(refused.is_none(), "{refused:?}");
}

#[tokio::test]
async fn an_interrupt_is_heard_while_a_compaction_that_was_asked_for_is_written() {
    // The summary never comes.
    let double = Arc::new(
        double(|asked: &Asked| match n_said(asked) {
            10 => Answer::new().with_call("compact", &json!({})),
            _ => Answer::text("Done."),
        })
        .await,
    );
    double.fail_next("slow:ms=0".parse().unwrap());
    double.fail_next("slow:ms=600000".parse().unwrap());
    let mut policy = CompactionPolicy::default();
    (policy.summary_tokens, policy.keep_turns) = (20, 1);
    let agent = tools::remembering()
        .into_iter()
        .fold(agent(&double).with_policy(policy), Agent::with_shared_tool);
    let mut session = session().await;
    for n in 0..10 {
        session
            .append(Message::user(&format!("{n}: {}", "a long story ".repeat(50))))
            .await
            .unwrap();
        session.append(Message::assistant("I see.")).await.unwrap();
    }
    let seen = double.clone();
    let is_time = async move { has_seen(&seen, 2).await };
    let ended = interrupted(&agent, &transport(), session, is_time).await;
    // The second request was that for the summary: the next of the agent was not recorded.
    assert_eq!(ended.session.requests(Page::newest(10)).await.unwrap().len(), 1);
    goes_on(&agent, ended, &double).await;
}

/// A hook that never answers.
struct Undecided(Arc<Notify>);

impl Hook for Undecided {
    fn before_call<'a>(&'a self, _: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn an_interrupt_is_heard_while_a_hook_makes_up_its_mind_and_the_call_is_not_run() {
    for tool in ["echo", "scout"] {
        undecided(tool).await;
    }
}

async fn undecided(tool: &'static str) {
    let double = double(move |asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call(tool, &json!({"name": "a", "task": "Look."})),
        _ => Answer::text("Done."),
    })
    .await;
    let asked = Arc::new(Notify::new());
    let scout = || Agent::new("scout").with_role("You look for causes.");
    let plain = || {
        let tool = changing("echo", |_, _| async { Ok("ran".into()) });
        agent(&double).with_tool(tool).with_sub_agent(scout())
    };
    let is_time = asked.clone();
    let ended = interrupted(
        &plain().with_hook(Undecided(asked)),
        &transport(),
        session().await,
        async move { is_time.notified().await },
    )
    .await;
    let last = ended.session.conversation().visible().next_back().unwrap().text().into_owned();
    assert!(last.contains("was not run"), "{last}");
    goes_on(&plain(), ended, &double).await;
}

/// A source that never says anything.
struct Mute(Arc<Notify>);

impl ContextSource for Mute {
    fn context<'a>(&'a self, _: &'a Scene) -> Boxed<'a, Result<Option<ContextText>, Unread>> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn an_interrupt_is_heard_while_a_source_is_read() {
    let double = double(|_: &Asked| Answer::text("Done.")).await;
    let asked = Arc::new(Notify::new());
    let is_time = asked.clone();
    let mute = agent(&double).with_source(Mute(asked));
    let ended = interrupted(&mute, &transport(), session().await, async move {
        is_time.notified().await;
    })
    .await;
    assert!(double.requests().is_empty());
    goes_on(&agent(&double), ended, &double).await;
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupt_is_heard_while_a_key_command_runs_and_ends_it() {
    let double = double(|_: &Asked| Answer::text("Done.")).await;
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    let line = format!("echo $$ > {}.new; mv {0}.new {0}; sleep 600", began.display());
    let key = KeySource::Command(line);
    let slow = Transport::builder().no_proxy().any_key(key).build().unwrap();
    let mut keyless: Target = target(interleaf::wire::Family::Anthropic, &double);
    keyless.key = None;
    let agent_without = Agent::new("mender").with_target(keyless).with_role("You mend clocks.");
    let path = began.clone();
    let ended = interrupted(&agent_without, &slow, session().await, async move {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    let pid = std::fs::read_to_string(&began).unwrap();
    let is_there = || std::path::Path::new("/proc").join(pid.trim()).join("cmdline").exists();
    let is_gone = async {
        // What is ended is a zombie until it is waited for.
        while is_there()
            && !std::fs::read(format!("/proc/{}/cmdline", pid.trim()))
                .unwrap_or_default()
                .is_empty()
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, is_gone).await.expect("the command goes on");
    assert!(double.requests().is_empty());
    goes_on(&agent(&double), ended, &double).await;
}

/// Tools that hold their thread until they are let go.
struct Deaf {
    begun: Arc<Notify>,
    is_let_go: Arc<AtomicBool>,
}

impl Drop for Deaf {
    fn drop(&mut self) {
        self.is_let_go.store(true, Ordering::SeqCst);
    }
}

impl Deaf {
    fn new() -> Self {
        Self { begun: Arc::new(Notify::new()), is_let_go: Arc::default() }
    }

    fn tool(&self, effect: Effect) -> impl interleaf_agent::Tool + use<> {
        let (begun, is_let_go) = (self.begun.clone(), self.is_let_go.clone());
        changing("deaf", move |_, scene| {
            let (begun, is_let_go) = (begun.clone(), is_let_go.clone());
            async move {
                begun.notify_one();
                // Whoever waited for it runs first: a worker that waits holds up who is next.
                tokio::task::yield_now().await;
                // It hears nothing: its thread waits.
                while !is_let_go.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                drop(scene);
                Ok("at last".into())
            }
        })
        .with_effect(effect)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tool_that_ignores_an_interrupt_keeps_no_run_from_its_end() {
    for effect in [Effect::Reads, Effect::Changes, Effect::Resumes] {
        let deaf = Deaf::new();
        let double = double(|asked: &Asked| match n_said(asked) {
            0 => Answer::new().with_call("deaf", &json!({"name": "a"})),
            _ => Answer::text("Done."),
        })
        .await;
        let agent = agent(&double).with_tool(deaf.tool(effect));
        let begun = deaf.begun.clone();
        let ended = interrupted(&agent, &transport(), session().await, async move {
            begun.notified().await;
        })
        .await;
        goes_on(&agent, ended, &double).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tool_of_a_sub_agent_that_ignores_an_interrupt_keeps_no_run_from_its_end() {
    let deaf = Deaf::new();
    let double =
        double(|asked: &Asked| match (says(asked, "You look for causes."), n_said(asked)) {
            (false, 0) => Answer::new().with_call("scout", &json!({"task": "Look."})),
            (true, 0) => Answer::new().with_call("deaf", &json!({"name": "a"})),
            _ => Answer::text("Done."),
        })
        .await;
    let scout = Agent::new("scout").with_role("You look for causes.");
    let agent = agent(&double).with_sub_agent(scout.with_tool(deaf.tool(Effect::Changes)));
    let begun = deaf.begun.clone();
    let ended = interrupted(&agent, &transport(), session().await, async move {
        begun.notified().await;
    })
    .await;
    goes_on(&agent, ended, &double).await;
}

#[tokio::test]
async fn an_interrupt_reaches_sub_agents_that_wait_for_their_turn() {
    let double =
        double(|asked: &Asked| match (says(asked, "You look for causes."), n_said(asked)) {
            (false, 0) => (0..5).fold(Answer::new(), |answer, n| {
                answer.with_call("scout", &json!({"task": format!("Look at {n}.")}))
            }),
            (true, 0) => Answer::new().with_call("endless", &json!({"name": "a"})),
            _ => Answer::text(results(asked).join(" | ")),
        })
        .await;
    let mut limits = Limits::default();
    limits.at_once = 1;
    let begun = Arc::new(Notify::new());
    let tell = begun.clone();
    let endless = changing("endless", move |_, _| {
        tell.notify_one();
        std::future::pending()
    });
    let scout = Agent::new("scout").with_role("You look for causes.").with_tool(endless);
    let agent = agent(&double).with_sub_agent(scout).with_limits(limits);
    let ended = interrupted(&agent, &transport(), session().await, async move {
        begun.notified().await;
    })
    .await;
    let log: Vec<_> =
        ended.session.conversation().visible().filter(|m| m.as_result().is_some()).collect();
    assert_eq!(log.len(), 6, "one for each spawn, and one for the call of the first");
    goes_on(&agent, ended, &double).await;
}

#[tokio::test]
async fn what_was_said_and_not_heard_is_given_back() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call("endless", &json!({"name": "a"})),
        _ => Answer::text("Done."),
    })
    .await;
    let begun = Arc::new(Notify::new());
    let tell = begun.clone();
    let endless = changing("endless", move |_, _| {
        tell.notify_one();
        std::future::pending()
    });
    let agent = agent(&double).with_tool(endless);
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent.start(&transport(), session).unwrap();
    let handle: Handle = run.handle();
    begun.notified().await;
    assert!(handle.say("Use the other key."));
    assert!(handle.say_when_idle("Then rest."));
    handle.interrupt();
    to_its_end(&mut run).await;
    assert!(!handle.say("Anybody there?"));
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, End::Interrupted);
    assert_eq!(ended.unheard, ["Use the other key.", "Then rest."]);
    let log: Vec<String> =
        ended.session.conversation().log().map(|m| m.text().into_owned()).collect();
    assert!(!log.iter().any(|text| text.contains("other key")), "{log:?}");
}
