//! Real servers from the registries, over their standard streams and over HTTP.
//!
//! They run where the packages are: `INTERLEAF_MCP_NODE` names a folder with the packages of
//! `tests/conformance/package.json`, and `INTERLEAF_MCP_PYTHON` a Python that has those of
//! `tests/servers/requirements.txt`, as `.ci/run` makes both. Else the tests say that they are
//! skipped, or fail if `INTERLEAF_REQUIRE_MCP` is set.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use interleaf_mcp::{ErrorKind, Reach, Server, ServerSettings};
use serde_json::{Value, json};

use crate::world::until;

const NODE: &str = "INTERLEAF_MCP_NODE";
const PYTHON: &str = "INTERLEAF_MCP_PYTHON";

/// What a variable names, or that the test is skipped.
fn place(variable: &str) -> Option<PathBuf> {
    let place = std::env::var_os(variable).map(PathBuf::from);
    if place.is_none() {
        let is_required = std::env::var_os("INTERLEAF_REQUIRE_MCP").is_some();
        assert!(!is_required, "{variable} must say where the MCP servers are");
        eprintln!("skipped: no MCP servers here; {variable} says where they are");
    }
    place
}

/// The program of a server from npm.
fn program(node: &Path, server: &str) -> String {
    let file = format!("node_modules/@modelcontextprotocol/server-{server}/dist/index.js");
    node.join(file).display().to_string()
}

async fn text(server: &Server, tool: &str, arguments: Value) -> String {
    match server.call(tool, &arguments.to_string()).await {
        Ok(answer) => answer.text,
        Err(error) => error.to_string(),
    }
}

/// A server over HTTP, until it is dropped.
struct Site {
    child: Child,
    url: String,
}

impl Site {
    /// Starts a program that listens at a port.
    async fn start(command: impl FnOnce(u16) -> Command) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        Self::start_at(port, command).await
    }

    async fn start_at(port: u16, command: impl FnOnce(u16) -> Command) -> Self {
        let mut command = command(port);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = child.spawn().unwrap();
        let accepts = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        until("the server listens", accepts).await;
        Self { child, url: format!("http://127.0.0.1:{port}/mcp") }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// What holds for the server `everything`, however it is reached.
async fn everything(server: &Server) {
    server.connect().await.unwrap();
    assert!(server.tools().len() >= 8, "{:?}", server.tools());
    let said = text(server, "echo", json!({"message": "hello"})).await;
    assert_eq!(said, "Echo: hello");
    let said = text(server, "get-sum", json!({"a": 2, "b": 3})).await;
    assert!(said.contains('5'), "{said}");
    let picture = server.call("get-tiny-image", "{}").await.unwrap();
    assert_eq!(picture.images.len(), 1, "{picture:?}");
    let said = text(server, "get-structured-content", json!({"location": "Chicago"})).await;
    assert!(said.contains("temperature"), "{said}");
    let said = text(server, "get-resource-reference", json!({"resourceType": "Text"})).await;
    assert!(said.contains("demo://resource"), "{said}");
    let slow = json!({"duration": 1, "steps": 2});
    let said = text(server, "trigger-long-running-operation", slow).await;
    assert!(said.contains("completed"), "{said}");
    let refused = server.call("get-sum", r#"{"a": "two"}"#).await;
    assert!(refused.map_or(true, |answer| answer.is_error));
}

#[tokio::test]
async fn the_reference_server_is_called_over_its_standard_streams() {
    let Some(node) = place(NODE) else { return };
    let everything_ = program(&node, "everything");
    let server = Server::new("all", ServerSettings::command("node", [&*everything_, "stdio"]));
    everything(&server).await;
}

#[tokio::test]
async fn the_reference_server_is_called_over_http() {
    let Some(node) = place(NODE) else { return };
    let start = |port: u16| {
        let mut command = Command::new("node");
        command.args([&*program(&node, "everything"), "streamableHttp"]);
        command.env("PORT", port.to_string());
        command
    };
    let site = Site::start(start).await;
    let server = Server::new("all", ServerSettings::url(&site.url));
    everything(&server).await;
    // A server that was started anew knows nothing of the session.
    let port = site.url.split([':', '/']).nth(4).unwrap().parse().unwrap();
    drop(site);
    let _site = Site::start_at(port, start).await;
    everything(&server).await;
}

#[tokio::test]
async fn the_file_server_reads_and_writes_and_stays_in_its_folder() {
    let Some(node) = place(NODE) else { return };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().display().to_string();
    let files = program(&node, "filesystem");
    let server = Server::new("files", ServerSettings::command("node", [&*files, &*root]));
    let path = format!("{root}/a.txt");
    text(&server, "write_file", json!({"path": path, "content": "words"})).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "words");
    let said = text(&server, "read_text_file", json!({"path": path})).await;
    assert!(said.contains("words"), "{said}");
    let outside = server.call("read_text_file", r#"{"path": "/etc/passwd"}"#).await.unwrap();
    assert!(outside.is_error && !outside.text.contains("root:"), "{}", outside.text);
    let reads =
        |name: &str| server.tools().iter().any(|tool| tool.name == name && tool.is_read_only);
    assert!(reads("read_text_file") && !reads("write_file"));
}

#[tokio::test]
async fn servers_in_python_are_called() {
    let Some(python) = place(PYTHON) else { return };
    let python = python.display().to_string();
    let time = ServerSettings::command(&python, ["-m", "mcp_server_time"]);
    let time = Server::new("time", time);
    let noon = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let said = text(&time, "convert_time", noon).await;
    assert!(said.contains("21:00"), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no git here");
        return;
    }
    let git = ServerSettings::command(&python, ["-m", "mcp_server_git"]);
    let git = Server::new("git", git);
    let said = text(&git, "git_status", json!({"repo_path": folder.path()})).await;
    assert!(said.contains("No commits yet"), "{said}");
}

/// What holds for our own server in fastmcp, however it is reached.
async fn odd(mut settings: ServerSettings) -> Server {
    settings.timeout = Duration::from_secs(2);
    let short = Server::new("odd", settings.clone());
    let late = short.call("stall", "{}").await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Timeout);
    drop(short);
    settings.timeout = Duration::from_secs(120);
    let server = Server::new("odd", settings);
    assert_eq!(text(&server, "echo", json!({"text": "hi"})).await, "hi!");
    let flood = text(&server, "flood", json!({"megabytes": 50})).await;
    assert!(flood.contains("has more than 16777216 bytes"), "{}", &flood[..200]);
    assert_eq!(text(&server, "flood", json!({"megabytes": 1})).await.len(), 1_000_000);
    assert_eq!(text(&server, "grow", json!({})).await, "grown");
    let has_late = || server.tools().last().is_some_and(|tool| tool.name == "late");
    until("the late tool is at the end", has_late).await;
    assert_eq!(text(&server, "late", json!({})).await, "better late");
    let lost = server.call("die", "{}").await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Lost, "{lost}");
    server
}

