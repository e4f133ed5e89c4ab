//! An agent in a folder, against the doubles.

use serde_json::Value;

use super::{PROGRAM, interleaf, text};

/// Has the double serve an agent in a folder, and gives its exit code and output.
fn ran(store: &str, folder: &std::path::Path, flags: &[&str]) -> (Option<i32>, String, String) {
    let double = ["double", "--", PROGRAM, "run"];
    let mut command = interleaf(&[&double[..], flags].concat());
    command.env("INTERLEAF_STORE", store).current_dir(folder).env("HOME", folder);
    let done = command.output().unwrap();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

#[test]
fn an_agent_works_in_a_folder_and_its_session_goes_on() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    std::fs::write(scratch.path().join("AGENTS.md"), "Be brief.").unwrap();
    for (vendor, model) in [("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-4.1")] {
        let whom = ["--vendor", vendor, "--model", model];
        let (code, out, err) = ran(&store, scratch.path(), &[&["Look."], &whom[..]].concat());
        assert_eq!(code, Some(0), "{err}");
        // The double repeats what it was told.
        assert!(out.contains("Be brief."), "{out}");
        assert!(err.contains("read(") && err.contains("completed: "), "{err}");
        assert!(err.contains("\n  read = "), "a result has the name of its tool: {err}");
        assert!(err.contains("\n  agent wants write("), "what was refused is shown: {err}");
        assert!(!err.contains("= [exit code"), "nothing was allowed: {err}");
        let id = err.lines().find_map(|line| line.strip_prefix("session: ")).unwrap();
        let flags = ["--session", id, "And now?", "--json", "--rounds", "1"];
        let (code, out, err) = ran(&store, scratch.path(), &flags);
        assert_eq!(code, Some(10), "{err}");
        let ended: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(ended["end"], "out_of_budget");
        assert_eq!(ended["end_in_words"], "out of budget: its limit of rounds");
        assert_eq!((&ended["session"], &ended["requests"]), (&id.into(), &1.into()));
    }
}

#[test]
fn a_price_that_is_not_known_is_not_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    let flags =
        ["Look.", "--vendor", "anthropic", "--model", "claude-of-tomorrow", "--rounds", "1"];
    let (code, _, err) = ran(&store, scratch.path(), &flags);
    assert_eq!(code, Some(10), "{err}");
    assert!(err.contains(": 1 request, ") && err.contains(" tokens, price unknown\n"), "{err}");
    let (_, out, err) = ran(&store, scratch.path(), &[&flags[..], &["--json"]].concat());
    let ended: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    assert_eq!(ended["price"], Value::Null);
}

#[test]
fn an_agent_that_nobody_serves_leaves_no_session() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("s.db");
    let mut command = interleaf(&["run", "Look."]);
    let done = command.env("INTERLEAF_STORE", format!("sqlite:{}", file.display())).output();
    let done = done.unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("name who is to be asked"));
    assert!(!file.exists());
}

#[test]
#[cfg(unix)]
fn a_session_that_was_stopped_before_its_first_request_goes_on_with_what_it_was_started_for() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    let mut command = interleaf(&["run", "Look.", "--vendor", "openai", "--model", "gpt-4.1"]);
    command.args(["--fallback", "anthropic:claude-haiku-4-5"]).current_dir(scratch.path());
    // It is stopped while it waits for its key, before a request is recorded.
    command.args(["--key-command", "touch waits; exec sleep 900"]);
    command.env("INTERLEAF_STORE", &store).env("HOME", scratch.path());
    let running = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    while !scratch.path().join("waits").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-TERM", &running.id().to_string()]).status().unwrap().success());
    let err = text(&running.wait_with_output().unwrap().stderr);
    let id = err.lines().find_map(|line| line.strip_prefix("session: ")).unwrap().to_owned();
    let sent = |id: &str| {
        let mut command = interleaf(&["explain", "--session", id, "--sent", "--json"]);
        text(&command.env("INTERLEAF_STORE", &store).output().unwrap().stdout)
    };
    assert_eq!(sent(&id), "", "{err}");
    for arguments in [&["resume"][..], &["run", "--session", &id, "And?"]] {
        let flags = [&["double", "--", PROGRAM], arguments, &["--rounds", "1"]].concat();
        let mut command = interleaf(&flags);
        command.env("INTERLEAF_STORE", &store).current_dir(scratch.path());
        let done = command.env("HOME", scratch.path()).output().unwrap();
        assert_eq!(done.status.code(), Some(10), "{}", text(&done.stderr));
        let sent: Value = serde_json::from_str(&sent(&id)).unwrap();
        let last = sent["requests"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["vendor"], &last["model"]), (&"openai".into(), &"gpt-4.1".into()));
    }

    // A model that was named since, and not asked yet, is what it goes on with.
    let mut command = interleaf(&["run", "--session", &id, "Go on.", "--vendor", "anthropic"]);
    command.args(["--model", "claude-sonnet-4-5"]).current_dir(scratch.path());
    command.env("INTERLEAF_STORE", &store).env("HOME", scratch.path());
    command.env_remove("ANTHROPIC_API_KEY").output().unwrap();
    let mut command = interleaf(&["double", "--", PROGRAM, "resume", "--rounds", "1"]);
    command.env("INTERLEAF_STORE", &store).current_dir(scratch.path());
    command.env("HOME", scratch.path()).output().unwrap();
    let sent: Value = serde_json::from_str(&sent(&id)).unwrap();
    let last = sent["requests"].as_array().unwrap().last().unwrap();
    assert_eq!(last["model"], "claude-sonnet-4-5");
}

