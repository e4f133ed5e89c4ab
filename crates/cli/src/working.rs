//! An agent that works in a folder, made from what the user wrote and settled: for every command
//! that runs one.
//!
//! ```text
//!   WorkArguments ──settle──▶ Settled ──open──▶ Working { agent, transport, session } ──go──▶ Verdict
//! ```

mod going;
mod person;

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use interleaf::compaction::CompactionPolicy;
use interleaf::model::plural;
use interleaf::{Session, Target};
use interleaf_agent::mcp::{Server, ServerSettings};
use interleaf_agent::settings::{Permissions, Settings};
use interleaf_agent::{Agent, Kit, Ran};
use interleaf_transport::{Compacting, Transport};
use tokio::task::JoinSet;

pub(crate) use self::going::{NOT_KEPT, line_of, took, took_in_all};
pub(crate) use self::person::{Answer, Ask, Asks, UNCLEAR, allowed_by_person, channel, given_up};
use crate::failure::{Failure, Fault, printable};
use crate::open::{Missing, OpenSession, OpenStore, runtime};
use crate::output::say;
use crate::reach::ReachArguments;
use crate::settled::{SettingArguments, Settled};
use crate::stopped::Wishes;

/// What agent works, where, and how much it may use, as the user wrote it.
#[derive(Debug, Args)]
pub(crate) struct WorkArguments {
    #[command(flatten)]
    settings: SettingArguments,
    /// What the agent is to be [default: as its file says]
    #[arg(long, value_name = "TEXT")]
    role: Option<String>,
    /// Let it write, edit and run commands without asking
    #[arg(long)]
    yes: bool,
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
    /// What it was made from.
    pub(crate) settings: Settings,
    pub(crate) transport: Transport,
    pub(crate) session: Session,
    pub(crate) opened: OpenStore,
    /// What it may do unasked.
    pub(crate) permissions: Permissions,
    /// Whether the session was made for it.
    pub(crate) is_new: bool,
}

/// How long a title is that is made from a task.
const TITLE: usize = 60;

impl WorkArguments {
    /// The newest session that was run in the folder.
    pub(crate) fn newest(&self) -> Result<String, Failure> {
        let place = &self.settings.place;
        place.newest(&place.store(Missing::Refuse)?)
    }

    /// Makes the agent, and opens or makes its session.
    pub(crate) fn open(&self, which: Which<'_>) -> Result<Working, Failure> {
        let (old, ran, asked) = match which {
            Which::New(_) => (None, None, Vec::new()),
            Which::Old(id) => {
                let old = self.settings.place.store(Missing::Refuse)?.session(id)?;
                let noted = old.opened.wait(async {
                    let ran = Ran::of(&*old.opened.store, old.session.id()).await?;
                    Ok((ran, Ran::asked_in(&old.session).await?))
                });
                let noted: Result<_, interleaf_agent::Error> = noted;
                let (ran, asked) = noted.map_err(|e| Failure::agent(id, &e))?;
                (Some(old), ran, asked)
            }
        };
        let is_new = old.is_none();
        let settled = self.settings.settle(ran.as_ref())?;
        let kept = ran.filter(|ran| ran.agent == settled.agent().name()).and_then(|ran| ran.role);
        let role = self.role.clone().or(kept);
        let targets = self.targets(&settled, asked)?;
        let transport = self.transport(&settled, &targets)?;
        let mut agent = self.agent(&settled, targets)?;
        if let Some(role) = &role {
            agent = agent.with_role(role.as_str());
        }
        let remarks = settled.remarks();
        if !remarks.is_empty() {
            let n = plural(remarks.len(), "remark");
            say(format_args!(
                "note: {n} on settings and agents' files: `interleaf config` has them"
            ));
        }
        // What is wrong in settings and agents' files was told before a session is made.
        let OpenSession { mut session, opened } = match (old, which) {
            (Some(old), _) => old,
            (None, Which::New(title) | Which::Old(title)) => {
                let opened = settled.store(Missing::Make)?;
                let title = title.chars().take(TITLE).collect::<String>();
                let made = opened.wait(Session::create(opened.store.clone(), &title));
                let session = made.map_err(|e| Failure::session("a new session", &e))?;
                OpenSession { session, opened }
            }
        };
        let ran = Ran::new(&settled.places.folder, settled.agent().name()).asking(agent.targets());
        let ran = ran.placing(&settled.settings).in_role(role.as_deref());
        let noted = opened.wait(ran.note(&mut session));
        noted.map_err(|e| Failure::agent(&session.id().to_string(), &e))?;
        let mut permissions = settled.settings.permissions();
        permissions.all = self.yes;
        let settings = settled.settings;
        Ok(Working { agent, settings, transport, session, opened, permissions, is_new })
    }

