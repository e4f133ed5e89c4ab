//! Connections that are lost, and processes that are left.

use std::time::Duration;

use interleaf_mcp::{ErrorKind, Server, ServerSettings};

use crate::double;
use crate::world::{World, runs, until};

#[tokio::test]
async fn a_call_that_reads_is_made_again_over_a_new_connection() {
    let world = World::new(|_| {});
    assert_eq!(world.call("look", "").await, Ok("it is done".to_owned()));
    assert_eq!(world.noted("look").len(), 2);
    assert_eq!(world.noted("started").len(), 2);
}

#[tokio::test]
async fn a_call_that_changes_something_is_never_made_twice() {
    // Of `cover`, the server says that it may be repeated: that is no proof.
    for tool in ["strike", "cover"] {
        let world = World::new(|_| {});
        let error = world.server.call(tool, "{}").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lost);
        assert!(error.to_string().contains("It may have taken effect"), "{error}");
        assert_eq!(world.noted(tool).len(), 1);
        // The next call has a server again.
        assert_eq!(world.call("echo", "hi").await, Ok("hi!".to_owned()));
        assert_eq!(world.noted("started").len(), 2);
    }
}

#[tokio::test]
async fn a_call_waits_for_a_new_connection_no_longer_than_it_may_take() {
    let world = World::new(|settings| {
        settings.timeout = Duration::from_secs(2);
        settings.start_timeout = Duration::from_secs(20);
    });
    world.server.connect().await.unwrap();
    std::fs::write(world.notes.path().join("hangs-at-the-start"), "").unwrap();
    let id = world.noted("started").pop().unwrap();
    kill(&id);
    until("it is gone", || !runs(&id)).await;
    let error = world.server.call("write", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(error.to_string().contains("it was not made"), "{error}");
    // The server goes on starting, and the next call has it.
    std::fs::remove_file(world.notes.path().join("hangs-at-the-start")).unwrap();
    assert_eq!(world.server.connect().await, Ok(()));
    assert_eq!((world.noted("started").len(), world.noted("written").len()), (2, 0));
}

#[tokio::test]
async fn a_call_that_never_reached_the_server_is_made_again_whatever_it_does() {
    let world = World::new(|_| {});
    world.server.connect().await.unwrap();
    for n in 1..=3 {
        let id = world.noted("started").pop().unwrap();
        kill(&id);
        until("it is gone", || !runs(&id)).await;
        // The connection may not know yet that it is lost.
        let answer = world.call("write", "once").await;
        let n_written = world.noted("written").len();
        match answer {
            Ok(_) => assert_eq!(n_written, n),
            Err(error) => panic!("{error}; {n_written} written"),
        }
    }
}

#[tokio::test]
async fn how_a_server_died_and_what_it_said_is_told() {
    let world = World::new(|_| {});
    let error = world.call("die", "").await.unwrap_err();
    assert!(error.contains("exit status: 3") && error.contains("out of memory"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn live_row_23_many_calls_share_one_new_connection() {
    let world = World::new(|_| {});
    world.server.connect().await.unwrap();
    kill(&world.noted("started")[0]);
    let calls: Vec<_> = (0..40)
        .map(|n| {
            let server = world.server.clone();
            tokio::spawn(async move { server.call("echo", &format!(r#"{{"text":"{n}"}}"#)).await })
        })
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().unwrap().text, format!("{n}!"));
    }
    assert_eq!(world.noted("started").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_share_the_error_of_a_server_that_does_not_start() {
    let world = World::new(|_| {});
    std::fs::write(world.notes.path().join("refuses-to-start"), "").unwrap();
    let call = || {
        let server = world.server.clone();
        tokio::spawn(async move { server.call("echo", "{}").await })
    };
    let calls: Vec<_> = (0..20).map(|_| call()).collect();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreached);
        assert!(error.to_string().contains("the license has expired"), "{error}");
    }
    // Whoever came before the first try had failed shares it.
    assert!(world.noted("started").len() < 20, "{:?}", world.noted("started"));
    // It is tried again by the next call.
    std::fs::remove_file(world.notes.path().join("refuses-to-start")).unwrap();
    assert_eq!(world.call("echo", "hi").await, Ok("hi!".to_owned()));
}

#[tokio::test]
async fn what_cannot_be_started_is_told() {
    let none = Server::new("none", ServerSettings::command("/no/such/program", ["a"]));
    let error = none.connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreached);
    assert!(error.to_string().contains(r#""/no/such/program" cannot be started"#), "{error}");
    let mut silent = ServerSettings::command("sleep", ["1000"]);
    silent.start_timeout = Duration::from_millis(100);
    let error = Server::new("silent", silent).connect().await.unwrap_err();
    assert!(error.to_string().contains("it took more than 0.1 s to start"), "{error}");
    let error = Server::new("quick", ServerSettings::command("true", [""; 0])).connect().await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("it does not start") && error.contains("exit status: 0"), "{error}");
}

#[tokio::test]
async fn live_row_23_no_process_is_left_when_the_server_is_let_go() {
    let world = World::new(|_| {});
    world.call("breed", "").await.unwrap();
    let ids = [world.noted("started"), world.noted("bred")].concat();
    assert!(ids.len() == 2 && ids.iter().all(|id| runs(id)), "{ids:?}");
    drop(world.server);
    until("all processes are gone", || !ids.iter().any(|id| runs(id))).await;
}

#[tokio::test]
async fn live_row_23_no_process_is_left_when_a_call_is_let_go_with_its_server() {
    let world = World::new(|_| {});
    world.call("breed", "").await.unwrap();
    let ids = [world.noted("started"), world.noted("bred")].concat();
    let server = world.server.clone();
    let stalls = tokio::spawn(async move { server.call("stall", "{}").await });
    until("the call runs", || double::noted(world.notes.path(), "called").len() == 2).await;
    stalls.abort();
    drop(world.server);
    until("all processes are gone", || !ids.iter().any(|id| runs(id))).await;
}

#[tokio::test]
async fn live_row_23_no_process_is_left_when_a_server_dies() {
    let world = World::new(|_| {});
    world.call("breed", "").await.unwrap();
    let bred = world.noted("bred").pop().unwrap();
    kill(&world.noted("started")[0]);
    until("what it started is gone", || !runs(&bred)).await;
    assert_eq!(world.call("echo", "hi").await, Ok("hi!".to_owned()));
}

#[tokio::test]
async fn a_server_that_is_closed_may_end_by_itself() {
    let world = World::new(|_| {});
    world.server.connect().await.unwrap();
    world.server.close().await;
    let id = world.noted("started").pop().unwrap();
    until("it is gone", || !runs(&id)).await;
    assert_eq!(world.call("echo", "hi").await, Ok("hi!".to_owned()));
}

#[test]
fn live_row_23_no_process_is_left_when_the_runtime_ends() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = World::new(|_| {});
    runtime.block_on(world.call("breed", "")).unwrap();
    let ids = [world.noted("started"), world.noted("bred")].concat();
    let server = world.server.clone();
    runtime.spawn(async move { server.call("stall", "{}").await });
    drop(runtime);
    drop(world.server);
    for _ in 0..1_200 {
        if !ids.iter().any(|id| runs(id)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{ids:?} are left");
}

pub(crate) fn kill(id: &str) {
    let id = id.parse().ok().and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
}
