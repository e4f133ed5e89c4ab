//! Two runs on one session: one of them goes on, and what its calls did is kept.

use std::sync::{Arc, Barrier};

use futures_util::future::{Either, select};
use interleaf::model::{Message, Role, ToolCall};
use interleaf::store::{self, ErrorKind};
use interleaf::{Session, wire::Family};
use interleaf_agent::{Agent, End};
use interleaf_doubles::{Answer, Asked, Double};
use serde_json::json;
use tokio::sync::watch;

use crate::world::{
    PATIENCE, agent, by_call, changing, double, echo, n_said, results, says, target, transport,
};

/// Answers with five calls each time, but the last. The first two requests are answered together.
async fn five_calls(asked_in: &'static str) -> Double {
    let both = Barrier::new(2);
    double(move |asked: &Asked| {
        if !says(asked, asked_in) {
            return match n_said(asked) {
                0 => Answer::new().with_call("scout", &json!({"task": "Look."})),
                _ => Answer::text(results(asked).join(" ")),
            };
        }
        match n_said(asked) {
            n @ 0..2 => {
                if n == 0 {
                    both.wait();
                }
                ["work", "work", "echo", "echo", "work"]
                    .iter()
                    .fold(Answer::new(), |answer, tool| {
                        answer.with_call(*tool, &json!({"name": format!("{n}")}))
                    })
            }
            _ => Answer::text("Done."),
        }
    })
    .await
}

/// Both runs at once, of which the first to end lets go on what the calls of the other wait for.
async fn both_runs(agent: Agent, end: watch::Sender<bool>) -> [interleaf_agent::Ended; 2] {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("s.db").display());
    let store = store::open(&url).await.unwrap();
    let mut session = Session::create(store, "").await.unwrap();
    session.append(Message::user("Go.")).await.unwrap();
    let other = Session::open(store::open(&url).await.unwrap(), session.id()).await.unwrap();
    let [first, second] = [session, other]
        .map(|session| Box::pin(agent.start(&transport(), session).unwrap().finish()));
    let both = async {
        let (lost, won) = match select(first, second).await {
            Either::Left((ended, other)) | Either::Right((ended, other)) => (ended, other),
        };
        end.send_replace(true);
        [lost.unwrap(), won.await.unwrap()]
    };
    tokio::time::timeout(PATIENCE, both).await.expect("both runs run calls, or none ends")
}

