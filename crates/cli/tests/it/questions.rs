//! `interleaf send` with a question, in a session and without one.

use std::process::Stdio;

use super::send::{Server, good, ran, send, session, shown, whole};
use super::{PROGRAM, interleaf, text};

const YES: &str = r#"{"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}"#;

/// A store in a folder of its own.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn store(&self) -> String {
        format!("sqlite:{}", self.0.path().join("s.db").display())
    }

    /// Sends without a word of vendor and model, to this address.
    fn send(&self, arguments: &[&str], url: &str) -> (Option<i32>, String, String) {
        let mut command = interleaf(&["send", "--base-url", url, "--retries", "0"]);
        command.args(arguments).env("INTERLEAF_STORE", self.store()).stdin(Stdio::null());
        command.env("OPENAI_API_KEY", "sk-1").env("ANTHROPIC_API_KEY", "sk-2");
        ran(command.env("NO_PROXY", "127.0.0.1"))
    }
}

#[test]
fn a_question_needs_no_file() {
    let ask = [PROGRAM, "send", "--user", "What is 2+2?", "--vendor", "openai", "--model", "gpt-5"];
    let output = interleaf(&[&["double", "--"], &ask[..]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("What is 2+2?"), "{}", text(&output.stdout));
}

#[test]
fn a_question_in_a_session_is_appended_and_stays_if_there_is_no_answer() {
    let scratch = Scratch::new();
    let id = session(&scratch.store());
    let to = ["--vendor", "openai", "--model", "gpt-5"];
    let ask = |text: &str, url: &str| {
        scratch.send(&[&["--session", &id, "--user", text], &to[..]].concat(), url)
    };
    let (code, _, err) = ask("Is it late?", "http://127.0.0.1:9");
    assert_eq!(code, Some(8), "{err}");
    assert!(err.contains("no connection to http://127.0.0.1:9"), "{err}");
    assert!(err.contains("kept: the question, as message m1; `interleaf send --session"), "{err}");
    assert!(shown(&id, &scratch.store()).contains("Is it late?"));
    let server = Server::start(vec![whole(YES)]);
    let (code, out, err) = ask("And now?", &server.url);
    assert_eq!((code, out.as_str()), (Some(0), "Yes.\n"), "{err}");
    assert!(!err.contains("kept: "), "{err}");
    let sent = server.seen().remove(0);
    assert!(sent.contains("Is it late?") && sent.contains("And now?"), "{sent}");
    // What can be known before anything is sent leaves nothing behind.
    let before = shown(&id, &scratch.store());
    assert_eq!(ask(" ", &server.url).0, Some(2));
    let (code, _, err) =
        scratch.send(&["--session", &id, "--user", "x", "--vendor", "anthropic"], &server.url);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--model: the vendor \"anthropic\" asks for a model"), "{err}");
    assert_eq!(shown(&id, &scratch.store()), before);
}

#[test]
fn vendor_and_model_are_those_of_the_sessions_last_request() {
    let scratch = Scratch::new();
    let id = session(&scratch.store());
    let server = Server::start(vec![whole(YES)]);
    let ask = |flags: &[&str]| {
        let (code, _, err) =
            scratch.send(&[&["--session", &id, "--user", "So?"], flags].concat(), &server.url);
        (code, err, server.seen().pop().unwrap_or_default())
    };
    let (code, err, _) = ask(&[]);
    assert_eq!(code, Some(2), "{err}");
    assert!(
        err.contains("no request was recorded") && err.contains("--vendor and --model"),
        "{err}"
    );
    assert_eq!(ask(&["--vendor", "openai", "--model", "gpt-5"]).0, Some(0));
    let (code, err, sent) = ask(&["--max-tokens", "99"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("note: openai gpt-5 is asked, as in the last request"), "{err}");
    assert!(sent.contains("\"model\":\"gpt-5\"") && sent.contains("99"), "{sent}");
    let (_, err, sent) = ask(&["--model", "gpt-4.1"]);
    assert!(err.contains("note: openai is asked, as in the last request"), "{err}");
    assert!(sent.contains("\"model\":\"gpt-4.1\""), "{sent}");
    let (_, err, sent) = ask(&["--vendor", "openai", "--quiet"]);
    assert!(!err.contains("note:") && sent.contains("\"model\":\"gpt-4.1\""), "{sent}");
    let (_, err, _) = ask(&["--system", "Be brief."]);
    assert!(!err.contains("and this one does not"), "{err}");
    let (_, err, _) = ask(&[]);
    assert!(err.contains("had a system text, and this one does not"), "{err}");
    // Tokens are counted as that model's: an estimate would find 15 % more, and no room.
    let long = "word ".repeat(2_000);
    let (code, err, _) = ask(&["--system", &long, "--window", "2300", "--reserve", "100"]);
    assert_eq!(code, Some(0), "{err}");
    let explained = interleaf(&["explain", "--session", &id, "--json"])
        .env("INTERLEAF_STORE", scratch.store())
        .output()
        .unwrap();
    assert!(text(&explained.stdout).contains("o200k_base"), "{}", text(&explained.stdout));
}

#[test]
fn while_calls_wait_for_results_nothing_is_sent_unless_a_flag_says_what_they_get() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let id = session(&store);
    let server = Server::start(vec![good()]);
    let ask = |flags: &[&str]| {
        ran(send(&[&["--session", &id], flags].concat(), &server.url)
            .env("INTERLEAF_STORE", &store))
    };
    assert_eq!(ask(&[]).0, Some(0));
    let before = shown(&id, &store);
    for flags in [&[][..], &["--wait"], &["--wait", "--missing", "drop"], &["--user", "Well?"]] {
        let (code, _, err) = ask(flags);
        assert_eq!(code, Some(1), "{flags:?} {err}");
        assert!(err.contains("waiting for the results of toolu_01 (read_file)"), "{err}");
        assert!(err.contains("`interleaf sessions append") && err.contains("--missing"), "{err}");
        assert_eq!((server.seen().len(), shown(&id, &store)), (1, before.clone()));
    }
    let (code, _, err) = ask(&["--missing", "make", "--user", "Well?"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(server.seen()[1].contains("No result was recorded"), "{:?}", server.seen());
}
