//! The way back: what a tool said and the model was not shown is in the log.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interleaf::Session;
use interleaf::assemble::Budget;
use interleaf::model::{Message, ToolCall};
use interleaf_agent::mcp::Server;
use interleaf_agent::{Agent, End, Output, Scene, ToolError, tool, tools};
use interleaf_doubles::{Answer, Asked, Double};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::double::settings;
use crate::world::{agent, double, n_said, results, session, transport};

/// What stands in the middle of something long.
const NEEDLE: &str = "the needle lies here";

/// Makes a call, looks for the needle, and asks for the message that is named, from where the
/// needle was found.
fn brain(asked: &Asked, (tool, arguments): &(&'static str, Value)) -> Answer {
    let said = results(asked);
    match n_said(asked) {
        0 => Answer::new().with_call(*tool, arguments),
        1 => Answer::new().with_call("recall", &json!({"words": NEEDLE})),
        2 => {
            let id = between(&said[0], "left out here: see message ", " ");
            let found = said[1].lines().find(|line| line.contains(id)).unwrap_or(&said[1]);
            let from: usize = between(found, ", character ", "]").parse().unwrap_or(0);
            Answer::new().with_call("recall", &json!({"message": id, "from": from}))
        }
        _ => Answer::text("Done."),
    }
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let rest = text.split_once(before).map_or("", |(_, rest)| rest);
    rest.split_once(after).map_or(rest, |(found, _)| found)
}

fn all_tools(agent: Agent, folder: &Path) -> Agent {
    tools::all().into_iter().fold(agent.in_folder(folder), Agent::with_shared_tool)
}

fn assert_small(double: &Double) {
    for exchange in double.requests() {
        assert_eq!(exchange.status, 200, "{exchange}");
        let size = exchange.body.to_string().len();
        assert!(size < 512 * 1024, "a request of {size} bytes");
    }
}

/// The needle, and half a megabyte before and after it.
fn hay() -> String {
    let straw = "straw and straw\n".repeat(32 * 1024);
    format!("{straw}{NEEDLE}\n{straw}THE-END")
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

async fn heap(_: Nothing, _: Scene) -> Result<Output, ToolError> {
    Ok(Output::from(hay()).showing(1_000))
}

#[tokio::test]
async fn what_a_tool_cut_off_names_its_message_and_is_recalled_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hay.txt"), hay()).unwrap();
    let calls = [
        ("run", json!({"command": "cat hay.txt"})),
        ("run", json!({"command": "cat hay.txt >&2; exit 3"})),
        ("read", json!({"path": "hay.txt"})),
        ("heap", json!({})),
    ];
    for call in calls {
        let name = call.0;
        let double = double(move |asked: &Asked| brain(asked, &call)).await;
        let heap = tool("heap", "Gives hay.", heap).reads();
        let agent = all_tools(agent(&double).with_tool(heap), folder.path());
        let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
        assert_eq!(ended.end, End::Completed, "{name}");
        assert_small(&double);
        let log = ended.session.conversation().log();
        let said: Vec<&Message> = log.map(|m| &**m).filter(|m| m.as_result().is_some()).collect();
        assert!(said[0].text().len() < 150 * 1024, "{name}");
        assert!(!said[0].text().contains(NEEDLE) && said[0].text().contains("THE-END"), "{name}");
        assert!(said[0].text().contains(said[0].id.as_str()), "{name}");
        let (recalled, id) = (said[2].text(), said[0].id.as_str());
        assert!(recalled.starts_with(&format!("[{id}, tool, characters")), "{name}: {recalled}");
        assert!(recalled.contains(NEEDLE), "{name}");
    }
}

#[tokio::test]
async fn what_a_server_said_and_was_cut_off_is_recalled_after_a_restart() {
    let notes = tempfile::tempdir().unwrap();
    let server = Server::new("double", settings(notes.path()));
    server.connect().await.unwrap();
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call("double__huge", &json!({"text": "1000000"})),
        1 => Answer::text("Done."),
        2 => {
            let said = results(asked);
            let id = between(&said[0], "left out here: see message ", " ");
            Answer::new().with_call("recall", &json!({"message": id, "from": 999_990}))
        }
        _ => Answer::text("Done."),
    })
    .await;
    let agent = all_tools(agent(&double).with_toolbox(server), notes.path());
    let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
    let (store, id) = (ended.session.store().clone(), ended.session.id());
    drop(ended);
    let session = Session::open(store, id).await.unwrap();
    let ended = agent.run(&transport(), session, "Go on.").await.unwrap();
    assert_small(&double);
    let recalled = ended.session.conversation().log().rfind(|m| m.as_result().is_some()).unwrap();
    let text = recalled.text();
    assert!(text.contains("characters 999990 to 1000000 of 1000000"), "{text}");
}

