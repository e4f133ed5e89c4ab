//! Settings: who says what, and what is wrong in a file.

use std::fs;
use std::path::Path;

use interleaf::model::ToolCall;
use interleaf_agent::mcp::ServerSettings;
use interleaf_agent::settings::{Origin, Permissions, Row, Settings};
use interleaf_agent::{Definitions, Effect, Fault, Places};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A user and a project, each with these settings.
struct World {
    scratch: tempfile::TempDir,
}

impl World {
    fn new(user: &str, project: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let world = Self { scratch };
        fs::create_dir_all(world.path("user")).unwrap();
        fs::create_dir_all(world.path("project/deep")).unwrap();
        fs::create_dir_all(world.path("project/.git")).unwrap();
        fs::write(world.path("user/interleaf.toml"), user).unwrap();
        if !project.is_empty() {
            fs::write(world.path("project/interleaf.toml"), project).unwrap();
        }
        world
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.scratch.path().join(name)
    }

    fn places(&self) -> Places {
        Places::of(self.path("project/deep")).with_user(self.path("user"))
    }

    fn settings(&self) -> Settings {
        Settings::of_files(&self.places()).unwrap().settings
    }
}

fn fault(text: &str) -> Fault {
    let world = World::new(text, "");
    Settings::of_files(&world.places()).unwrap_err()
}

fn row(settings: &Settings, key: &str) -> Row {
    settings.rows().into_iter().find(|row| row.key == key).unwrap()
}

#[test]
fn the_projects_file_holds_over_the_users_and_each_value_says_where_it_stands() {
    let user = "vendor = \"anthropic\"\nmodel = \"claude-sonnet-4-5\"\nagent = \"mender\"\n";
    let world =
        World::new(user, "# ours\n\nmodel = \"claude-opus-5-5\"\n\n[limits]\ntime = \"30m\"");
    let settings = world.settings();
    let at = |key: &str| (row(&settings, key).value.unwrap(), row(&settings, key).origin.unwrap());
    let file = |name: &str, line, column| Origin::File { path: world.path(name), line, column };
    assert_eq!(at("vendor"), ("anthropic".into(), file("user/interleaf.toml", 1, 10)));
    assert_eq!(at("model"), ("claude-opus-5-5".into(), file("project/interleaf.toml", 3, 9)));
    assert_eq!(at("agent"), ("mender".into(), file("user/interleaf.toml", 3, 9)));
    assert_eq!(at("limits.time"), ("30m".into(), file("project/interleaf.toml", 6, 8)));
    assert_eq!(settings.limits().time.unwrap().as_secs(), 1800);
}

#[test]
fn the_environment_holds_over_files_and_a_flag_over_both() {
    let world = World::new("[limits]\nrounds = 7\ntokens = 9\nmoney = 0.5\n", "");
    let said = Settings::of_environment(|name| (name == "INTERLEAF_ROUNDS").then(|| "8".into()));
    let below = said.unwrap().over(world.settings()).over(Settings::usual());
    assert_eq!(below.limits().rounds, Some(8));
    assert_eq!(row(&below, "limits.rounds").origin, Some(Origin::Environment("INTERLEAF_ROUNDS")));
    assert_eq!(below.limits().tokens, Some(9));
    assert_eq!(below.limits().money.unwrap().to_string(), "0.5");
    assert_eq!(row(&below, "limits.depth").origin, Some(Origin::Default));
    let mut flags = Settings::default();
    flags.limits.rounds = Some(interleaf_agent::settings::Setting::flag("--rounds", 9));
    assert_eq!(flags.over(below).limits().rounds, Some(9));
}

#[test]
fn a_variable_that_says_what_cannot_be_is_named() {
    let wrong = |name: &'static str, value: &'static str| {
        let said = Settings::of_environment(|asked| (asked == name).then(|| value.into()));
        said.unwrap_err().to_string()
    };
    let told = wrong("INTERLEAF_ROUNDS", "many");
    assert!(
        told.starts_with("$INTERLEAF_ROUNDS: \"many\" does not do for limits.rounds"),
        "{told}"
    );
    let told = wrong("INTERLEAF_PLACE", "middle");
    assert!(told.contains("is not a placement rule"), "{told}");
}

