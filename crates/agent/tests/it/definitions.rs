//! Agents in files: our own and those of others.

use std::fs;
use std::path::PathBuf;

use interleaf::wire::Family;
use interleaf_agent::settings::Settings;
use interleaf_agent::{Agent, Definitions, Event, Fault, Format, Kit, Places, Tool, Toolbox, tool};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;

use crate::world::{Named, double, events, n_said, says, session, target, transport};

/// A project with these files.
struct Project(tempfile::TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        fs::create_dir(project.path(".git")).unwrap();
        for (name, text) in files {
            let path = project.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn places(&self) -> Places {
        Places::of(self.0.path()).with_user(self.path("home"))
    }

    fn found(&self) -> Definitions {
        Definitions::find(&self.places(), &self.settings())
    }

    fn settings(&self) -> Settings {
        Settings::of_files(&self.places()).unwrap().settings
    }

    fn made(&self, name: &str) -> Result<Agent, Fault> {
        let found = self.found();
        let kit = Kit::new(self.settings());
        found.agent(found.named(name).unwrap(), &kit, Vec::new(), &mut Vec::new())
    }
}

/// The names of an agent's tools, as it shows itself.
fn tools(agent: &Agent) -> Vec<String> {
    agent.tool_names()
}

fn notices(found: &Definitions) -> Vec<String> {
    let line = |notice: &interleaf_agent::Notice| {
        let name = notice.path.file_name().unwrap().to_str().unwrap().to_owned();
        format!("{name}:{}: {}", notice.line.unwrap_or(0), notice.text)
    };
    found.notices.iter().map(line).collect()
}

const REVIEWER: &str = "---\nname: reviewer\ndescription: Reads what was changed.\n\
    model: anthropic/claude-opus-5-5\nfallback: [openai/gpt-4.1]\ntools: [reading, todo_add]\n\
    place: tail\ncarrier: attached\nlimits: {rounds: 9, time: 10m, money: 0.25}\n---\n\n\
    You read changes.\n";

#[test]
fn an_agent_is_read_from_markdown_and_the_same_from_toml() {
    let toml = "name = \"reviewer\"\ndescription = \"Reads what was changed.\"\n\
        model = \"anthropic/claude-opus-5-5\"\nfallback = [\"openai/gpt-4.1\"]\n\
        tools = \"reading, todo_add\"\nplace = \"tail\"\ncarrier = \"attached\"\n\
        role = \"You read changes.\"\n[limits]\nrounds = 9\ntime = \"10m\"\nmoney = 0.25\n";
    for (file, text) in [("a.md", REVIEWER), ("b.toml", toml)] {
        let project = Project::new(&[(&format!(".interleaf/agents/{file}"), text)]);
        let found = project.found();
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        let reviewer = found.named("reviewer").unwrap();
        assert_eq!(reviewer.description(), "Reads what was changed.");
        let layer = reviewer.layer();
        let said: Vec<String> = layer.rows().into_iter().filter_map(|row| row.value).collect();
        let expected = [
            "anthropic",
            "claude-opus-5-5",
            "openai/gpt-4.1",
            "tail",
            "attached",
            "9",
            "0.25",
            "10m",
        ];
        assert_eq!(said, expected, "{file}");
        let agent = project.made("reviewer").unwrap();
        assert_eq!(tools(&agent), ["read", "list", "search", "todo_add"], "{file}");
        assert!(format!("{agent:?}").contains("You read changes."), "{agent:?}");
    }
}

#[test]
fn what_is_wrong_in_a_file_of_ours_is_told_with_line_and_column() {
    let cases = [
        (
            "a.md",
            "---\ndescription: x\ntool: read\n---\nBe.",
            Some((3, 1)),
            "there is no key `tool`",
        ),
        ("a.md", "---\nmodel: fast\n---\nBe.", Some((2, 8)), "\"fast\" is no model"),
        (
            "a.md",
            "---\nmodel: antropic/x\n---\nBe.",
            Some((2, 8)),
            "there is no vendor \"antropic\"",
        ),
        ("a.md", "---\nplace: middle\n---\nBe.", Some((2, 8)), "is not a placement rule"),
        (
            "a.md",
            "---\nlimits:\n  rounds: many\n---\nBe.",
            Some((3, 11)),
            "a whole number from 0 on is expected",
        ),
        ("a.md", "---\nname: two words\n---\nBe.", Some((2, 7)), "is no name of an agent"),
        ("a.md", "---\nname: read\n---\nBe.", Some((2, 7)), "a tool is called that"),
        ("todo_add.md", "---\nmodel: inherit\n---\nBe.", Some((2, 1)), "a tool is called that"),
        ("a.toml", "name = \"files__stat\"\nrole = \"Be.\"", Some((1, 8)), "an MCP server"),
        ("a.md", "---\nname: a\nname: b\n---\nBe.", Some((3, 1)), "`name` stands here twice"),
        ("a.md", "---\nname: [\n---\nBe.", Some((3, 1)), "this is not YAML"),
        ("a.md", "---\nname: a\n", Some((1, 1)), "has no end"),
        ("a.md", "---\nrole: Be.\n---\nBe.", Some((2, 7)), "not both"),
        ("a.md", "---\nname: &a x\ndescription: *a\n---\nBe.", Some((3, 14)), "aliases"),
        ("a.toml", "name = \"a\"\ntols = [\"read\"]\n", Some((2, 1)), "there is no key `tols`"),
    ];
    for (file, text, place, words) in cases {
        let project = Project::new(&[(&format!(".interleaf/agents/{file}"), text)]);
        let found = project.found();
        let fault = found.faults.first().unwrap_or_else(|| panic!("{text}"));
        assert!(fault.rule().contains(words), "{text}: {fault}");
        assert_eq!(fault.place(), place, "{text}: {fault}");
        assert!(fault.path().ends_with(format!(".interleaf/agents/{file}")));
    }
}

#[test]
fn a_tool_that_is_not_there_is_an_error_that_lists_those_that_are() {
    let project =
        Project::new(&[(".interleaf/agents/a.md", "---\ntools: [read, serch]\n---\nBe.")]);
    let fault = project.made("a").unwrap_err();
    assert_eq!(fault.place(), Some((2, 15)));
    assert!(fault.rule().starts_with("there is no tool `serch`: reading, writing,"), "{fault}");
    assert!(fault.rule().contains(", search,"), "{fault}");
    assert_eq!(fault.suggestion(), Some("did you mean `search`?"));
}

#[test]
fn tools_of_a_server_that_is_settled_are_no_error_though_it_is_not_connected() {
    let agent = (".interleaf/agents/a.md", "---\ntools: [read, files__*]\n---\nBe.");
    let project = Project::new(&[agent]);
    assert!(project.made("a").is_err());
    let settings = ("home/interleaf.toml", "[mcp.files]\ncommand = \"x\"");
    let project = Project::new(&[agent, settings]);
    assert_eq!(tools(&project.made("a").unwrap()), ["read"]);
}

struct Files;

impl Toolbox for Files {
    fn tools(&self) -> Vec<std::sync::Arc<dyn Tool>> {
        let named = |name| {
            let run = |_: Named, _| async { Ok("It is there.".into()) };
            std::sync::Arc::new(tool(name, "Of a server.", run).reads()) as _
        };
        vec![named("files__stat"), named("files__remove")]
    }
}

#[tokio::test]
async fn an_agent_has_of_a_toolbox_only_what_its_file_allows() {
    let project = Project::new(&[
        ("home/interleaf.toml", "[mcp.files]\ncommand = \"x\""),
        (".interleaf/agents/main.md", "---\ntools: [read, files__stat]\n---\nBe."),
    ]);
    let double = double(|_: &Asked| Answer::text("Done.")).await;
    let (found, kit) = (project.found(), Kit::new(project.settings()).with_toolbox(Files));
    let targets = vec![target(Family::Anthropic, &double)];
    let main = found.agent(found.named("main").unwrap(), &kit, targets, &mut Vec::new()).unwrap();
    main.run(&transport(), session().await, "Look.").await.unwrap();
    let requests = double.requests();
    let asked = requests[0].asked.as_ref().unwrap();
    let names: Vec<&str> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["read", "files__stat"]);
}

