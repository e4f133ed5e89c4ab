//! The agents that are found in files. The nearest of a name is taken.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{BUILT_IN, Definition, Format, claude, codex, opencode, own};
use crate::settings::Settings;
use crate::written::{Source, nearest};
use crate::{Fault, Notice, Places};

/// The agents that were found.
///
/// ```no_run
/// use interleaf_agent::settings::Settings;
/// use interleaf_agent::{Definitions, Kit, Places};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let places = Places::of(std::env::current_dir()?);
/// let settings = Settings::of_files(&places)?.settings.over(Settings::usual());
/// let found = Definitions::find(&places, &settings);
/// let reviewer = found.named("reviewer").ok_or("there is no reviewer")?;
/// let kit = Kit::new(reviewer.layer().over(settings));
/// let targets = kit.settings.targets()?;
/// let agent = found.agent(reviewer, &kit, targets, &mut Vec::new())?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Definitions {
    /// Each name once, the nearest first; those that come with the program are last.
    pub all: Vec<Definition>,
    /// What is worth knowing of the files.
    pub notices: Vec<Notice>,
    /// What is wrong in files of our own form.
    pub faults: Vec<Fault>,
}

/// Where files of each form are, in a folder of a project.
const FOLDERS: &[(&str, &str, Format)] = &[
    (".interleaf/agents", "md", Format::Own),
    (".interleaf/agents", "toml", Format::Own),
    (".claude/agents", "md", Format::ClaudeCode),
    (".opencode/agent", "md", Format::OpenCode),
    (".opencode/agents", "md", Format::OpenCode),
    (".codex/agents", "toml", Format::Codex),
];

/// Those that come with the program.
const USUAL: &[(&str, &str)] = &[
    ("agent.md", include_str!("../../agents/agent.md")),
    ("scout.md", include_str!("../../agents/scout.md")),
];

impl Definitions {
    /// Finds all agents: those of the project, nearest first, then the user's own, then the two
    /// that come with the program. The settings say which models there are, and the limits that a
    /// project may only lower unless the user trusts it.
    pub fn find(places: &Places, settings: &Settings) -> Self {
        let mut found = Self::default();
        for folder in places.project() {
            for (inside, ending, format) in FOLDERS {
                let inside = folder.join(inside);
                found.read_folder(&inside, Some(places.root()), (ending, *format), settings);
            }
        }
        if !Settings::of_files(places).is_ok_and(|files| files.is_trusted) {
            let most = settings.limits();
            let lowered = found.all.iter_mut().flat_map(|it| it.layer.lower_limits(&most));
            found.notices.extend(lowered);
        }
        if let Some(user) = &places.user {
            for ending in ["md", "toml"] {
                let inside = user.join("agents");
                found.read_folder(&inside, None, (ending, Format::Own), settings);
            }
        }
        for (name, text) in USUAL {
            let source = Source::new(&Path::new(BUILT_IN).join(name), (*text).to_owned());
            match own::markdown(&source, settings) {
                Ok(definition) if found.named(definition.name()).is_none() => {
                    found.all.push(definition);
                }
                Ok(_) => {}
                Err(fault) => found.faults.push(fault),
            }
        }
        found
    }

    /// The agent of this name.
    pub fn named(&self, name: &str) -> Option<&Definition> {
        self.all.iter().find(|definition| definition.name == name)
    }

    /// That there is no such agent, and which there are.
    pub fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.all.iter().map(Definition::name).collect();
        let meant = nearest(name, names.iter().copied());
        let meant = meant.map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
        format!("there is no agent {name:?}{meant}, only {}", names.join(", "))
    }

    fn read_folder(
        &mut self,
        folder: &Path,
        project: Option<&Path>,
        (ending, format): (&str, Format),
        settings: &Settings,
    ) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<PathBuf> =
            paths.filter(|path| path.extension() == Some(OsStr::new(ending))).collect();
        paths.sort();
        for path in paths {
            match read(&path, project, format, settings) {
                Ok((definition, notices)) => {
                    self.notices.extend(notices);
                    self.all_but_taken(definition, project.is_none());
                }
                Err(fault) if format == Format::Own => self.faults.push(fault),
                Err(fault) => self.notices.push(fault.as_notice()),
            }
        }
    }

    /// Takes one in, unless a nearer one has its name: the user's own is missed then.
    fn all_but_taken(&mut self, definition: Option<Definition>, is_users: bool) {
        let Some(definition) = definition else { return };
        match self.named(definition.name()) {
            Some(other) => {
                let text = format!(
                    "the name {} is taken by {}, which is nearer: this file is left out",
                    definition.name,
                    other.path().display()
                );
                let (own, other) = (definition.path(), other.path());
                let is_wrong = is_users && own.parent() != other.parent();
                let path = own.to_owned();
                self.notices.push(Notice { path, line: None, text, is_wrong });
            }
            None => self.all.push(definition),
        }
    }
}

/// A file, if it is there and the agent is not switched off.
fn read(
    path: &Path,
    project: Option<&Path>,
    format: Format,
    settings: &Settings,
) -> Result<(Option<Definition>, Vec<Notice>), Fault> {
    let Some(source) = Source::open(path, project)? else { return Ok((None, Vec::new())) };
    let some = |(definition, notices)| (Some(definition), notices);
    match format {
        Format::Own if path.extension() == Some(OsStr::new("toml")) => {
            own::toml(&source, settings).map(|definition| (Some(definition), Vec::new()))
        }
        Format::Own => {
            own::markdown(&source, settings).map(|definition| (Some(definition), Vec::new()))
        }
        Format::ClaudeCode => claude::read(&source, settings).map(some),
        Format::OpenCode => opencode::read(&source, settings),
        Format::Codex => codex::read(&source, settings).map(some),
    }
}