#[test]
fn a_misspelt_variable_is_told_and_others_are_let_be() {
    let names =
        ["INTERLEAF_ROUND", "INTERLEAF_ROUNDS", "INTERLEAF_STORE_TEST", "ROUND", "INTERLEAF_X"];
    let told = interleaf_agent::settings::misspelt(names.map(String::from));
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    let expected = "$INTERLEAF_ROUND: nobody reads this variable: did you mean INTERLEAF_ROUNDS?";
    assert_eq!(told, [expected]);
}

#[test]
fn a_misspelt_key_is_told_with_its_place_and_what_was_meant() {
    let fault = fault("vendor = \"openai\"\n\n[limits]\nronds = 7\n");
    assert_eq!(fault.place(), Some((4, 1)));
    assert!(fault.rule().starts_with("there is no key `ronds`: `at_once`, `depth`"), "{fault}");
    assert_eq!(fault.suggestion(), Some("did you mean `rounds`?"));
    assert!(fault.to_string().contains("interleaf.toml: line 4 column 1: "), "{fault}");
    let snippet = fault.snippet();
    assert!(snippet.contains("4 | ronds = 7") && snippet.contains("^^^^^"), "{snippet}");
}

#[test]
fn what_does_not_fit_is_told_where_it_stands() {
    let place = |text: &str| {
        let fault = fault(text);
        (fault.place().unwrap(), fault.rule().to_owned())
    };
    let cases = [
        ("model = 5", (1, 9), "a text is expected here, and this is `5`"),
        ("vendor = ", (1, 10), "string values must be quoted"),
        (
            "[limits]\nrounds = \"many\"",
            (2, 10),
            "a whole number from 0 on is expected here, and this is a text",
        ),
        (
            "[limits]\nrounds = -1",
            (2, 10),
            "a whole number from 0 on is expected here, and this is `-1`",
        ),
        ("[limits]\ntime = \"soon\"", (2, 8), "is no length of time"),
        ("place = \"middle\"", (1, 9), "is not a placement rule"),
        ("model = \"\"", (1, 9), "this is blank"),
        ("[compaction]\nat = 4.0", (2, 6), ""),
        ("[compaction.policy]\nkeep_turn = 4", (2, 1), "there is no key `keep_turn`"),
        (
            "[keys]\nopenai = { variable = \"A\", file = \"b\" }",
            (2, 10),
            "a key is in a `variable`",
        ),
        ("[vendors.own]\nfamily = \"openai\"", (2, 10), ""),
        ("[vendors.own]\nfamily = \"openai-chat\"\nbase_urll = \"x\"", (3, 1), "there is no key"),
        ("[mcp]\nfiles = 5", (2, 9), "a table is expected here"),
    ];
    for (text, at, words) in cases {
        let (found, rule) = place(text);
        assert!(rule.contains(words), "{text}: {rule}");
        assert_eq!(found, at, "{text}: {rule}");
    }
}

#[test]
fn a_vendor_of_ones_own_is_asked_and_a_name_stands_for_a_model() {
    let text = "vendor = \"own\"\nmodel = \"m1\"\nfallback = [\"fast\"]\n\
        [vendors.own]\nfamily = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
        [models]\nfast = \"openai/gpt-4.1\"\n";
    let settings = World::new(text, "").settings();
    let targets = settings.targets().unwrap();
    assert_eq!(targets[0].vendor.base_url, "http://127.0.0.1:1/v1");
    assert_eq!(targets[1].vendor.name, "openai");
    assert_eq!(targets[1].options.model, "gpt-4.1");
    let told = settings.target("antropic/claude").unwrap_err();
    assert!(told.contains("did you mean anthropic?") && told.contains("own"), "{told}");
    assert!(settings.target("slow").unwrap_err().contains("VENDOR/MODEL"));
}

#[test]
fn a_vendor_that_is_named_above_takes_no_model_of_another_from_below() {
    let world = World::new("vendor = \"openai\"\nmodel = \"gpt-4.1\"", "vendor = \"anthropic\"");
    let told = world.settings().targets().unwrap_err().to_string();
    assert!(told.contains("anthropic is named") && told.contains("but no model"), "{told}");
}