#[test]
fn the_tools_of_a_toolbox_are_there_though_no_settings_name_its_server() {
    let agent = (".interleaf/agents/a.md", "---\ntools: [files__stat]\n---\nBe.");
    let project = Project::new(&[agent]);
    let (found, kit) = (project.found(), Kit::new(project.settings()).with_toolbox(Files));
    let made = found.agent(found.named("a").unwrap(), &kit, Vec::new(), &mut Vec::new());
    assert!(made.is_ok(), "{made:?}");
}

#[test]
fn an_agent_with_tools_of_a_server_that_is_not_trusted_says_so_and_stops_no_other() {
    let project = Project::new(&[
        ("interleaf.toml", "[mcp.time]\ncommand = \"x\""),
        (".interleaf/agents/a.md", "---\ntools: [time__*]\nlimits: {depth: 1}\n---\nBe."),
        (".interleaf/agents/b.md", "---\ntools: [read]\nlimits: {depth: 1}\n---\nBe."),
    ]);
    let fault = project.made("a").unwrap_err();
    assert!(fault.rule().contains("the MCP server time is not in force: `trust`"), "{fault}");
    let (found, kit) = (project.found(), Kit::new(project.settings()));
    let mut notices = Vec::new();
    let usual = found.named("agent").unwrap();
    let agent = found.agent(usual, &kit, Vec::new(), &mut notices).unwrap();
    let told: Vec<String> = notices.iter().map(ToString::to_string).collect();
    assert!(told[0].contains("a.md:2: the MCP server time is not in force"), "{told:?}");
    assert!(told[1].contains("b.md:3: `limits.depth` does not hold"), "{told:?}");
    let shown = format!("{agent:?}");
    assert!(shown.contains("\"b\"") && !shown.contains("\"a\""), "{shown}");
}

