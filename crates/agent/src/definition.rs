//! Agents in files: Markdown with front matter, or TOML.
//!
//! ```text
//!   .interleaf/agents/*.md, *.toml ─┐
//!   .claude, .opencode, .codex ─────┼─▶ Definition ──build, with tools and settings──▶ Agent
//!   ~/.config/interleaf/agents ─────┘
//! ```

mod build;
mod claude;
mod codex;
mod found;
mod opencode;
mod own;
mod words;

use std::ops::Range;
use std::path::Path;

use crate::settings::{Origin, Setting, Settings};
use crate::written::{Placed, Source};
use crate::{Fault, Notice, tools};

pub use self::build::Kit;
pub use self::found::Definitions;

/// In place of a folder, where an agent comes with the program.
const BUILT_IN: &str = "built in";

/// Whose form a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Our own.
    Own,
    /// Claude Code's.
    ClaudeCode,
    /// OpenCode's.
    OpenCode,
    /// Codex's.
    Codex,
}

/// An agent, as a file defines it.
#[derive(Debug, Clone)]
pub struct Definition {
    format: Format,
    source: Source,
    name: String,
    description: String,
    role: Option<String>,
    system: Option<String>,
    /// Vendor, model, fall-backs, placement, carrier, limits and budget, with their places.
    layer: Settings,
    tools: Allowed,
    agents: Vec<Placed<String>>,
    /// Whether another agent may send it.
    is_sent: bool,
}

/// The tools that an agent may have.
#[derive(Debug, Clone, Default)]
struct Allowed {
    /// Only these; without it all.
    only: Option<Vec<Placed<String>>>,
    /// And none of these.
    without: Vec<String>,
}

impl Definition {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is good for.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Whose form its file has.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Whether it comes with the program.
    pub fn is_built_in(&self) -> bool {
        self.path().starts_with(BUILT_IN)
    }

    /// What it says of itself as settings, which hold over those of files and environment.
    pub fn layer(&self) -> Settings {
        self.layer.clone()
    }

    fn new(format: Format, source: &Source) -> Self {
        let stem = source.path().file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        Self {
            format,
            source: source.clone(),
            name: stem.to_owned(),
            description: String::new(),
            role: None,
            system: None,
            layer: Settings::default(),
            tools: Allowed::default(),
            agents: Vec::new(),
            is_sent: true,
        }
    }

    fn fault(&self, at: Range<usize>, rule: impl Into<String>) -> Fault {
        Fault::new(&self.source, at, rule)
    }

    /// The name as a tool has it, for that is what a sub-agent is; and no tool has it.
    fn check_name(&self, at: Range<usize>) -> Result<(), Fault> {
        let name = self.name.as_str();
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let why = if !(1..=64).contains(&name.len()) || !name.chars().all(fits) {
            "it has 1 to 64 letters, digits, `_` and `-`"
        } else if tools::groups().any(|group| tools::names(group).contains(&name)) {
            "a tool is called that, and an agent that is sent is a tool too"
        } else if name.contains("__") {
            "`__` stands between an MCP server and its tool"
        } else {
            return Ok(());
        };
        Err(self.fault(at, format!("{name:?} is no name of an agent: {why}")))
    }

    /// Takes the model that a file names. `inherit` is the model of the agent above it, or that
    /// of the settings; so is a name that is not in force, which is told of the settings.
    fn set_model(&mut self, named: &Placed<String>, settings: &Settings) -> Result<(), String> {
        if named.value == "inherit" || settings.held_models.contains(&named.value) {
            return Ok(());
        }
        let target = settings.target(&named.value)?;
        let origin = self.origin(named.at.start);
        let (vendor, model) = (target.vendor.name.to_string(), target.options.model.to_string());
        self.layer.vendor = Some(Setting { value: vendor, origin: origin.clone() });
        self.layer.model = Some(Setting { value: model, origin });
        Ok(())
    }

    fn origin(&self, at: usize) -> Origin {
        crate::settings::origin(&self.source, at)
    }
}

/// A file of somebody else's, with what is told of it.
struct Foreign<'a> {
    definition: Definition,
    settings: &'a Settings,
    notices: Vec<Notice>,
}

impl<'a> Foreign<'a> {
    fn new(format: Format, source: &Source, settings: &'a Settings) -> Self {
        Self { definition: Definition::new(format, source), settings, notices: Vec::new() }
    }

    fn tell(&mut self, at: usize, text: impl Into<String>) {
        self.notices.push(Notice::new(&self.definition.source, at, text));
    }

    fn tell_unknown(&mut self, at: usize, key: &str) {
        self.tell(at, format!("`{key}` is not used"));
    }

    /// Takes a model; one that is not known here is that of the agent above it.
    fn model(&mut self, named: &Placed<String>) {
        if self.definition.set_model(named, self.settings).is_err() {
            let text = format!(
                "the model `{}` is not known here, so that the usual one is asked; [models] of \
                 interleaf.toml can say which it is",
                named.value
            );
            self.tell(named.at.start, text);
        }
    }

    fn rounds(&mut self, at: usize, rounds: u32) {
        let origin = self.definition.origin(at);
        self.definition.layer.limits.rounds = Some(Setting { value: rounds, origin });
    }
}
