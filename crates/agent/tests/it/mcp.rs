//! Agents whose tools are those of an MCP server.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interleaf::model::{Message, Status};
use interleaf::wire::Family;
use interleaf::{Session, store};
use interleaf_agent::mcp::Server;
use interleaf_agent::settings::Settings;
use interleaf_agent::{Agent, Definitions, End, Event, Kit, Places, Tool, Toolbox};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;
use tempfile::TempDir;

use crate::double::{noted, settings};
use crate::world::{FAMILIES, agent, by_call, double, n_said, results, session, target, transport};

/// A server that is connected, and where it notes what happened.
async fn server() -> (Server, TempDir) {
    let notes = tempfile::tempdir().unwrap();
    let server = Server::new("double", settings(notes.path()));
    server.connect().await.unwrap();
    (server, notes)
}

#[tokio::test]
async fn an_agent_calls_the_tools_of_a_server_on_every_api() {
    let (server, _notes) = server().await;
    for family in FAMILIES {
        let brain = |asked: &Asked| match n_said(asked) {
            0 => Answer::new()
                .with_call("double__echo", &json!({"text": "a"}))
                .with_call("double__fail", &json!({}))
                .with_call("double__no_such_tool", &json!({}))
                .with_call("double__kinds", &json!({})),
            _ => Answer::text("Done."),
        };
        let double = double(brain).await;
        let agent = Agent::new("mender")
            .with_target(target(family, &double))
            .with_role("You mend clocks.")
            .without_instructions()
            .with_toolbox(server.clone());
        let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
        assert_eq!(ended.end, End::Completed, "{family:?}");
        let texts = by_call(&ended.session);
        let status: Vec<_> =
            texts.iter().filter_map(|said| Some(said.as_result()?.status)).collect();
        assert_eq!(status, [Status::Ok, Status::Error, Status::Error, Status::Ok]);
        assert_eq!(texts[0].text(), "a!");
        assert!(texts[2].text().contains("there is no tool"), "{}", texts[2].text());
        assert!(double.requests().iter().all(|request| request.status == 200), "{family:?}");
    }
}

#[tokio::test]
async fn live_row_24_late_tools_join_at_the_end_and_those_that_vanish_stay_with_an_error() {
    let (server, _notes) = server().await;
    let seen: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let lists = seen.clone();
    let double = double(move |asked| {
        let names: Vec<String> = asked.tools.iter().map(|tool| tool.name.clone()).collect();
        let has_late = names.iter().any(|name| name == "double__late");
        lists.lock().unwrap().push(names);
        match (n_said(asked), has_late) {
            (0, _) => Answer::new().with_call("double__grow", &json!({})),
            // Until the new list has come.
            (_, false) => Answer::new().with_call("double__slow", &json!({})),
            _ if results(asked).iter().any(|text| text == "late!") => {
                Answer::text(results(asked).join(" "))
            }
            _ => Answer::new()
                .with_call("double__late", &json!({"text": "late"}))
                .with_call("double__early", &json!({"text": "early"})),
        }
    })
    .await;
    let agent = agent(&double).with_toolbox(server);
    let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ended.end, End::Completed);
    assert!(ended.text.contains("it no longer has the tool \"early\""), "{}", ended.text);
    let lists = seen.lock().unwrap();
    let (first, last) = (lists.first().unwrap(), lists.last().unwrap());
    assert_eq!(last[..first.len()], first[..]);
    assert_eq!(last[first.len()..], ["double__late"]);
}

#[tokio::test]
async fn live_row_23_a_server_that_connects_late_joins_the_run() {
    let notes = tempfile::tempdir().unwrap();
    let server = Server::new("double", settings(notes.path()));
    let late = server.clone();
    let double = double(move |asked| {
        let has_tools = asked.tools.iter().any(|tool| tool.name == "double__echo");
        match has_tools {
            false => Answer::new().with_call("wait", &json!({"name": "a"})),
            true if results(asked).iter().any(|text| text == "hi!") => Answer::text("Done."),
            true => Answer::new().with_call("double__echo", &json!({"text": "hi"})),
        }
    })
    .await;
    let wait = crate::world::changing("wait", move |_, _| {
        let late = late.clone();
        async move {
            late.connect().await?;
            Ok("connected".into())
        }
    });
    let agent = agent(&double).with_toolbox(server).with_tool(wait);
    let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!((ended.end, &*ended.text), (End::Completed, "Done."));
}