#[test]
fn c9_a_sub_agent_without_a_role_is_an_error_that_names_it() {
    let project = Project::new(&[
        (".interleaf/agents/main.md", "---\nagents: [mute]\n---\nBe."),
        (".interleaf/agents/mute.md", "---\ndescription: x\n---\n"),
    ]);
    let fault = project.made("main").unwrap_err();
    assert_eq!(fault.rule(), "the agent mute: a sub-agent must have a role");
    assert!(fault.path().ends_with("mute.md"));
}

#[test]
fn agents_that_send_each_other_in_a_circle_are_refused_and_so_is_one_that_is_not_there() {
    let project = Project::new(&[
        (".interleaf/agents/a.md", "---\nagents: [b]\n---\nBe."),
        (".interleaf/agents/b.md", "---\nagents: [a]\n---\nBe."),
        (".interleaf/agents/c.md", "---\nagents: [scot]\n---\nBe."),
    ]);
    let fault = project.made("a").unwrap_err();
    assert!(fault.rule().contains("a would send itself, by way of a, b"), "{fault}");
    let fault = project.made("c").unwrap_err();
    assert!(fault.rule().contains("there is no agent \"scot\" (did you mean scout?)"), "{fault}");
    assert_eq!(fault.place(), Some((2, 10)));
}

#[test]
fn a_foreign_agent_that_is_called_like_a_tool_is_left_out_and_that_is_told() {
    let project = Project::new(&[
        (".claude/agents/run.md", "---\ndescription: Runs.\n---\nBe."),
        (".claude/agents/b.md", "---\nname: files__stat\n---\nBe."),
        (".opencode/agent/search.md", "---\ndescription: Searches.\n---\nBe."),
        (".codex/agents/c.toml", "name = \"edit\"\ndescription = \"Edits.\""),
    ]);
    let found = project.found();
    assert!(found.faults.is_empty() && found.all.len() == 2, "{:?}", found.faults);
    let told = notices(&found);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told.iter().all(|line| line.contains("is no name of an agent")), "{told:?}");
}

