//! A chat in a real terminal: tmux is one that a program can type into and read.

#![cfg(unix)]

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::PROGRAM;
use super::chat::Place;

/// How long something may take to appear, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with a chat in it. It is closed when it is dropped.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// A chat. None, if there is no tmux.
    fn start(place: &Place, replies: &str, flags: &str) -> Option<Self> {
        let terminal = Self::running(place, replies, flags, "chat")?;
        terminal.until_prompt("Ctrl-D leaves");
        Some(terminal)
    }

    /// A command that has an agent work.
    fn running(place: &Place, replies: &str, flags: &str, command: &str) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            assert!(std::env::var_os("INTERLEAF_REQUIRE_TMUX").is_none(), "tmux cannot be run");
            eprintln!("skipped: tmux is not installed, and a terminal is needed");
            return None;
        }
        let socket = place.folder().with_file_name("tmux").to_str().unwrap().to_owned();
        let (brain, home) = (place.brain(replies), place.folder().with_file_name("home"));
        fs::create_dir_all(&home).unwrap();
        let chat = format!(
            "cd '{}'; HOME='{}' INTERLEAF_STORE='{}' '{PROGRAM}' double --brain '{brain}' {flags} \
             -- '{PROGRAM}' {command} --vendor anthropic --model claude-sonnet-4-5; echo \"[exit $?]\"; \
             exec sleep 600",
            place.folder().display(),
            home.display(),
            place.store(),
        );
        let terminal = Self { socket };
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "50", &chat]);
        Some(terminal)
    }

    #[track_caller]
    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        let done = command.env("TERM", "xterm").args(["-S", &self.socket]).args(arguments).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", super::text(&done.stderr));
        super::text(&done.stdout)
    }

    /// Types keys, by their names in tmux.
    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Types a line.
    fn say(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.press(&["Enter"]);
    }

    /// Waits until the screen shows this, and gives the screen.
    #[track_caller]
    fn until(&self, part: &str) -> String {
        self.wait(part, |screen| screen.contains(part))
    }

    /// Waits until it shows this, and the prompt after it.
    #[track_caller]
    fn until_prompt(&self, part: &str) -> String {
        self.wait(part, |screen| {
            screen.contains(part) && screen.trim_end().lines().last() == Some(">")
        })
    }

    #[track_caller]
    fn wait(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if is_there(&screen) {
                return screen;
            }
            assert!(began.elapsed() < PATIENCE, "{what:?} is not on the screen:\n{screen}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.socket, "kill-server"]).output();
    }
}

#[test]
fn a_line_is_edited_continued_pasted_and_remembered() {
    let place = Place::new();
    let replies = r#"["One.", "Two.", "Three."]"#;
    let Some(terminal) = Terminal::start(&place, replies, "") else { return };
    terminal.say("first \\");
    terminal.say("secand");
    terminal.until_prompt("One.");
    // A pasted text may have many lines; the cursor is then where a letter is put right.
    fs::write(place.folder().join("pasted"), "alpha\nbeta").unwrap();
    let pasted = place.folder().join("pasted");
    terminal.tmux(&["load-buffer", pasted.to_str().unwrap()]);
    terminal.tmux(&["paste-buffer", "-p"]);
    terminal.until("beta");
    terminal.press(&["BSpace", "o", "Enter"]);
    terminal.until_prompt("Two.");
    terminal.press(&["Up", "Up"]);
    terminal.until("> first \\\nsecand");
    terminal.press(&["C-c"]);
    terminal.until_prompt("Ctrl-C again leaves");
    terminal.press(&["/", "s", "e", "Tab", "Enter"]);
    terminal.until("title        first secand");
    terminal.press(&["C-d"]);
    let screen = terminal.until("[exit 0]");
    assert!(screen.contains("2 user, 2 assistant"), "{screen}");
    let id = screen.split("--session ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    let mut show = super::interleaf(&["sessions", "show", &id]);
    let shown = super::text(&show.env("INTERLEAF_STORE", place.store()).output().unwrap().stdout);
    assert!(shown.contains("first \\nsecand") && shown.contains("alpha\\nbeto"), "{shown}");
}

#[test]
fn what_is_typed_while_the_agent_works_is_heard_and_questions_are_answered() {
    let place = Place::new();
    let replies = r#"[
        {"calls": [{"name": "run", "arguments": {"command": "until [ -e go ]; do sleep 0.05; done; printf '\\033[2Jgone'"}}]},
        "I heard it.", "And this."]"#;
    let Some(terminal) = Terminal::start(&place, replies, "") else { return };
    terminal.say("Wait for it.");
    terminal.until("allow it?");
    terminal.say("y");
    terminal.until("  run({");
    terminal.say("be quick");
    terminal.say("/session");
    terminal.until("the command waits");
    fs::write(place.folder().join("go"), "").unwrap();
    let screen = terminal.until("I heard it.");
    let (heard, said) = (screen.find("heard: be quick").unwrap(), screen.find("I heard").unwrap());
    assert!(heard < said, "{screen}");
    // What the command printed did nothing to the screen.
    assert!(screen.contains(r"\u{1b}[2Jgone") && screen.contains("> Wait for it."), "{screen}");
    terminal.until_prompt("title        Wait for it.");
    terminal.say("more");
    terminal.until_prompt("And this.");
    // What was said meanwhile belongs to its turn.
    terminal.say("/undo");
    terminal.until_prompt("from “more” on");
    terminal.say("/undo");
    terminal.until_prompt("from “Wait for it.” on");
}

