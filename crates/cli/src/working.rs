//! An agent that works in a folder, made from what the user wrote: for every command that runs
//! one.
//!
//! ```text
//!   WorkArguments ──open──▶ Working { agent, transport, session } ──go──▶ told, Verdict
//! ```

mod going;
mod person;

use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::DirPath;
use interleaf::assemble::PlacementRule;
use interleaf::compaction::CompactionPolicy;
use interleaf::wire::{CacheMarks, Vendor};
use interleaf::{Session, Target};
use interleaf_agent::{Agent, Limits, tools};
use interleaf_transport::{Amount, Compacting, Transport};

pub(crate) use self::person::{Person, asks};
use crate::api::VendorParser;
use crate::failure::Failure;
use crate::open::{Missing, OpenSession, OpenStore};
use crate::reach::ReachArguments;

/// What agent works, where, and how much it may use, as the user wrote it.
#[derive(Debug, Args)]
pub(crate) struct WorkArguments {
    /// The store that keeps it [default: $INTERLEAF_STORE, or a file in your data folder]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The folder to work in [default: this one]
    #[arg(long, value_name = "PATH", value_hint = DirPath)]
    folder: Option<PathBuf>,
    /// What the agent is to be [default: a careful one that works in this folder]
    #[arg(long, value_name = "TEXT")]
    role: Option<String>,
    /// Let it write, edit and run commands without asking
    #[arg(long)]
    yes: bool,

    /// Who serves the model [default: as in the session's last request]
    #[arg(long, value_name = "NAME", value_parser = VendorParser, requires = "model")]
    #[arg(help_heading = "API")]
    vendor: Option<&'static Vendor>,
    /// The model [default: as in the session's last request]
    #[arg(long, value_name = "NAME", requires = "vendor", help_heading = "API")]
    model: Option<String>,
    /// Where its context goes [default: after_tool_result(3)]
    #[arg(long, value_name = "RULE", help_heading = "API")]
    place: Option<PlacementRule>,

    /// The most requests
    #[arg(long, value_name = "N", default_value = "200", help_heading = "Limits")]
    rounds: u32,
    /// The most tokens, sent and made
    #[arg(long, value_name = "N", help_heading = "Limits")]
    tokens: Option<u64>,
    /// The most money, where the price is known
    #[arg(long, value_name = "AMOUNT", help_heading = "Limits")]
    money: Option<Amount>,

    #[command(flatten)]
    reach: ReachArguments,
}

/// In which session an agent works.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which<'a> {
    /// In a new one with this title.
    New(&'a str),
    /// In the one of this id, or whose id begins so.
    Old(&'a str),
}

/// An agent with all that it needs to work.
pub(crate) struct Working {
    pub(crate) agent: Agent,
    pub(crate) transport: Transport,
    pub(crate) session: Session,
    pub(crate) opened: OpenStore,
    /// Whether nobody is asked before something is changed.
    pub(crate) allows_all: bool,
}

const ROLE: &str = "You are a careful agent that works in one folder. Look before you change \
    anything. Keep the TODO list up to date. Say at the end what you did, and what is left.";

/// How long a title is that is made from a task.
const TITLE: usize = 60;

impl WorkArguments {
    /// Makes the agent, and opens or makes its session.
    pub(crate) fn open(&self, which: Which<'_>) -> Result<Working, Failure> {
        if let (Which::New(_), None) = (which, self.vendor) {
            let such = "such as --vendor anthropic --model claude-sonnet-4-5";
            return Err(Failure::new("--vendor", "name who is to be asked").hint(such));
        }
        let store = self.store.as_deref();
        let (session, opened) = match which {
            Which::Old(asked) => {
                let OpenSession { session, opened } =
                    OpenStore::open(store, Missing::Refuse)?.session(asked)?;
                (session, opened)
            }
            Which::New(title) => {
                let opened = OpenStore::open(store, Missing::Make)?;
                let title = title.chars().take(TITLE).collect::<String>();
                let made = opened.wait(Session::create(opened.store.clone(), &title));
                (made.map_err(|e| Failure::session("a new session", &e))?, opened)
            }
        };
        let target = self.target(&opened, &session)?;
        let transport = self.reach.agents_transport(&target)?;
        let transport = transport.compacting(Compacting::new(CompactionPolicy::default()));
        let (agent, allows_all) = (self.agent(target), self.yes);
        Ok(Working { agent, transport, session, opened, allows_all })
    }

    fn target(&self, opened: &OpenStore, session: &Session) -> Result<Target, Failure> {
        let target = match (self.vendor, &self.model) {
            (Some(vendor), Some(model)) => Target::of(vendor.clone(), model),
            _ => opened.wait(session.last_target()).map_err(|e| {
                Failure::session("--session", &e).hint("--vendor and --model name it")
            })?,
        };
        let mut target = self.reach.at_address(target);
        target.options.cache = CacheMarks::On;
        Ok(target)
    }

    fn agent(&self, target: Target) -> Agent {
        let mut limits = Limits::default();
        limits.rounds = Some(self.rounds);
        (limits.tokens, limits.money) = (self.tokens, self.money);
        let scout = Agent::new("scout")
            .described("Sends a helper to find something out in the folder. It changes nothing.")
            .with_role("You find things out in a folder, and report exactly what you found.");
        let scout = tools::reading().into_iter().fold(scout, Agent::with_shared_tool);
        let agent = Agent::new("agent")
            .with_target(target)
            .with_role(self.role.as_deref().unwrap_or(ROLE))
            .with_rule(self.place.clone().unwrap_or_default())
            .with_limits(limits)
            .with_sub_agent(scout);
        let agent = match &self.folder {
            Some(folder) => agent.in_folder(folder),
            None => agent,
        };
        let tools = [tools::reading(), tools::writing(), tools::keeping(), tools::remembering()];
        tools.concat().into_iter().fold(agent, Agent::with_shared_tool)
    }
}
