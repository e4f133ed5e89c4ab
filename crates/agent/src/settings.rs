//! What a person has settled: who is asked, by what rules, within what limits, and who said so.
//!
//! ```text
//!   default ◁ user's interleaf.toml ◁ project's ◁ INTERLEAF_… ◁ an agent's file ◁ flags
//!   └────────────────────── each says some of it, and the next one more ──────┘
//! ```
//!
//! Each layer is a [`Settings`] in which little is set; [`Settings::over`] lays one over another.

mod check;
mod environment;
mod file;
mod found;
mod guard;
mod permissions;
mod rows;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use interleaf::assemble::{Budget, Carrier, PlacementRule, Shares};
use interleaf::compaction::CompactionPolicy;
use interleaf::wire::Vendor;
use interleaf_transport::{Amount, KeySource, Rates};

use crate::{Limits, Table};

pub use self::environment::{VARIABLES, misspelt};
pub(crate) use self::file::{BudgetForm, LimitForm, origin};
pub(crate) use self::found::at_home;
pub use self::found::{FILE, Found};
pub use self::guard::{Ask, Guard, Word};
pub use self::permissions::Permissions;
pub use self::rows::Row;
pub use self::target::Misnamed;

/// A value, and who said so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting<T> {
    /// What is set.
    pub value: T,
    /// Who said so.
    pub origin: Origin,
}

/// Who said so.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// Nobody: it is the usual.
    Default,
    /// A file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// A variable of the environment.
    Environment(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
    /// The session that is gone on with.
    Session,
}

/// What is settled, or a layer of it. What nobody said is absent.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Settings {
    /// Who serves the model.
    pub vendor: Option<Setting<String>>,
    /// The model.
    pub model: Option<Setting<String>>,
    /// Who is asked if there is no answer, each as `VENDOR/MODEL` or a name of [`models`](Self::models).
    pub fallback: Option<Setting<Vec<String>>>,
    /// The agent that works, by its name.
    pub agent: Option<Setting<String>>,
    /// Where its context goes.
    pub place: Option<Setting<PlacementRule>>,
    /// In what its context is sent.
    pub carrier: Option<Setting<Carrier>>,
    /// The store that keeps sessions.
    pub store: Option<Setting<String>>,
    /// How much a run may use.
    pub limits: LimitSettings,
    /// How long requests may be.
    pub budget: Option<Setting<Budget>>,
    /// How the parts of a request share that.
    pub shares: Option<Setting<Shares>>,
    /// How a session is compacted.
    pub compaction: CompactionSettings,
    /// What an agent may do unasked.
    pub permissions: PermissionSettings,
    /// What a million tokens cost, by `VENDOR/MODEL`.
    pub price: BTreeMap<String, Setting<Rates>>,
    /// Names for models: `VENDOR/MODEL`.
    pub models: BTreeMap<String, Setting<String>>,
    /// Where the key of a vendor is.
    pub keys: BTreeMap<String, Setting<KeySource>>,
    /// Vendors of one's own.
    pub vendors: BTreeMap<String, Setting<Vendor>>,
    /// MCP servers, each to be read by whoever connects it.
    pub mcp: BTreeMap<String, Setting<Table>>,
    /// MCP servers of a project that are not in force, for the user does not trust it.
    pub(crate) held_servers: BTreeSet<String>,
    /// The same of names for models, as far as the user's own file has none of them.
    pub(crate) held_models: BTreeSet<String>,
}

/// How much a run may use.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LimitSettings {
    /// Requests.
    pub rounds: Option<Setting<u32>>,
    /// Tokens.
    pub tokens: Option<Setting<u64>>,
    /// Money.
    pub money: Option<Setting<Amount>>,
    /// Time.
    pub time: Option<Setting<Duration>>,
    /// Sub-agents in all.
    pub sub_agents: Option<Setting<usize>>,
    /// Sub-agents at the same time.
    pub at_once: Option<Setting<usize>>,
    /// How deep sub-agents may send others.
    pub depth: Option<Setting<usize>>,
}

/// How a session is compacted.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CompactionSettings {
    /// How full the window may be, from 0 to 1.
    pub at: Option<Setting<f64>>,
    /// The model that writes summaries.
    pub writer: Option<Setting<String>>,
    /// What stays, and when it is due.
    pub policy: Option<Setting<CompactionPolicy>>,
}

/// What an agent may do unasked.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PermissionSettings {
    /// Tools that need not ask.
    pub allow: Option<Setting<Vec<String>>>,
    /// How commands begin that `run` need not ask for.
    pub run: Option<Setting<Vec<String>>>,
    /// Variables of the environment that hold keys and that commands are handed.
    pub variables: Option<Setting<Vec<String>>>,
}

impl<T> Setting<T> {
    /// A value that a flag sets.
    pub fn flag(name: &'static str, value: T) -> Self {
        Self { value, origin: Origin::Flag(name) }
    }