#[test]
fn a_model_is_a_name_or_has_its_vendor_before_a_slash_or_is_of_the_vendor_that_is_named() {
    let models = "[models]\nfast = \"anthropic/claude-haiku-4-5\"\n";
    let asked = |user: &str, project: &str| {
        let settings = World::new(&format!("{user}\n{models}"), project).settings();
        let target = settings.targets().map_err(|wrong| wrong.to_string())?.remove(0);
        Ok::<_, String>(format!("{} {}", target.vendor.name, target.options.model))
    };
    let haiku = Ok("anthropic claude-haiku-4-5".to_owned());
    assert_eq!(asked("model = \"fast\"", ""), haiku);
    assert_eq!(asked("model = \"anthropic/claude-haiku-4-5\"", ""), haiku);
    let openai = "vendor = \"openai\"\nmodel = \"gpt-4.1\"";
    assert_eq!(asked(openai, "model = \"fast\""), haiku);
    assert_eq!(asked(openai, "model = \"anthropic:claude-haiku-4-5\""), haiku);
    assert_eq!(asked(openai, "model = \"other/m\""), Ok("openai other/m".to_owned()));
    // A gateway's own name for a model of somebody else's.
    let gateway = "vendor = \"openrouter\"\nmodel = \"anthropic/claude-haiku-4-5\"";
    assert_eq!(asked(gateway, ""), Ok("openrouter anthropic/claude-haiku-4-5".to_owned()));
    let told = asked("vendor = \"openai\"\nmodel = \"fast\"", "").unwrap_err();
    assert!(told.contains("is anthropic/claude-haiku-4-5 by [models], but"), "{told}");
    let told = asked("model = \"gpt-4.1\"", "").unwrap_err();
    assert!(told.contains("interleaf.toml: line 1 column 9: model: "), "{told}");
    assert!(told.contains("\"gpt-4.1\" is named, but no vendor"), "{told}");
    let told = asked("vendor = \"antropic\"\nmodel = \"m\"", "").unwrap_err();
    assert!(told.contains("line 1 column 10: vendor: there is no vendor"), "{told}");
    let told = asked(&format!("{openai}\nfallback = [\"quick\"]"), "").unwrap_err();
    assert!(told.contains("line 3 column 12: fallback: \"quick\" is no model"), "{told}");
}

#[test]
fn a_project_that_is_not_trusted_lowers_a_limit_and_raises_none() {
    let user = "[limits]\nmoney = 2\ntokens = 900\n";
    let project = "[limits]\nmoney = 1\ntokens = 901\nrounds = 201\ntime = \"9h\"\n";
    let world = World::new(user, project);
    let found = Settings::of_files(&world.places()).unwrap();
    let limits = found.settings.limits();
    assert_eq!(limits.money.unwrap().to_string(), "1");
    assert_eq!((limits.tokens, limits.rounds), (Some(900), Some(200)));
    assert_eq!(limits.time.unwrap().as_secs(), 9 * 3600);
    let told: Vec<String> = found.notices.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].contains("interleaf.toml:4: `limits.rounds` is ignored: you do not trust this"),
        "{told:?}"
    );
    let trust = format!("trust = [{:?}]\n{user}", world.path("project"));
    fs::write(world.path("user/interleaf.toml"), trust).unwrap();
    assert_eq!(world.settings().limits().tokens, Some(901));
}

#[test]
fn a_project_that_is_not_trusted_allows_nothing_and_leads_no_key_elsewhere() {
    let project = "store = \"sqlite:here.db\"\nplace = \"tail\"\n[permissions]\nallow = [\"write\"]\n\
        run = [\"make\"]\n[keys]\nopenai = { command = \"steal\" }\n[vendors.openai]\n\
        family = \"openai-chat\"\nbase_url = \"http://elsewhere.example\"\n[mcp.x]\ncommand = \"x\"\n";
    let world = World::new("", project);
    let found = Settings::of_files(&world.places()).unwrap();
    let settings = &found.settings;
    assert!(settings.store.is_none() && settings.keys.is_empty() && settings.vendors.is_empty());
    assert!(settings.mcp.is_empty() && settings.permissions() == Default::default());
    assert_eq!(settings.place.as_ref().unwrap().value.to_string(), "tail");
    assert_eq!(found.notices.len(), 6, "{:?}", found.notices);
    let told = found.notices[0].to_string();
    assert!(told.contains("interleaf.toml:1: `store` is not in force"), "{told}");

    let trust = format!("trust = [{:?}]", world.path("project"));
    fs::write(world.path("user/interleaf.toml"), trust).unwrap();
    let found = Settings::of_files(&world.places()).unwrap();
    assert_eq!(found.settings.permissions().run, ["make"]);
    assert_eq!((found.settings.mcp.len(), found.notices.len()), (1, 0));
    assert_eq!(found.settings.mcp["x"].value.read::<Server>().unwrap().command, "x");
}

