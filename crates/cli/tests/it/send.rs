//! `interleaf send` against a server on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use super::{CHAT, interleaf, root, text};

const KEY: &str = "sk-ant-never-to-be-seen-0123456789";

/// What the server sends, and whether it then leaves the connection open in silence.
pub(super) struct Said {
    pub(super) head: &'static str,
    pub(super) body: Vec<u8>,
    pub(super) stalls: bool,
}

/// A server that answers each request with the next thing to say, the last one again and again.
pub(super) struct Server {
    pub(super) url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) fn start(said: Vec<Said>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (requests, said) = (seen.clone(), Arc::new(said));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, said) = (requests.clone(), said.clone());
                thread::spawn(move || answer(stream, &requests, &said));
            }
        });
        Self { url, seen }
    }

    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, requests: &Mutex<Vec<String>>, said: &[Said]) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let lower = line.to_ascii_lowercase();
        if let Some(n) = lower.strip_prefix("content-length:") {
            length = n.trim().parse().ok()?;
        }
        head.push_str(&line);
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let n = {
        let mut requests = requests.lock().ok()?;
        requests.push(format!("{head}{}", String::from_utf8_lossy(&body)));
        requests.len() - 1
    };
    let Said { head, body, stalls } = &said[n.min(said.len() - 1)];
    write!(stream, "HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").ok()?;
    stream.write_all(body).ok()?;
    stream.flush().ok()?;
    if *stalls {
        // Until the client leaves.
        let _ = reader.read(&mut [0]);
    }
    Some(())
}

pub(super) fn stream() -> Vec<u8> {
    std::fs::read(root().join("fixtures/exchanges/anthropic/calls.sse")).unwrap()
}

pub(super) fn good() -> Said {
    Said { head: "200 OK\r\ncontent-type: text/event-stream", body: stream(), stalls: false }
}

fn refused(head: &'static str, kind: &str) -> Said {
    let body =
        format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"not with {KEY}"}}}}"#);
    Said { head, body: body.into_bytes(), stalls: false }
}

pub(super) fn send(arguments: &[&str], url: &str) -> Command {
    let mut command = interleaf(&["send"]);
    command.args(arguments).args(["--vendor", "anthropic", "--model", "claude-sonnet-4-5"]);
    command.args(["--base-url", url]).env("ANTHROPIC_API_KEY", KEY).env("NO_PROXY", "127.0.0.1");
    command.stdin(Stdio::null());
    command
}

pub(super) fn ran(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, err) = (text(&stdout), text(&stderr));
    assert!(!format!("{out}{err}").contains(KEY), "the key is shown: {out}{err}");
    (status.code(), out, err)
}

#[test]
fn a_file_is_sent_and_the_answer_printed_with_what_it_cost() {
    let server = Server::start(vec![good()]);
    let (code, out, err) = ran(&mut send(&[CHAT, "--stream", "--price", "3/15"], &server.url));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("I read both.\n[call toolu_01 read_file] {\"path\""), "{out}");
    assert!(err.contains("usage: 300 sent (300 uncached, 0 read, 0 written), 77 made"), "{err}");
    assert!(err.contains("price: 0.002055\n"), "{err}");
    let seen = server.seen().remove(0);
    assert!(seen.starts_with("POST /v1/messages HTTP/1.1"), "{seen}");
    assert!(seen.contains(&format!("x-api-key: {KEY}")), "{seen}");
    let (code, out, err) = ran(&mut send(&[CHAT, "--json", "--quiet"], &server.url));
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.starts_with("{\"message\":") && out.contains("\"finish\":\"tool_calls\""), "{out}");
}

#[test]
fn an_error_names_vendor_status_words_tries_and_what_to_do() {
    let server = Server::start(vec![refused("503 Busy", "overloaded_error")]);
    let (code, out, err) = ran(&mut send(&[CHAT, "--retries", "1"], &server.url));
    assert_eq!((code, out.as_str()), (Some(8), ""), "{err}");
    for word in
        ["anthropic (claude-sonnet-4-5): HTTP 503: ", "not with ***", "2 tries", "hint: try"]
    {
        assert!(err.contains(word), "{word}: {err}");
    }
    let mut keyless = send(&[CHAT], &server.url);
    let (code, _, err) = ran(keyless.env_remove("ANTHROPIC_API_KEY"));
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("ANTHROPIC_API_KEY") && err.contains("hint: --key-env"), "{err}");
}

