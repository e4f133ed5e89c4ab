//! What is settled: by files, by the environment, by an agent's file and by flags.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::ValueHint::DirPath;
use interleaf::assemble::{Carrier, PlacementRule};
use interleaf::store::default_url;
use interleaf_agent::settings::{
    LimitSettings, Misnamed, Origin, Row, Setting, Settings, misspelt,
};
use interleaf_agent::{Definition, Definitions, Fault, Kit, Notice, Places, Ran};
use interleaf_transport::Amount;

use crate::failure::{Failure, printable};
use crate::open::{Missing, OpenStore};
use crate::output::say;
use crate::reach::parse_seconds;

const API: &str = "API";
const LIMITS: &str = "Limits";

/// In what folder, and in what store.
#[derive(Debug, Args)]
pub(crate) struct PlaceArguments {
    /// The store that keeps sessions [default: $INTERLEAF_STORE, interleaf.toml, or a file in
    /// your data folder]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The folder to work in [default: this one]
    #[arg(long, value_name = "PATH", value_hint = DirPath)]
    folder: Option<PathBuf>,
}

/// What flags say of the settings.
#[derive(Debug, Args)]
pub(crate) struct SettingArguments {
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
    /// The agent, by the name of its file in .interleaf/agents [default: as in interleaf.toml]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Who serves the model [default: as in the session's last request, or in interleaf.toml]
    #[arg(long, value_name = "NAME", requires = "model", help_heading = API)]
    vendor: Option<String>,
    /// The model [default: as in the session's last request, or in interleaf.toml]
    #[arg(long, value_name = "NAME", help_heading = API)]
    model: Option<String>,
    /// Who is asked if there is no answer; may be repeated
    #[arg(long, value_name = "VENDOR:MODEL", help_heading = API)]
    fallback: Vec<String>,
    /// Where its context goes [default: after_tool_result(3)]
    #[arg(long = "place", value_name = "RULE", help_heading = API)]
    placement: Option<PlacementRule>,
    /// In what its context is sent: message, attached or system [default: message]
    #[arg(long, value_name = "HOW", help_heading = API)]
    carrier: Option<Carrier>,

    /// The most requests [default: 200]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    rounds: Option<u32>,
    /// The most tokens, sent and made
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    tokens: Option<u64>,
    /// The most money, where the price is known
    #[arg(long, value_name = "AMOUNT", help_heading = LIMITS)]
    money: Option<Amount>,
    /// The most seconds
    #[arg(long, value_name = "S", value_parser = parse_seconds, help_heading = LIMITS)]
    time: Option<Duration>,
}

/// What is settled.
pub(crate) struct Settled {
    pub(crate) places: Places,
    /// What is in force.
    pub(crate) settings: Settings,
    pub(crate) definitions: Definitions,
    /// The settings files that were read.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) notices: Vec<Notice>,
    agent: usize,
}

impl PlaceArguments {
    /// Where settings and agents are looked for.
    pub(crate) fn places(&self) -> Result<Places, Failure> {
        let folder = self.folder.clone().map_or_else(std::env::current_dir, std::path::absolute);
        let folder = folder.map_err(|e| Failure::io("--folder", &e))?;
        match folder.is_dir() {
            true => Ok(Places::of(folder)),
            false => Err(Failure::new(folder.display().to_string(), "there is no such folder")),
        }
    }

    /// The same for a session that is gone on with: the folder that it ran in, unless a flag names
    /// another.
    fn places_of(&self, ran: &Ran) -> Result<Places, Failure> {
        if self.folder.is_some() || std::env::current_dir().is_ok_and(|here| ran.is_in(&here)) {
            return self.places();
        }
        let folder = ran.folder.display().to_string();
        if !ran.folder.is_dir() {
            let failure = Failure::new(folder, "the session was run in this folder, which is gone");
            return Err(failure.hint("--folder names another"));
        }
        let folder = printable(&folder);
        say(format_args!("note: it works in {folder}, where it was run (--folder names another)"));
        Ok(Places::of(ran.folder.clone()))
    }

    /// Opens the store that is settled.
    pub(crate) fn store(&self, missing: Missing) -> Result<OpenStore, Failure> {
        let flag = self.store.clone().map(|url| Setting::flag("--store", url));
        let said = Settings::of_environment(|name| std::env::var(name).ok());
        let said = said.map_err(|fault| Failure::fault(&fault))?;
        let set = match flag.or(said.store) {
            Some(set) => Some(set),
            None => {
                let found = Settings::of_files(&self.places()?);
                found.map_err(|fault| Failure::fault(&fault))?.settings.store
            }
        };
        open(set.as_ref(), missing)
    }

    /// What files and the environment say.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        Ok(below(&self.places()?)?.settings)
    }

    /// The newest session that was run in the folder.
    pub(crate) fn newest(&self, opened: &OpenStore) -> Result<String, Failure> {
        let folder = self.places()?.folder;
        let name = folder.display().to_string();
        let newest = opened.wait(Ran::newest(&*opened.store, &folder));
        match newest.map_err(|e| Failure::agent(&name, &e))? {
            Some(id) => Ok(id.to_string()),
            None => {
                let failure = Failure::new(name, "no session was run in this folder");
                Err(failure.hint("`interleaf run` begins one; `interleaf sessions ls` lists all"))
            }
        }
    }
}

/// What files and the environment say, and the files.
struct Below {
    settings: Settings,
    files: Vec<PathBuf>,
    notices: Vec<Notice>,
    /// Whether the user trusts the project.
    trusted: bool,
}

