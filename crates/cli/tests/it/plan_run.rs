//! Plans that run, against a double: as a person meets them, and killed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{interleaf, text};

/// A double that serves as long as it is held.
struct Served {
    child: Child,
    environment: Vec<(String, String)>,
}

impl Served {
    fn by(brain: &str) -> Self {
        let mut command = interleaf(&["double", "--brain", brain]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_whitespace().find(|word| word.starts_with("http")).unwrap();
        let url = url.trim_end_matches(';').to_owned();
        let environment = vec![
            ("ANTHROPIC_BASE_URL".to_owned(), url),
            ("ANTHROPIC_API_KEY".to_owned(), "double".to_owned()),
        ];
        Self { child, environment }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with a store, a plan, and what its model answers.
struct Bench {
    folder: tempfile::TempDir,
    served: Served,
}

/// A step: its name, the command that it runs, and what it depends on.
type Step<'a> = (&'a str, String, &'a [&'a str]);

impl Bench {
    fn new(steps: &[Step<'_>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plan: Vec<Value> = steps
            .iter()
            .map(|(id, _, needs)| json!({"id": id, "tool": "run", "depends_on": needs}))
            .collect();
        let plan = json!({"objective": "Do it all.", "steps": plan});
        let n = steps.len();
        let truth: Vec<Value> = (1..)
            .zip(steps)
            .map(|(at, (_, command, _))| {
                let call = json!({"name": "run", "arguments": {"command": command}});
                json!({"task": format!("Current step: {at}/{n}\n"), "steps": [[call]]})
            })
            .collect();
        fs::write(folder.path().join("plan.json"), plan.to_string()).unwrap();
        fs::write(folder.path().join("truth.json"), json!(truth).to_string()).unwrap();
        fs::create_dir(folder.path().join("ran")).unwrap();
        let served = Served::by(&format!("truth:{}", folder.path().join("truth.json").display()));
        Self { folder, served }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn store(&self) -> String {
        format!("sqlite:{}", self.path("s.db").display())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = interleaf(arguments);
        command.envs(self.served.environment.iter().cloned()).stdin(Stdio::null());
        command.env("INTERLEAF_STORE", self.store());
        command
    }

    fn run(&self, arguments: &[&str]) -> Command {
        let folder = self.folder.path().to_str().unwrap().to_owned();
        self.command(&[&["plan", "run", "--folder", &folder], arguments].concat())
    }

    fn begin(&self, arguments: &[&str]) -> Command {
        let plan = self.path("plan.json").to_str().unwrap().to_owned();
        let whom = ["--vendor", "anthropic", "--model", "claude-sonnet-4-5"];
        self.run(&[&[plan.as_str()], &whom[..], arguments].concat())
    }

    /// How often each step ran.
    fn ran(&self, session: &str) -> BTreeMap<String, usize> {
        let folder = self.path("ran").join(session);
        let files = fs::read_dir(folder).into_iter().flatten();
        let count = |path: &Path| fs::read_to_string(path).unwrap().lines().count();
        files
            .map(|file| file.unwrap().path())
            .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), count(&path)))
            .collect()
    }
}

fn ended(output: &Output) -> Value {
    let said = text(&output.stdout);
    serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}{}", text(&output.stderr)))
}

fn diamond() -> Bench {
    Bench::new(&[
        ("top", "echo top".to_owned(), &[]),
        ("left", "echo left".to_owned(), &["top"]),
        ("right", "echo right".to_owned(), &["top"]),
        ("end", "echo the end".to_owned(), &["left", "right"]),
    ])
}

