//! From files to an agent that runs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use interleaf::Target;

use super::{Allowed, Definition, Definitions, Format};
use crate::agent::Crew;
use crate::settings::{FILE, LimitSettings, Setting, Settings};
use crate::written::{Placed, nearest};
use crate::{Agent, Fault, Notice, Tool, Toolbox, tools};

/// What agents are made from beside their files.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Kit {
    /// What is settled for all of them.
    pub settings: Settings,
    /// The tools that there are: each agent gets those that it may have.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Tools that may become more, such as those of MCP servers.
    pub toolboxes: Vec<Arc<dyn Toolbox>>,
}

impl Kit {
    /// The tools that come with the crate, and these settings. Commands are not handed the
    /// variables that hold keys by these.
    pub fn new(settings: Settings) -> Self {
        let writing = tools::writing_without(settings.withheld());
        let others = [tools::keeping(), tools::remembering()].concat();
        let tools = [tools::reading(), writing, others].concat();
        Self { settings, tools, toolboxes: Vec::new() }
    }

    /// Adds tools.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }
}

impl Kit {
    /// Adds tools that may become more.
    #[must_use]
    pub fn with_toolbox(mut self, toolbox: impl Toolbox + 'static) -> Self {
        self.toolboxes.push(Arc::new(toolbox));
        self
    }
}

/// What an agent may have of a toolbox.
struct Part {
    whole: Arc<dyn Toolbox>,
    allowed: Allowed,
}

impl Toolbox for Part {
    fn name(&self) -> String {
        self.whole.name()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.whole.tools().into_iter();
        tools.filter(|tool| self.allowed.has(tool.spec().name.as_str())).collect()
    }
}

impl Allowed {
    /// Whether a tool is among them.
    fn has(&self, name: &str) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| only.iter().any(|word| tools::is_meant(&word.value, name)))
            && !self.without.iter().any(|word| tools::is_meant(word, name))
    }
}

impl Definitions {
    /// Makes a main agent with all that it may send: it asks these, and keeps to the settings of
    /// the kit. What is worth knowing is added to the notices.
    ///
    /// # Errors
    /// If it, or one that it may send, names a tool or an agent that is not there, or has no
    /// role though it is sent.
    pub fn agent(
        &self,
        definition: &Definition,
        kit: &Kit,
        targets: Vec<Target>,
        notices: &mut Vec<Notice>,
    ) -> Result<Agent, Fault> {
        let mut making = Making::new(self, definition, kit, notices);
        // The settings of the kit have what the main agent's file says, unless a flag does.
        let agent = making.alone(definition, kit.settings.clone())?;
        let crew = making.crew(definition, 0, &mut Vec::new())?;
        let agent = targets.into_iter().fold(Agent { crew, ..agent }, Agent::with_target);
        Ok(agent.with_limits(kit.settings.limits()))
    }
}

/// Makes each agent once for each number of those above it, whoever sends it.
struct Making<'d> {
    found: &'d Definitions,
    main: &'d str,
    kit: &'d Kit,
    notices: &'d mut Vec<Notice>,
    /// Agents without those that they may send.
    alone: HashMap<&'d str, Agent>,
    made: HashMap<(&'d str, usize), Arc<Agent>>,
    /// All that may be sent by whoever sends all.
    all: Option<Vec<&'d Definition>>,
    /// The same, made.
    crews: HashMap<usize, Crew>,
}

impl<'d> Making<'d> {
    fn new(
        found: &'d Definitions,
        main: &'d Definition,
        kit: &'d Kit,
        notices: &'d mut Vec<Notice>,
    ) -> Self {
        let (alone, made, crews) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { found, main: &main.name, kit, notices, alone, made, all: None, crews }
    }

    /// An agent without targets and limits of its own, and without those that it may send.
    fn alone(&mut self, definition: &Definition, settings: Settings) -> Result<Agent, Fault> {
        let Settings { place, carrier, budget, shares, .. } = settings;
        let mut agent = Agent::new(&definition.name)
            .described(&definition.description)
            .with_rule(place.map(|set| set.value).unwrap_or_default())
            .with_carrier(carrier.map(|set| set.value).unwrap_or_default());
        if let Some(budget) = budget {
            agent = agent.with_budget(budget.value);
        }
        if let Some(shares) = shares {
            agent = agent.with_shares(shares.value);
        }
        if let Some(role) = &definition.role {
            agent = agent.with_role(role.as_str());
        }
        if let Some(system) = &definition.system {
            agent = agent.with_system(system.as_str());
        }
        let own = definition.tools(self.kit, self.notices)?;
        agent = own.into_iter().fold(agent, Agent::with_shared_tool);
        for whole in &self.kit.toolboxes {
            let (whole, allowed) = (whole.clone(), definition.tools.clone());
            agent = agent.with_toolbox(Part { whole, allowed });
        }
        Ok(agent)
    }

