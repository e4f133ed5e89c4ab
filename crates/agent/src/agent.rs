//! What an agent is: its role, its model, its tools and its limits.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use interleaf::Target;
use interleaf::assemble::{Budget, Carrier, PlacementRule, Shares};
use interleaf::compaction::CompactionPolicy;

use crate::{ContextSource, Error, Hook, Limits, Tool, Toolbox};

/// Agents that are sent by more than one.
pub(crate) type Crew = Arc<[Arc<Agent>]>;

/// What an agent is. Main agents and sub-agents are the same; a sub-agent is a tool of the one
/// above it.
///
/// ```
/// use interleaf::Target;
/// use interleaf_agent::Agent;
///
/// let scout = Agent::new("scout").described("Looks for a cause.").with_role("You look for causes.");
/// let mender = Agent::new("mender")
///     .with_target(Target::new("anthropic", "claude-sonnet-4-5")?)
///     .with_role("You mend programs.")
///     .with_sub_agent(scout);
/// assert_eq!(mender.name(), "mender");
/// # Ok::<(), interleaf::Error>(())
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) system: Vec<Arc<str>>,
    pub(crate) role: Option<Arc<str>>,
    /// Who is asked, and who is asked then; of a sub-agent none: whoever its parent asks.
    pub(crate) targets: Vec<Target>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) toolboxes: Vec<Arc<dyn Toolbox>>,
    pub(crate) sources: Vec<Arc<dyn ContextSource>>,
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    pub(crate) sub_agents: Vec<Agent>,
    /// Agents that others may send too, each made once.
    pub(crate) crew: Crew,
    pub(crate) rule: PlacementRule,
    pub(crate) carrier: Carrier,
    pub(crate) budget: Option<Budget>,
    pub(crate) shares: Shares,
    pub(crate) limits: Limits,
    pub(crate) policy: CompactionPolicy,
    pub(crate) folder: Option<PathBuf>,
    /// Whether AGENTS.md is part of its role.
    pub(crate) reads_instructions: bool,
    /// Whether spans hold what was said.
    pub(crate) traces_content: bool,
    /// Whether the folder and the system are part of its role.
    pub(crate) tells_environment: bool,
}

impl Agent {
    /// An agent with this name and nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            system: Vec::new(),
            role: None,
            targets: Vec::new(),
            tools: Vec::new(),
            toolboxes: Vec::new(),
            sources: Vec::new(),
            hooks: Vec::new(),
            sub_agents: Vec::new(),
            crew: Crew::default(),
            rule: PlacementRule::default(),
            carrier: Carrier::default(),
            budget: None,
            shares: Shares::new(),
            limits: Limits::default(),
            policy: CompactionPolicy::default(),
            folder: None,
            reads_instructions: true,
            traces_content: false,
            tells_environment: true,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its tools, without those that send a sub-agent.
    pub fn tool_names(&self) -> Vec<String> {
        self.tools.iter().map(|tool| tool.spec().name.to_string()).collect()
    }

    /// What it is good for, as the agent above it is told.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a system prompt. Without one, the role is the system message too.
    #[must_use]
    pub fn with_system(mut self, prompt: impl Into<Arc<str>>) -> Self {
        self.system.push(prompt.into());
        self
    }

    /// Says what it is to be. A sub-agent must have a role.
    #[must_use]
    pub fn with_role(mut self, role: impl Into<Arc<str>>) -> Self {
        self.role = Some(role.into());
        self
    }

    /// Adds a model to ask: the first that is added is asked, the others if it gives no answer.
    /// A sub-agent without one asks those of the agent above it.
    #[must_use]
    pub fn with_target(mut self, target: Target) -> Self {
        self.targets.push(target);
        self
    }

    /// Asks this model from now on in place of the first. The fall-backs stay.
    #[must_use]
    pub fn asking(mut self, target: Target) -> Self {
        let is_same = |other: &Target| {
            other.vendor.name == target.vendor.name && other.options.model == target.options.model
        };
        let others = self.targets.drain(..).skip(1).filter(|other| !is_same(other));
        self.targets = others.collect();
        self.targets.insert(0, target);
        self
    }

    /// The model that it asks, and then its fall-backs.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Adds a tool.
    #[must_use]
    pub fn with_tool(self, tool: impl Tool + 'static) -> Self {
        self.with_shared_tool(Arc::new(tool))
    }

    /// Adds a tool that others have too.
    #[must_use]
    pub fn with_shared_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds tools that may become more while it runs, such as those of an MCP server.
    #[must_use]
    pub fn with_toolbox(mut self, toolbox: impl Toolbox + 'static) -> Self {
        self.toolboxes.push(Arc::new(toolbox));
        self
    }