#[test]
fn ctrl_c_at_a_question_allows_nothing_and_the_chat_goes_on() {
    let place = Place::new();
    let call = r#"{"calls": [{"name": "write", "arguments": {"path": "a", "text": "1"}}]}"#;
    let replies = format!(r#"[{call}, "I leave it."]"#);
    let Some(terminal) = Terminal::start(&place, &replies, "") else { return };
    terminal.say("Write.");
    terminal.until("allow it?");
    terminal.press(&["C-c"]);
    let screen = terminal.until_prompt("interrupted: what came is kept");
    assert!(screen.contains("\n  write = [This call was not run: "), "{screen}");
    terminal.say("/go");
    terminal.until_prompt("I leave it.");
    assert!(!place.folder().join("a").exists());
}

#[test]
fn what_was_typed_before_a_question_came_is_no_answer_to_it() {
    let place = Place::new();
    let replies = r#"[
        {"calls": [{"name": "run", "arguments": {"command": "until [ -e go ]; do sleep 0.05; done"}}]},
        {"calls": [{"name": "write", "arguments": {"path": "a", "text": "1"}}]},
        "I leave it."]"#;
    let Some(terminal) = Terminal::start(&place, replies, "") else { return };
    terminal.say("Wait for it.");
    terminal.until("allow it?");
    terminal.say("y");
    terminal.until("  run({");
    terminal.press(&["y", "e", "s"]);
    terminal.until("\nyes");
    fs::write(place.folder().join("go"), "").unwrap();
    terminal.until("agent wants write");
    terminal.until("and this is not said: yes");
    terminal.press(&["Enter"]);
    terminal.wait("the question again", |screen| screen.matches("allow it?").count() == 3);
    terminal.say("no");
    terminal.until("refused: the person said no]");
    terminal.until_prompt("I leave it.");
    assert!(!place.folder().join("a").exists());
}

#[test]
fn a_run_asks_one_question_at_a_time_and_the_answer_is_for_the_call_that_is_shown() {
    let place = Place::new();
    let folder = place.folder().join(".claude/agents");
    fs::create_dir_all(&folder).unwrap();
    let file = "---\nname: helper\ndescription: Helps.\n---\nYou help.\n";
    fs::write(folder.join("helper.md"), file).unwrap();
    let replies = r#"[
        {"text": "I send two", "calls": [{"name": "helper", "arguments": {"task": "One."}},
            {"name": "helper", "arguments": {"task": "Two."}}]},
        {"calls": [{"name": "write", "arguments": {"path": "a", "text": "1"}}]},
        {"calls": [{"name": "write", "arguments": {"path": "b", "text": "1"}}]},
        "First.", "Second.", "All done."]"#;
    let Some(terminal) = Terminal::running(&place, replies, "", "run Go.") else { return };
    let is_last = |screen: &str| {
        let last = screen.trim_end().lines().last().unwrap_or_default();
        last == "allow it? y, a (always allow `write` from now on), or n and why:"
    };
    let screen = terminal.wait("a question", is_last);
    let (shown, other) = match screen.contains("\nhelper wants write({\"path\":\"a\"") {
        true => ("a", "b"),
        false => ("b", "a"),
    };
    assert!(screen.contains("\nI send two\n"), "{screen}");
    // What is no answer is asked again.
    terminal.say("maybe");
    terminal.wait("it again", |screen| is_last(screen) && screen.matches("allow it?").count() == 2);
    terminal.until("\nmaybe\nthat is neither yes nor no\nallow it?");
    terminal.say("no");
    terminal.until(&format!("helper wants write({{\"path\":\"{other}\""));
    terminal
        .wait("the other", |screen| is_last(screen) && screen.matches("allow it?").count() == 3);
    terminal.say("Y");
    let screen = terminal.until("[exit 0]").replace('\n', "");
    assert!(screen.contains("write = [This call was refused: the person said no]"), "{screen}");
    assert!(!place.folder().join(shown).exists() && place.folder().join(other).exists());
}

#[test]
fn a_plan_asks_in_the_words_of_a_chat_and_no_answer_is_told() {
    let place = Place::new();
    let plan =
        r#"{"objective": "Write.", "steps": [{"id": "flour", "tool": "write", "reason": ""}]}"#;
    fs::write(place.folder().join("plan.json"), plan).unwrap();
    let replies = r#"[{"calls": [{"name": "write", "arguments": {"path": "a", "text": "1"}}]}]"#;
    let command = "plan run plan.json";
    let Some(terminal) = Terminal::running(&place, replies, "", command) else { return };
    terminal.until("flour wants write({\"path\":\"a\",\"text\":\"1\"})\nallow it? ");
    terminal.say("a");
    terminal.until("there is no always for a plan\nallow it? ");
    terminal.press(&["C-d"]);
    terminal.until("no answer can be read: it is refused\n");
    terminal.until("[exit 1]");
}

#[test]
fn ctrl_c_interrupts_an_answer_and_twice_leaves() {
    let place = Place::new();
    let long = "word ".repeat(400);
    let replies = format!(r#"["{long}", "Going on."]"#);
    // The first answer never ends.
    let stall = "--fault 1=stall:at=4000:ms=600000";
    let Some(terminal) = Terminal::start(&place, &replies, stall) else { return };
    terminal.say("Speak.");
    terminal.until("word word word");
    terminal.press(&["C-c"]);
    terminal.until_prompt("interrupted: what came is kept");
    terminal.say("Go on.");
    terminal.until_prompt("Going on.");
    terminal.press(&["C-c"]);
    terminal.until_prompt("Ctrl-C again leaves");
    terminal.press(&["C-c"]);
    terminal.until("[exit 0]");
}
