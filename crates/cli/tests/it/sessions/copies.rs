//! What goes out of one store, or out of a transcript, comes into another as it was.

#[allow(dead_code, reason = "the tests of the store use all of it")]
#[path = "../../../../store/tests/it/fixture/server.rs"]
mod server;

use std::fs;

use interleaf::model::{Json, Message, Usage};
use interleaf::store::{RecordChange, RecordKind};
use interleaf::{Sent, Session, store};
use serde_json::{Value, json};

use super::{Place, run_in};
use crate::{CHAT, SESSION, root, run_with, stdout, text};

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Fills a store with all that one can hold.
async fn fill(url: &str) {
    let json = |text: &str| Json::parse(text).unwrap();
    let store = store::open(url).await.unwrap();
    let mut session = Session::create(store.clone(), "Nebel, наш туман \"1\"\n").await.unwrap();
    session.append(Message::user("Is the fóg gone? 🌫")).await.unwrap();
    let put = RecordChange::put(RecordKind::Todo, "1", json(r#"{"text": "mend the horn"}"#));
    session.change_records(vec![put]).await.unwrap();
    for (i, text) in ["No.", "Soon. ä", "Soon. ö", "Now."].into_iter().enumerate() {
        session.append(Message::assistant(text)).await.unwrap();
        // Two letters that share their first byte: what is new begins inside of one.
        let body = format!(r#"{{"text":"{text} {}"}}"#, "long ".repeat(20)).into_bytes();
        let report = interleaf::assemble::Report::default();
        let sent = Sent { model: "m", vendor: "openai", body: &body, report: &report };
        let no = session.note_request(sent).await.unwrap();
        let usage = Usage { prompt: 10 + i as u64, completion: 3, ..Usage::default() };
        session.note_usage(no, usage).await.unwrap();
    }
    let fork = session.fork_at(3, "a fork").await.unwrap();
    let mut fork = Session::open(store.clone(), fork.id()).await.unwrap();
    let done = RecordChange::put(
        RecordKind::Todo,
        "1",
        json(r#"{"text": "mend the horn", "status": "done"}"#),
    );
    fork.change_records(vec![done]).await.unwrap();
    fork.append(Message::user("What if not?")).await.unwrap();
    session.fork_at(5, "a fork that inherits").await.unwrap();
    fork.fork("a fork of a fork").await.unwrap();
    session.change_records(vec![RecordChange::remove(RecordKind::Todo, "1")]).await.unwrap();
    session.mark(0, "pinned").await.unwrap();
    session.reset().await.unwrap();
}

#[test]
fn all_that_is_kept_goes_through_a_file() {
    let place = Place::new();
    wait(fill(&place.url("sessions.db")));
    let all = place.run(&["export", "--all"]);
    assert_eq!(all.matches("interleaf_session").count(), 4);
    assert!(all.contains(r#""hex":"#), "a body is cut inside of a letter");
    let copy = place.url("copy.db");
    let told = run_in(&copy, &["import", "-"], &all);
    assert!(told.ends_with("# 4 sessions: 4 new, 0 added to, 0 known\n"), "{told}");
    assert_eq!(run_in(&copy, &["export", "--all"], ""), all);
    assert_eq!(run_in(&copy, &["ls", "--json"], ""), place.run(&["ls", "--json"]));
    let found = run_in(&copy, &["search", "FÓG", "--json"], "");
    assert_eq!(found, place.run(&["search", "FÓG", "--json"]));
    assert!(found.contains(r#""index":0"#), "{found}");
}

#[test]
fn what_a_session_does_not_keep_of_a_request_is_told() {
    let place = Place::new();
    let body =
        r#"{"model": "m", "temperature": 1, "messages": [{"role": "user", "content": "x"}]}"#;
    let url = place.url("sessions.db");
    let output = run_with(&["sessions", "import", "-", "--store", &url], body.as_bytes());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("left out: model, temperature"), "{told}");
}

#[test]
fn an_export_that_was_cut_off_is_known_wherever_it_was_cut() {
    let place = Place::new();
    wait(fill(&place.url("sessions.db")));
    let all = place.run(&["export", "--all"]);
    let lines: Vec<&str> = all.lines().collect();
    for n in 1..lines.len() {
        let copy = place.url(&format!("cut-{n}.db"));
        let arguments = ["sessions", "import", "-", "--store", &copy];
        let output = run_with(&arguments, lines[..n].join("\n").as_bytes());
        assert!(!output.status.success(), "the first {n} lines are taken for all");
    }
}

#[test]
fn requests_of_a_copy_are_proven_by_their_hash() {
    let place = Place::new();
    wait(fill(&place.url("sessions.db")));
    let copy = place.url("copy.db");
    run_in(&copy, &["import", "--from", &place.url("sessions.db")], "");
    let sessions: Value = serde_json::from_str(&run_in(&copy, &["ls", "--json"], "")).unwrap();
    let with_requests = |session: &&Value| session["next_request"] == 4;
    let session = sessions.as_array().unwrap().iter().find(with_requests).unwrap();
    let id = session["id"].as_str().unwrap();
    for (at, said) in [("4", "No."), ("7", "Soon. ä"), ("15", "Now.")] {
        let sent = stdout(&["build", "--store", &copy, "--session", id, "--sent", "--at", at]);
        let _: Value = serde_json::from_str(&sent).unwrap();
        assert!(sent.contains(said), "{at} {sent}");
    }
    let shown = run_in(&copy, &["show", id, "--requests", "--json"], "");
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown[3]["usage"]["prompt"], 13);
}

#[test]
fn a_store_goes_to_postgresql_and_back() {
    let Some(server) = wait(server::new_database()) else { return };
    let place = Place::new();
    wait(fill(&place.url("sessions.db")));
    let all = place.run(&["export", "--all"]);
    run_in(&server, &["import", "--from", &place.url("sessions.db")], "");
    assert_eq!(run_in(&server, &["export", "--all"], ""), all);
    let back = place.url("back.db");
    run_in(&back, &["import", "--from", &server], "");
    assert_eq!(run_in(&back, &["export", "--all"], ""), all);
}

#[test]
fn an_import_goes_on_where_the_last_one_ended() {
    let place = Place::new();
    let id = place.run(&["import", CHAT]);
    let id = id.trim();
    let copy = place.url("copy.db");
    run_in(&copy, &["import", "--from", &place.url("sessions.db")], "");
    place.run(&["append", id, "--user", "More."]);
    place.run(&["op", id, "--keep-last", "1"]);
    let told = run_in(&copy, &["import", "--from", &place.url("sessions.db")], "");
    assert!(told.contains("added 2 events"), "{told}");
    assert_eq!(run_in(&copy, &["export", id], ""), place.run(&["export", id]));
    // Who is ahead stays so.
    run_in(&copy, &["append", id, "--user", "Even more."], "");
    let told = run_in(&copy, &["import", "--from", &place.url("sessions.db")], "");
    assert!(told.contains("known"), "{told}");
    assert!(run_in(&copy, &["show", id], "").contains("Even more."));
    // Whoever went another way is refused.
    place.run(&["append", id, "--user", "Something else."]);
    let refused = place.refused(&["import", "--from", &copy]);
    assert!(refused.contains("it already exists, with a different event 9"), "{refused}");
}

#[test]
fn a_damaged_export_leaves_nothing_behind() {
    let place = Place::new();
    wait(fill(&place.url("sessions.db")));
    let all = place.run(&["export", "--all"]);
    let lines: Vec<&str> = all.lines().collect();
    let file = place.path("damaged.jsonl");
    let damages: [(usize, &str); 5] = [
        (1, r#"{"event":{"seq":1,"at":"2026-11-15T10:00:00Z","body":{"reset":{}}}}"#),
        (
            1,
            r#"{"event":{"seq":0,"at":"2026-11-15T10:00:00Z","body":{"rolled_back":{"batch":7}}}}"#,
        ),
        (1, r#"{"event":{"seq":0,"at":"2026-11-15T10:00:00Z","version":9,"body":{"reset":{}}}}"#),
        (1, r#"{"something":"else"}"#),
        (0, r#"{"interleaf_session":2}"#),
    ];
    for (line, damage) in damages {
        let mut damaged = lines.clone();
        damaged[line] = damage;
        fs::write(&file, damaged.join("\n")).unwrap();
        let url = place.url("target.db");
        let file = file.to_str().unwrap();
        let output = run_with(&["sessions", "import", file, "--store", &url], b"");
        assert_eq!(output.status.code(), Some(2), "{damage}");
        assert_eq!(run_in(&url, &["ls", "--json"], ""), "[]\n", "{damage}");
    }
}

#[test]
fn a_transcript_becomes_a_session_and_back() {
    let place = Place::new();
    let chains: [&[&str]; 6] = [
        &["--keep-last 9", "--remove-last 2", "--roll-back 1", "--clear"],
        &["--role user --keep-last 2 --others keep", "--contains Mira", "--roll-back 0"],
        &[
            "--insert 3 --message {\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"x\"}]}",
            "--keep-last 5",
        ],
        &[
            "--replace 1 --message {\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"x\"}]}",
            "--roll-back 0",
        ],
        &["--mark 3=seen", "--unmark 12=decision", "--keep-first 4"],
        &["--clear --drop-system", "--roll-back 0", "--roll-back 1"],
    ];
    for (n, chain) in chains.into_iter().enumerate() {
        let mut transcript = fs::read_to_string(root().join(SESSION)).unwrap();
        for change in chain {
            let flags: Vec<&str> = change.split(' ').collect();
            let all = [&["op", "-"][..], &flags, &["--write", "-"]].concat();
            transcript = text(&run_with(&all, transcript.as_bytes()).stdout);
        }
        assert!(transcript.contains("interleaf"), "{chain:?}");
        let id = run_in(&place.url("sessions.db"), &["import", "-"], &transcript);
        assert_eq!(place.run(&["export", id.trim()]), transcript, "{n} {chain:?}");
    }
}

#[test]
fn counters_of_a_transcript_are_kept() {
    let place = Place::new();
    let usage = |n: u64| json!({"prompt": n, "cache_read": 0, "cache_write": 0, "completion": n, "reasoning": 0});
    let message = |text: &str| json!({"role": "user", "parts": [{"type": "text", "text": text}]});
    let transcripts = [
        json!({"interleaf": 1, "messages": [message("a"), message("b")],
            "usage": {"current": usage(2), "cumulative": usage(7), "lifetime": usage(7), "request_log_len": 1}}),
        json!({"interleaf": 1, "messages": [message("a"), message("b")], "view": [[1, 2]],
            "batches": [
                {"cause": "start", "end": [[0, 2]], "cumulative": usage(5)},
                {"cause": "truncate", "boundary": 1, "cumulative": usage(0)}],
            "usage": {"current": usage(2), "cumulative": usage(5), "lifetime": usage(5)}}),
    ];
    for transcript in transcripts {
        let id = run_in(&place.url("sessions.db"), &["import", "-"], &transcript.to_string());
        let back: Value = serde_json::from_str(&place.run(&["export", id.trim()])).unwrap();
        assert_eq!(back["usage"], transcript["usage"]);
    }
}

#[test]
fn a_transcript_without_a_past_keeps_its_messages_view_and_marks() {
    let place = Place::new();
    let transcript = r#"{"interleaf": 1, "messages": [
        {"id": "a", "role": "user", "parts": [{"type": "text", "text": "one"}]},
        {"id": "b", "role": "user", "parts": [{"type": "text", "text": "two"}]}],
        "view": [[1, 2]], "marks": {"pinned": [0]}}"#;
    let url = place.url("sessions.db");
    let output = run_with(&["sessions", "import", "-", "--store", &url], transcript.as_bytes());
    assert!(text(&output.stderr).starts_with("note: its batches"), "{}", text(&output.stderr));
    let id = text(&output.stdout);
    let back: Value = serde_json::from_str(&place.run(&["export", id.trim()])).unwrap();
    assert_eq!((&back["view"], &back["marks"]), (&json!([[1, 2]]), &json!({"pinned": [0]})));
}
