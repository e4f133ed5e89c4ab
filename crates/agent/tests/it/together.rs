//! The calls of one answer run together: none waits for another, and none loses another's result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interleaf::model::{Message, ToolCall};
use interleaf::store::{self, Store};
use interleaf::{Session, store::SessionId};
use interleaf_agent::{Allow, Boxed, Effect, End, Event, Hook, Run, Scene};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;
use tokio::sync::Notify;

use crate::world::{PATIENCE, agent, changing, double, echo, n_said, transport};

/// Answers with these calls, and then says that all is done.
fn calling(tools: &'static [&'static str]) -> impl Fn(&Asked) -> Answer {
    move |asked| match n_said(asked) {
        0 => tools
            .iter()
            .fold(Answer::new(), |answer, tool| answer.with_call(*tool, &json!({"name": *tool}))),
        _ => Answer::text("Done."),
    }
}

/// Asks about the calls of these tools, and waits for an answer to each.
#[derive(Clone, Default)]
struct Person {
    asks_about: &'static [&'static str],
    asked: Arc<Mutex<Vec<String>>>,
    answers: Arc<Notify>,
}

impl Hook for Person {
    fn before_call<'a>(&'a self, call: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        Box::pin(async move {
            if self.asks_about.contains(&call.name.as_str()) {
                self.asked.lock().unwrap().push(call.name.to_string());
                self.answers.notified().await;
            }
            Allow::Run
        })
    }
}

/// What a store holds: the results, as the model reads them.
async fn stored(store: &Arc<dyn Store>, id: SessionId) -> Vec<String> {
    let session = Session::open(store.clone(), id).await.unwrap();
    let results = session.conversation().visible().filter(|said| said.as_result().is_some());
    results.map(|said| said.text().into_owned()).collect()
}