#[test]
fn a_store_that_is_locked_ends_every_run_with_the_exit_code_of_the_store() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("s.db");
    let store = format!("sqlite:{}", file.display());
    let whom = ["--vendor", "openai", "--model", "gpt-4.1"];
    let plan = scratch.path().join("plan.json");
    let step = r#"{"objective": "look", "steps": [{"id": "a", "tool": "list"}]}"#;
    std::fs::write(&plan, step).unwrap();
    let (_, _, err) =
        ran(&store, scratch.path(), &[&["Look.", "--rounds", "1"], &whom[..]].concat());
    let id = err.lines().find_map(|line| line.strip_prefix("session: ")).unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let plan = plan.display().to_string();
    let runs = [
        [&["run", "Look."], &whom[..]].concat(),
        vec!["run", "--session", id, "And?"],
        vec!["resume", id, "--say", "And?"],
        [&["plan", "run", &plan], &whom[..]].concat(),
    ];
    for arguments in runs {
        let mut command = interleaf(&arguments);
        command.env("INTERLEAF_STORE", &store).current_dir(scratch.path());
        command.env("HOME", scratch.path()).env("OPENAI_API_KEY", "none");
        let done = command.stdin(std::process::Stdio::null()).output().unwrap();
        let err = text(&done.stderr);
        assert_eq!(done.status.code(), Some(4), "{arguments:?}: {err}");
        assert!(err.contains("hint: nothing was written; try again"), "{arguments:?}: {err}");
    }
}

#[test]
fn a_call_that_was_cut_off_by_the_length_is_told_in_words_and_as_data() {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    let replies = scratch.path().join("replies.json");
    let call =
        r#"{"text": "I tidy up.", "calls": [{"name": "read", "arguments": {"path": "a.txt"}}]}"#;
    std::fs::write(&replies, format!("[{call}, \"Done.\", {call}, \"Done.\"]")).unwrap();
    let brain = replies.display().to_string();
    let mut said = Vec::new();
    for json in [&[][..], &["--json"]] {
        let fault = ["double", "--brain", &brain, "--fault", "1=truncate", "--", PROGRAM, "run"];
        let whom = ["Tidy up.", "--vendor", "anthropic", "--model", "claude-sonnet-4-5"];
        let mut command = interleaf(&[&fault[..], &whom, json].concat());
        command.env("INTERLEAF_STORE", &store).current_dir(scratch.path());
        let done = command.env("HOME", scratch.path()).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        said.push((text(&done.stdout), text(&done.stderr)));
    }
    let line = "  cut: the answer came to its limit of output tokens; 1 call in it broke off and is \
                not run: read (";
    assert!(said[0].1.contains(line), "{}", said[0].1);
    assert!(!said[0].1.contains("read ="), "it was not run: {}", said[0].1);
    let ended: Value = serde_json::from_str(&said[1].0).unwrap();
    let cut = &ended["cut"][0];
    assert_eq!(
        (&cut["finish"], &cut["calls_not_run"][0]["name"]),
        (&"length".into(), &"read".into())
    );
    assert_eq!(ended["cut"].as_array().unwrap().len(), 1);
}

/// A folder with a script of replies, and its store.
fn scripted(replies: &str) -> (tempfile::TempDir, String, String) {
    let scratch = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", scratch.path().join("s.db").display());
    let brain = scratch.path().join("replies.json");
    std::fs::write(&brain, replies).unwrap();
    let brain = brain.display().to_string();
    (scratch, store, brain)
}

const WHOM: [&str; 4] = ["--vendor", "anthropic", "--model", "claude-sonnet-4-5"];