    /// One that is sent, without those that it may send.
    fn sub_agent(&mut self, sub: &'d Definition) -> Result<Agent, Fault> {
        if let Some(known) = self.alone.get(sub.name.as_str()) {
            return Ok(known.clone());
        }
        let made = self.alone(sub, sub.layer().over(self.kit.settings.clone()))?;
        if let (Some(fallback), None) = (&sub.layer.fallback, &sub.layer.vendor) {
            let text = "its fall-backs do not hold: it names no model, and asks whoever the \
                        agent above it asks";
            let line = fallback.origin.line();
            self.notices.push(Notice {
                path: sub.path().to_owned(),
                line,
                text: text.to_owned(),
                is_wrong: true,
            });
        }
        self.notices.extend(sub.idle_limits());
        let targets = sub.layer().targets_in(&self.kit.settings);
        let targets = targets.map_err(|wrong| Fault::of_file(&sub.source, wrong.rule))?;
        let made = targets.into_iter().fold(made, Agent::with_target);
        let made = made.with_limits(sub.layer.limits());
        self.alone.insert(&sub.name, made.clone());
        Ok(made)
    }

    /// One that is sent, with this many above it; `by` names those that lead to it by name.
    fn sent(
        &mut self,
        sub: &'d Definition,
        depth: usize,
        by: &mut Vec<&'d str>,
    ) -> Result<Arc<Agent>, Fault> {
        let key = (sub.name.as_str(), if sub.agents.is_empty() { 0 } else { depth });
        if let Some(made) = self.made.get(&key) {
            return Ok(made.clone());
        }
        let agent = self.sub_agent(sub)?;
        let crew = self.crew(sub, depth, by)?;
        let made = Arc::new(Agent { crew, ..agent });
        self.made.insert(key, made.clone());
        Ok(made)
    }

    /// The agents that one may send.
    fn crew(
        &mut self,
        definition: &'d Definition,
        depth: usize,
        by: &mut Vec<&'d str>,
    ) -> Result<Crew, Fault> {
        // Deeper ones are never sent.
        if depth >= self.kit.settings.limits().depth {
            return Ok(Crew::default());
        }
        let all = match definition.agents.iter().any(|named| named.value == "*") {
            true => self.everyone(depth + 1)?,
            false => Crew::default(),
        };
        let is_name = |named: &&Placed<String>| named.value != "*";
        let names: Vec<&Placed<String>> = definition.agents.iter().filter(is_name).collect();
        if names.is_empty() {
            return Ok(all);
        }
        let mut known: HashSet<&str> = all.iter().map(|sub| sub.name.as_str()).collect();
        let mut crew = Vec::new();
        by.push(&definition.name);
        for named in names {
            let fault = |rule: String| definition.fault(named.at.clone(), rule);
            let Some(other) = self.found.named(&named.value) else {
                return Err(fault(self.found.unknown(&named.value)));
            };
            if other.name == self.main || by.contains(&other.name.as_str()) {
                let rule = format!("{} would send itself, by way of {}", other.name, by.join(", "));
                return Err(fault(rule));
            }
            if other.role.is_none() {
                return Err(other.no_role());
            }
            // It may be named twice, or be one of all.
            if known.insert(&other.name) {
                crew.push(self.sent(other, depth + 1, by)?);
            }
        }
        by.pop();
        if crew.is_empty() {
            return Ok(all);
        }
        crew.extend(all.iter().cloned());
        Ok(crew.into())
    }

    /// All that there are, with this many above them.
    fn everyone(&mut self, depth: usize) -> Result<Crew, Fault> {
        if let Some(crew) = self.crews.get(&depth) {
            return Ok(crew.clone());
        }
        let all = match self.all.take() {
            Some(all) => all,
            None => self.all()?,
        };
        let made = all.iter().map(|sub| self.sent(sub, depth, &mut Vec::new()));
        let crew = made.collect::<Result<Crew, Fault>>()?;
        self.all = Some(all);
        self.crews.insert(depth, crew.clone());
        Ok(crew)
    }

    /// Those that whoever sends all may send: it does without those that cannot work here.
    fn all(&mut self) -> Result<Vec<&'d Definition>, Fault> {
        let mut all = Vec::new();
        // The main agent that comes with the program is nobody's helper.
        let others = self.found.all.iter().filter(|other| other.is_sent && other.name != "agent");
        for other in others.filter(|other| other.name != self.main) {
            match (&other.role, other.format, other.lacks_trust(self.kit)) {
                (None, Format::Own, _) => return Err(other.no_role()),
                (None, ..) => self.notices.push(other.no_role().as_notice()),
                (Some(_), _, Some(fault)) => self.notices.push(fault.as_notice()),
                (Some(_), _, None) => all.push(other),
            }
        }
        Ok(all)
    }
}

/// The server that a tool would be of.
fn server_of(tool: &str) -> &str {
    tool.split("__").next().unwrap_or_default()
}

impl Definition {
    /// C9.
    fn no_role(&self) -> Fault {
        let rule = format!("the agent {}: a sub-agent must have a role", self.name);
        Fault::of_file(&self.source, rule)
    }