#[test]
fn an_agent_that_is_named_twice_or_is_one_of_all_is_sent_once() {
    for agents in ["[b, b]", "['*', b]", "[b, '*']", "['*', '*']"] {
        let main = format!("---\nagents: {agents}\n---\nBe.");
        let project = Project::new(&[
            (".interleaf/agents/a.md", &main),
            (".interleaf/agents/b.md", "---\ndescription: x\n---\nBe."),
        ]);
        let made = format!("{:?}", project.made("a").unwrap());
        assert_eq!(made.matches("name: \"b\"").count(), 1, "{agents}: {made}");
    }
}

#[test]
fn of_two_agents_of_a_name_the_projects_is_taken_and_that_is_told() {
    let project = Project::new(&[
        (".interleaf/agents/a.md", "---\ndescription: near\n---\nBe."),
        (".claude/agents/a.md", "---\nname: a\ndescription: foreign\n---\nBe."),
        ("home/agents/a.md", "---\ndescription: mine\n---\nBe."),
        ("home/agents/scout.md", "---\ndescription: my scout\n---\nBe."),
    ]);
    let found = project.found();
    assert_eq!(found.named("a").unwrap().description(), "near");
    assert_eq!(found.named("scout").unwrap().description(), "my scout");
    let told = notices(&found);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|line| line.contains("the name a is taken by")), "{told:?}");
    // A person misses the agent of their own, and nobody the other program's.
    let missed: Vec<bool> = found.notices.iter().map(|notice| notice.is_wrong).collect();
    assert_eq!(missed, [false, true]);
}

#[test]
fn files_of_claude_code_are_read_and_what_has_no_meaning_here_is_told() {
    let text = "---\nname: code-reviewer\ndescription: Use when: code was changed\n\
        tools: Read, Grep, Bash, WebFetch, mcp__files__stat\nmodel: sonnet\ncolor: blue\n\
        permissionMode: plan\n---\n\nYou review code.\n";
    let project = Project::new(&[
        (".claude/agents/r.md", text),
        ("home/interleaf.toml", "[models]\nopus = \"anthropic/claude-opus-5-5\""),
        (
            ".claude/agents/o.md",
            "---\nname: o\nmodel: opus\ndisallowedTools: Write, Edit, Bash\n---\nBe.",
        ),
    ]);
    let found = project.found();
    let told = notices(&found);
    let expected = [
        "r.md:3: this front matter is not YAML, and was read line by line",
        "r.md:7: `permissionMode` is not used",
        "r.md:5: the model `sonnet` is not known here",
        "r.md:4: no tool of ours does what `WebFetch` does",
    ];
    for line in expected {
        assert!(told.iter().any(|it| it.starts_with(line)), "{line}: {told:?}");
    }
    assert_eq!(told.len(), 4, "{told:?}");
    let reviewer = found.named("code-reviewer").unwrap();
    assert_eq!(reviewer.format(), Format::ClaudeCode);
    assert_eq!(reviewer.description(), "Use when: code was changed");
    assert_eq!(tools(&project.made("code-reviewer").unwrap()), ["read", "search", "run"]);
    let layer = found.named("o").unwrap().layer();
    assert_eq!(layer.model.unwrap().value, "claude-opus-5-5");
    let left = tools(&project.made("o").unwrap());
    assert!(left.contains(&"read".to_owned()) && !left.contains(&"write".to_owned()), "{left:?}");
    assert!(!left.contains(&"run".to_owned()), "{left:?}");
}