#[test]
fn a_project_that_is_not_trusted_sets_no_price_and_gives_no_name_another_model() {
    let user = "vendor = \"openai\"\nmodel = \"fast\"\n\
        [models]\nfast = \"openai/gpt-4.1-mini\"\n[price]\n\"openai/gpt-4.1-mini\" = \"1/2\"\n";
    let project = "fallback = [\"mine\", \"fast\"]\n[compaction]\nwriter = \"mine\"\n\
        [models]\nfast = \"openai/gpt-5\"\nmine = \"openai/gpt-5\"\n\
        [price]\n\"openai/gpt-4.1-mini\" = \"0/0\"\n";
    let world = World::new(user, project);
    let found = Settings::of_files(&world.places()).unwrap();
    let value = |settings: &Settings, key: &str| row(settings, key).value;
    let settings = &found.settings;
    assert_eq!(value(settings, "models.fast").as_deref(), Some("openai/gpt-4.1-mini"));
    assert_eq!(value(settings, "price.openai/gpt-4.1-mini").as_deref(), Some("1/1/1/2"));
    // A name that is not in force is not asked, and stops nothing.
    assert_eq!(value(settings, "fallback").as_deref(), Some("fast"));
    assert_eq!(value(settings, "compaction.writer"), None);
    assert!(settings.check(&[]).is_empty(), "{:?}", settings.check(&[]));
    let told: Vec<String> = found.notices.iter().map(ToString::to_string).collect();
    for key in ["`price`", "`models`", "`fallback`", "`compaction.writer`"] {
        let is_told = told.iter().any(|line| line.contains(&format!("{key} is not in force")));
        assert!(is_told, "{key}: {told:?}");
    }
    // An agent of the project that names it asks whom the agent above it asks.
    let agents = world.path("project/.interleaf/agents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("a.md"), "---\nmodel: mine\nfallback: [mine]\n---\nYou look.").unwrap();
    let definitions = Definitions::find(&world.places(), settings);
    assert!(definitions.faults.is_empty(), "{:?}", definitions.faults);
    let layer = definitions.named("a").unwrap().layer();
    assert!(layer.model.is_none() && layer.fallback.is_none());

    let trust = format!("trust = [{:?}]\n{user}", world.path("project"));
    fs::write(world.path("user/interleaf.toml"), trust).unwrap();
    assert_eq!(value(&world.settings(), "models.fast").as_deref(), Some("openai/gpt-5"));
    assert_eq!(value(&world.settings(), "price.openai/gpt-4.1-mini").as_deref(), Some("0/0/0/0"));
}

#[derive(serde::Deserialize)]
struct Server {
    command: String,
}

#[test]
fn a_project_cannot_trust_itself() {
    let world = World::new("", "trust = [\"/\"]");
    let fault = Settings::of_files(&world.places()).unwrap_err();
    assert_eq!(
        (fault.place(), fault.path()),
        (Some((1, 9)), &*world.path("project/interleaf.toml"))
    );
    assert!(fault.rule().contains("only your own file"), "{fault}");
}

#[test]
fn no_row_shows_a_secret() {
    let text = "store = \"postgres://me:sk-789@host/db\"\n[keys]\nopenai = { command = \"echo sk-123\" }\nanthropic = { variable = \"A\" }\n\
        [vendors.own]\nfamily = \"openai-chat\"\nbase_url = \"https://x.example/v1?key=sk-456\"\n";
    let rows = World::new(text, "").settings().rows();
    assert!(!format!("{rows:?}").contains("sk-"), "{rows:?}");
    assert!(rows.iter().any(|row| row.value.as_deref() == Some("in $A")));
}

fn call(tool: &str, arguments: &Value) -> ToolCall {
    ToolCall::new("c1", tool, &arguments.to_string()).unwrap()
}

#[test]
fn a_command_is_allowed_by_its_first_words_and_only_if_it_is_one_command() {
    let text = "[permissions]\nallow = [\"edit\", \"files__*\"]\nrun = [\"cargo test\", \"ls\"]";
    let permissions = World::new(text, "").settings().permissions();
    let asks = |tool: &str, arguments: Value| {
        permissions.asks(&call(tool, &arguments), Effect::Changes, Path::new("."))
    };
    let runs = |command: &str| asks("run", json!({"command": command}));
    assert!(!runs("cargo test") && !runs("cargo  test --lib") && !runs("ls -l"));
    assert!(runs("cargo testing") && runs("cargo") && runs("lsof"));
    for more in ["; rm x", " && rm x", " | sh", " > x", " $(rm x)", " `rm x`", "\nrm x", " & rm x"]
    {
        assert!(runs(&format!("ls{more}")), "{more:?}");
    }
    let none = || json!({});
    assert!(!asks("edit", none()) && !asks("files__read", none()) && !asks("todo_add", none()));
    assert!(asks("write", none()) && asks("other__read", none()));
    assert!(!permissions.asks(&call("write", &none()), Effect::Reads, Path::new(".")));
    // To a shell, these are part of a word.
    for other in ["\u{a0}", "\u{b}", "\u{2028}", "\u{3000}", "\r", "\u{c}"] {
        assert!(runs(&format!("cargo{other}test")) && runs(&format!("{other}ls")), "{other:?}");
    }
    assert!(!runs(" cargo\ttest\t--lib"));
}

/// What one layer says of four settings: the vendor, the model, the rounds, the place.
type Layer = (Option<u8>, Option<u8>, Option<u32>, Option<usize>);

fn written(layer: &Layer) -> String {
    let (vendor, model, rounds, place) = layer;
    let mut text = String::new();
    text.extend(vendor.map(|n| format!("vendor = \"v{n}\"\n")));
    text.extend(model.map(|n| format!("model = \"m{n}\"\n")));
    text.extend(place.map(|n| format!("place = \"from_end({n})\"\n")));
    text.extend(rounds.map(|n| format!("[limits]\nrounds = {n}\n")));
    text
}

/// The topmost that says something; a model only from where the vendor is said, or above.
fn oracle(layers: &[Layer]) -> (Option<u8>, Option<u8>, Option<u32>, Option<usize>) {
    let top = |said: &dyn Fn(&Layer) -> bool| layers.iter().rposition(said);
    let vendor_at = top(&|layer| layer.0.is_some());
    let model_at = top(&|layer| layer.1.is_some()).filter(|at| Some(*at) >= vendor_at);
    (
        vendor_at.and_then(|at| layers[at].0),
        model_at.and_then(|at| layers[at].1),
        top(&|layer| layer.2.is_some()).and_then(|at| layers[at].2),
        top(&|layer| layer.3.is_some()).and_then(|at| layers[at].3),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_topmost_layer_that_says_something_holds(
        layers in prop::collection::vec(
            (
                prop::option::of(0u8..9),
                prop::option::of(0u8..9),
                prop::option::of(1u32..99),
                prop::option::of(1usize..99),
            ),
            0..5,
        ),
    ) {
        let read = |layer: &Layer| {
            let scratch = tempfile::tempdir().unwrap();
            fs::write(scratch.path().join("interleaf.toml"), written(layer)).unwrap();
            let places = Places::of(scratch.path().join("none")).with_user(scratch.path());
            Settings::of_files(&places).unwrap().settings
        };
        let settings = layers.iter().fold(Settings::default(), |below, layer| read(layer).over(below));
        let value = |key: &str| row(&settings, key).value;
        let (vendor, model, rounds, place) = oracle(&layers);
        prop_assert_eq!(value("vendor"), vendor.map(|n| format!("v{n}")));
        prop_assert_eq!(value("model"), model.map(|n| format!("m{n}")));
        prop_assert_eq!(value("limits.rounds"), rounds.map(|n| n.to_string()));
        prop_assert_eq!(value("place"), place.map(|n| format!("from_end({n})")));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(\\PC|\n){0,80}") {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("interleaf.toml"), &text).unwrap();
        let places = Places::of(Path::new("none")).with_user(scratch.path());
        if let Err(fault) = Settings::of_files(&places) {
            let _ = (fault.to_string(), fault.snippet());
        }
    }
}

#[test]
fn no_line_that_is_shown_of_a_file_holds_a_quoted_value() {
    let folder = tempfile::tempdir().unwrap();
    for text in [
        "[keys]\nopenai = \"sk-LITERALKEY\"\n",
        "stor = 'postgres://u:STOREPW@h/db'\n",
        "[mcp.x]\nurl = \"http://127.0.0.1\"\nenvv = { A = \"ENVSECRET\" }\n",
    ] {
        std::fs::write(folder.path().join("interleaf.toml"), text).unwrap();
        let places = Places::of(folder.path().join("none")).with_user(folder.path());
        let fault = match Settings::of_files(&places) {
            Err(fault) => fault,
            // What a server's table says is read by whoever connects it.
            Ok(found) => found.settings.mcp["x"].value.read::<ServerSettings>().unwrap_err(),
        };
        let shown = format!("{fault}\n{}", fault.snippet());
        for secret in ["sk-LITERALKEY", "STOREPW", "ENVSECRET"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[test]
fn what_says_what_an_agent_may_do_is_not_written_unasked() {
    let mut permissions = Permissions::default();
    permissions.allow.push("write".into());
    let folder = tempfile::tempdir().unwrap();
    let asks = |path: &str| {
        let arguments = format!(r#"{{"path":"{path}","text":"x"}}"#);
        let call = ToolCall::new("c1", "write", &arguments).unwrap();
        permissions.asks(&call, Effect::Changes, folder.path())
    };
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
    };
    for name in ["src", ".git/hooks", ".interleaf", "meta/objects", "meta/refs"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("meta/HEAD"), "ref: refs/heads/main").unwrap();
    for name in [".git/config", "interleaf.toml", "src/lib.rs"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    link(".git/config", "cfg");
    link(".git/hooks", "docs");
    link("../.interleaf", "src/notes");
    link("interleaf.toml", "settings.txt");
    link("src", "code");
    link("cfg", "again");
    for path in [
        "src/main.rs",
        "code/lib.rs",
        "code/new/file",
        "a/b",
        ".github/workflows/a.yml",
        "Makefile",
    ] {
        assert!(!asks(path), "{path}");
    }
    for path in [
        "interleaf.toml",
        "./Interleaf.toml",
        ".interleaf/agents/a.md",
        "a/../.git/config",
        // By a link, also to what is not there yet.
        "cfg",
        "again",
        "docs/pre-commit",
        "docs/../config",
        "src/notes/agents/a.md",
        "code/notes/new",
        "settings.txt",
        // What says what an agent is, and what other programs run by themselves.
        "AGENTS.md",
        "src/claude.md",
        ".hg/hgrc",
        ".jj/repo/config.toml",
        ".svn/x",
        ".husky/pre-commit",
        "src/.vscode/tasks.json",
        ".idea/x.xml",
        ".envrc",
        ".mcp.json",
        // Some file systems take no note of what shows nothing.
        ".g\u{200c}it/config",
        // A repository that is not called `.git`.
        "meta/config",
        "meta/hooks/pre-commit",
    ] {
        assert!(asks(path), "{path}");
    }
}

#[test]
fn no_tool_that_is_allowed_leads_to_what_says_what_an_agent_may_do_unasked() {
    let mut permissions = Permissions::default();
    permissions.allow.push("files__*".into());
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    std::os::unix::fs::symlink(".git/hooks", folder.path().join("docs")).unwrap();
    let absolute = folder.path().join("docs/pre-commit").display().to_string();
    let asks = |tool: &str, effect, arguments: Value| {
        permissions.asks(&call(&format!("files__{tool}"), &arguments), effect, folder.path())
    };
    for (tool, arguments) in [
        ("write_file", json!({"path": ".git/hooks/pre-commit", "content": "x"})),
        ("write_file", json!({"path": "docs/pre-commit", "content": "x"})),
        ("write_file", json!({"path": absolute, "content": "x"})),
        ("write_file", json!({"uri": "file:///a/%2egit/config"})),
        ("move_file", json!({"source": "interleaf.toml", "destination": "old"})),
        ("move_file", json!({"source": "new", "destination": "interleaf.toml"})),
        ("write_files", json!({"files": [{"deep": {"name": "./.interleaf/agents/a.md"}}]})),
        ("write_files", json!({"files": {".git/config": "x"}})),
    ] {
        assert!(asks(tool, Effect::Changes, arguments.clone()), "{tool} {arguments}");
    }
    let plain = json!({"path": "src/lib.rs", "content": "a/b\n".repeat(100_000), "n": [1, null]});
    assert!(!asks("write_file", Effect::Changes, plain));
    assert!(!asks("read_file", Effect::Reads, json!({"path": ".git/config"})));
}