#[test]
fn standard_output_has_the_last_word_and_nothing_else() {
    let call = r#"{"text": "I look.", "calls": [{"name": "list", "arguments": {"path": "."}}]}"#;
    let (scratch, store, brain) = scripted(&format!("[{call}, \"Done.\", {call}]"));
    let ran = |more: &[&str]| {
        let run = ["double", "--brain", &brain, "--", PROGRAM, "run", "Look."];
        let mut command = interleaf(&[&run[..], &WHOM, more].concat());
        command.env("INTERLEAF_STORE", &store).env("HOME", scratch.path());
        let done = command.current_dir(scratch.path()).output().unwrap();
        (text(&done.stdout), text(&done.stderr))
    };
    let (out, err) = ran(&[]);
    assert_eq!(out, "Done.\n", "{err}");
    assert!(err.contains("\nI look.\n") && !err.contains("Done."), "{err}");
    let (out, err) = ran(&["--rounds", "1"]);
    assert_eq!(out, "", "there is no last word: {err}");
}

#[test]
fn requests_of_sub_agents_are_counted_in_words_and_as_data() {
    let send = r#"{"calls": [{"name": "scout", "arguments": {"task": "Look."}}]}"#;
    let (scratch, store, brain) = scripted(&format!("[{send}, \"Seen.\", \"Done.\"]"));
    for json in [&[][..], &["--json"]] {
        let run = ["double", "--brain", &brain, "--", PROGRAM, "run", "Look."];
        let mut command = interleaf(&[&run[..], &WHOM, json].concat());
        command.env("INTERLEAF_STORE", &store).env("HOME", scratch.path());
        let done = command.current_dir(scratch.path()).output().unwrap();
        let (out, err) = (text(&done.stdout), text(&done.stderr));
        match json {
            [] => assert!(err.contains("\ncompleted: 3 requests, "), "{err}"),
            _ => {
                let ended: Value = serde_json::from_str(&out).unwrap();
                assert_eq!((&ended["requests"], &ended["unknown_usage"]), (&3.into(), &0.into()));
            }
        }
    }
}

#[test]
fn waits_and_fall_backs_are_told_while_they_happen() {
    let (scratch, store, brain) = scripted(r#"["One.", "Two."]"#);
    let ran = |fault: &str, more: &[&str]| {
        let run = ["double", "--brain", &brain, "--fault", fault, "--", PROGRAM, "run", "Look."];
        let mut command = interleaf(&[&run[..], &WHOM, more].concat());
        command.env("INTERLEAF_STORE", &store).env("HOME", scratch.path());
        let done = command.current_dir(scratch.path()).output().unwrap();
        (done.status.code(), text(&done.stderr))
    };
    let (code, err) = ran("1=429:retry-after=1", &[]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("\n  trying anthropic claude-sonnet-4-5 again in 1"), "{err}");
    assert!(err.contains(" s: HTTP 429: "), "{err}");
    let (code, err) = ran("1=529", &["--retries", "0", "--fallback", "openai:gpt-4.1"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("\n  asking openai gpt-4.1 in its place: "), "{err}");
}

#[test]
fn without_a_key_or_a_task_there_is_no_request_and_no_session() {
    let (scratch, store, _) = scripted("[]");
    let ran = |task: &str, json: &[&str]| {
        let mut command = interleaf(&[&["run", task], &WHOM[..], json].concat());
        command.env("INTERLEAF_STORE", &store).env("HOME", scratch.path());
        let done = command.current_dir(scratch.path()).env_remove("ANTHROPIC_API_KEY").output();
        let done = done.unwrap();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    let (code, _, err) = ran(" \n", &[]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("say what is to be done"), "{err}");
    let (_, _, err) = ran("Look.", &[]);
    assert!(err.contains("\nfailed: no request was made\n"), "{err}");
    assert!(err.contains("the session is not kept") && !err.contains("goes on"), "{err}");
    let (_, out, err) = ran("Look.", &["--json"]);
    let ended: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&ended["session"], &ended["requests"]), (&Value::Null, &0.into()), "{err}");
    let mut command = interleaf(&["resume"]);
    command.env("INTERLEAF_STORE", &store).env("HOME", scratch.path());
    let done = command.current_dir(scratch.path()).output().unwrap();
    assert!(text(&done.stderr).contains("no session was run in this folder"));
}

#[test]
fn a_session_goes_on_as_it_was_run_and_where_it_was_run() {
    let write = r#"{"calls": [{"name": "write", "arguments": {"path": "new.txt", "text": "1"}}]}"#;
    let (scratch, store, brain) = scripted("[\"One.\"]");
    let ran = |folder: &str, arguments: &[&str]| {
        let double = ["double", "--brain", &brain, "--", PROGRAM];
        let mut command = interleaf(&[&double[..], arguments].concat());
        let folder = scratch.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        command.env("INTERLEAF_STORE", &store).env("HOME", scratch.path()).current_dir(folder);
        let done = command.output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        text(&done.stderr)
    };
    let how = ["--place", "tail", "--carrier", "attached", "--role", "You are a keeper."];
    let err = ran("fa", &[&["run", "Look."][..], &WHOM, &how].concat());
    let id = err.lines().find_map(|line| line.strip_prefix("session: ")).unwrap().to_owned();
    // From elsewhere, and told so.
    let script = format!("[{write}, \"Two.\"]");
    std::fs::write(&brain, script).unwrap();
    let err = ran("fb", &["run", "--session", &id, "Write.", "--yes"]);
    assert!(err.contains("note: it works in ") && err.contains("/fa, where it was run"), "{err}");
    assert!(scratch.path().join("fa/new.txt").exists());
    assert!(!scratch.path().join("fb/new.txt").exists());
    std::fs::write(&brain, "[\"Three.\"]").unwrap();
    let err = ran("fa", &["resume", "--say", "And?", "--place", "after_tool_result(2)"]);
    assert!(err.contains(&id) && !err.contains("it works in"), "{err}");

    let mut command = interleaf(&["sessions", "export", &id, "--format", "jsonl"]);
    let all = text(&command.env("INTERLEAF_STORE", &store).output().unwrap().stdout);
    let records: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests = records.iter().filter_map(|record| record.get("request"));
    let requests: Vec<String> = requests.map(Value::to_string).collect();
    assert_eq!(requests.len(), 4);
    for (n, request) in requests.iter().enumerate() {
        assert!(n == 0 || request.contains("\"carrier\":\"attached\""), "{n}: {request}");
        let rule = if n < 3 { "tail" } else { "after_tool_result(2)" };
        assert!(n == 0 || request.contains(&format!("\"rule\":\"{rule}\"")), "{n}: {request}");
    }
    // Kept by difference: the role is said once, and never taken back.
    let ran: Vec<&Value> = records.iter().filter_map(|it| it["record"].get("body")).collect();
    assert!(ran.iter().all(|ran| ran["role"] == "You are a keeper."), "{ran:?}");
}

/// Has a model call `run` with a command, and gives what is told.
#[cfg(unix)]
fn commanded(folder: &std::path::Path, command: &str, set: &[(&str, &str)]) -> String {
    let brain = folder.join("replies.json");
    let call = serde_json::json!({"name": "run", "arguments": {"command": command}});
    std::fs::write(&brain, serde_json::json!([{"calls": [call]}, "Done."]).to_string()).unwrap();
    let brain = brain.to_str().unwrap();
    let run = ["double", "--brain", brain, "--", PROGRAM, "run", "Look.", "--yes"];
    let mut command = interleaf(&run);
    command.args(["--vendor", "anthropic", "--model", "claude-sonnet-4-5"]);
    command.env("INTERLEAF_STORE", format!("sqlite:{}", folder.join("s.db").display()));
    command.current_dir(folder).env("HOME", folder).env_remove("XDG_CONFIG_HOME");
    let done = command.envs(set.iter().copied()).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stderr)
}