const ODD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/odd.py");

#[tokio::test]
async fn a_server_made_with_fastmcp_stalls_floods_grows_and_dies_over_its_standard_streams() {
    let Some(python) = place(PYTHON) else { return };
    let python = python.display().to_string();
    let mut settings = ServerSettings::command(python, [ODD, "stdio"]);
    if let Reach::Command { env, .. } = &mut settings.reach {
        env.insert("FASTMCP_CHECK_FOR_UPDATES".into(), "off".into());
    }
    let server = odd(settings).await;
    // It is started anew, and has not grown since.
    assert_eq!(text(&server, "echo", json!({"text": "again"})).await, "again!");
    let late = server.tools().into_iter().find(|tool| tool.name == "late").unwrap();
    assert!(!late.is_there);
}

#[tokio::test]
async fn a_server_made_with_fastmcp_stalls_floods_grows_and_dies_over_http() {
    let Some(python) = place(PYTHON) else { return };
    let start = |port: u16| {
        let mut command = Command::new(&python);
        command.args([ODD, "http", &port.to_string()]).env("FASTMCP_CHECK_FOR_UPDATES", "off");
        command
    };
    let site = Site::start(start).await;
    let server = odd(ServerSettings::url(&site.url)).await;
    let gone = server.call("echo", r#"{"text": "gone"}"#).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Unreached, "{gone}");
    let port = site.url.split([':', '/']).nth(4).unwrap().parse().unwrap();
    drop(site);
    let _site = Site::start_at(port, start).await;
    assert_eq!(text(&server, "echo", json!({"text": "again"})).await, "again!");
}

#[tokio::test]
async fn a_server_that_no_longer_knows_the_old_greeting_is_asked_what_it_is() {
    let Some(python) = place(PYTHON) else { return };
    let server = ServerSettings::command(python.display().to_string(), [ODD, "modern"]);
    let server = Server::new("modern", server);
    assert_eq!(text(&server, "echo", json!({"text": "hi"})).await, "hi!");
    assert_eq!(server.tools().len(), 5);
}
