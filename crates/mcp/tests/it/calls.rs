//! Calls of a server that is a program.

use std::time::Duration;

use interleaf_mcp::{Boxed, ErrorKind, Question, Respondent, Server};
use serde_json::{Value, json};

use crate::double;
use crate::world::{World, runs, until};

#[tokio::test]
async fn a_tool_is_called_and_lines_that_are_no_messages_are_passed_over() {
    let world = World::new(|_| {});
    world.server.connect().await.unwrap();
    let tools = world.server.tools();
    assert_eq!(tools[0].name, "echo");
    assert!(tools[0].is_read_only && !tools.iter().any(|tool| tool.name == "7"));
    assert_eq!(world.call("echo", "hi").await, Ok("hi!".to_owned()));
}

#[tokio::test]
async fn live_row_23_a_time_out_fails_that_call_and_not_the_server() {
    let world = World::new(|settings| settings.timeout = Duration::from_millis(300));
    world.server.connect().await.unwrap();
    let late = world.server.call("stall", "{}").await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Timeout);
    until("the call is called off", || {
        world.noted("heard").iter().any(|method| method == "notifications/cancelled")
    })
    .await;
    // The server is the same process, and its tools are still there.
    let (mut answer, mut n) = (world.call("echo", "hi").await, 0);
    while answer.is_err() && n < 50 {
        (answer, n) = (world.call("echo", "hi").await, n + 1);
    }
    assert_eq!(answer, Ok("hi!".to_owned()));
    assert_eq!(world.noted("started").len(), 1);
}

#[tokio::test]
async fn progress_gives_a_call_its_time_anew_if_that_is_asked_for() {
    let done = |extends| async move {
        let world = World::new(|settings| {
            settings.timeout = Duration::from_secs(3);
            settings.progress_extends = extends;
        });
        world.server.connect().await.unwrap();
        world.call("slow", "").await
    };
    let (extended, plain) = tokio::join!(done(true), done(false));
    assert_eq!(extended, Ok("done".to_owned()));
    assert!(plain.unwrap_err().contains("took more than 3 s"));
}

#[tokio::test]
async fn live_row_23_an_unknown_name_is_an_error_and_never_another_tool() {
    let world = World::new(|settings| settings.tools = Some(vec!["echo".into(), "fail".into()]));
    for name in ["ech", "ECHO", "write", ""] {
        let error = world.server.call(name, "{}").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownTool, "{error}");
        assert!(error.to_string().contains("it has: echo, fail"), "{error}");
    }
    assert!(world.noted("called").is_empty());
}

#[tokio::test]
async fn a_tool_that_the_settings_name_and_the_server_has_not_is_told_once_it_is_reached() {
    let world = World::new(|settings| settings.tools = Some(vec!["echo".into(), "ecko".into()]));
    assert_eq!(world.server.misnamed(), None);
    world.server.connect().await.unwrap();
    let told = world.server.misnamed().unwrap();
    assert!(told.contains(" has no tool ecko; it has ") && told.contains("fail"), "{told}");
    let world = World::new(|settings| settings.tools = Some(vec!["echo".into()]));
    world.server.connect().await.unwrap();
    assert_eq!(world.server.misnamed(), None);
}

#[tokio::test]
async fn however_often_a_server_says_that_its_list_has_changed_one_list_is_due() {
    let world = World::new(|_| {});
    assert_eq!(world.call("clamor", "").await, Ok("quiet".to_owned()));
    let n_lists = || world.noted("heard").iter().filter(|method| *method == "tools/list").count();
    // At the start, at the first notice, and for all that came meanwhile.
    until("it is listed", || n_lists() >= 3).await;
    for _ in 0..10 {
        world.call("echo", "hi").await.unwrap();
    }
    assert_eq!(n_lists(), 3);
}

#[tokio::test]
async fn live_row_24_late_tools_go_to_the_end_and_those_that_are_gone_stay_with_an_error() {
    let world = World::new(|_| {});
    world.server.connect().await.unwrap();
    let before = world.server.tools();
    assert_eq!(world.call("early", "a").await, Ok("a!".to_owned()));
    world.call("grow", "").await.unwrap();
    until("the list is new", || world.server.tools().len() > before.len()).await;
    let after = world.server.tools();
    let names = |tools: &[interleaf_mcp::ServerTool]| -> Vec<String> {
        tools.iter().map(|tool| tool.name.clone()).collect()
    };
    assert_eq!(names(&after[..before.len()]), names(&before));
    assert_eq!(after.last().unwrap().name, "late");
    let gone: Vec<_> = after.iter().filter(|tool| !tool.is_there).collect();
    assert_eq!((gone.len(), &*gone[0].name), (1, "early"));
    let error = world.server.call("early", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::GoneTool);
    assert_eq!(world.call("late", "b").await, Ok("b!".to_owned()));
}