#[test]
fn the_next_vendor_is_asked_where_the_first_gives_no_answer() {
    let first = Server::start(vec![refused("503 Busy", "overloaded_error")]);
    let (code, _, err) =
        ran(send(&[CHAT, "--retries", "0", "--fallback", "ollama:llama3"], &first.url)
            .env("HTTP_PROXY", "http://127.0.0.1:9"));
    // Nobody listens there, so that the error is the fall-back's.
    assert_eq!(code, Some(8), "{err}");
    assert!(err.contains("tried: anthropic (claude-sonnet-4-5): HTTP 503"), "{err}");
    assert!(err.contains("tried: ollama (llama3) as a fall-back: no connection"), "{err}");
    let (code, _, err) = ran(&mut send(&[CHAT, "--fallback", "ollama"], &first.url));
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn a_key_comes_from_a_file_or_a_command() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("key");
    std::fs::write(&path, "from-a-file\n").unwrap();
    let server = Server::start(vec![good()]);
    let path = path.to_str().unwrap();
    for (flags, key) in
        [(["--key-file", path], "from-a-file"), (["--key-command", "echo k-printed"], "k-printed")]
    {
        let (code, _, err) = ran(send(&[CHAT], &server.url).args(flags));
        assert_eq!(code, Some(0), "{err}");
        let seen = server.seen().pop().unwrap();
        assert!(seen.contains(&format!("x-api-key: {key}\r\n")), "{seen}");
        assert!(!err.contains(key), "{err}");
    }
}

#[test]
fn a_bedrock_request_is_signed_with_the_credentials_of_the_environment_or_of_a_profile() {
    let scratch = tempfile::tempdir().unwrap();
    let home = scratch.path().join(".aws");
    std::fs::create_dir(&home).unwrap();
    let profile = format!(
        "[default]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = {KEY}\nregion = eu-west-3\n"
    );
    std::fs::write(home.join("credentials"), &profile).unwrap();
    std::fs::write(home.join("config"), &profile).unwrap();
    let body = std::fs::read(root().join("fixtures/exchanges/bedrock/tool-loop.response.json"));
    let head = "200 OK\r\ncontent-type: application/json";
    let server = Server::start(vec![Said { head, body: body.unwrap(), stalls: false }]);
    let own = [
        ("AWS_ACCESS_KEY_ID", "AKIDOWN"),
        ("AWS_SECRET_ACCESS_KEY", KEY),
        ("AWS_REGION", "us-west-2"),
    ];
    let cases = [(&own[..], "AKIDOWN", "us-west-2"), (&[], "AKIDPROFILE", "eu-west-3")];
    for (variables, id, region) in cases {
        let mut command =
            interleaf(&["send", CHAT, "--vendor", "bedrock", "--model", "amazon.nova-pro-v1:0"]);
        command.args(["--base-url", &server.url]).env("NO_PROXY", "127.0.0.1");
        for name in [
            "AWS_BEARER_TOKEN_BEDROCK",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_DEFAULT_REGION",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
        ] {
            command.env_remove(name);
        }
        let (code, _, err) =
            ran(command.env("HOME", scratch.path()).envs(variables.iter().copied()));
        assert_eq!(code, Some(0), "{err}");
        let seen = server.seen().pop().unwrap();
        let signed = format!("authorization: AWS4-HMAC-SHA256 Credential={id}/");
        assert!(seen.contains(&signed), "{seen}");
        assert!(
            seen.contains(&format!("/{region}/bedrock/aws4_request, SignedHeaders=")),
            "{seen}"
        );
    }
}