#[tokio::test]
async fn what_gave_way_to_the_window_names_its_message_and_is_recalled() {
    const CLEARED: &str = "was cleared: see message ";
    let double = double(|asked: &Asked| {
        let said = results(asked);
        let cleared = said.iter().find(|text| text.contains(CLEARED));
        match (said.last(), cleared) {
            (Some(last), _) if last.starts_with("[m") => Answer::text("Done."),
            (_, Some(cleared)) => {
                let id = between(cleared, CLEARED, ".]");
                Answer::new().with_call("recall", &json!({"message": id}))
            }
            _ => Answer::new().with_call("page", &json!({})),
        }
    })
    .await;
    let n_pages = Arc::new(AtomicUsize::new(0));
    let page = tool("page", "Gives the next page.", move |_: Nothing, _| {
        let page = n_pages.fetch_add(1, Ordering::Relaxed);
        async move { Ok(format!("page {page}: {}", "some words ".repeat(300)).into()) }
    });
    let folder = tempfile::tempdir().unwrap();
    let agent = all_tools(agent(&double).with_tool(page.reads()), folder.path());
    let agent = agent.with_budget(Budget::of_window(12_000));
    let ended = agent.run(&transport(), session().await, "Read on.").await.unwrap();
    assert_eq!(ended.end, End::Completed, "{}", ended.text);
    let recalled = ended.session.conversation().log().rfind(|m| m.as_result().is_some()).unwrap();
    let text = recalled.text();
    let given = text.lines().nth(1).unwrap_or_default();
    assert!(given.starts_with("page 0: some words"), "{text}");
}

#[tokio::test]
async fn of_an_output_beyond_all_bounds_the_log_keeps_the_beginning_and_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let command = "echo THE-START; head -c 50000000 /dev/zero | tr '\\0' 'a'; echo; echo THE-END";
    let call = ("run", json!({"command": command}));
    let double = double(move |asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call(call.0, &call.1),
        _ => Answer::text("Done."),
    })
    .await;
    let agent = all_tools(agent(&double), folder.path());
    let ended = agent.run(&transport(), session().await, "Go.").await.unwrap();
    assert_small(&double);
    let log = ended.session.conversation().log();
    let result = log.rev().find(|message| message.as_result().is_some()).unwrap();
    let kept: Value =
        serde_json::from_str(result.extra.get("interleaf").unwrap().as_str()).unwrap();
    let whole = kept["whole"].as_str().unwrap();
    assert!(whole.len() <= 4 * 1024 * 1024, "{}", whole.len());
    for text in [whole, &*result.text()] {
        assert!(text.starts_with("[exit code 0]\nTHE-START\n") && text.ends_with("THE-END"));
        assert!(text.contains("bytes are left out here"), "{}", text.len());
    }
}

#[tokio::test]
async fn results_of_calls_that_share_an_id_have_ids_of_their_own() {
    let double = double(|_: &Asked| Answer::text("Done.")).await;
    let agent = agent(&double).with_tool(tool("heap", "Gives hay.", heap).reads());
    let mut session = session().await;
    for _ in 0..2 {
        session.append(Message::user("Go.")).await.unwrap();
        let call = ToolCall::new("c1", "heap", "{}").unwrap();
        session.append(Message::assistant_parts([call.into()]).unwrap()).await.unwrap();
        let ended = agent.start(&transport(), session).unwrap().finish().await.unwrap();
        assert_eq!(ended.end, End::Completed);
        session = ended.session;
    }
    let log = session.conversation().log().filter(|m| m.as_result().is_some());
    let ids: Vec<&str> = log.map(|message| message.id.as_str()).collect();
    assert!(ids.contains(&"result-c1") && ids.contains(&"result-c1_2"), "{ids:?}");
}