#[tokio::test]
async fn every_kind_of_content_is_shown_or_named() {
    let world = World::new(|_| {});
    let answer = world.server.call("kinds", "").await.unwrap();
    let lines = [
        "a text",
        "[content of audio/wav, 4 bytes in base64, is left out]",
        "[file:///a]",
        "inside",
        "[file:///b]",
        "[see file:///c (c)]",
        r#"{"n":1}"#,
    ];
    assert_eq!(answer.text.lines().collect::<Vec<_>>(), lines);
    assert_eq!(answer.images.len(), 2);
    assert!(!answer.is_error);
}

#[tokio::test]
async fn what_a_tool_or_the_server_refuses_is_told() {
    let world = World::new(|_| {});
    let failed = world.server.call("fail", "{}").await.unwrap();
    assert!(failed.is_error && failed.text == "no");
    let refused = world.server.call("refuse", "{}").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    assert!(refused.to_string().contains("text must be shorter (code -32602)"), "{refused}");
    let nonsense = world.server.call("nonsense", "{}").await.unwrap_err();
    assert_eq!(nonsense.kind(), ErrorKind::Refused);
    assert!(nonsense.to_string().contains("the server did not answer as MCP has it"), "{nonsense}");
    let arguments = world.server.call("echo", "[1]").await.unwrap_err();
    assert_eq!(arguments.kind(), ErrorKind::Arguments);
    assert_eq!(world.noted("started").len(), 1);
}

#[test]
fn a_result_of_fifty_megabytes_is_told_and_not_taken_in() {
    // In a process of its own: the most memory that one had is that of all its tests.
    let test = "calls::a_result_of_fifty_megabytes_in_this_process";
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", test, "--test-threads=1"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
#[ignore = "another test starts it in a process of its own"]
async fn a_result_of_fifty_megabytes_in_this_process() {
    let world = World::new(|_| {});
    let small = world.call("huge", "1000000").await.unwrap();
    assert_eq!(small.len(), 1_000_000);
    let before = peak_of_this_process();
    let error = world.call("huge", "50000000").await.unwrap_err();
    assert!(error.contains("has more than 16777216 bytes: it was not taken in"), "{error}");
    let more = peak_of_this_process() - before;
    assert!(before > 0 && more < 40 * 1024, "{more} KiB more at its peak");
    assert_eq!(world.call("echo", "still there").await, Ok("still there!".to_owned()));
}

/// The most memory that this process has had, in KiB.
fn peak_of_this_process() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

#[tokio::test]
async fn a_question_is_answered_with_its_defaults_or_declined() {
    let world = World::new(|_| {});
    let answer: Value = serde_json::from_str(&world.call("ask", "").await.unwrap()).unwrap();
    assert_eq!(answer, json!({"action": "accept", "content": {"n": 3}}));
    let answer: Value = serde_json::from_str(&world.call("must_ask", "").await.unwrap()).unwrap();
    assert_eq!(answer, json!({"action": "decline"}));
}

struct Ada;

impl Respondent for Ada {
    fn answer(&self, question: Question) -> Boxed<'_, Option<Value>> {
        assert_eq!((&*question.server, &*question.text), ("double", "Who?"));
        Box::pin(async { Some(json!({"name": "Ada"})) })
    }
}

#[tokio::test]
async fn a_question_is_answered_by_whoever_is_there() {
    let notes = tempfile::tempdir().unwrap();
    let server = Server::with_respondent("double", double::settings(notes.path()), Ada);
    let answer = server.call("must_ask", "").await.unwrap();
    let answer: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(answer, json!({"action": "accept", "content": {"name": "Ada"}}));
}

#[tokio::test]
async fn a_server_without_a_greeting_is_discovered_called_answered_and_heard() {
    let world = World::new(|_| {});
    std::fs::write(world.notes.path().join("modern"), "").unwrap();
    assert_eq!(world.call("echo", "hi").await, Ok("hi!".to_owned()));
    let answer: Value = serde_json::from_str(&world.call("ask", "").await.unwrap()).unwrap();
    assert_eq!(answer, json!({"who": {"action": "accept", "content": {"n": 3}}}));
    until("it is asked to tell of changes", || {
        world.noted("heard").iter().any(|method| method == "subscriptions/listen")
    })
    .await;
    world.call("grow", "").await.unwrap();
    until("the late tool is there", || {
        world.server.tools().last().is_some_and(|tool| tool.name == "late")
    })
    .await;
    // It was started twice: the old greeting was refused.
    let ids = world.noted("started");
    assert_eq!(ids.len(), 2);
    until("the first is gone", || !runs(&ids[0])).await;
}
