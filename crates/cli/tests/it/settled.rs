//! Agents that are settled in files, and sessions that are gone on with, against the doubles.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{PROGRAM, interleaf, text};

/// Has the double serve the program in a folder, and gives its exit code and output.
fn served(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let double = ["double", "--", PROGRAM];
    done(folder, interleaf(&[&double[..], arguments].concat()))
}

fn alone(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    done(folder, interleaf(arguments))
}

fn done(folder: &Path, mut command: std::process::Command) -> (Option<i32>, String, String) {
    command.env_remove("INTERLEAF_STORE").env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
    command.env("HOME", folder.parent().unwrap()).current_dir(folder);
    let done = command.output().unwrap();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

/// A home with settings, and a project in it.
fn home(settings: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join(".config/interleaf");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("interleaf.toml"), settings).unwrap();
    fs::create_dir_all(home.path().join("project/.interleaf/agents")).unwrap();
    fs::create_dir_all(home.path().join("project/.git")).unwrap();
    home
}

const SETTINGS: &str = "vendor = \"anthropic\"\nmodel = \"claude-sonnet-4-5\"\n";

fn session(err: &str) -> String {
    err.lines().find_map(|line| line.strip_prefix("session: ")).unwrap().to_owned()
}

#[test]
fn with_settings_a_run_needs_no_flags_and_resume_goes_on_where_it_was() {
    let home = home(SETTINGS);
    let project = home.path().join("project");
    let agent = "---\ntools: [read]\nlimits: {rounds: 1}\n---\nYou are the keeper of this folder.";
    fs::write(project.join(".interleaf/agents/keeper.md"), agent).unwrap();
    let (code, _, err) = served(&project, &["run", "Look.", "--agent", "keeper"]);
    // The double calls the tool; the agent's file allows one request.
    assert_eq!(code, Some(10), "{err}");
    let id = session(&err);
    let (code, out, err) =
        served(&project, &["resume", "--rounds", "9", "--role", "You are brief."]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.starts_with("interrupted: "), "{err}");
    assert_eq!(session(&err), id);
    assert!(!out.is_empty());
    // Nothing is left to do, and that is said.
    let (code, _, err) = served(&project, &["resume"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("the agent has said its last word: "), "{err}");
    assert!(err.contains("there is nothing to go on with") && err.contains("--say"), "{err}");
    let (code, out, err) = served(&project, &["resume", &id, "--say", "And now?", "--json"]);
    assert_eq!(code, Some(10), "the limit of its file holds again: {err}");
    let ended: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(ended["session"], id.as_str());
    // Its agent is known, so that its tools are: the others were never offered.
    let (code, out, err) = alone(&project, &["sessions", "export", &id, "--format", "jsonl"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("keeper") && !out.contains("\"name\":\"write\""), "{out}");
}

#[test]
fn a_session_is_found_by_its_folder_also_after_export_and_import() {
    let home = home(SETTINGS);
    let project = home.path().join("project");
    let (code, _, err) = served(&project, &["run", "Look."]);
    assert_eq!(code, Some(0), "{err}");
    let id = session(&err);
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let (code, _, err) = alone(&elsewhere, &["todo"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("no session was run in this folder"), "{err}");
    let (code, out, err) = alone(&project, &["todo", "--add", "paint it"]);
    assert_eq!((code, out.contains("paint it")), (Some(0), true), "{out}{err}");

    let file = home.path().join("all.jsonl");
    let file = file.to_str().unwrap();
    let export = ["sessions", "export", &id, "--format", "jsonl", "-o", file];
    assert_eq!(alone(&project, &export).0, Some(0));
    let other = format!("sqlite:{}", home.path().join("other.db").display());
    let (code, _, err) = alone(&project, &["sessions", "import", file, "--store", &other]);
    assert_eq!(code, Some(0), "{err}");
    let (code, out, err) = alone(&project, &["todo", "--store", &other, "--done", "1"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("paint it"), "{out}");
    let (code, _, err) = served(&project, &["resume", "--store", &other, "--say", "Go on."]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(session(&err), id);
}

#[test]
fn a_sub_agent_of_a_file_is_sent_and_a_file_that_is_wrong_stops_the_run_before_anything_is_made() {
    let home = home(SETTINGS);
    let project = home.path().join("project");
    let file = project.join(".interleaf/agents/helper.md");
    fs::write(&file, "---\ndescription: Helps.\ntools: [reed]\n---\nYou help.").unwrap();
    let (code, _, err) = served(&project, &["run", "Look."]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("helper.md: line 3 column 9: there is no tool `reed`"), "{err}");
    assert!(err.contains("did you mean `read`?"), "{err}");
    let (_, out, _) = alone(&project, &["sessions", "ls"]);
    assert!(!out.contains("Look."), "{out}");
    fs::write(&file, "---\ndescription: Helps.\ntools: [read]\n---\nYou help.").unwrap();
    let (code, _, err) = served(&project, &["run", "Look."]);
    assert_eq!(code, Some(0), "{err}");
    let id = session(&err);
    let (_, out, _) = alone(&project, &["sessions", "export", &id, "--format", "jsonl"]);
    assert!(out.contains("Helps."), "the model is told of it");
}

#[test]
fn the_store_of_the_settings_is_that_of_every_command() {
    let home = home("store = \"sqlite:kept.db\"\n");
    let project = home.path().join("project");
    let (code, id, err) = alone(&project, &["sessions", "new", "--title", "here"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(project.join("kept.db").exists());
    let (_, out, _) = alone(&project, &["sessions", "ls"]);
    assert!(out.contains(id.trim()), "{out}");
    let (code, out, _) = alone(&project, &["todo", "--session", id.trim(), "--add", "a"]);
    assert_eq!((code, out.contains('a')), (Some(0), true));
}

#[test]
fn a_variable_that_cannot_be_read_is_an_error_and_leads_to_no_other_store() {
    let home = home("store = \"sqlite:kept.db\"\n");
    let project = home.path().join("project");
    let mut command = interleaf(&["todo"]);
    command.env("INTERLEAF_ROUNDS", "many");
    let (code, _, err) = done(&project, command);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("$INTERLEAF_ROUNDS: \"many\" does not do"), "{err}");
}

#[test]
#[cfg(unix)]
fn an_interrupt_while_a_server_starts_ends_the_program_and_the_server() {
    let home = home(&format!(
        "{SETTINGS}[mcp.slow]\ncommand = \"sh\"\nargs = [\"-c\", \"echo $$ > pid; exec sleep 900\"]\n"
    ));
    let project = home.path().join("project");
    let mut command = interleaf(&["run", "Look."]);
    command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME").env("HOME", home.path());
    command.current_dir(&project).stderr(std::process::Stdio::piped());
    let running = command.spawn().unwrap();
    let signal = |signal: &str, id: &str| {
        let mut kill = std::process::Command::new("kill");
        kill.args([signal, id]).stderr(std::process::Stdio::null()).status().unwrap().success()
    };
    let wait = || std::thread::sleep(std::time::Duration::from_millis(20));
    let server = loop {
        match fs::read_to_string(project.join("pid")) {
            Ok(id) if id.ends_with('\n') => break id.trim().to_owned(),
            _ => wait(),
        }
    };
    assert!(signal("-0", &server));
    assert!(signal("-TERM", &running.id().to_string()));
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    while signal("-0", &server) {
        wait();
    }
}

#[test]
fn a_check_lists_what_cannot_be_meant_and_what_is_not_in_force() {
    let home = home(
        "vendor = \"antropic\"\nmodel = \"m\"\n[limits]\nrounds = 0\n[permissions]\n\
         allow = [\"wrte\", \"writing\", \"todo_*\"]\n",
    );
    let project = home.path().join("project");
    fs::write(project.join("interleaf.toml"), "[mcp.time]\ncommand = \"x\"\n").unwrap();
    fs::create_dir_all(project.join(".claude/agents")).unwrap();
    fs::write(project.join(".claude/agents/broken.md"), "---\nname: broken\n").unwrap();
    let (code, out, err) = alone(&project, &["config", "--check"]);
    assert_eq!(code, Some(1), "{out}{err}");
    for wrong in [
        "line 1 column 10: vendor: there is no vendor \"antropic\"",
        "line 6 column 9: permissions.allow: there is no tool \"wrte\" (did you mean write?)",
        "line 4 column 10: limits.rounds: with none, nothing runs",
        "project/interleaf.toml:1: `mcp` is not in force",
        "broken.md:",
    ] {
        assert!(out.contains(wrong), "{wrong}: {out}");
    }
    assert_eq!(out.lines().count(), 5, "{out}");
}

#[test]
fn a_check_shows_every_fault_of_every_file() {
    let home = home(
        "vendro = \"x\"\nplace = \"nowhere\"\nfallback = [\"gpt-4.1\"]\n[limits]\nrounds = \"many\"\n\
         tokens = 5\n[keys]\nopenai = { value = \"sk-secret\" }\n",
    );
    let project = home.path().join("project");
    fs::write(project.join(".interleaf/agents/odd.toml"), "plaice = \"tail\"\n").unwrap();
    let (code, out, err) = alone(&project, &["config", "--check"]);
    assert_eq!(code, Some(1), "{out}{err}");
    for place in [
        "toml: line 1 column 1: ",
        "line 2 column 9: ",
        "line 5 column 10: ",
        "line 8 ",
        "odd.toml: ",
    ] {
        assert!(out.contains(place), "{place}: {out}");
    }
    // What may hold a secret is hidden, and nothing else.
    assert!(out.contains("\"nowhere\"") && !out.contains("sk-secret"), "{out}");
}

#[test]
fn a_check_knows_names_that_nothing_has() {
    let home = home(
        "agent = \"reviewer\"\nfallback = [\"nix/gpt\"]\n[keys]\nopnai = { variable = \"A\" }\n\
         [price]\n\"anthropc/m\" = \"1/2\"\n[permissions]\nrun = [\"\"]\n\
         [mcp.gone]\ncommand = \"no-such-program-here\"\n",
    );
    let project = home.path().join("project");
    let (code, out, err) = alone(&project, &["config", "--check"]);
    assert_eq!((code, out.contains("reviewer")), (Some(1), true), "{out}{err}");
    fs::write(project.join(".interleaf/agents/reviewer.md"), "You review.\n").unwrap();
    let (code, out, err) = alone(&project, &["config", "--check"]);
    assert_eq!(code, Some(1), "{out}{err}");
    let wrong = ["fallback: ", "keys: ", "price: ", "permissions.run: ", "no-such-program-here"];
    for wrong in wrong {
        assert!(out.contains(wrong), "{wrong}: {out}");
    }
    assert_eq!(out.lines().count(), wrong.len(), "{out}");
}

#[test]
fn a_server_that_does_not_start_is_told_and_one_that_is_written_wrongly_is_an_error() {
    let home = home(&format!("{SETTINGS}[mcp.gone]\ncommand = \"/nowhere/server\"\n"));
    let project = home.path().join("project");
    let (code, _, err) = served(&project, &["run", "Look."]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(err.matches("the MCP server gone: ").count(), 1, "{err}");
    assert!(err.contains("note: the MCP server gone: "), "{err}");
    assert!(err.contains("; the run goes on without its tools"), "{err}");
    let own = home.path().join(".config/interleaf/interleaf.toml");
    fs::write(own, format!("{SETTINGS}[mcp.gone]\ncomand = \"x\"\n")).unwrap();
    for arguments in [&["run", "Look."][..], &["config", "--check"]] {
        let (_, out, err) = alone(&project, arguments);
        let said = format!("{out}{err}");
        assert!(said.contains("line 4 column 1: there is no key `comand`"), "{said}");
        assert!(said.contains("did you mean `command`?"), "{said}");
    }
}

#[test]
fn the_page_on_settings_has_an_example_that_is_right() {
    let page = fs::read_to_string(super::root().join("docs/settings.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    // Not every machine has it.
    let example = &example.replace("\"npx\"", "\"sh\"");
    let home = home(example);
    let project = home.path().join("project");
    let (_, agents) = page.split_once("```markdown\n").unwrap();
    let (agent, _) = agents.split_once("\n```\n").unwrap();
    fs::write(project.join(".interleaf/agents/reviewer.md"), agent).unwrap();
    let (code, out, err) = alone(&project, &["config", "--check"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let (code, out, err) = alone(&project, &["config", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let shown: Value = serde_json::from_str(&out).unwrap();
    let rows = shown["settings"].as_array().unwrap();
    // Every key is in the example, and each is the example's.
    let file = home.path().join(".config/interleaf/interleaf.toml");
    for row in rows {
        let origin = &row["origin"]["file"];
        let is_agents = origin.as_str().is_some_and(|file| file.ends_with("reviewer.md"));
        assert!(*origin == file.to_str().unwrap() || is_agents, "{row}");
    }
    assert_eq!(shown["notices"], serde_json::json!([]));
}

#[test]
fn what_a_session_keeps_is_changed_in_words_too() {
    let home = home(SETTINGS);
    let project = home.path().join("project");
    let (_, id, _) = alone(&project, &["sessions", "new"]);
    let of = ["--session", id.trim()];
    let (code, out, err) = alone(&project, &[&["todo", "add", "mend", "it"], &of[..]].concat());
    assert_eq!((code, &*out), (Some(0), "## TODO\n- [ ] 1 mend it\n"), "{err}");
    let (_, out, err) = alone(&project, &[&["todo", "done", "1"], &of[..]].concat());
    assert!(out.starts_with("## TODO\n- [x] 1 mend it\n"), "{out}{err}");
    let (_, out, err) = alone(&project, &[&["note", "add", "src=frozen"], &of[..]].concat());
    assert!(out.starts_with("0 /") && out.ends_with("project/src: frozen\n"), "{out}{err}");
    let (_, out, err) = alone(&project, &[&["info", "add", "a.py=the code"], &of[..]].concat());
    assert!(out.starts_with('/') && out.ends_with("project/a.py: the code\n"), "{out}{err}");
    let (code, _, err) = alone(&project, &[&["todo", "ad", "x"], &of[..]].concat());
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("or `interleaf todo add TEXT`, `interleaf todo done ITEM`"), "{err}");
    let (_, out, _) = alone(&project, &["sessions", "list"]);
    assert!(out.contains(id.trim()), "{out}");
}

#[test]
fn a_run_tells_how_many_remarks_there_are_and_config_shows_them_all() {
    let home = home(SETTINGS);
    let project = home.path().join("project");
    fs::create_dir_all(project.join(".claude/agents")).unwrap();
    let agent = "---\nname: a\ndescription: A.\ntools: Read, WebFetch, mcp__x__y\n\
                 permissionMode: plan\n---\nYou help.\n";
    fs::write(project.join(".claude/agents/a.md"), agent).unwrap();
    fs::write(project.join(".claude/agents/b.md"), agent.replace("name: a", "name: b")).unwrap();
    let (_, out, err) = alone(&project, &["config"]);
    let remarks: Vec<&str> = out.lines().filter(|line| line.contains(".md:")).collect();
    assert_eq!(remarks.len(), 6, "{out}{err}");
    assert!(out.contains("a.md:5: `permissionMode` is not used"), "{out}");
    let (_, _, err) = served(&project, &["run", "Look.", "--rounds", "1"]);
    assert!(err.contains("note: 6 remarks on settings"), "{err}");
    let (code, out, err) = alone(&project, &["config", "--check"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(remarks.iter().all(|remark| out.contains(remark)), "{out}");
    assert!(out.ends_with("\n1 settings file and 4 agents: nothing is wrong\n"), "{out}");
}