/// Waits until so many results were told.
async fn results(run: &mut Run, n: usize) {
    let told = async {
        let mut n_told = 0;
        while n_told < n {
            let event = run.next().await.expect("the run ended");
            n_told += usize::from(matches!(event, Event::Result(_)));
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("a result waits for something else");
}

async fn told_to_go(store: &Arc<dyn Store>) -> Session {
    let mut session = Session::create(store.clone(), "").await.unwrap();
    session.append(Message::user("Go.")).await.unwrap();
    session
}

#[tokio::test]
async fn what_has_ended_is_stored_while_a_person_makes_up_their_mind() {
    let double = double(calling(&["deploy", "edit", "echo"])).await;
    let person = Person { asks_about: &["edit"], ..Person::default() };
    let agent = agent(&double)
        .with_tool(changing("deploy", |_, _| async { Ok("deployed".into()) }))
        .with_tool(changing("edit", |_, _| async { Ok("edited".into()) }))
        .with_tool(echo())
        .with_hook(person.clone());
    let store = store::open("memory:").await.unwrap();
    let session = told_to_go(&store).await;
    let id = session.id();
    let mut run = agent.start(&transport(), session).unwrap();
    results(&mut run, 2).await;
    assert_eq!(stored(&store, id).await, ["deployed", "echo!"]);
    person.answers.notify_one();
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, End::Completed);
    assert_eq!(stored(&store, id).await, ["deployed", "echo!", "edited"]);
}

#[tokio::test]
async fn a_person_is_asked_in_the_order_of_the_calls() {
    let double = double(calling(&["edit", "deploy", "edit", "echo"])).await;
    let person = Person { asks_about: &["edit", "deploy"], ..Person::default() };
    let agent = agent(&double)
        .with_tool(changing("deploy", |_, _| async { Ok("deployed".into()) }))
        .with_tool(changing("edit", |_, _| async { Ok("edited".into()) }))
        .with_tool(echo())
        .with_hook(person.clone());
    let store = store::open("memory:").await.unwrap();
    let mut run = agent.start(&transport(), told_to_go(&store).await).unwrap();
    results(&mut run, 1).await;
    assert_eq!(*person.asked.lock().unwrap(), ["edit", "deploy", "edit"]);
    for _ in 0..3 {
        person.answers.notify_one();
        results(&mut run, 1).await;
    }
    assert_eq!(run.finish().await.unwrap().end, End::Completed);
}

#[tokio::test]
async fn results_that_are_ready_together_are_stored_in_the_order_of_the_calls() {
    let double = double(calling(&["a", "b", "c"])).await;
    let gates = ["a", "b", "c"].map(|name| (name, Arc::new(Notify::new())));
    let gated = |(name, gate): &(&'static str, Arc<Notify>)| {
        let gate = gate.clone();
        let tool = changing(name, move |named, _| {
            let gate = gate.clone();
            async move {
                gate.notified().await;
                Ok(named.name.into())
            }
        });
        tool.reads()
    };
    let agent = gates.iter().fold(agent(&double), |agent, gate| agent.with_tool(gated(gate)));
    let store = store::open("memory:").await.unwrap();
    let session = told_to_go(&store).await;
    let id = session.id();
    let mut run = agent.start(&transport(), session).unwrap();
    let mut n_begun = 0;
    while n_begun < gates.len() {
        n_begun += usize::from(matches!(run.next().await.unwrap(), Event::Started(_)));
    }
    // All are ready before whoever stores them comes to look.
    gates.iter().rev().for_each(|(_, gate)| gate.notify_one());
    assert_eq!(run.finish().await.unwrap().end, End::Completed);
    assert_eq!(stored(&store, id).await, ["a", "b", "c"]);
}

/// A store in a file, and another program that has it open.
async fn shared(folder: &tempfile::TempDir) -> (Arc<dyn Store>, rusqlite::Connection) {
    let path = folder.path().join("s.db");
    let store = store::open(&format!("sqlite:{}", path.display())).await.unwrap();
    (store, rusqlite::Connection::open(path).unwrap())
}

#[tokio::test]
async fn a_call_that_cannot_be_marked_takes_nothing_from_the_others() {
    let double = double(calling(&["slow", "edit"])).await;
    let is_refused = Arc::new(Notify::new());
    let begins = is_refused.clone();
    let slow = changing("slow", move |_, _| {
        let begins = begins.clone();
        async move {
            begins.notified().await;
            Ok("at last".into())
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let (store, other) = shared(&folder).await;
    // The store refuses the mark of the second call: what reads is not marked.
    let refusal = "create trigger refusal before insert on events
        when instr(cast(new.body as text), 'started:') begin select raise(abort, 'no'); end";
    other.execute_batch(refusal).unwrap();
    let agent = agent(&double)
        .with_tool(slow.reads())
        .with_tool(changing("edit", |_, _| async { Ok("edited".into()) }));
    let session = told_to_go(&store).await;
    let id = session.id();
    let run = agent.start(&transport(), session).unwrap();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(500)).await;
        is_refused.notify_one();
    });
    let ended = tokio::time::timeout(PATIENCE, run.finish()).await.unwrap().unwrap();
    assert!(matches!(ended.end, End::Failed(_)), "{:?}", ended.end);
    assert_eq!(stored(&store, id).await, ["at last"]);
}

#[tokio::test]
async fn a_result_waits_for_a_store_that_another_program_holds() {
    let double = double(calling(&["edit"])).await;
    let folder = tempfile::tempdir().unwrap();
    let (store, other) = shared(&folder).await;
    let other = Arc::new(Mutex::new(other));
    let (holder, is_held) = (other.clone(), Arc::new(AtomicBool::new(false)));
    let held = is_held.clone();
    let edit = changing("edit", move |_, _| {
        let (holder, held) = (holder.clone(), held.clone());
        async move {
            holder.lock().unwrap().execute_batch("begin immediate").unwrap();
            held.store(true, Ordering::SeqCst);
            Ok("edited".into())
        }
    });
    let session = told_to_go(&store).await;
    let id = session.id();
    let run = agent(&double).with_tool(edit).start(&transport(), session).unwrap();
    tokio::spawn(async move {
        while !is_held.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The store itself waits for five seconds.
        tokio::time::sleep(Duration::from_secs(6)).await;
        other.lock().unwrap().execute_batch("rollback").unwrap();
    });
    let ended = tokio::time::timeout(PATIENCE, run.finish()).await.unwrap().unwrap();
    assert_eq!(ended.end, End::Completed);
    assert_eq!(stored(&store, id).await, ["edited"]);
}