#[test]
fn files_of_opencode_and_codex_are_read() {
    let opencode = "---\ndescription: Looks.\nmode: subagent\nmodel: anthropic/claude-haiku-4-5\n\
        temperature: 0.1\ntools:\n  write: false\n  webfetch: false\npermission:\n  bash: deny\n\
        maxSteps: 5\n---\nYou look.\n";
    let codex = "name = \"mapper\"\ndescription = \"Maps.\"\nmodel = \"gpt-5.6-terra\"\n\
        sandbox_mode = \"read-only\"\nmodel_reasoning_effort = \"high\"\n\
        developer_instructions = \"\"\"\nYou map.\n\"\"\"\n";
    let project = Project::new(&[
        (".opencode/agent/look.md", opencode),
        (".opencode/agents/lead.md", "---\nmode: primary\n---\nYou lead."),
        (".codex/agents/m.toml", codex),
        (".interleaf/agents/main.md", "---\nagents: [\"*\"]\n---\nBe."),
    ]);
    let found = project.found();
    let layer = found.named("look").unwrap().layer();
    assert_eq!(layer.model.unwrap().value, "claude-haiku-4-5");
    assert_eq!(layer.limits.rounds.unwrap().value, 5);
    let has =
        |name: &str, tool: &str| tools(&project.made(name).unwrap()).iter().any(|t| t == tool);
    assert!(has("look", "edit") && !has("look", "write") && !has("look", "run"));
    assert!(has("mapper", "read") && !has("mapper", "edit"));
    let told = notices(&found);
    let expected = [
        "look.md:5: `temperature` is not used",
        "look.md:8: we have no tool `webfetch`, so that it is off anyway",
        "m.toml:5: `model_reasoning_effort` is not used",
        "m.toml:3: the model `gpt-5.6-terra` is not known here",
    ];
    for line in expected {
        assert!(told.iter().any(|it| it.starts_with(line)), "{line}: {told:?}");
    }
    assert_eq!(told.len(), expected.len(), "{told:?}");
    // A primary agent is nobody's helper.
    let main = format!("{:?}", project.made("main").unwrap());
    assert!(main.contains("\"look\"") && main.contains("\"mapper\"") && !main.contains("\"lead\""));
}

#[test]
fn a_broken_file_of_somebody_elses_is_told_and_stops_nothing() {
    let project = Project::new(&[(".codex/agents/m.toml", "name = ")]);
    let found = project.found();
    assert!(found.faults.is_empty());
    assert!(notices(&found)[0].starts_with("m.toml:1: "), "{:?}", found.notices);
}

#[tokio::test]
async fn live_row_22_a_sub_agent_has_its_own_block_and_only_what_it_declares_and_its_size_is_told_first()
 {
    let project = Project::new(&[
        ("AGENTS.md", "Project rule: be kind to clocks."),
        ("wheels/a.txt", "a wheel"),
        (
            ".interleaf/agents/main.md",
            "---\ntools: [reading, keeping]\nagents: [reader]\n---\nYou are the main one.",
        ),
        (
            ".interleaf/agents/reader.md",
            "---\ndescription: Reads.\ntools: read\n---\nYou only read.",
        ),
    ]);
    let double = double(|asked: &Asked| match (says(asked, "You only read."), n_said(asked)) {
        (false, 0) => Answer::new().with_call("read", &json!({"path": "wheels/a.txt"})),
        (false, 1) => Answer::text("Long words of mine. ".repeat(400))
            .with_call("reader", &json!({"task": "Read the manual."})),
        _ => Answer::text("Done."),
    })
    .await;
    let found = project.found();
    let kit = Kit::new(Settings::usual());
    let targets = vec![target(Family::Anthropic, &double)];
    let main = found.agent(found.named("main").unwrap(), &kit, targets, &mut Vec::new()).unwrap();
    let main = main.in_folder(project.0.path());
    let mut session = session().await;
    session
        .notes()
        .add(project.path("wheels").canonicalize().unwrap(), "Mind the teeth.")
        .await
        .unwrap();
    session.append(interleaf::model::Message::user("Mend it.")).await.unwrap();
    let mut run = main.start(&transport(), session).unwrap();
    let events = events(&mut run).await;
    let requests = double.requests();
    let asked: Vec<&Asked> = requests.iter().filter_map(|it| it.asked.as_ref()).collect();
    let sub: Vec<_> = asked.iter().filter(|asked| says(asked, "You only read.")).collect();
    assert_eq!(sub.len(), 1);
    // Its own block, with the project's instructions.
    assert!(says(sub[0], "be kind to clocks") && says(sub[0], "Read the manual."));
    assert!(!says(sub[0], "You are the main one.") && !says(sub[0], "Long words of mine."));
    // Only the tools that it declares, and no note on a folder where it read nothing.
    let names: Vec<&str> = sub[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["read"]);
    assert!(!says(sub[0], "Mind the teeth."));
    let last = asked.last().unwrap();
    assert!(says(last, "Mind the teeth."), "the main agent has its note");
    // Its size is told before its first request, and is its own.
    let told = events.iter().filter_map(|event| match event {
        Event::Sub { event, .. } => Some(&**event),
        _ => None,
    });
    let told: Vec<&Event> = told.collect();
    let Some(Event::Begins(size)) = told.first() else { panic!("{told:?}") };
    assert!(size.total() > 50 && size.total() < 900, "{size:?}");
    assert!(size.tools > 0 && size.context > 0 && size.history > 0, "{size:?}");
    assert!(told[0].to_string().starts_with("begins with "), "{}", told[0]);
    let answered = told.iter().find_map(|event| match event {
        Event::Answered(answer) => answer.spent,
        _ => None,
    });
    let sent = answered.unwrap().sent();
    assert!(size.total().abs_diff(sent) * 4 < sent, "{} told, {sent} sent", size.total());
}

