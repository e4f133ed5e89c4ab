//! Chats over a pipe, against doubles and servers on loopback.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

#[cfg(unix)]
use super::is_heard;
use super::send::{Said, Server, good, stream};
use super::{PROGRAM, interleaf, root, text};

const WHOM: [&str; 4] = ["--vendor", "anthropic", "--model", "claude-sonnet-4-5"];

/// A place for a chat: a folder to work in, and a store.
pub(super) struct Place(tempfile::TempDir);

impl Place {
    pub(super) fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.folder()).unwrap();
        place
    }

    pub(super) fn folder(&self) -> std::path::PathBuf {
        self.0.path().join("work")
    }

    pub(super) fn store(&self) -> String {
        format!("sqlite:{}", self.0.path().join("s.db").display())
    }

    pub(super) fn set(&self, command: &mut Command) {
        command.env("INTERLEAF_STORE", self.store()).current_dir(self.folder());
        command
            .env("HOME", self.0.path())
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME");
    }

    /// Writes what the model answers to a file.
    pub(super) fn brain(&self, replies: &str) -> String {
        let path = self.0.path().join("replies.json");
        fs::write(&path, replies).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The ids of all sessions.
    fn sessions(&self) -> Vec<String> {
        let mut ls = interleaf(&["sessions", "ls", "--json"]);
        self.set(&mut ls);
        let heads: Value = serde_json::from_slice(&ls.output().unwrap().stdout).unwrap();
        let ids = heads.as_array().unwrap().iter().map(|head| head["id"].as_str().unwrap());
        ids.map(str::to_owned).collect()
    }

    /// Chats: lines in, all that is shown out.
    pub(super) fn chat(&self, replies: &str, flags: &[&str], lines: &str) -> String {
        let brain = self.brain(replies);
        let double = ["double", "--brain", &brain, "--", PROGRAM, "chat"];
        let mut command = interleaf(&[&double[..], flags].concat());
        self.set(&mut command);
        let (code, out) = fed(&mut command, lines);
        assert_eq!(code, Some(0), "{out}");
        out
    }
}

/// Runs a command with lines on its standard input; both streams are given.
fn fed(command: &mut Command, lines: &str) -> (Option<i32>, String) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), text(&stdout) + &text(&stderr))
}

/// The id of a session that a chat tells of.
fn session(shown: &str) -> &str {
    let (_, after) = shown.rsplit_once("--session ").unwrap();
    after.split('`').next().unwrap()
}