    /// Who is asked: whom flags name, else whom the session asks, else whom an agent's file, the
    /// environment and the settings name.
    fn targets(
        &self,
        settled: &Settled,
        asked: Vec<(String, String)>,
    ) -> Result<Vec<Target>, Failure> {
        let settings = &settled.settings;
        let mut asked = asked.iter().map(|(vendor, model)| settings.model_of(vendor, model));
        let mut targets = match asked.next().filter(|_| !self.settings.names_model()) {
            Some(first) => {
                let mut targets = vec![first.map_err(|rule| Failure::new("--vendor", rule))?];
                targets.extend(settings.fallbacks().map_err(|e| Failure::misnamed(&e))?);
                if targets.len() == 1 {
                    targets.extend(asked.flatten());
                }
                targets
            }
            None => settings.targets().map_err(|e| Failure::misnamed(&e))?,
        };
        match targets.first_mut() {
            Some(first) => *first = self.reach.at_address(first.clone()),
            None => {
                let such = "such as --vendor anthropic --model claude-sonnet-4-5, or `vendor` and \
                            `model` in interleaf.toml";
                return Err(Failure::new("--vendor", "name who is to be asked").hint(such));
            }
        }
        Ok(targets)
    }

    fn transport(&self, settled: &Settled, targets: &[Target]) -> Result<Transport, Failure> {
        let settings = &settled.settings;
        let builder = settings.at(Transport::builder());
        let first = targets.first().ok_or_else(|| Failure::new("--vendor", NO_MODEL))?;
        let transport = self.reach.agents_transport(builder, first)?;
        let mut policy: CompactionPolicy = settings.policy();
        // This program ends with the run: nothing goes on in the background.
        policy.prepare = None;
        let compacting = Compacting::new(policy);
        Ok(transport.compacting(match &settings.compaction.writer {
            Some(writer) => {
                let writer = settings.target(&writer.value);
                compacting.with_writer(writer.map_err(|e| Failure::new("compaction.writer", e))?)
            }
            None => compacting,
        }))
    }

    fn agent(&self, settled: &Settled, targets: Vec<Target>) -> Result<Agent, Failure> {
        let servers = servers(&settled.settings)?.into_iter();
        let settings = self.reach.naming_key(settled.settings.clone());
        let kit = servers.fold(Kit::new(settings), Kit::with_toolbox);
        let agent = settled.definitions.agent(settled.agent(), &kit, targets, &mut Vec::new());
        let agent = agent.map_err(|fault| Failure::fault(&fault))?;
        Ok(agent.with_policy(settled.settings.policy()).in_folder(&settled.places.folder))
    }
}

/// What is wrong where nobody can be asked.
const NO_MODEL: &str = "no model is set: name a vendor and a model";

/// Something to do.
pub(crate) fn parse_task(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("it is blank: say what is to be done".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// How long MCP servers may take before it is said who is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The MCP servers that are settled, connected. One that cannot be reached is told, and the run
/// goes on without its tools.
pub(crate) fn servers(settings: &Settings) -> Result<Vec<Server>, Failure> {
    let mut servers = Vec::new();
    for (name, set) in &settings.mcp {
        let settings: ServerSettings = set.value.read().map_err(|fault| Failure::fault(&fault))?;
        servers.push(Server::new(name.as_str(), settings));
    }
    if !servers.is_empty() {
        runtime("mcp")?.block_on(connect(&servers))?;
    }
    Ok(servers)
}

/// Connects servers, all at the same time.
async fn connect(servers: &[Server]) -> Result<(), Failure> {
    let mut wishes = Wishes::listen();
    let mut connecting = JoinSet::new();
    let mut waiting: BTreeSet<&str> = servers.iter().map(Server::name).collect();
    for server in servers {
        let server = server.clone();
        connecting.spawn(async move { (server.name().to_owned(), server.connect().await) });
    }
    let patience = tokio::time::sleep(PATIENCE);
    tokio::pin!(patience);
    let mut is_told = false;
    loop {
        tokio::select! {
            done = connecting.join_next() => match done {
                Some(Ok((name, done))) => {
                    waiting.remove(name.as_str());
                    let server = servers.iter().find(|server| server.name() == name);
                    if let Some(misnamed) = server.and_then(Server::misnamed) {
                        say(format_args!("note: {}", printable(&misnamed)));
                    }
                    if let Err(error) = done {
                        let error = error.to_string();
                        let error = printable(&error);
                        say(format_args!("note: {error}; the run goes on without its tools"));
                    }
                }
                Some(Err(_)) => {}
                None => return Ok(()),
            },
            () = &mut patience, if !is_told => {
                is_told = true;
                for name in &waiting {
                    say(format_args!("waiting for the MCP server {} …", printable(name)));
                }
            }
            _ = wishes.next() => {
                // Whoever is let go of is ended, with all that it started.
                connecting.shutdown().await;
                let failure = Failure::new("mcp", "interrupted while its servers started");
                return Err(failure.of(Fault::Interrupted));
            }
        }
    }
}