#[cfg(unix)]
#[test]
fn what_leads_out_of_the_project_and_what_is_no_file_is_not_read() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("key.md"), "KEY-MATERIAL").unwrap();
    let project = Project::new(&[(".interleaf/agents/own.md", "You are the own one.")]);
    let link = |to: &std::path::Path, name: &str| {
        let at = project.path(name);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, at).unwrap();
    };
    link(std::path::Path::new("/proc/self/environ"), ".interleaf/agents/e.md");
    link(outside.path(), ".claude/agents");
    link(std::path::Path::new("/dev/zero"), ".interleaf/agents/z.md");
    let found = project.found();
    assert!(found.named("own").is_some());
    let told: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
    assert!(told[0].ends_with("e.md: it leads out of the project, and is not read"), "{told:?}");
    assert!(told[1].ends_with("z.md: this is not a file"), "{told:?}");
    assert!(!format!("{:?}", found.all).contains("KEY-MATERIAL"));
    link(&outside.path().join("key.md"), "interleaf.toml");
    let fault = Settings::of_files(&project.places()).unwrap_err();
    assert!(fault.to_string().ends_with("it leads out of the project, and is not read"), "{fault}");
}

#[test]
fn agents_that_may_send_all_others_are_made_as_deep_as_they_may_be_sent() {
    let names: Vec<String> = (0..12).map(|n| format!(".interleaf/agents/a{n}.md")).collect();
    let text = "---\ndescription: d\nagents: [\"*\"]\n---\nYou look.\n";
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text)).collect();
    let project = Project::new(&files);
    let shown = format!("{:?}", project.made("a0").unwrap());
    // Twelve and the scout below the first, and below each of them those that are left.
    assert!(shown.matches("Agent {").count() < 200, "{}", shown.len());
}

#[tokio::test]
async fn who_is_one_of_all_does_without_itself_and_those_above_it() {
    let one = "---\ndescription: d\ntools: read\nagents: ['*']\n---\nYou are one of them.";
    let project = Project::new(&[
        (
            ".interleaf/agents/main.md",
            "---\ntools: read\nagents: ['*']\n---\nYou are the main one.",
        ),
        (".interleaf/agents/a.md", one),
        (".interleaf/agents/b.md", one),
    ]);
    let double =
        double(|asked: &Asked| match (says(asked, "You are the main one."), n_said(asked)) {
            (true, 0) => Answer::new().with_call("a", &json!({"task": "Look."})),
            _ => Answer::text("Done."),
        })
        .await;
    let found = project.found();
    let targets = vec![target(Family::Anthropic, &double)];
    let (main, kit) = (found.named("main").unwrap(), Kit::new(Settings::usual()));
    let main = found.agent(main, &kit, targets, &mut Vec::new()).unwrap();
    let mut session = session().await;
    session.append(interleaf::model::Message::user("Go.")).await.unwrap();
    events(&mut main.in_folder(project.0.path()).start(&transport(), session).unwrap()).await;
    let requests = double.requests();
    let names = |n: usize| -> Vec<&str> {
        let asked = requests[n].asked.as_ref().unwrap();
        asked.tools.iter().map(|tool| tool.name.as_str()).collect()
    };
    assert_eq!(names(0), ["read", "a", "b", "scout"]);
    assert_eq!(names(1), ["read", "b", "scout"]);
}