#[track_caller]
fn assert_has(shown: &str, parts: &[&str]) {
    for part in parts {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
}

#[test]
fn a_chat_shows_what_is_said_thought_called_and_spent_and_can_be_gone_on_with() {
    let place = Place::new();
    fs::write(place.folder().join("AGENTS.md"), "Be brief.").unwrap();
    let replies = r#"[
        {"thinking": "Hm.", "text": "I look.", "calls": [
            {"name": "list", "arguments": {"path": "."}},
            {"name": "write", "arguments": {"path": "new.txt", "text": "1"}}]},
        "Done.", "And again."]"#;
    let shown = place.chat(replies, &WHOM, "Look at this,\\\nand that.\ny\nOnce more.\n");
    let parts = [
        "> Look at this,\n  and that.\n",
        "Hm.\nI look.\n",
        "  list({\"path\":\".\"})\n",
        "agent wants write({\"path\":\"new.txt\"",
        "or n and why: y\n",
        "  list = AGENTS.md",
        "Done.\n  2 requests: ",
        "price $0.0",
        "> Once more.\nAnd again.\n  1 request: ",
    ];
    assert_has(&shown, &parts);
    assert!(!shown.contains('\u{1b}'), "{shown}");
    assert_eq!(fs::read_to_string(place.folder().join("new.txt")).unwrap(), "1");
    let id = session(&shown).to_owned();
    let shown = place.chat(r#"["Still here."]"#, &["--session", &id], "Are you there?\n");
    let parts = ["it has 7 messages so far", "> Once more.\nAnd again.\n", "Still here.\n"];
    assert_has(&shown, &parts);
}

#[test]
fn what_is_refused_says_why_and_nobody_allows_nothing() {
    let place = Place::new();
    let call = r#"{"calls": [{"name": "write", "arguments": {"path": "a", "text": "1"}}]}"#;
    let replies = format!("[{call}, \"Well.\", {call}, \"So be it.\"]");
    let shown = place.chat(&replies, &WHOM, "Write.\nno, not yet\nWrite now.\n");
    assert_has(
        &shown,
        &["refused: the person said no: not yet]", "(nobody is there)", "So be it."],
    );
    assert!(!place.folder().join("a").exists());
    let always = format!("[{call}, {call}, \"Both.\"]");
    let shown = place.chat(&always, &WHOM, "Write twice.\na\n");
    assert_eq!(shown.matches("allow it?").count(), 1, "{shown}");
    assert!(place.folder().join("a").exists());
}

#[test]
fn always_holds_for_the_other_calls_of_the_same_answer_too() {
    let place = Place::new();
    let call =
        |path| format!(r#"{{"name": "write", "arguments": {{"path": "{path}", "text": "1"}}}}"#);
    let replies = format!(r#"[{{"calls": [{}, {}]}}, "Both."]"#, call("a"), call("b"));
    let shown = place.chat(&replies, &WHOM, "Write twice.\na\n");
    assert_eq!(shown.matches("allow it?").count(), 1, "{shown}");
    assert!(place.folder().join("a").exists() && place.folder().join("b").exists());
}

#[test]
fn what_is_no_answer_is_asked_again_and_not_told_to_the_model() {
    let place = Place::new();
    let call = r#"{"calls": [{"name": "write", "arguments": {"path": "a", "text": "1"}}]}"#;
    let replies = format!("[{call}, \"Well.\"]");
    let shown = place.chat(&replies, &WHOM, "Write.\n\nuse another\n/session\nY\n");
    assert_eq!(shown.matches("allow it?").count(), 4, "{shown}");
    let parts = [
        "n and why: /session\nfirst answer the question; the command runs when",
        "  write = ",
        "Well.\n",
        "> /session\n  session      ",
    ];
    assert_has(&shown, &parts);
    assert!(!shown.contains("refused") && place.folder().join("a").exists(), "{shown}");
}

#[test]
fn a_hostile_result_is_shown_escaped_and_bounded() {
    let place = Place::new();
    let evil = format!("\u{1b}[2J\u{1b}]0;gone\u{7}{}", "> /quit\r".repeat(10_000));
    fs::write(place.folder().join("evil.txt"), &evil).unwrap();
    let replies = r#"[
        {"text": "\u001b[31mred\u0007", "calls": [{"name": "read", "arguments": {"path": "evil.txt"}},
            {"name": "nothing\u001b[2J", "arguments": {"x": "\u001b[2J"}}]},
        "Ok."]"#;
    let shown = place.chat(replies, &WHOM, "Read it.\n/context\n");
    assert_has(&shown, &[r"\u{1b}[31mred\u{7}", r"read = \u{1b}[2J\u{1b}]0;gone\u{7}", "Ok."]);
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\r']), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 220), "{shown}");
}

#[test]
fn the_context_adds_up_to_the_request_and_the_request_to_the_window() {
    let place = Place::new();
    fs::write(place.folder().join("AGENTS.md"), "Be brief. ".repeat(50)).unwrap();
    fs::write(place.folder().join("a.txt"), "one two three ".repeat(500)).unwrap();
    let read = r#"{"calls": [{"name": "read", "arguments": {"path": "a.txt"}}]}"#;
    let replies = format!(r#"[{read}, "I read it.", "Yes."]"#);
    let lines = "/todo add mend it\nRead it.\n/context\nReally?\n/context\n";
    let shown = place.chat(&replies, &WHOM, lines);
    let mut n_windows = 0;
    for (context, window) in shown.split("# context in request").skip(1).filter_map(|rest| {
        let (context, rest) = rest.split_once("# window: ")?;
        Some((context, rest.split_once("# prompt cache")?.0))
    }) {
        let number = |line: &str| line.split_whitespace().last().unwrap().parse::<i64>().unwrap();
        let mut rows: Vec<(&str, i64)> = window
            .lines()
            .skip(1)
            .map(|line| (line.trim().rsplit_once("  ").unwrap().0.trim(), number(line)))
            .collect();
        let mut take = |name: &str| {
            let at = rows.iter().position(|(row, _)| *row == name).unwrap();
            rows.remove(at).1
        };
        let (total, reserve, free) = (take("total"), take("for answer"), take("free"));
        assert_eq!(total + reserve + free, 200_000, "{window}");
        assert!(window.starts_with(&format!("{total} of 200000 tokens")), "{window}");
        assert!(window.lines().next().unwrap().ends_with("as the API counts"), "{window}");
        assert_eq!(rows.iter().map(|(_, tokens)| tokens).sum::<i64>(), total, "{window}");
        let sources =
            context.lines().filter(|line| line.contains(" of ") && line.starts_with("  "));
        let sources = sources.map(|line| line.split_whitespace().nth(4).unwrap());
        let sources: i64 = sources.map(|tokens| tokens.parse::<i64>().unwrap()).sum();
        let own = rows.iter().find(|(row, _)| *row == "context").unwrap().1;
        assert!(sources > 0 && (own - sources).abs() <= 1, "{context}{window}");
        n_windows += 1;
    }
    assert_eq!(n_windows, 2, "{shown}");
}

#[test]
fn undos_are_brought_back_one_by_one_until_something_is_said() {
    let place = Place::new();
    let lines = "first\nsecond\nthird\n/undo\n/undo\n/redo\n/redo\n/redo\n\
        /undo\n/undo\n/redo\nfourth\n/redo\n/undo\n/redo\n/redo\n/session\n";
    let shown = place.chat(r#"["A.", "B.", "C.", "D."]"#, &WHOM, lines);
    let told = |line: &&str| ["taken", "brought", "error:"].iter().any(|it| line.starts_with(it));
    let told: Vec<&str> = shown.lines().filter(told).collect();
    let (undo, redo) = ("taken back: 2 messages, from “", "brought back: 2 messages");
    let none = "error: /redo: nothing was taken back, or something was said since: ";
    let expected = [undo, undo, redo, redo, none, undo, undo, redo, none, undo, redo, none];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (line, begins) in told.iter().zip(expected) {
        assert!(line.starts_with(begins), "{begins}: {told:#?}");
    }
    assert!(shown.contains("6 of 8 messages visible, 2 hidden"), "{shown}");
}

#[test]
fn every_command_does_what_the_help_says() {
    let place = Place::new();
    fs::create_dir(place.folder().join("src")).unwrap();
    fs::write(place.folder().join("src/a.txt"), "one two three ".repeat(3_000)).unwrap();
    let read = r#"{"calls": [{"name": "read", "arguments": {"path": "src/a.txt"}}]}"#;
    let replies = format!(
        r#"[{read}, "I read it.", "The second.", "The third.", "src/a.txt: was read.", "After it.",
            "Forked."]"#
    );
    let lines = "/help\n/context\n/undo\n/cost\n/nonsense\n/undo now\n\
        /todo add mend it\n/todo add paint it\n/todo done 1\n/todo later 1\n/todo\n\
        /note add src=mind the step\n/info add src/a.txt=all of it\n/info remove src/a.txt\n\
        Read it.\n/context\n/cost\n/session\n\
        And now?\n/undo\n/session\n/redo\n/redo\n/undo\n\
        The third?\n/compact\n/session\nAfter?\n/context\n/fork\nGo on.\n\
        /model openai\n/model openai gpt-5\nn\n/model openai gpt-4.1\ny\n/go\n/quit\nnever read\n";
    let shown = place.chat(&replies, &WHOM, lines);
    let parts = [
        // Before anything was said.
        "/todo [add TEXT | done ITEM | remove ITEM]",
        "error: /context: no request was made yet",
        "error: /undo: nothing was said yet",
        "error: /cost: no request was made yet",
        "error: /nonsense: there is no such command; /help lists them",
        "error: /undo: nothing may follow it",
        // What the session keeps.
        "- [x] 1 mend it\n- [ ] 2 paint it",
        "error: write `/todo` alone, or `/todo add TEXT`, `/todo done ITEM`, `/todo remove ITEM`",
        "src: mind the step",
        "a.txt: all of it",
        // A turn.
        "# context in request 1, anthropic claude-sonnet-4-5",
        "  todo ",
        "  notes ",
        "  rule         after_tool_result(3)",
        "# window: ",
        "  expected     ",
        "  reported     ",
        "  cause        ",
        "  anthropic claude-sonnet-4-5: 2 requests\n",
        "  title        Read it.",
        // Taken back, brought back.
        "taken back: 2 messages, from “And now?” on; /redo brings it back",
        "4 of 6 messages visible, 2 hidden",
        "brought back: 2 messages",
        "error: /redo: nothing was taken back",
        // A summary.
        "compacted: ",
        "gave way to a summary by anthropic",
        // A fork, and another model.
        "this is session ",
        "error: /model: \"openai\" is no model: one is written VENDOR/MODEL",
        "nothing was changed",
        "change to it? y or n\n> y\nopenai gpt-4.1 is asked from now on",
        "error: /go: the last turn has come to its end",
        "> /quit\n",
    ];
    assert_has(&shown, &parts);
    assert!(!shown.contains("never read"), "{shown}");
    let (_, forked) = shown.split_once("this is session ").unwrap();
    let (new, rest) = forked.split_once(" now; ").unwrap();
    let old = rest.split(' ').next().unwrap();
    assert_ne!(new, old);
    assert_eq!(session(&shown), new);
    let said = |id: &str| {
        let mut command = interleaf(&["sessions", "show", id, "--all"]);
        place.set(&mut command);
        text(&command.output().unwrap().stdout)
    };
    assert!(said(new).contains("Go on.") && !said(old).contains("Go on."), "{}", said(new));
    // Nothing is lost in the log.
    assert!(said(old).contains("And now?"), "{}", said(old));
}

#[test]
fn an_agent_goes_on_with_another_model_after_the_figures_were_told() {
    let place = Place::new();
    let replies = r#"["First.", "Second."]"#;
    let lines = "One.\n/model openai gpt-4.1\ny\nTwo.\n/cost\n";
    let shown = place.chat(replies, &WHOM, lines);
    assert_has(&shown, &["Second.\n", "openai gpt-4.1: 1 request", "claude-sonnet-4-5: 1 request"]);
}

#[test]
fn a_model_is_named_in_a_chat_as_in_the_settings_and_the_fall_backs_stay() {
    let place = Place::new();
    let settings = "[models]\nfast = \"openai/gpt-4.1-mini\"\n[vendors.own]\n\
        family = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    let folder = place.0.path().join(".config/interleaf");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("interleaf.toml"), settings).unwrap();
    let flags = [&WHOM[..], &["--fallback", "openai:gpt-4.1"]].concat();
    let lines =
        "/model fats\n/model own m1\n/model openai/gpt-5\n/model fast\n/todo add it\n/quit\n";
    let shown = place.chat("[]", &flags, lines);
    let parts = [
        "error: /model: \"fats\" is no model",
        "own m1 is asked from now on",
        "openai gpt-5 is asked from now on",
        "openai gpt-4.1-mini is asked from now on",
        "if it gives no answer: openai gpt-4.1\n",
    ];
    assert_has(&shown, &parts);
}

#[test]
fn a_chat_in_which_nothing_was_said_leaves_nothing_behind() {
    let place = Place::new();
    let shown = place.chat("[]", &WHOM, "/help\n\n");
    assert!(!shown.contains("goes on\n"), "{shown}");
    assert_eq!(place.sessions(), [""; 0]);
    let mut nobody = interleaf(&["chat"]);
    place.set(&mut nobody);
    let (code, said) = fed(&mut nobody, "");
    assert_eq!(code, Some(2));
    assert_has(&said, &["name who is to be asked"]);
}

#[test]
fn a_chat_removes_no_session_that_keeps_something_or_that_it_did_not_make() {
    let place = Place::new();
    let shown = place.chat("[]", &WHOM, "/todo add mend it\n");
    let with_item = session(&shown).to_owned();
    let mut new = interleaf(&["sessions", "new"]);
    place.set(&mut new);
    assert!(new.output().unwrap().status.success());
    for id in place.sessions() {
        let shown = place.chat("[]", &[&["--session", &id], &WHOM[..]].concat(), "/help\n");
        assert_eq!(session(&shown), id);
    }
    let left = place.sessions();
    assert!(left.len() == 2 && left.contains(&with_item), "{left:?}");
}

#[test]
fn go_is_offered_only_where_it_goes_on() {
    let place = Place::new();
    let replies = r#"[{"text": "It is", "finish": "length"}, {"text": "I", "finish": "refusal"},
        {"calls": [{"name": "list", "arguments": {}}]}, "Listed."]"#;
    let shown = place.chat(replies, &WHOM, "One.\n/go\nTwo.\n/go\n");
    assert_has(
        &shown,
        &[
            "\nout of budget: the answer reached its limit of output tokens; say \"go on\" to continue\n",
            "\nrefused\n",
        ],
    );
    assert_eq!(shown.matches("error: /go: the last turn has come to its end").count(), 2);
    assert!(!shown.contains("(/go"), "{shown}");
    let flags = [&WHOM[..], &["--rounds", "1"]].concat();
    let replies = r#"[{"calls": [{"name": "list", "arguments": {}}]}, "Listed."]"#;
    let shown = place.chat(replies, &flags, "List.\n/go\n");
    assert_has(&shown, &["its limit of rounds (/go goes on)\n", "Listed.\n"]);
}

#[test]
fn a_sub_agent_is_shown_by_its_whole_name() {
    let place = Place::new();
    let folder = place.folder().join(".claude/agents");
    fs::create_dir_all(&folder).unwrap();
    let file = "---\nname: code-reviewer\ndescription: Reviews code.\n---\nYou review code.\n";
    fs::write(folder.join("code-reviewer.md"), file).unwrap();
    let replies = r#"[{"calls": [{"name": "code-reviewer", "arguments": {"task": "Look."}}]},
        {"calls": [{"name": "list", "arguments": {}}]}, "Fine.", "Done."]"#;
    let shown = place.chat(replies, &WHOM, "Review.\n");
    assert_has(&shown, &["\n    code-reviewer: list({})\n", "Done."]);
}

/// A chat that runs, whose output is read as it comes.
struct Talk {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    shown: String,
}

impl Talk {
    fn start(place: &Place, url: &str) -> Self {
        let mut command = interleaf(&["chat"]);
        command.args(WHOM).args(["--base-url", url, "--retries", "0"]);
        command.env("ANTHROPIC_API_KEY", "any").env("NO_PROXY", "127.0.0.1");
        place.set(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out, shown: String::new() }
    }

    fn say(&mut self, lines: &str) {
        self.child.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    }

    /// Reads until this was shown.
    fn until(&mut self, part: &str) {
        let mut bytes = self.shown.clone().into_bytes();
        while !String::from_utf8_lossy(&bytes).contains(part) {
            let more = self.out.fill_buf().unwrap();
            assert!(!more.is_empty(), "it ended before {part:?}: {}", self.shown);
            let n = more.len();
            bytes.extend_from_slice(more);
            self.out.consume(n);
        }
        self.shown = String::from_utf8(bytes).unwrap();
    }

    fn end(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), self.shown + &rest)
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_interrupts_a_turn_keeps_what_came_and_the_chat_goes_on() {
    if !is_heard("-INT") {
        return eprintln!("skipped: Ctrl-C is ignored where this test runs");
    }
    let place = Place::new();
    let whole = text(&stream());
    // The text has come, and its end has not.
    let at = whole.find("content_block_stop").unwrap();
    let cut = Said { body: whole.as_bytes()[..at].to_vec(), stalls: true, ..good() };
    let last = Said { head: "400 Bad Request", body: b"{}".to_vec(), stalls: false };
    let server = Server::start(vec![cut, last]);
    let mut talk = Talk::start(&place, &server.url);
    talk.say("Read both.\n");
    talk.until("I read both.");
    let kill = Command::new("kill").args(["-INT", &talk.child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    talk.until("interrupted: what came is kept");
    talk.say("Why did you stop?\n/session\n");
    talk.until("  requests     2");
    let (code, shown) = talk.end();
    assert_eq!(code, Some(0), "{shown}");
    assert_has(&shown, &["2 user, 1 assistant", "(/go tries again)"]);
    // What came is in the next request, and that is valid.
    let next = server.seen().remove(1);
    assert_has(&next, &["I read both.", "Why did you stop?"]);
}

#[cfg(unix)]
#[test]
fn kill_ends_a_chat_at_its_prompt() {
    let place = Place::new();
    let mut talk = Talk::start(&place, "http://127.0.0.1:9");
    talk.until("Ctrl-D leaves");
    let _held_open = talk.child.stdin.take();
    Command::new("kill").args(["-TERM", &talk.child.id().to_string()]).status().unwrap();
    assert_eq!(talk.child.wait().unwrap().code(), Some(130));
}

#[test]
fn compact_takes_the_writer_of_the_settings() {
    let place = Place::new();
    let settings = "[compaction]\nwriter = \"anthropic/claude-haiku-4-5\"\n";
    let folder = place.0.path().join(".config/interleaf");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("interleaf.toml"), settings).unwrap();
    let said = |n| format!("Say {n}. {}\n", "word ".repeat(2_000));
    let lines = (1..4).map(said).collect::<String>() + "/compact\n";
    let shown = place.chat(r#"["One.", "Two.", "Three.", "Words."]"#, &WHOM, &lines);
    assert_has(&shown, &["gave way to a summary by anthropic (claude-haiku-4-5)"]);
}

#[cfg(unix)]
#[test]
fn kill_ends_a_chat_that_compacts() {
    let place = Place::new();
    let body = fs::read(root().join("fixtures/exchanges/anthropic/text.sse")).unwrap();
    let said = || Said { body: body.clone(), ..good() };
    let stalls = Said { body: Vec::new(), stalls: true, ..good() };
    let server = Server::start(vec![said(), said(), said(), stalls]);
    let mut talk = Talk::start(&place, &server.url);
    for n in 1..4 {
        talk.say(&format!("Say {n}. {}\n", "word ".repeat(2_000)));
        talk.until(&format!("Say {n}."));
    }
    talk.say("/session\n/compact\n");
    talk.until("  requests     3");
    let began = Instant::now();
    while server.seen().len() < 4 {
        assert!(began.elapsed() < Duration::from_secs(60), "no summary was asked for");
        std::thread::sleep(Duration::from_millis(20));
    }
    let _held_open = talk.child.stdin.take();
    Command::new("kill").args(["-TERM", &talk.child.id().to_string()]).status().unwrap();
    talk.until("interrupted: nothing was changed");
    assert_eq!(talk.child.wait().unwrap().code(), Some(130));
}

/// Figures and ids, which depend on the machine, as 0.
fn masked(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut was_digit = false;
        for c in line.chars() {
            let is_digit = c.is_ascii_digit();
            match (is_digit, was_digit) {
                (true, false) => out.push('0'),
                (true, true) => {}
                (false, _) => out.push(c),
            }
            was_digit = is_digit;
        }
        out = out.trim_end().to_owned() + "\n";
    }
    out
}

/// The page has a chat as it was recorded; what the user says in it is said again.
#[test]
fn the_recorded_chat_is_what_a_chat_shows() {
    let page = root().join("docs/chat.md");
    let said = fs::read_to_string(&page).unwrap();
    let (before, rest) = said.split_once("```text\n").unwrap();
    let (recorded, after) = rest.split_once("```\n").unwrap();
    let mut lines = String::new();
    for line in recorded.lines() {
        let typed = line.strip_prefix("> ");
        let typed = typed.or_else(|| line.split_once("or n and why: ").map(|(_, typed)| typed));
        typed.into_iter().for_each(|typed| lines += &format!("{typed}\n"));
    }
    let place = Place::new();
    copy(&root().join("crates/cli/src/commands/demo/folder"), &place.folder());
    let replies = fs::read_to_string(root().join("fixtures/chat-script.json")).unwrap();
    let shown = place.chat(&replies, &WHOM, &lines);
    let id = session(&shown).to_owned();
    let shown =
        shown.replace(&id, "0199c0de").replace(place.folder().to_str().unwrap(), "greenhouse");
    if std::env::var_os("INTERLEAF_BLESS").is_some() {
        fs::write(&page, format!("{before}```text\n{shown}```\n{after}")).unwrap();
    } else {
        assert_eq!(masked(&shown), masked(recorded));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}