#[test]
#[cfg(unix)]
fn a_command_that_an_agent_runs_is_handed_no_key_that_it_was_not_given() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join(".config/interleaf");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = "[keys]\nopenai = { variable = \"WORK_KEY\" }\n\
        [permissions]\nvariables = [\"GROQ_API_KEY\"]\n\
        [vendors.own]\nfamily = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1\"\n\
        key_variable = \"OWN_KEY\"\n\
        [mcp.files]\ncommand = \"true\"\nenv = { A = \"Bearer ${SERVER_KEY}\" }\n";
    std::fs::write(folder.join("interleaf.toml"), settings).unwrap();
    let names = ["WORK_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "OWN_KEY", "SERVER_KEY", "PLAIN"];
    let set = names.map(|name| (name, "set"));
    let command = names.map(|name| format!("{name}=${name}")).join(" ");
    let told = commanded(scratch.path(), &format!("echo k=$ANTHROPIC_API_KEY {command}"), &set);
    // The double has a key of its own for each vendor.
    let handed = "k= WORK_KEY= GROQ_API_KEY=double MISTRAL_API_KEY= OWN_KEY= SERVER_KEY= PLAIN=set";
    assert!(told.contains(handed), "{told}");
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_command_started_ends_with_it_though_there_is_no_program_that_kills() {
    let scratch = tempfile::tempdir().unwrap();
    let programs = scratch.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    for name in ["sh", "sleep"] {
        let found = ["/bin", "/usr/bin"].map(|folder| std::path::Path::new(folder).join(name));
        let found = found.iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(found, programs.join(name)).unwrap();
    }
    let set = [("PATH", programs.to_str().unwrap())];
    let told = commanded(scratch.path(), "sleep 60 & echo left $!", &set);
    let (_, id) = told.split_once("] left ").unwrap();
    let id = id.split(|c: char| !c.is_ascii_digit()).next().unwrap();
    // Who is killed may be gone, or wait for somebody to ask for it.
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{id} runs: {stat}");
    assert!(!told.contains("still runs"), "{told}");
}