    /// That it names tools of a server that is not in force, for the project is not trusted.
    fn lacks_trust(&self, kit: &Kit) -> Option<Fault> {
        let held = &kit.settings.held_servers;
        if self.format != Format::Own {
            // Of somebody else's file, the tool is left out, and the agent works.
            return None;
        }
        self.tools.only.iter().flatten().find_map(|word| {
            let server = server_of(&word.value);
            if !held.contains(server) || kit.settings.mcp.contains_key(server) {
                return None;
            }
            let rule = format!(
                "the MCP server {server} is not in force: `trust` of your own {FILE} does not \
                 name this project, so that there is no tool `{}`",
                word.value
            );
            let hint = format!("`trust = [\"THE PROJECT'S FOLDER\"]` in your own {FILE}");
            Some(self.fault(word.at.clone(), rule).hint(Some(hint)))
        })
    }

    /// What its file limits that only a main agent's can.
    fn idle_limits(&self) -> Vec<Notice> {
        let LimitSettings { sub_agents, at_once, depth, .. } = &self.layer.limits;
        let named = [("sub_agents", sub_agents), ("at_once", at_once), ("depth", depth)];
        let notice = |(key, set): (&str, &Option<Setting<usize>>)| {
            let line = set.as_ref()?.origin.line();
            let text = format!(
                "`limits.{key}` does not hold where this agent is sent by another: that of the \
                 agent that runs does"
            );
            Some(Notice { path: self.path().to_owned(), line, text, is_wrong: false })
        };
        named.into_iter().filter_map(notice).collect()
    }

    /// The tools of a kit that it may have.
    fn tools(&self, kit: &Kit, notices: &mut Vec<Notice>) -> Result<Vec<Arc<dyn Tool>>, Fault> {
        let named: Vec<(String, &Arc<dyn Tool>)> =
            kit.tools.iter().map(|tool| (tool.spec().name.to_string(), tool)).collect();
        if let Some(fault) = self.lacks_trust(kit) {
            return Err(fault);
        }
        let boxed = kit.toolboxes.iter().flat_map(|toolbox| toolbox.tools());
        let boxed: Vec<String> = boxed.map(|tool| tool.spec().name.to_string()).collect();
        for word in self.tools.only.iter().flatten() {
            let mut names = named.iter().map(|(name, _)| name).chain(&boxed);
            let is_there = names.any(|name| tools::is_meant(&word.value, name));
            // A server that did not start has no tools now.
            let is_there = is_there || kit.settings.mcp.contains_key(server_of(&word.value));
            match self.format {
                _ if is_there => {}
                Format::Own => {
                    let mut known: Vec<&str> = tools::groups().collect();
                    known.extend(named.iter().map(|(name, _)| name).chain(&boxed).map(|n| &**n));
                    let rule = format!(
                        "there is no tool `{}`: {} are known",
                        word.value,
                        known.join(", ")
                    );
                    let meant = nearest(&word.value, known);
                    let meant = meant.map(|name| format!("did you mean `{name}`?"));
                    return Err(self.fault(word.at.clone(), rule).hint(meant));
                }
                _ => {
                    let text = format!("there is no tool `{}`: it is left out", word.value);
                    notices.push(Notice::new(&self.source, word.at.start, text));
                }
            }
        }
        Ok(named
            .into_iter()
            .filter(|(name, _)| self.tools.has(name))
            .map(|(_, tool)| tool.clone())
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Places;

    #[test]
    fn agents_that_may_send_all_others_share_them() {
        let folder = tempfile::tempdir().unwrap();
        let agents = folder.path().join(".interleaf/agents");
        std::fs::create_dir_all(&agents).unwrap();
        for n in 0..300 {
            let text = "---\ndescription: d\nagents: [\"*\"]\n---\nYou look.\n";
            std::fs::write(agents.join(format!("a{n}.md")), text).unwrap();
        }
        let settings = Settings::usual();
        let found = Definitions::find(&Places::of(folder.path()), &settings);
        let main = found.named("a0").unwrap();
        let mut notices = Vec::new();
        let made = found.agent(main, &Kit::new(settings), Vec::new(), &mut notices).unwrap();
        // All but itself, and the scout.
        assert_eq!(made.crew.len(), 300);
        let first = made.crew.iter().find(|sub| sub.name == "a1").unwrap();
        assert_eq!(first.crew.len(), 300);
        let is_shared = |sub: &&Arc<Agent>| Arc::ptr_eq(&sub.crew, &first.crew);
        assert_eq!(made.crew.iter().filter(is_shared).count(), 299);
        assert!(first.crew.iter().all(|sub| sub.crew.is_empty()));
        let below: Vec<&str> =
            first.sent_below(&["a0".to_owned()]).map(|sub| sub.name.as_str()).collect();
        assert!(below.len() == 299 && !below.contains(&"a1"), "{below:?}");
        made.check().unwrap();
    }
}