#[tokio::test]
async fn a_budget_of_the_settings_holds_and_an_agents_own_over_it() {
    let settings = "vendor = \"openai\"\nmodel = \"gpt-4.1\"\n[budget]\nwindow = 32_000\n\
        [shares]\nsystem = \"..10%\"\n";
    let project = Project::new(&[
        ("home/interleaf.toml", settings),
        (".interleaf/agents/wide.md", "You look."),
        (
            ".interleaf/agents/narrow.md",
            "---\nbudget: {window: 9000, reserve: 500}\nshares: {context: ..20%}\n---\nYou look.",
        ),
    ]);
    for (name, window, reserve, shares) in [
        ("wide", 32_000, 4_000, r#"{"system":"..10%","context":"..50%"}"#),
        ("narrow", 9_000, 500, r#"{"context":"..20%"}"#),
    ] {
        let target = interleaf::Target::new("openai", "gpt-4.1").unwrap();
        let found = project.found();
        let definition = found.named(name).unwrap();
        let kit = Kit::new(definition.layer().over(project.settings()));
        let agent = found.agent(definition, &kit, vec![target], &mut Vec::new()).unwrap();
        let (recipe, _) =
            agent.recipe(&crate::world::transport(), crate::world::session().await).await.unwrap();
        let budget = recipe.budget.unwrap();
        assert_eq!((budget.window, budget.reserve), (window, reserve), "{name}");
        assert_eq!(serde_json::to_string(&recipe.shares).unwrap(), shares, "{name}");
    }
    let project = Project::new(&[(
        ".interleaf/agents/none.md",
        "---\nbudget: {window: 500, reserve: 500}\n---\nYou look.",
    )]);
    let told = project.found().faults[0].to_string();
    assert!(told.contains("line 2 column 9: the `reserve` leaves nothing"), "{told}");
    let wrong = "[budget]\nwindow = 1000\n[shares]\nhistory = \"900..10%\"\n";
    let project = Project::new(&[("home/interleaf.toml", wrong)]);
    let told = project.settings().check(&[])[0].to_string();
    assert!(told.contains("line 4") || told.contains("line 3"), "{told}");
    assert!(told.contains("is more than the maximum"), "{told}");
}

#[test]
fn an_agent_of_a_project_that_is_not_trusted_lowers_a_limit_and_raises_none() {
    let scout = "---\ndescription: x\nlimits: {rounds: 100000, tokens: 5}\n---\nBe.";
    let project = Project::new(&[(".interleaf/agents/s.md", scout), ("home/agents/t.md", scout)]);
    let limits = |found: &Definitions, name: &str| {
        let limits = found.named(name).unwrap().layer().limits();
        (limits.rounds, limits.tokens)
    };
    let found = project.found();
    assert_eq!(limits(&found, "s"), (Some(200), Some(5)));
    assert_eq!(limits(&found, "t"), (Some(100_000), Some(5)));
    let told = notices(&found);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("s.md:3: `limits.rounds` is ignored: you do not trust"),
        "{told:?}"
    );
    let trust = format!("trust = [{:?}]\n", project.path("."));
    fs::write(project.path("home/interleaf.toml"), trust).unwrap();
    assert_eq!(limits(&project.found(), "s"), (Some(100_000), Some(5)));
}