#[test]
fn a_plan_runs_and_the_results_of_its_last_steps_are_the_answer() {
    let bench = diamond();
    let output = bench.begin(&["--yes"]).output().unwrap();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_eq!(text(&output.stdout), "[exit code 0]\nthe end\n");
    for line in ["top: asking (native)", "end: run({\"command\":\"echo the end\"})"] {
        assert!(err.lines().any(|said| said == line), "{err}");
    }
    assert!(err.contains("\ncompleted: 4 requests, "), "{err}");
    let id = err.lines().find_map(|line| line.strip_prefix("session: ")).unwrap();
    // It goes on without its file, and has nothing to do.
    let again = ended(&bench.run(&["--session", id, "--json"]).output().unwrap());
    assert_eq!((&again["end"], &again["requests"]), (&"completed".into(), &0.into()));
    assert_eq!(again["steps"][3]["result"], "[exit code 0]\nthe end");
}

#[test]
fn nothing_is_changed_unless_somebody_allows_it_and_what_was_asked_is_not_asked_again() {
    let bench = diamond();
    let output = bench.begin(&["--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let refused = ended(&output);
    assert_eq!(refused["end"], "steps_failed");
    assert_eq!(refused["end_in_words"], "1 step failed: top");
    assert!(refused["steps"][0]["why"].as_str().unwrap().contains("nobody is there to allow it"));
    assert_eq!(refused["steps"][3]["why"], "it depends on left");
    let id = refused["session"].as_str().unwrap();
    let output = bench.run(&["--session", id, "--json", "--yes"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(ended(&output)["requests"], 3);
}

#[test]
fn what_a_run_cost_has_its_currency_and_is_not_nothing_where_no_price_is_known() {
    let bench = diamond();
    let err = text(&bench.begin(&["--yes"]).output().unwrap().stderr);
    assert!(err.contains(" tokens, price $0.0"), "{err}");
    let plan = bench.path("plan.json").to_str().unwrap().to_owned();
    let unknown = [&*plan, "--vendor", "anthropic", "--model", "claude-of-tomorrow", "--yes"];
    let err = text(&bench.run(&unknown).output().unwrap().stderr);
    assert!(err.contains(" tokens, price unknown\n"), "{err}");
    let told = ended(&bench.run(&[&unknown[..], &["--json"]].concat()).output().unwrap());
    assert_eq!((&told["price"], &told["unknown_usage"]), (&Value::Null, &0.into()));
}

#[test]
fn a_run_that_comes_to_a_limit_tells_by_its_exit_code_and_goes_on() {
    let bench = diamond();
    let output = bench.begin(&["--yes", "--json", "--rounds", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(10));
    let first = ended(&output);
    assert_eq!(first["end"], "out_of_budget");
    let id = first["session"].as_str().unwrap();
    let output = bench.run(&["--session", id, "--yes", "--json"]).output().unwrap();
    assert_eq!((output.status.code(), &ended(&output)["requests"]), (Some(0), &3.into()));
}

#[test]
fn a_plan_falls_back_to_another_model_says_so_and_goes_on_as_it_began() {
    let bench = diamond();
    let url = bench.served.environment[0].1.clone();
    // Nobody listens at the first vendor's.
    let elsewhere = |command: &mut Command| {
        command.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
        command.env("OPENAI_BASE_URL", format!("{url}/v1")).env("OPENAI_API_KEY", "double");
        command.output().unwrap()
    };
    let flags = ["--fallback", "openai:gpt-4.1", "--retries", "0", "--yes"];
    let output = elsewhere(&mut bench.begin(&[&flags[..], &["--rounds", "2"]].concat()));
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(10), "{err}");
    assert!(err.contains("top: no answer, the next is asked: anthropic"), "{err}");
    assert!(err.contains("top: answered by openai gpt-4.1: "), "{err}");
    let id = err.lines().find_map(|line| line.strip_prefix("session: ")).unwrap();
    let flags = ["--session", id, "--retries", "0", "--yes", "--json"];
    let output = elsewhere(&mut bench.run(&flags));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let ended = ended(&output);
    for step in ended["steps"].as_array().unwrap() {
        assert_eq!((&step["vendor"], &step["model"]), (&"openai".into(), &"gpt-4.1".into()));
    }
    let refused = bench.begin(&["--fallback", "gpt-4.1"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--fallback"), "{}", text(&refused.stderr));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_so_and_a_step_that_ran_is_run_again_only_if_it_is_wished() {
    if !super::is_heard("-INT") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    let command = format!("echo x >> {}; sleep 600", began.display());
    let bench =
        Bench::new(&[("long", command, &[]), ("after", "echo after".to_owned(), &["long"])]);
    let child = bench.begin(&["--yes", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let since = Instant::now();
    while !began.exists() {
        assert!(since.elapsed() < Duration::from_secs(300), "the step did not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stopped = ended(&output);
    assert_eq!(stopped["end"], "interrupted");
    let id = stopped["session"].as_str().unwrap();
    let output = bench.run(&["--session", id, "--yes", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&began).unwrap().lines().count(), 1);
    let why = ended(&output)["steps"][0]["why"].as_str().unwrap().to_owned();
    assert!(why.contains("was interrupted"), "{why}");
    let told = text(&bench.run(&["--session", id, "--yes"]).output().unwrap().stderr);
    assert!(told.contains("--again long` runs long again; look first"), "{told}");
    assert!(!told.contains("goes on"), "{told}");
}

/// Numbers that nobody foresees; they are told if a test fails.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n.max(1)
    }
}

#[cfg(unix)]
#[test]
fn e10_a_run_that_is_killed_at_random_moments_goes_on_and_no_step_runs_twice() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let needs: [&[&str]; 8] = [&[], &[], &["a", "b"], &["a"], &[], &["c", "d"], &["e"], &["f"]];
    let step = |(id, needs): (&&'static str, &&'static [&'static str])| {
        // The session's own folder is the one that was made last.
        let command = format!("echo {id} >> \"ran/$(cat current)/{id}\"; echo did {id}");
        (*id, command, *needs)
    };
    let steps: Vec<Step<'_>> = names.iter().zip(&needs).map(step).collect();
    let bench = Bench::new(&steps);
    let begin = || {
        let begun = ended(&bench.begin(&["--json", "--rounds", "0"]).output().unwrap());
        assert_eq!(begun["end"], "out_of_budget");
        let id = begun["session"].as_str().unwrap().to_owned();
        fs::create_dir(bench.path("ran").join(&id)).unwrap();
        fs::write(bench.path("current"), &id).unwrap();
        id
    };
    // How long a run takes that nobody kills.
    let id = begin();
    let since = Instant::now();
    let whole = ended(&bench.run(&["--session", &id, "--yes", "--json"]).output().unwrap());
    let usual = since.elapsed();
    assert_eq!(whole["end"], "completed");
    assert_eq!(bench.ran(&id).len(), 8);

    let seed = since.elapsed().as_nanos() as u64 | 1;
    let mut draws = Draws(seed);
    let (mut n_kills, mut n_unknown, mut n_done) = (0, 0, 0);
    while n_kills < 44 {
        let id = begin();
        for _ in 0..6 {
            let mut run = bench.run(&["--session", &id, "--yes", "--json"]);
            let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let moment = draws.below(usual.as_micros() as u64 * 11 / 10);
            std::thread::sleep(Duration::from_micros(moment));
            // SIGKILL; a run that has ended is not hurt by it.
            n_kills += usize::from(child.try_wait().unwrap().is_none());
            let _ = child.kill();
            child.wait().unwrap();
        }
        let output = bench.run(&["--session", &id, "--yes", "--json"]).output().unwrap();
        let last = ended(&output);
        let ran = bench.ran(&id);
        let told = format!("seed {seed}, session {id}: {ran:?} {last:#}");
        assert!(ran.values().all(|times| *times == 1), "{told}");
        for (name, step) in names.iter().zip(last["steps"].as_array().unwrap()) {
            let times = ran.get(*name).copied().unwrap_or_default();
            match step["end"].as_str().unwrap() {
                "done" => {
                    n_done += 1;
                    assert_eq!(times, 1, "{told}");
                    assert_eq!(step["result"], format!("[exit code 0]\ndid {name}"), "{told}");
                }
                "failed" => {
                    n_unknown += 1;
                    let why = step["why"].as_str().unwrap();
                    assert!(why.contains("It may have taken effect"), "{told}");
                }
                end => assert_eq!((end, times), ("skipped", 0), "{told}"),
            }
        }
        let shown = text(&bench.command(&["sessions", "show", &id]).output().unwrap().stdout);
        for name in names {
            let result = format!(" t step-{name}-1(run)= ");
            assert!(shown.matches(&result).count() <= 1, "{told}\n{shown}");
            let again = format!("step-{name}-2");
            assert!(!shown.contains(&again), "{told}\n{shown}");
        }
    }
    eprintln!("{n_kills} kills: {n_done} steps done, {n_unknown} of unknown effect, and told");
    assert!(n_done > 0);
}

#[test]
fn what_is_wrong_with_a_plan_is_said_before_anything_is_asked_or_made() {
    let bench = diamond();
    let plans = [
        (
            r#"{"objective": "o", "steps": [{"id": "a", "tool": "read", "depends_on": ["b"]},
                {"id": "b", "tool": "read", "depends_on": ["a"]}]}"#,
            "steps[0].depends_on: the steps wait for each other: a → b → a",
        ),
        (
            r#"{"objective": "o", "steps": [{"tool": "drill"}]}"#,
            "steps[0].tool: unknown tool \"drill\": the plan declares read, list, search",
        ),
        (
            r#"{"objective": "o", "tools": [{"name": "drill"}], "steps": [{"tool": "drill"}]}"#,
            "steps[0].tool: nothing here runs the tool \"drill\" of step 0; there are: read",
        ),
        (
            r#"{"objective": "o", "steps": [{"tool": "read", "depends_on": ["c"]}]}"#,
            "steps[0].depends_on[0]: unknown step \"c\": the plan has 0",
        ),
        ("{\"objective\": ", "line 1 column 14: EOF while parsing a value"),
    ];
    for (plan, told) in plans {
        fs::write(bench.path("plan.json"), plan).unwrap();
        let output = bench.begin(&["--yes"]).output().unwrap();
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(told), "{err}");
    }
    fs::remove_file(bench.path("plan.json")).unwrap();
    let output = bench.begin(&["--yes"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("plan.json: there is no such file"));
    assert!(!bench.path("s.db").exists(), "no session is left");
    let output = bench.run(&["--session", "0199"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_run_goes_on_with_its_own_plan_only() {
    let bench = diamond();
    let first = ended(&bench.begin(&["--yes", "--json"]).output().unwrap());
    let id = first["session"].as_str().unwrap();
    let plan = fs::read_to_string(bench.path("plan.json")).unwrap();
    fs::write(
        bench.path("plan.json"),
        plan.replace(r#""depends_on":["left","#, r#""depends_on":["#),
    )
    .unwrap();
    let output = bench.begin(&["--session", id, "--yes"]).output().unwrap();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    let told = "plan.json: steps[3].depends_on: step end has changed: it was [\"left\", \"right\"]";
    assert!(err.contains(told), "{err}");
    // A session without a plan has none to go on with.
    let made = bench.command(&["sessions", "new", "--title", "bare"]).output().unwrap();
    let bare = text(&made.stdout).trim().to_owned();
    let output = bench.run(&["--session", &bare, "--yes"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("this session has no run of a plan"));
    // With a file, a plan begins in it.
    let output = bench.begin(&["--session", &bare, "--yes", "--json"]).output().unwrap();
    let begun = ended(&output);
    assert_eq!((&begun["end"], &begun["session"]), (&"completed".into(), &bare.into()));
}

#[test]
fn what_a_tool_prints_does_nothing_to_the_screen() {
    let evil = r"printf 'x\033[31mEVIL\033[8m\007\n'";
    let bench = Bench::new(&[
        ("\u{1b}[31mfirst", evil.to_owned(), &[]),
        ("last", format!("{evil}; exit 3"), &["\u{1b}[31mfirst"]),
        ("beside", evil.to_owned(), &[]),
    ]);
    let output = bench.begin(&["--yes", "--color", "always"]).output().unwrap();
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("EVIL") && !said.contains("\u{1b}[31mEVIL"), "{said:?}");
    assert!(!said.contains("\u{1b}[31mfirst") && !said.contains('\u{7}'), "{said:?}");
    // No terminal shows the result of the last step: it is as it was printed.
    assert!(out.contains("x\u{1b}[31mEVIL\u{1b}[8m\u{7}\n"), "{out:?}");
}

#[test]
fn a_store_that_another_program_holds_is_waited_for() {
    let bench = diamond();
    let begun = ended(&bench.begin(&["--json", "--rounds", "0"]).output().unwrap());
    let id = begun["session"].as_str().unwrap();
    let holder = rusqlite::Connection::open(bench.path("s.db")).unwrap();
    let child = bench.run(&["--session", id, "--yes", "--json"]).stdout(Stdio::piped()).spawn();
    let child = child.unwrap();
    for _ in 0..5 {
        holder.execute_batch("begin immediate").unwrap();
        std::thread::sleep(Duration::from_millis(400));
        holder.execute_batch("rollback").unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(ended(&output)["end"], "completed");
}

#[test]
fn the_limits_of_the_settings_hold_for_a_plan() {
    let bench = diamond();
    let mut begun = bench.begin(&["--yes", "--json"]);
    let output = begun.env("INTERLEAF_MONEY", "0.000001").output().unwrap();
    assert_eq!(output.status.code(), Some(10), "{}", text(&output.stderr));
    assert_eq!(ended(&output)["end_in_words"], "out of budget: its limit of money");
    // A flag says another.
    let mut begun = bench.begin(&["--yes", "--json", "--money", "5"]);
    let output = begun.env("INTERLEAF_MONEY", "0.000001").output().unwrap();
    assert_eq!(ended(&output)["end"], "completed");
    fs::write(bench.path("interleaf.toml"), "[limits]\nrounds = 1\n").unwrap();
    let output = bench.begin(&["--yes", "--json"]).output().unwrap();
    assert_eq!(ended(&output)["end_in_words"], "out of budget: its limit of rounds");
}

#[test]
fn without_a_key_there_is_no_request_and_no_session() {
    let bench = diamond();
    let plan = bench.path("plan.json").to_str().unwrap().to_owned();
    let ran = |flags: &[&str]| {
        let whom = ["plan", "run", &plan, "--vendor", "anthropic", "--model", "claude-sonnet-4-5"];
        let mut command = super::interleaf(&[&whom, flags].concat());
        command.env("INTERLEAF_STORE", format!("sqlite:{}", bench.path("none.db").display()));
        command.env_remove("ANTHROPIC_API_KEY").output().unwrap()
    };
    let output = ran(&[]);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(8), "{err}");
    assert!(err.contains("failed: no request was made\n"), "{err}");
    assert!(err.contains("the session is not kept") && !err.contains("goes on"), "{err}");
    assert_eq!(ended(&ran(&["--json"]))["session"], Value::Null);
    let mut ls = super::interleaf(&["sessions", "ls", "--json"]);
    ls.env("INTERLEAF_STORE", format!("sqlite:{}", bench.path("none.db").display()));
    assert_eq!(text(&ls.output().unwrap().stdout).trim(), "[]");
}

#[test]
fn a_plan_that_is_missing_is_told_before_a_server_is_started() {
    let bench = diamond();
    let own = bench.path("home/.config/interleaf");
    fs::create_dir_all(&own).unwrap();
    let server = format!("[mcp.a]\ncommand = \"touch\"\nargs = [{:?}]\n", bench.path("started"));
    fs::write(own.join("interleaf.toml"), server).unwrap();
    let whom = ["--vendor", "anthropic", "--model", "claude-sonnet-4-5"];
    let mut command =
        super::interleaf(&[&["plan", "run", "/nowhere/plan.json"], &whom[..]].concat());
    let output = command.env("HOME", bench.path("home")).env_remove("XDG_CONFIG_HOME").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("there is no such file"));
    assert!(!bench.path("started").exists());
}
