//! The settings files of a user and of a project.

use std::path::{Path, PathBuf};

use super::{Origin, Setting, Settings, file};
use crate::written::Source;
use crate::{Fault, Limits, Notice, Places};

/// The name of a settings file.
pub const FILE: &str = "interleaf.toml";

/// What the settings files say.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Found {
    /// What they say together: the project's over the user's.
    pub settings: Settings,
    /// The files that were read, the user's first.
    pub files: Vec<PathBuf>,
    /// What is worth knowing of them.
    pub notices: Vec<Notice>,
    /// Whether the user trusts the project.
    pub is_trusted: bool,
}

impl Settings {
    /// Reads the user's file, and the nearest one of the project.
    ///
    /// A project may come from anywhere. What runs programs, allows an agent something, leads
    /// keys and sessions elsewhere, or says what tokens cost and what names for models mean, is
    /// taken from its file only if `trust` of the user's file names the project; otherwise its
    /// limits may lower the user's, and not raise them.
    ///
    /// # Errors
    /// If a file cannot be read, or breaks a rule.
    pub fn of_files(places: &Places) -> Result<Found, Fault> {
        let (found, faults) = Self::of_faulty_files(places);
        faults.into_iter().next().map_or(Ok(found), Err)
    }

    /// The same, as far as the files can be read, with all that is wrong in them. A file of which
    /// nothing can be read is not among those of [`Found`].
    pub fn of_faulty_files(places: &Places) -> (Found, Vec<Fault>) {
        let mut found = Found::default();
        let mut faults = Vec::new();
        let mut read = |path: &Path, project| match Source::open(path, project) {
            Ok(Some(source)) => {
                let (said, wrong) = file::read(&source);
                faults.extend(wrong);
                Some((source, said))
            }
            Ok(None) => None,
            Err(fault) => {
                faults.push(fault);
                None
            }
        };
        let mut trusted = Vec::new();
        if let Some(user) = &places.user
            && let Some((source, Some(said))) = read(&user.join(FILE), None)
        {
            trusted = said.trust.map(|trust| trust.value).unwrap_or_default();
            found.take(&source, said.settings);
        }
        let mut misplaced = None;
        found.is_trusted = is_trusted(places.root(), &trusted);
        for folder in places.project() {
            let path = folder.join(FILE);
            if found.files.contains(&path) {
                continue;
            }
            let Some((source, said)) = read(&path, Some(places.root())) else { continue };
            let Some(mut said) = said else { break };
            if let Some(trust) = said.trust {
                let rule = "only your own file says which folders you trust";
                misplaced = Some(Fault::new(&source, trust.at, rule));
            }
            if !found.is_trusted {
                found.hold_back(&source, &mut said.settings);
            }
            found.take(&source, said.settings);
            break;
        }
        faults.extend(misplaced);
        (found, faults)
    }
}

impl Found {
    fn take(&mut self, source: &Source, settings: Settings) {
        self.settings = settings.over(std::mem::take(&mut self.settings));
        self.files.push(source.path().to_owned());
    }

    /// Leaves out what only a file that the user trusts may say.
    fn hold_back(&mut self, source: &Source, settings: &mut Settings) {
        let Settings { store, permissions, keys, vendors, mcp, price, models, .. } = settings;
        let mut origins: Vec<(&str, Origin)> = Vec::new();
        origins.extend(store.take().map(|set| ("store", set.origin)));
        origins.extend(permissions.allow.take().map(|set| ("permissions.allow", set.origin)));
        origins.extend(permissions.run.take().map(|set| ("permissions.run", set.origin)));
        let variables = permissions.variables.take();
        origins.extend(variables.map(|set| ("permissions.variables", set.origin)));
        origins.extend(std::mem::take(keys).into_values().map(|set| ("keys", set.origin)));
        origins.extend(std::mem::take(vendors).into_values().map(|set| ("vendors", set.origin)));
        let servers = std::mem::take(mcp);
        settings.held_servers = servers.keys().cloned().collect();
        origins.extend(servers.into_values().map(|set| ("mcp", set.origin)));
        // With a price of nothing, no limit of money would ever be reached.
        origins.extend(std::mem::take(price).into_values().map(|set| ("price", set.origin)));
        let names = std::mem::take(models);
        let is_own = |name: &String| self.settings.models.contains_key(name);
        settings.held_models = names.keys().filter(|name| !is_own(name)).cloned().collect();
        origins.extend(names.into_values().map(|set| ("models", set.origin)));
        origins.extend(settings.leave_held_models());
        for (key, origin) in origins {
            let line = origin.line();
            let text = format!(
                "`{key}` is not in force: `trust` of your own {FILE} does not name this project"
            );
            self.notices.push(Notice {
                path: source.path().to_owned(),
                line,
                text,
                is_wrong: true,
            });
        }
        let most = self.settings.clone().over(Settings::usual()).limits();
        self.notices.extend(settings.lower_limits(&most));
    }
}

impl Settings {
    /// Leaves out who would be asked by names that are not in force.
    fn leave_held_models(&mut self) -> Vec<(&'static str, Origin)> {
        let Self { vendor, model, fallback, compaction, held_models, .. } = self;
        let is_held = |name: &String| held_models.contains(name);
        let mut left = Vec::new();
        if let Some(set) = model.take_if(|set| is_held(&set.value)) {
            // A vendor without a model would be nobody.
            *vendor = None;
            left.push(("model", set.origin));
        }
        let writer = compaction.writer.take_if(|set| is_held(&set.value));
        left.extend(writer.map(|set| ("compaction.writer", set.origin)));
        if let Some(set) = fallback
            && set.value.iter().any(is_held)
        {
            set.value.retain(|name| !is_held(name));
            left.push(("fallback", set.origin.clone()));
            fallback.take_if(|set| set.value.is_empty());
        }
        left
    }

    /// Leaves out limits above these, which is what a project that nobody trusts may not set, and
    /// tells which they are.
    pub fn lower_limits(&mut self, most: &Limits) -> Vec<Notice> {
        let set = &mut self.limits;
        let raised = [
            raised("rounds", &mut set.rounds, most.rounds),
            raised("tokens", &mut set.tokens, most.tokens),
            raised("money", &mut set.money, most.money),
            raised("time", &mut set.time, most.time),
            raised("sub_agents", &mut set.sub_agents, Some(most.sub_agents)),
            raised("at_once", &mut set.at_once, Some(most.at_once)),
            raised("depth", &mut set.depth, Some(most.depth)),
        ];
        raised.into_iter().flatten().collect()
    }
}

fn raised<T: PartialOrd>(
    key: &str,
    set: &mut Option<Setting<T>>,
    most: Option<T>,
) -> Option<Notice> {
    let most = most?;
    let Setting { origin, .. } = set.take_if(|set| set.value > most)?;
    let text = format!(
        "`limits.{key}` is ignored: you do not trust this project (`trust` in your own {FILE}), \
         so it may only lower limits"
    );
    let line = origin.line();
    let path = match origin {
        Origin::File { path, .. } => path,
        other => other.to_string().into(),
    };
    Some(Notice { path, line, text, is_wrong: true })
}

/// Whether a folder, or one above it, is trusted.
fn is_trusted(root: &Path, trusted: &[PathBuf]) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(root);
    trusted.iter().any(|folder| root.starts_with(real(&at_home(folder))))
}

/// A path that may begin with `~/`.
pub(crate) fn at_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        _ => path.to_owned(),
    }
}
