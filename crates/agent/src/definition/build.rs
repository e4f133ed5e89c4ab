//! From files to an agent that runs.

use std::sync::Arc;

use interleaf::Target;

use super::{Allowed, Definition, Definitions, Format};
use crate::settings::{FILE, LimitSettings, Setting, Settings};
use crate::written::nearest;
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
    /// The tools that come with the crate, and these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, tools: tools::all(), toolboxes: Vec::new() }
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
        let agent = self.made(definition, kit, &mut Vec::new(), notices)?;
        let agent = targets.into_iter().fold(agent, Agent::with_target);
        Ok(agent.with_limits(kit.settings.limits()))
    }

    /// An agent without targets and limits of its own; above it stand those that send it.
    fn made<'d>(
        &'d self,
        definition: &'d Definition,
        kit: &Kit,
        above: &mut Vec<&'d str>,
        notices: &mut Vec<Notice>,
    ) -> Result<Agent, Fault> {
        let Settings { place, carrier, .. } = match above.is_empty() {
            // The settings of the kit have what the main agent's file says, unless a flag does.
            true => kit.settings.clone(),
            false => definition.layer().over(kit.settings.clone()),
        };
        let mut agent = Agent::new(&definition.name)
            .described(&definition.description)
            .with_rule(place.map(|set| set.value).unwrap_or_default())
            .with_carrier(carrier.map(|set| set.value).unwrap_or_default());
        if let Some(role) = &definition.role {
            agent = agent.with_role(role.as_str());
        }
        if let Some(system) = &definition.system {
            agent = agent.with_system(system.as_str());
        }
        let own = definition.tools(kit, notices)?;
        agent = own.into_iter().fold(agent, Agent::with_shared_tool);
        for whole in &kit.toolboxes {
            let (whole, allowed) = (whole.clone(), definition.tools.clone());
            agent = agent.with_toolbox(Part { whole, allowed });
        }
        above.push(&definition.name);
        // Deeper ones are never sent, and each would be made anew below every other.
        if above.len() > kit.settings.limits().depth {
            above.pop();
            return Ok(agent);
        }
        for (sub, is_named) in self.sent_by(definition, above, notices)? {
            // Whoever sends all that there is does without those that cannot work here.
            if let (Some(fault), false) = (sub.lacks_trust(kit), is_named) {
                notices.push(fault.as_notice());
                continue;
            }
            let made = self.made(sub, kit, above, notices)?;
            if let (Some(fallback), None) = (&sub.layer.fallback, &sub.layer.vendor) {
                let text = "its fall-backs do not hold: it names no model, and asks whoever the \
                            agent above it asks";
                let line = fallback.origin.line();
                notices.push(Notice {
                    path: sub.path().to_owned(),
                    line,
                    text: text.to_owned(),
                    is_wrong: true,
                });
            }
            notices.extend(sub.idle_limits());
            let targets = sub.layer().targets_in(&kit.settings);
            let targets = targets.map_err(|wrong| Fault::of_file(&sub.source, wrong.rule))?;
            let made = targets.into_iter().fold(made, Agent::with_target);
            agent = agent.with_sub_agent(made.with_limits(sub.layer.limits()));
        }
        above.pop();
        Ok(agent)
    }

    /// The agents that one may send, and whether it names them.
    fn sent_by<'d>(
        &'d self,
        definition: &'d Definition,
        above: &[&str],
        notices: &mut Vec<Notice>,
    ) -> Result<Vec<(&'d Definition, bool)>, Fault> {
        let mut sent: Vec<(&Definition, bool)> = Vec::new();
        for named in &definition.agents {
            if named.value == "*" {
                let others = self.all.iter().filter(|other| other.is_sent);
                let others = others.filter(|other| !above.contains(&other.name.as_str()));
                // The main agent that comes with the program is nobody's helper.
                let others = others.filter(|other| other.name != "agent");
                for other in others {
                    if sent.iter().any(|(known, _)| known.name == other.name) {
                        continue;
                    }
                    match (&other.role, other.format) {
                        (None, Format::Own) => return Err(other.no_role()),
                        (None, _) => notices.push(other.no_role().as_notice()),
                        (Some(_), _) => sent.push((other, false)),
                    }
                }
                continue;
            }
            let fault = |rule: String| definition.fault(named.at.clone(), rule);
            let Some(other) = self.named(&named.value) else {
                return Err(fault(self.unknown(&named.value)));
            };
            if above.contains(&other.name.as_str()) {
                let rule =
                    format!("{} would send itself, by way of {}", other.name, above.join(", "));
                return Err(fault(rule));
            }
            if other.role.is_none() {
                return Err(other.no_role());
            }
            // It may be named twice, or be one of all.
            match sent.iter_mut().find(|(known, _)| known.name == other.name) {
                Some((_, is_named)) => *is_named = true,
                None => sent.push((other, true)),
            }
        }
        Ok(sent)
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