fn below(places: &Places) -> Result<Below, Failure> {
    let found = Settings::of_files(places).map_err(|fault| Failure::fault(&fault))?;
    let said = Settings::of_environment(|name| std::env::var(name).ok());
    let said = said.map_err(|fault| Failure::fault(&fault))?;
    let settings = said.over(found.settings).over(Settings::usual());
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let notices = [found.notices, misspelt(names)].concat();
    Ok(Below { settings, files: found.files, notices, trusted: found.is_trusted })
}

fn open(set: Option<&Setting<String>>, missing: Missing) -> Result<OpenStore, Failure> {
    match set {
        Some(set) => OpenStore::open_as(&set.origin.to_string(), &set.value, missing),
        None => OpenStore::open(None, missing),
    }
}

impl SettingArguments {
    /// Whether flags say which model is asked.
    pub(crate) fn names_model(&self) -> bool {
        self.model.is_some()
    }

    /// Reads all that is settled. What a session was run with holds where no flag says another.
    pub(crate) fn settle(&self, ran: Option<&Ran>) -> Result<Settled, Failure> {
        let places = ran.map_or_else(|| self.place.places(), |ran| self.place.places_of(ran))?;
        let Below { settings: below, files, mut notices, trusted } = below(&places)?;
        let definitions = Definitions::find(&places, &below);
        if let Some(fault) = definitions.faults.first() {
            return Err(Failure::fault(fault));
        }
        let set = below.agent.as_ref().map(|set| (set.value.as_str(), set.origin.to_string()));
        let flag = self.agent.as_deref().map(|name| (name, "--agent".to_owned()));
        // One whose file is gone meanwhile is no reason not to go on.
        let running = ran.map(|ran| ran.agent.as_str());
        let running = running.filter(|name| definitions.named(name).is_some());
        let running = running.map(|name| (name, Origin::Session.to_string()));
        let usual = ("agent", String::new());
        let (name, origin) = flag.or(running).or(set).unwrap_or(usual);
        let named = definitions.all.iter().position(|definition| definition.name() == name);
        let agent = named.ok_or_else(|| Failure::new(origin, definitions.unknown(name)))?;
        let file = definitions.all.get(agent);
        let mut layer = file.map(Definition::layer).unwrap_or_default();
        if !trusted && file.is_some_and(|file| places.has(file.path())) {
            notices.extend(layer.lower_limits(&below.limits()));
        }
        let ran = ran.filter(|ran| ran.agent == name);
        let kept = ran.map(Ran::layer).unwrap_or_default();
        let settings = self.layer().over(kept).over(layer).over(below);
        let notices = [notices, definitions.notices.clone()].concat();
        Ok(Settled { places, settings, definitions, files, notices, agent })
    }

    fn layer(&self) -> Settings {
        fn flag<T: Clone>(name: &'static str, said: &Option<T>) -> Option<Setting<T>> {
            said.clone().map(|value| Setting::flag(name, value))
        }
        let mut limits = LimitSettings::default();
        limits.rounds = flag("--rounds", &self.rounds);
        limits.tokens = flag("--tokens", &self.tokens);
        limits.money = flag("--money", &self.money);
        limits.time = flag("--time", &self.time);
        let mut layer = Settings::default();
        layer.vendor = flag("--vendor", &self.vendor);
        layer.model = flag("--model", &self.model);
        layer.fallback =
            flag("--fallback", &Some(self.fallback.clone()).filter(|it| !it.is_empty()));
        layer.agent = flag("--agent", &self.agent);
        layer.place = flag("--place", &self.placement);
        layer.carrier = flag("--carrier", &self.carrier);
        layer.store = flag("--store", &self.place.store);
        layer.limits = limits;
        layer
    }
}

impl Settled {
    /// The agent that works.
    pub(crate) fn agent(&self) -> &Definition {
        // It was found there.
        &self.definitions.all[self.agent]
    }

    /// What is in force, as rows.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows = self.settings.rows();
        if let Some(row) = rows.iter_mut().find(|row| row.key == "store" && row.value.is_none()) {
            (row.value, row.origin) = (default_url().ok(), Some(Origin::Default));
        }
        rows
    }

    /// What is worth knowing of the files, each once: of the settings, and of the agent with all
    /// that it may send.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let (kit, mut notices) = (Kit::new(self.settings.clone()), self.notices.clone());
        // A file that is wrong is told when its agent is made.
        let _ = self.definitions.agent(self.agent(), &kit, Vec::new(), &mut notices);
        let mut told = BTreeSet::new();
        let lines = notices.iter().map(ToString::to_string);
        lines.filter(|line| told.insert(line.clone())).collect()
    }

    /// Opens the store.
    pub(crate) fn store(&self, missing: Missing) -> Result<OpenStore, Failure> {
        open(self.settings.store.as_ref(), missing)
    }
}

impl Failure {
    /// A vendor or a model that cannot be asked.
    pub(crate) fn misnamed(wrong: &Misnamed) -> Self {
        let rule = format!("{}: {}", wrong.key, wrong.rule);
        match &wrong.origin {
            Origin::File { path, line, column } => {
                let place = format!("line {line} column {column}");
                Self::new(path.display().to_string(), rule).at(place)
            }
            origin => Self::new(origin.to_string(), wrong.rule.as_str()),
        }
    }

    /// A rule that a file of the user's breaks.
    pub(crate) fn fault(fault: &Fault) -> Self {
        let failure = Self::new(fault.path().display().to_string(), fault.rule());
        let failure = match fault.place() {
            Some((line, column)) => failure.at(format!("line {line} column {column}")),
            None => failure,
        };
        match fault.suggestion() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