#[tokio::test]
async fn live_row_23_a_server_that_failed_at_the_start_is_tried_again_and_its_tools_join_at_the_end()
 {
    let notes = tempfile::tempdir().unwrap();
    let refuses = notes.path().join("refuses-to-start");
    std::fs::write(&refuses, "").unwrap();
    let failed = Server::new("late", settings(notes.path()));
    failed.connect().await.unwrap_err();
    let (server, _others_notes) = server().await;
    let seen: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let lists = seen.clone();
    let double = double(move |asked| {
        let names: Vec<String> = asked.tools.iter().map(|tool| tool.name.clone()).collect();
        let has_late = names.iter().any(|name| name == "late__echo");
        lists.lock().unwrap().push(names);
        match has_late {
            false => Answer::new().with_call("wait", &json!({"name": "a"})),
            true if results(asked).iter().any(|text| text == "hi!") => Answer::text("Done."),
            true => Answer::new().with_call("late__echo", &json!({"text": "hi"})),
        }
    })
    .await;
    let tried = notes.path().to_owned();
    let wait = crate::world::changing("wait", move |_, _| {
        // It fails once more, and works from then on.
        if noted(&tried, "started").len() > 1 {
            let _ = std::fs::remove_file(&refuses);
        }
        async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok("waited".into())
        }
    });
    let mut limits = interleaf_agent::Limits::default();
    limits.rounds = Some(3_000);
    let agent = agent(&double).with_toolbox(failed).with_toolbox(server).with_tool(wait);
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent.with_limits(limits).start(&transport(), session).unwrap();
    let told = crate::world::events(&mut run).await;
    let ended = run.finish().await.unwrap();
    assert_eq!((ended.end, &*ended.text), (End::Completed, "Done."));
    let joined = told.iter().filter(|event| matches!(event, Event::Joined(_))).count();
    assert_eq!(joined, 1);
    let lists = seen.lock().unwrap();
    let (first, last) = (lists.first().unwrap(), lists.last().unwrap());
    assert!(first.iter().any(|name| name == "double__echo"), "{first:?}");
    assert_eq!(last[..first.len()], first[..]);
    assert!(last[first.len()..].iter().all(|name| name.starts_with("late__")), "{last:?}");
}

/// Tools that only grow.
struct Growing(Arc<Mutex<usize>>);

impl Toolbox for Growing {
    fn name(&self) -> String {
        "the MCP server big".to_owned()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tool = |n| {
            let tool = crate::world::changing(&format!("big__{n}"), |_, _| async { Ok("".into()) });
            Arc::new(tool) as Arc<dyn Tool>
        };
        (0..*self.0.lock().unwrap()).map(tool).collect()
    }
}

#[tokio::test]
async fn tools_beyond_what_the_api_takes_are_left_out_and_told() {
    for n_at_first in [100, 200] {
        let n_tools = Arc::new(Mutex::new(n_at_first));
        let (grows, seen) = (n_tools.clone(), Arc::new(Mutex::new(Vec::new())));
        let lists = seen.clone();
        let double = double(move |asked| {
            *grows.lock().unwrap() = 218;
            let names: Vec<String> = asked.tools.iter().map(|tool| tool.name.clone()).collect();
            lists.lock().unwrap().push(names);
            match n_said(asked) {
                0 => Answer::new().with_call("echo", &json!({"name": "a"})),
                _ => Answer::text("Done."),
            }
        })
        .await;
        // An agent of a file has a part of the toolbox, under its name.
        let folder = tempfile::tempdir().unwrap();
        let agents = folder.path().join(".interleaf/agents");
        std::fs::create_dir_all(&agents).unwrap();
        std::fs::write(agents.join("mender.md"), "You mend clocks.").unwrap();
        let found = Definitions::find(&Places::of(folder.path()), &Settings::usual());
        let mut kit = Kit::new(Settings::usual()).with_toolbox(Growing(n_tools));
        kit.tools = vec![Arc::new(crate::world::echo())];
        let targets = vec![target(Family::OpenaiChat, &double)];
        let agent = found.agent(found.named("mender").unwrap(), &kit, targets, &mut Vec::new());
        let agent = agent.unwrap().without_instructions();
        let mut session = session().await;
        session.append(Message::user("Go.")).await.unwrap();
        let mut run = agent.start(&transport(), session).unwrap();
        let told = crate::world::events(&mut run).await;
        let ended = run.finish().await.unwrap();
        assert_eq!((ended.end, &*ended.text), (End::Completed, "Done."));
        let told: Vec<String> = told
            .iter()
            .filter(|event| matches!(event, Event::LeftOut { .. }))
            .map(ToString::to_string)
            .collect();
        let last = "91 tools of the MCP server big left out: the API takes at most 128 in all";
        assert!(told.last().unwrap().starts_with(last), "{told:?}");
        assert_eq!(told.len(), if n_at_first == 200 { 2 } else { 1 });
        let seen = seen.lock().unwrap();
        let (first, last) = (&seen[0], &seen[1]);
        assert_eq!(last.len(), 128);
        assert_eq!(last[..first.len()], first[..], "in the order in which they were first sent");
        assert_eq!(last[0], "echo", "its own never give way");
    }
}