    pub(crate) fn map<U>(self, to: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: to(self.value), origin: self.origin }
    }
}

impl Origin {
    /// The line, if it is a file.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::File { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// Whether both are of one layer: of one file, of the environment, or of the flags.
    pub(crate) fn is_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { path, .. }, Self::File { path: other, .. }) => path == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, .. } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag(name) => f.write_str(name),
            Self::Session => f.write_str("the session"),
        }
    }
}

impl Settings {
    /// What holds where nobody says anything else.
    pub fn usual() -> Self {
        fn usual<T>(value: T) -> Option<Setting<T>> {
            Some(Setting { value, origin: Origin::Default })
        }
        let Limits { rounds, sub_agents, at_once, depth, .. } = Limits::default();
        Self {
            place: usual(PlacementRule::default()),
            carrier: usual(Carrier::default()),
            limits: LimitSettings {
                rounds: rounds.and_then(usual),
                sub_agents: usual(sub_agents),
                at_once: usual(at_once),
                depth: usual(depth),
                ..LimitSettings::default()
            },
            ..Self::default()
        }
    }

    /// These settings, and where they say nothing, those. A model belongs to its vendor: where
    /// these name a vendor and no model, that one's model does not hold.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let model = match self.vendor {
            Some(_) => self.model,
            None => self.model.or(below.model),
        };
        Self {
            vendor: self.vendor.or(below.vendor),
            model,
            fallback: self.fallback.or(below.fallback),
            agent: self.agent.or(below.agent),
            place: self.place.or(below.place),
            carrier: self.carrier.or(below.carrier),
            store: self.store.or(below.store),
            limits: self.limits.over(below.limits),
            budget: self.budget.or(below.budget),
            shares: self.shares.or(below.shares),
            compaction: CompactionSettings {
                at: self.compaction.at.or(below.compaction.at),
                writer: self.compaction.writer.or(below.compaction.writer),
                policy: self.compaction.policy.or(below.compaction.policy),
            },
            permissions: PermissionSettings {
                allow: self.permissions.allow.or(below.permissions.allow),
                run: self.permissions.run.or(below.permissions.run),
                variables: self.permissions.variables.or(below.permissions.variables),
            },
            price: joined(self.price, below.price),
            models: joined(self.models, below.models),
            keys: joined(self.keys, below.keys),
            vendors: joined(self.vendors, below.vendors),
            mcp: joined(self.mcp, below.mcp),
            held_servers: &self.held_servers | &below.held_servers,
            held_models: &self.held_models | &below.held_models,
        }
    }

    /// How much a run may use.
    pub fn limits(&self) -> Limits {
        self.limits.limits()
    }

    /// When a session is compacted, and what stays.
    pub fn policy(&self) -> CompactionPolicy {
        use interleaf::compaction::Trigger;
        let set = self.compaction.policy.as_ref().map(|set| set.value.clone());
        let mut policy = set.unwrap_or_default();
        if let Some(at) = &self.compaction.at {
            policy.when = Some(Trigger::Fill(at.value));
        }
        policy
    }

    /// What an agent may do unasked.
    pub fn permissions(&self) -> Permissions {
        let said = |set: &Option<Setting<Vec<String>>>| {
            set.as_ref().map(|set| set.value.clone()).unwrap_or_default()
        };
        let PermissionSettings { allow, run, .. } = &self.permissions;
        Permissions { allow: said(allow), run: said(run), ..Permissions::default() }
    }
}

impl LimitSettings {
    pub(crate) fn over(self, below: Self) -> Self {
        Self {
            rounds: self.rounds.or(below.rounds),
            tokens: self.tokens.or(below.tokens),
            money: self.money.or(below.money),
            time: self.time.or(below.time),
            sub_agents: self.sub_agents.or(below.sub_agents),
            at_once: self.at_once.or(below.at_once),
            depth: self.depth.or(below.depth),
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        fn said<T: Copy>(set: &Option<Setting<T>>) -> Option<T> {
            set.as_ref().map(|set| set.value)
        }
        let usual = Limits::default();
        Limits {
            rounds: said(&self.rounds).or(usual.rounds),
            tokens: said(&self.tokens).or(usual.tokens),
            money: said(&self.money).or(usual.money),
            time: said(&self.time).or(usual.time),
            sub_agents: said(&self.sub_agents).unwrap_or(usual.sub_agents),
            at_once: said(&self.at_once).unwrap_or(usual.at_once),
            depth: said(&self.depth).unwrap_or(usual.depth),
        }
    }
}

/// Both, and of what both name, the upper.
fn joined<T>(
    upper: BTreeMap<String, Setting<T>>,
    mut below: BTreeMap<String, Setting<T>>,
) -> BTreeMap<String, Setting<T>> {
    below.extend(upper);
    below
}