#[test]
fn a_proxy_of_the_environment_gets_the_request() {
    let server = Server::start(vec![good()]);
    let mut command = send(&[CHAT], "http://models.invalid");
    command.env_remove("NO_PROXY").env("HTTP_PROXY", &server.url);
    let (code, _, err) = ran(&mut command);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        server.seen()[0].starts_with("POST http://models.invalid/v1/messages"),
        "{:?}",
        server.seen()
    );
}

/// A session with a question in a store of its own.
pub(super) fn session(store: &str) -> String {
    let made = |arguments: &[&str]| {
        let output = interleaf(arguments).env("INTERLEAF_STORE", store).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    let id = made(&["sessions", "new"]);
    made(&["sessions", "append", &id, r#"{"role": "user", "content": "Which files?"}"#]);
    id
}

pub(super) fn shown(id: &str, store: &str) -> String {
    let output =
        interleaf(&["sessions", "show", id]).env("INTERLEAF_STORE", store).output().unwrap();
    text(&output.stdout)
}

#[test]
fn a_session_is_asked_and_keeps_the_request_and_the_answer() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    let id = session(&store);
    let server = Server::start(vec![good()]);
    let (code, out, err) =
        ran(send(&["--session", &id], &server.url).env("INTERLEAF_STORE", &store));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("I read both."), "{out}");
    assert!(server.seen()[0].contains("\"stream\":true"), "{:?}", server.seen());
    assert!(shown(&id, &store).contains("I read both."));
    let mut sent = interleaf(&["build", "--session", &id, "--sent"]);
    let sent = text(&sent.env("INTERLEAF_STORE", &store).output().unwrap().stdout);
    assert!(server.seen()[0].ends_with(sent.trim_end()), "{sent}");
}

#[test]
fn what_was_changed_to_make_a_sessions_request_is_said_and_nothing_if_nothing_was() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    let id = session(&store);
    let server = Server::start(vec![good()]);
    let ask = |flags: &[&str]| {
        let mut command = send(&["--session", &id], &server.url);
        let (code, _, err) = ran(command.args(flags).env("INTERLEAF_STORE", &store));
        assert_eq!(code, Some(0), "{err}");
        err
    };
    let err = ask(&[]);
    assert!(!err.contains("changed"), "{err}");
    // The calls of the answer have no results: they are made.
    let err = ask(&["--missing", "make"]);
    assert!(err.contains("changed: 2 made"), "{err}");
    assert!(err.contains("(`interleaf explain` says why)"), "{err}");
    assert!(!ask(&["--missing", "make", "--quiet"]).contains("changed"));
}