#[tokio::test]
async fn an_interrupt_ends_a_call_and_the_server_stays() {
    let (server, notes) = server().await;
    let stalls = |asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call("double__stall", &json!({})),
        _ => Answer::text("Done."),
    };
    let double = double(stalls).await;
    let agent = agent(&double).with_toolbox(server.clone());
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent.start(&transport(), session).unwrap();
    let handle = run.handle();
    while let Some(event) = run.next().await {
        if matches!(event, Event::Started(_)) {
            until(|| noted(notes.path(), "called").len() == 1).await;
            handle.interrupt();
        }
    }
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, End::Interrupted);
    // The server is told that nobody waits any more.
    until(|| noted(notes.path(), "heard").iter().any(|it| it == "notifications/cancelled")).await;
    assert_eq!(server.call("echo", r#"{"text": "hi"}"#).await.unwrap().text, "hi!");
    let ids = noted(notes.path(), "started");
    assert_eq!(ids.len(), 1);
    drop((server, agent));
    until(|| !runs(&ids[0])).await;
}

#[tokio::test]
async fn what_a_server_says_is_bounded_for_the_model_and_shown_escaped() {
    let (server, _notes) = server().await;
    let brain = |asked: &Asked| match n_said(asked) {
        0 => Answer::new()
            .with_call("double__huge", &json!({"text": "5000000"}))
            .with_call("double__huge", &json!({"text": "50000000"}))
            .with_call("double__echo", &json!({"text": "\u{1b}[2J## Agent TODO List"})),
        _ => Answer::text("Done."),
    };
    let double = double(brain).await;
    let agent = agent(&double).with_toolbox(server);
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = agent.start(&transport(), session).unwrap();
    let happened = crate::world::events(&mut run).await;
    assert!(happened.iter().all(|event| !event.to_string().contains('\u{1b}')));
    let ended = run.finish().await.unwrap();
    let results = by_call(&ended.session);
    let found: Vec<_> = results.iter().map(|said| said.text()).collect();
    assert!(found[0].len() < 110_000 && found[0].contains("bytes are left out here"));
    assert!(found[1].contains("has more than 16777216 bytes"), "{}", found[1].len());
    assert_eq!(found[2], "\u{1b}[2J## Agent TODO List!");
}

/// Twelve rounds of three calls; each that writes has a text of its own.
fn rounds(asked: &Asked) -> Answer {
    match n_said(asked) {
        n @ 0..12 => Answer::new()
            .with_call("double__write", &json!({"text": format!("{n}a")}))
            .with_call("double__echo", &json!({"text": format!("{n}b")}))
            .with_call("double__write", &json!({"text": format!("{n}c")})),
        _ => Answer::text("Done."),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn live_row_23_a_server_that_is_killed_at_random_moments_costs_no_run_and_no_call_is_made_twice()
 {
    let double = double(rounds).await;
    let store = store::open("memory:").await.unwrap();
    let (mut n_kills, mut n_runs, mut n_lost) = (0, 0, 0);
    while n_kills < 100 {
        let (server, notes) = server().await;
        let agent = agent(&double).with_toolbox(server.clone());
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user("Go.")).await.unwrap();
        let run = agent.start(&transport(), session).unwrap();
        let run = tokio::spawn(run.finish());
        // At another moment each time; the numbers follow from the count.
        while !run.is_finished() {
            let wait = (n_kills * 7_919 + n_runs * 104_729) % 61;
            tokio::time::sleep(Duration::from_millis(wait)).await;
            if noted(notes.path(), "started").last().is_some_and(|id| kill(id)) {
                n_kills += 1;
            }
        }
        let ended = run.await.unwrap().unwrap();
        assert_eq!((ended.end, &*ended.text), (End::Completed, "Done."));
        let conversation = ended.session.conversation();
        let calls: Vec<_> = conversation.visible().flat_map(|m| m.calls()).collect();
        assert_eq!(calls.len(), 36);
        let written = noted(notes.path(), "written");
        for call in calls {
            let is_its = |m: &&Arc<Message>| m.as_result().is_some_and(|r| r.call == call.id);
            let found: Vec<_> = conversation.visible().filter(is_its).collect();
            assert_eq!(found.len(), 1, "{}", call.id);
            if call.name.as_str() == "double__write" {
                let text: serde_json::Value = call.arguments.parse().unwrap();
                let times = written.iter().filter(|line| **line == text["text"]).count();
                let said = found[0].text();
                let is_lost = said.contains("It may have taken effect");
                match said == "written" {
                    true => assert_eq!(times, 1, "{said}"),
                    false if is_lost => assert!(times <= 1, "{said}"),
                    false => assert_eq!(times, 0, "{said}"),
                }
                n_lost += usize::from(is_lost);
            }
        }
        drop((server, agent));
        let ids = noted(notes.path(), "started");
        until(|| !ids.iter().any(|id| runs(id))).await;
        n_runs += 1;
    }
    eprintln!("{n_kills} kills in {n_runs} runs; {n_lost} calls whose effect is not known");
    assert!(n_lost > 0, "no kill hit a call");
    assert!(double.requests().iter().all(|request| request.status == 200));
}

async fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..1_200 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came to be");
}

/// Ends a process; whether it ran.
fn kill(id: &str) -> bool {
    let mut kill = Command::new("kill");
    kill.args(["-KILL", id]).stdout(Stdio::null()).stderr(Stdio::null());
    runs(id) && kill.status().is_ok_and(|status| status.success())
}

/// Whether a process runs. One that has ended and that nobody has asked for does not.
fn runs(id: &str) -> bool {
    let stat = Path::new("/proc").join(id).join("stat");
    let stat = std::fs::read_to_string(stat).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    !matches!(state, None | Some("Z"))
}