/// An agent with `work`, which does not end before it may.
fn worker(agent: Agent) -> (Agent, watch::Sender<bool>) {
    let (end, may_end) = watch::channel(false);
    let work = changing("work", move |named, _| {
        let mut may_end = may_end.clone();
        async move {
            may_end.wait_for(|it| *it).await?;
            Ok(format!("worked on {}", named.name).into())
        }
    });
    (agent.with_tool(work).with_tool(echo()), end)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_runs_that_asked_at_once_one_stops_and_the_other_keeps_the_results_of_its_calls() {
    let double = five_calls("You mend clocks.").await;
    let (agent, end) = worker(agent(&double));
    let [lost, won] = both_runs(agent, end).await;
    let End::Failed(why) = &lost.end else { panic!("{:?}", lost.end) };
    assert!(why.contains("another run works on this session"), "{why}");
    assert_eq!(lost.store_refused, Some(ErrorKind::Conflict));
    assert_eq!((won.end, won.text.as_str()), (End::Completed, "Done."));
    let said: Vec<_> = won.session.conversation().visible().map(|said| said.role()).collect();
    assert!(said.windows(2).all(|two| two != [Role::Assistant; 2]), "{said:?}");
    let told: Vec<_> = by_call(&won.session).iter().map(|said| said.text().into_owned()).collect();
    let round =
        |n: u32| [0, 0, 1, 1, 0].map(|i| [format!("worked on {n}"), format!("{n}!")][i].clone());
    assert_eq!(told, [round(0), round(1)].concat());
    assert!(double.requests().iter().all(|request| request.status == 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_whose_sub_agent_another_run_works_with_stops_and_leaves_the_report_to_that_one() {
    let double = five_calls("You look for causes.").await;
    let (scout, end) = worker(Agent::new("scout").with_role("You look for causes."));
    let main = agent(&double).with_sub_agent(scout.without_instructions());
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "").await.unwrap();
    session.append(Message::user("Go.")).await.unwrap();
    let call = ToolCall::new("c1", "scout", r#"{"task":"Look."}"#).unwrap();
    session.append(Message::assistant_parts([call.into()]).unwrap()).await.unwrap();
    let other = Session::open(store, session.id()).await.unwrap();
    let [first, second] = [session, other]
        .map(|session| Box::pin(main.start(&transport(), session).unwrap().finish()));
    let both = async {
        let (lost, won) = match select(first, second).await {
            Either::Left((ended, other)) | Either::Right((ended, other)) => (ended, other),
        };
        end.send_replace(true);
        (lost.unwrap(), won.await.unwrap())
    };
    let both = tokio::time::timeout(PATIENCE, both).await;
    let (lost, won) = both.expect("both runs run calls, or none ends");
    assert_eq!(lost.store_refused, Some(ErrorKind::Conflict), "{}", lost.end);
    assert_eq!((won.end, won.text.as_str()), (End::Completed, "[scout: completed]\n\nDone."));
}

#[tokio::test]
async fn what_a_call_gave_is_shown_though_another_run_went_on_without_it() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call("slow", &json!({"name": "a"})),
        _ => Answer::text(results(asked).join(" ")),
    })
    .await;
    let slow = Arc::new(changing("slow", |_, scene| async move {
        let (store, id) = {
            let session = scene.session().await;
            (session.store().clone(), session.id())
        };
        let mut elsewhere = Session::open(store, id).await?;
        elsewhere.append(Message::user("Hurry up.")).await?;
        elsewhere.append(Message::assistant("I do.")).await?;
        Ok("the true result".into())
    }));
    // Any API, as each has its own rules for where a result may stand.
    for family in [Family::Anthropic, Family::OpenaiChat] {
        let agent = Agent::new("mender").with_target(target(family, &double)).with_role("R.");
        let agent = agent.with_shared_tool(slow.clone());
        let ended = agent.run(&transport(), crate::world::session().await, "Go.").await.unwrap();
        assert_eq!((ended.end, ended.text.as_str()), (End::Completed, "the true result"));
    }
    assert!(double.requests().iter().all(|request| request.status == 200));
}

#[tokio::test]
async fn what_a_call_gave_takes_the_place_of_the_word_that_another_run_said_of_it() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call("slow", &json!({"name": "a"})),
        _ => Answer::text(results(asked).join(" ")),
    })
    .await;
    let agent = Agent::new("mender").with_target(target(Family::OpenaiChat, &double));
    let agent = agent.with_role("R.");
    let other = agent.clone().with_shared_tool(Arc::new(changing("slow", |_, _| async move {
        panic!("it is not run twice")
    })));
    let slow = changing("slow", move |_, scene| {
        let other = other.clone();
        async move {
            let (store, id) = {
                let session = scene.session().await;
                (session.store().clone(), session.id())
            };
            // Another run joins, and takes the call for dead.
            let elsewhere = Session::open(store, id).await?;
            let run = other.start(&transport(), elsewhere).unwrap();
            let ended = run.finish().await.unwrap();
            assert!(ended.text.contains("It may have taken effect"), "{}", ended.text);
            Ok("the true result".into())
        }
    });
    let agent = agent.with_shared_tool(Arc::new(slow));
    let ended = agent.run(&transport(), crate::world::session().await, "Go.").await.unwrap();
    assert_eq!(ended.end, End::Completed);
    let ended = agent.run(&transport(), ended.session, "What did it give?").await.unwrap();
    assert_eq!((ended.end, ended.text.as_str()), (End::Completed, "the true result"));
}

#[tokio::test]
async fn a_call_that_was_started_is_told_so_though_somebody_spoke_since() {
    let double = double(|asked: &Asked| Answer::text(results(asked).join(" "))).await;
    let agent = agent(&double).with_tool(changing("work", |_, _| async { Ok("".into()) }));
    let mut session = crate::world::session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let calls = ["c1", "c2"].map(|id| ToolCall::new(id, "work", r#"{"name":"a"}"#).unwrap().into());
    let at = session.append(Message::assistant_parts(calls).unwrap()).await.unwrap();
    session.mark(at, "started:c1").await.unwrap();
    let ended = agent.run(&transport(), session, "Go on.").await.unwrap();
    assert!(ended.text.starts_with("[This call was started"), "{}", ended.text);
    assert!(ended.text.contains("may have taken effect"), "{}", ended.text);
    assert!(ended.text.ends_with("[No result was recorded for this call.]"), "{}", ended.text);
}