#[test]
fn a_call_that_was_cut_off_is_said_not_to_be_run() {
    let said = r#"{"choices": [{"message": {"content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "rm", "arguments": "{\"path\": \"/tm"}}]}, "finish_reason": "length"}]}"#;
    let server = Server::start(vec![whole(said)]);
    let (code, out, err) = ran(&mut send_to("openai", &[CHAT, "--json"], &server.url));
    assert_eq!(code, Some(0), "{err}");
    let cut = "cut: the answer came to its limit of output tokens; 1 call in it broke off and is not \
               run: rm (c1)\n";
    assert!(err.contains(cut), "{err}");
    assert!(out.contains(r#""finish":"length""#) && out.contains(r#""cut_call":"c1""#), "{out}");
}

#[test]
fn what_an_answer_that_broke_off_took_is_told_as_the_least() {
    let mut body = stream();
    let end = text(&body).find("toolu_01").unwrap();
    body.truncate(end);
    let head = "200 OK\r\ncontent-type: text/event-stream";
    let server = Server::start(vec![Said { head, body, stalls: false }]);
    let (code, _, err) = ran(&mut send(&[CHAT, "--stream"], &server.url));
    assert_eq!(code, Some(8), "{err}");
    assert!(err.contains("usage: at least ") && err.contains("price: at least "), "{err}");
}

/// An answer that came whole.
pub(super) fn whole(body: &str) -> Said {
    let head = "200 OK\r\ncontent-type: application/json";
    Said { head, body: body.as_bytes().to_vec(), stalls: false }
}

/// Sends to another vendor than the usual one.
fn send_to(vendor: &str, arguments: &[&str], url: &str) -> Command {
    let mut command = interleaf(&["send"]);
    command.args(arguments).args(["--vendor", vendor, "--model", "gpt-4.1", "--base-url", url]);
    command.args(["--whole"]).env("OPENAI_API_KEY", KEY).env("NO_PROXY", "127.0.0.1");
    command.stdin(Stdio::null());
    command
}

#[test]
fn with_text_tools_a_model_is_told_of_them_in_words_and_its_calls_are_read_out_of_its_answer() {
    let scratch = tempfile::tempdir().unwrap();
    let tools = scratch.path().join("tools.json");
    let ls = r#"[{"name": "ls", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}]"#;
    std::fs::write(&tools, ls).unwrap();
    let said = r#"{"choices": [{"message": {"content": "I look.\n<tools><invoke name=\"ls\"><parameter name=\"path\">src</parameter></invoke></tools>"}, "finish_reason": "stop"}]}"#;
    let server = Server::start(vec![whole(said)]);
    let flags = [CHAT, "--text-tools", "--tools", tools.to_str().unwrap(), "--json"];
    let (code, out, err) = ran(&mut send_to("openai", &flags, &server.url));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(r#""name":"ls","arguments":{"path":"src"}"#), "{out}");
    assert!(out.contains(r#""finish":"tool_calls""#), "{out}");
    let seen = server.seen().pop().unwrap();
    assert!(seen.contains(r#"<tool name=\"ls\">"#) && !seen.contains("\"tools\":"), "{seen}");
}

#[test]
fn with_stored_answers_a_session_sends_what_is_new_and_says_so() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    let id = session(&store);
    let answer = |id: &str| {
        let text = r#"{"type": "output_text", "text": "Three.", "annotations": []}"#;
        let message = format!(
            r#"{{"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [{text}]}}"#
        );
        whole(&format!(
            r#"{{"id": "{id}", "object": "response", "status": "completed", "model": "gpt-4.1", "output": [{message}], "usage": {{"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}}}}"#
        ))
    };
    let server = Server::start(vec![answer("resp_1"), answer("resp_2")]);
    let ask = || {
        let mut command = send_to("openai-responses", &["--session", &id, "--stored"], &server.url);
        let (code, _, err) = ran(command.env("INTERLEAF_STORE", &store));
        assert_eq!(code, Some(0), "{err}");
        err
    };
    assert!(ask().contains("stored: the whole is sent: there is no request before it"));
    let more = r#"{"role": "user", "content": "And now?"}"#;
    let mut append = interleaf(&["sessions", "append", &id, more]);
    assert!(append.env("INTERLEAF_STORE", &store).output().unwrap().status.success());
    let err = ask();
    assert!(err.contains("stored: only what is new is sent, after resp_1"), "{err}");
    let seen = server.seen();
    assert!(seen[1].contains(r#""previous_response_id":"resp_1""#), "{}", seen[1]);
    assert!(seen[1].contains("And now?") && !seen[1].contains("Which files?"), "{}", seen[1]);
    // What was sent is had again byte for byte, and explained.
    let mut sent = interleaf(&["build", "--session", &id, "--sent"]);
    let sent = text(&sent.env("INTERLEAF_STORE", &store).output().unwrap().stdout);
    assert!(seen[1].ends_with(sent.trim_end()), "{sent}");
    let mut explained = interleaf(&["explain", "--session", &id, "--sent"]);
    let explained = text(&explained.env("INTERLEAF_STORE", &store).output().unwrap().stdout);
    assert!(explained.contains("stored     only what is new is sent, after resp_1"), "{explained}");
}

/// A model of each API.
const MODELS: [(&str, &str); 5] = [
    ("openai", "gpt-5"),
    ("openai-responses", "gpt-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("google", "gemini-2.5-pro"),
    ("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
];

#[test]
fn run_by_a_double_a_request_goes_to_it_without_an_address_or_a_key_of_ones_own() {
    for (vendor, model) in MODELS {
        let send = [super::PROGRAM, "send", CHAT, "--vendor", vendor, "--model", model];
        let mut command = interleaf(&[&["double", "--"], send.as_slice()].concat());
        let done = command.current_dir(root()).output().unwrap();
        assert!(done.status.success(), "{vendor}: {}", text(&done.stderr));
        assert!(!done.stdout.is_empty(), "{vendor}");
    }
}

/// Every vendor that takes what the API takes which it imitates.
#[test]
fn run_by_a_double_every_vendor_is_reached() {
    for vendor in interleaf::wire::VENDORS {
        let name = vendor.name.as_str();
        let send = [super::PROGRAM, "send", CHAT, "--vendor", name, "--model", "m-1", "--quiet"];
        let mut command = interleaf(&[&["double", "--"], send.as_slice()].concat());
        // The double has no variable for the key of this one.
        let key: &[&str] = if name == "vertex" { &["--key-env", "OPENAI_API_KEY"] } else { &[] };
        let done = command.args(key).current_dir(root()).output().unwrap();
        assert!(done.status.success(), "{name}: {}", text(&done.stderr));
        assert!(!done.stdout.is_empty(), "{name}");
    }
}

#[test]
fn without_a_model_nothing_is_sent_to_a_vendor_that_asks_for_one() {
    let server = Server::start(vec![good()]);
    let mut command = interleaf(&["send", CHAT, "--vendor", "anthropic", "--base-url"]);
    command.arg(&server.url).env("ANTHROPIC_API_KEY", KEY).env("NO_PROXY", "127.0.0.1");
    let (code, _, err) = ran(&mut command);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("the vendor \"anthropic\" asks for a model"), "{err}");
    assert!(server.seen().is_empty());
}

#[test]
fn a_call_without_an_id_is_printed_by_its_name() {
    let head = "200 OK\r\ncontent-type: text/event-stream";
    let body = r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls","args":{}}}]},"finishReason":"STOP"}]}"#;
    let said = Said { head, body: format!("{body}\n\n").into_bytes(), stalls: false };
    let server = Server::start(vec![said]);
    let mut command = interleaf(&["send", CHAT, "--vendor", "google", "--model", "gemini-2.5-pro"]);
    command.args(["--stream", "--base-url", &server.url]);
    command.env("GEMINI_API_KEY", KEY).env("NO_PROXY", "127.0.0.1").stdin(Stdio::null());
    let (code, out, err) = ran(&mut command);
    assert_eq!((code, out.as_str()), (Some(0), "[call ls] {}\n"), "{err}");
}

#[test]
fn an_answer_without_its_end_mark_is_told_if_its_usage_did_not_come() {
    let head = "200 OK\r\ncontent-type: text/event-stream";
    let said = r#"{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}"#;
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;
    for (body, is_told) in
        [(format!("data: {said}\n\n"), true), (format!("data: {said}\n\ndata: {usage}\n\n"), false)]
    {
        let server = Server::start(vec![Said { head, body: body.into_bytes(), stalls: false }]);
        let mut command = interleaf(&["send", CHAT, "--vendor", "openai", "--model", "gpt-4.1"]);
        command.args(["--stream", "--base-url", &server.url]);
        command.env("OPENAI_API_KEY", KEY).env("NO_PROXY", "127.0.0.1").stdin(Stdio::null());
        let (code, out, err) = ran(&mut command);
        assert_eq!((code, out.as_str()), (Some(0), "Yes.\n"), "{err}");
        assert_eq!(err.contains("note: the stream has no end mark"), is_told, "{err}");
        assert_eq!(err.contains("usage: not reported, or not readable"), is_told, "{err}");
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_no_proxy_to_go_around() {
    let mut command = send(&[CHAT], "http://127.0.0.1:9");
    command.env_remove("NO_PROXY").env_remove("no_proxy").env("HTTP_PROXY", "ftp://me:pw@proxy:1");
    let (code, _, err) = ran(&mut command);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("the proxy in HTTP_PROXY cannot be used"), "{err}");
    assert!(!err.contains("me:pw"), "{err}");
}

/// The doubles count tokens in their own way: after the first answer the line is in theirs.
#[test]
fn the_reads_that_were_expected_are_told_in_the_apis_own_count() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    for (vendor, model) in MODELS {
        let id = session(&store);
        let long = "Every file of the folder is named here, one after the other. ".repeat(400);
        let told = |more: &str| {
            let message = format!(r#"{{"role": "user", "content": "{more}"}}"#);
            let mut append = interleaf(&["sessions", "append", &id, &message]);
            assert!(append.env("INTERLEAF_STORE", &store).output().unwrap().status.success());
        };
        told(&long);
        // One double for all of them: it keeps its cache.
        let send = format!(
            "{} send --session {id} --vendor {vendor} --model {model} --cache",
            super::PROGRAM
        );
        let append = format!(
            r#"{} sessions append {id} '{{"role": "user", "content": "And now?"}}'"#,
            super::PROGRAM
        );
        let script = format!("{send} && {append} && {send} && {append} && {send}");
        let mut command = interleaf(&["double", "--", "sh", "-c", &script]);
        let done = command.env("INTERLEAF_STORE", &store).output().unwrap();
        let err = text(&done.stderr);
        assert!(done.status.success(), "{vendor}: {err}");
        let lines: Vec<&str> = err.lines().filter(|line| line.starts_with("cache: ")).collect();
        let figures = lines.iter().map(|line| {
            let mut words = line.split(' ').filter_map(|word| word.parse::<u64>().ok());
            (words.next().unwrap(), words.next().unwrap())
        });
        let figures: Vec<(u64, u64)> = figures.collect();
        assert_eq!(figures.len(), 3, "{vendor}: {err}");
        for (expected, reported) in &figures[1..] {
            assert!(*reported > 1_000, "{vendor}: {lines:?}");
            // What lies between two places that the API has counted is taken to be even.
            assert!(expected.abs_diff(*reported) <= 2, "{vendor}: {lines:?}");
        }
    }
}

#[test]
fn an_answer_that_a_filter_stopped_is_told_as_such() {
    let said =
        r#"{"choices": [{"message": {"content": "As"}, "finish_reason": "content_filter"}]}"#;
    let server = Server::start(vec![whole(said)]);
    let (code, out, err) = ran(&mut send_to("openai", &[CHAT], &server.url));
    assert_eq!((code, out.as_str()), (Some(0), "As\n"), "{err}");
    assert!(err.contains("cut: a filter of the API's stopped the answer"), "{err}");
}

#[test]
fn arguments_that_a_stream_has_only_at_the_start_of_a_call_are_printed() {
    let event =
        |kind: &str, rest: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n");
    let block = r#"{"type":"tool_use","id":"c1","name":"ls","input":{"path":"src"}}"#;
    let body = [
        event("message_start", r#","message":{"id":"m","role":"assistant","content":[]}"#),
        event("content_block_start", &format!(r#","index":0,"content_block":{block}"#)),
        event("content_block_stop", r#","index":0"#),
        event("message_delta", r#","delta":{"stop_reason":"tool_use"}"#),
        event("message_stop", ""),
    ];
    let head = "200 OK\r\ncontent-type: text/event-stream";
    let said = Said { head, body: body.concat().into_bytes(), stalls: false };
    let server = Server::start(vec![said]);
    let (code, out, err) = ran(&mut send(&[CHAT, "--stream"], &server.url));
    assert_eq!((code, out.as_str()), (Some(0), "[call c1 ls] {\"path\":\"src\"}\n"), "{err}");
}

#[test]
fn more_tools_than_the_api_takes_are_told_and_nothing_is_sent() {
    let server = Server::start(vec![good()]);
    let body = "fixtures/rules/openai-chat/functions-limit.bad.json";
    let (code, _, err) = ran(&mut send_to("openai", &[body], &server.url));
    assert_eq!(code, Some(2), "{err}");
    let told = "at most 128 tools, and there are 129 (openai-chat/functions-limit)";
    assert!(err.contains(told), "{err}");
    assert_eq!(server.seen(), [""; 0]);
}