    /// Adds a source of context.
    #[must_use]
    pub fn with_source(mut self, source: impl ContextSource + 'static) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Adds a hook. All are asked; one that refuses is enough. It has a say in the calls of the
    /// agents that this one sends, too.
    #[must_use]
    pub fn with_hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Adds an agent that it can send with a task.
    #[must_use]
    pub fn with_sub_agent(mut self, agent: Self) -> Self {
        self.sub_agents.push(agent);
        self
    }

    /// Where its context goes.
    #[must_use]
    pub fn with_rule(mut self, rule: PlacementRule) -> Self {
        self.rule = rule;
        self
    }

    /// In what its context is sent.
    #[must_use]
    pub fn with_carrier(mut self, carrier: Carrier) -> Self {
        self.carrier = carrier;
        self
    }

    /// How long its requests may be. Without it, the model's window decides.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// How the parts of a request share its budget.
    #[must_use]
    pub fn with_shares(mut self, shares: Shares) -> Self {
        self.shares = shares;
        self
    }

    /// How much a run may use.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What a compaction keeps that a tool asks for. The transport compacts by itself, by the
    /// policy that it was given.
    #[must_use]
    pub fn with_policy(mut self, policy: CompactionPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// What a compaction keeps that is asked for.
    pub fn policy(&self) -> &CompactionPolicy {
        &self.policy
    }

    /// The folder that it works in, if it was said.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Leaves AGENTS.md out of its role.
    #[must_use]
    pub fn without_instructions(mut self) -> Self {
        self.reads_instructions = false;
        self
    }

    /// Has its spans hold what was said: answers, and arguments and results of calls. Without it,
    /// they hold names, ids and counts.
    #[must_use]
    pub fn with_content_in_spans(mut self) -> Self {
        self.traces_content = true;
        self
    }

    /// Leaves the folder and the system out of its role, so that its requests are the same
    /// wherever it runs.
    #[must_use]
    pub fn without_environment(mut self) -> Self {
        self.tells_environment = false;
        self
    }

    /// The folder that it works in; without it, that of the program.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }
}

/// What was found to be right, so that it need not be looked at again.
#[derive(Default)]
struct Checked<'a>(HashMap<*const Arc<Agent>, HashSet<&'a str>>);

impl Agent {
    /// Those that it can send where these stand above it: of a crew, neither itself nor them.
    pub(crate) fn sent_below(&self, above: &[String]) -> impl Iterator<Item = &Self> {
        let is_above = |sub: &&Arc<Self>| sub.name == self.name || above.contains(&sub.name);
        let crew = self.crew.iter().filter(move |sub| !is_above(sub)).map(|sub| &**sub);
        self.sub_agents.iter().chain(crew)
    }

    /// Whether it can send an agent of this name.
    pub(crate) fn sends(&self, name: &str) -> bool {
        self.sent_below(&[]).any(|sub| sub.name == name)
    }

    /// Whether it can run, and all that it can send.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.check_once(&mut Checked::default())
    }

    fn check_once<'a>(&'a self, checked: &mut Checked<'a>) -> Result<(), Error> {
        let crew = self.crew.as_ptr();
        if let Entry::Vacant(place) = checked.0.entry(crew) {
            place.insert(self.crew.iter().map(|sub| sub.name.as_str()).collect());
            for sub in &*self.crew {
                sub.check_sub(checked)?;
            }
        }
        let offered = self.toolboxes.iter().flat_map(|toolbox| toolbox.tools());
        let tools = self.tools.iter().cloned().chain(offered);
        let names = tools.map(|tool| tool.spec().name.to_string());
        let mut known = HashSet::new();
        for name in names.chain(self.sub_agents.iter().map(|sub| sub.name.clone())) {
            let is_of_crew = checked.0.get(&crew).is_some_and(|crew| crew.contains(name.as_str()));
            if is_of_crew || known.contains(&name) {
                let rule = format!("two of its tools are called {name}");
                return Err(Error::agent(&self.name, rule));
            }
            known.insert(name);
        }
        for sub in &self.sub_agents {
            sub.check_sub(checked)?;
        }
        Ok(())
    }

    fn check_sub<'a>(&'a self, checked: &mut Checked<'a>) -> Result<(), Error> {
        if self.role.is_none() {
            return Err(Error::agent(&self.name, "a sub-agent must have a role"));
        }
        self.check_once(checked)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.tools.iter().map(|tool| tool.spec().name).collect();
        let mut out = f.debug_struct("Agent");
        out.field("name", &self.name).field("role", &self.role).field("tools", &tools);
        // Those of a crew may send each other: of them, the names are enough.
        let crew: Vec<_> = self.crew.iter().map(|sub| Self::new(&sub.name)).collect();
        out.field("sub_agents", &self.sub_agents).field("crew", &crew).finish_non_exhaustive()
    }
}
