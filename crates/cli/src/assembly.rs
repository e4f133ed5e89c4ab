//! From flags to what a request is made of.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueHint::FilePath;
use clap::{Args, ValueEnum};
use interleaf::assemble::{
    self, Agent, Assembly, Budget, Context, Ledger, MissingResult, OpenBlock, Outcome,
    PlacementRule, Previous, SummaryRole, View, assemble_observed, counter_for,
};
use interleaf::conversation::PINNED;
use interleaf::model::{AgentName, ContextKind, Entry, MessageId, Requirements};
use interleaf::neutral;
use interleaf::read::SummaryForm;

use crate::arguments::{ByteCount, parse_tokens};
use crate::failure::Failure;
use crate::input::{self, Loaded};
use crate::kept::{KeptSession, SessionArguments};

const CONTEXT: &str = "Context block (TEXT, or @PATH for what is in a file)";
const BUDGET: &str = "Budget";
const REPAIR: &str = "History";

/// What a request is made of, as the user wrote it.
#[derive(Debug, Args)]
pub(crate) struct AssemblyArguments {
    /// The conversation; `-` is standard input
    #[arg(value_hint = FilePath, required_unless_present = "session", conflicts_with = "session")]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) session: SessionArguments,

    /// Repair and validate only: no context block, no summary, no shortening
    #[arg(long, conflicts_with_all = [
        "role", "role_file", "todo", "info", "notes", "context", "place",
        "summary", "summary_role", "window", "reserve",
    ])]
    pub(crate) plain: bool,

    /// A system prompt; may be given again
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = CONTEXT)]
    system: Vec<String>,
    /// The agent's role definition
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = CONTEXT)]
    role: Option<String>,
    /// A file with the role definition
    #[arg(long, value_name = "PATH", value_hint = FilePath, conflicts_with = "role")]
    #[arg(help_heading = CONTEXT)]
    role_file: Option<PathBuf>,
    /// The TODO list
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = CONTEXT)]
    todo: Option<String>,
    /// Useful information
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = CONTEXT)]
    info: Option<String>,
    /// Folder notes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = CONTEXT)]
    notes: Option<String>,
    /// A further source; may be given again
    #[arg(long, value_name = "NAME=TEXT", value_parser = parse_source, help_heading = CONTEXT)]
    context: Vec<(String, String)>,
    /// Where the block goes: after_tool_result(N), before_assistant(N), from_end(N),
    /// after_system or tail [default: after_tool_result(3)]
    #[arg(long, value_name = "RULE", help_heading = CONTEXT)]
    place: Option<PlacementRule>,

    /// A summary: {"text": …, "start": ID, "covers": [ID, …] or {"first": ID, "last": ID}}
    #[arg(long, value_name = "PATH", value_hint = FilePath, help_heading = REPAIR)]
    summary: Option<PathBuf>,
    /// Send the summary in this role [default: system]
    #[arg(long, value_name = "ROLE", requires = "summary", help_heading = REPAIR)]
    summary_role: Option<SummaryAs>,
    /// What to do with a call without a result: make one that says so, or drop the call
    #[arg(long, value_name = "WHAT", default_value = "make", help_heading = REPAIR)]
    missing: Missing,
    /// Leave calls at the end open for their results: then there is no request yet
    #[arg(long, help_heading = REPAIR)]
    wait: bool,
    /// Make the request of this sub-agent
    #[arg(long, value_name = "NAME", help_heading = REPAIR)]
    agent: Option<String>,
    /// Never summarise this message or leave it out; may be given again
    #[arg(long, value_name = "ID", help_heading = REPAIR)]
    pin: Vec<String>,
    /// The request before this one, as `build` printed it, for the stable prefix
    #[arg(long, value_name = "PATH", value_hint = FilePath, help_heading = REPAIR)]
    previous: Option<PathBuf>,

    /// The model's context window, in tokens: what does not fit is shortened
    #[arg(long, value_name = "N", value_parser = parse_tokens, help_heading = BUDGET)]
    window: Option<u64>,
    /// How much of the window to keep free for the answer [default: an eighth]
    #[arg(long, value_name = "N", requires = "window", help_heading = BUDGET)]
    reserve: Option<u64>,
    /// The model to ask; also selects the token counter [default: the file's]
    #[arg(long, value_name = "NAME", help_heading = BUDGET)]
    pub(crate) model: Option<String>,
}

/// What a call without a result gets.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Missing {
    Make,
    Drop,
}

/// In which role a summary is sent.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SummaryAs {
    System,
    User,
}

/// All that the flags say, with the files read; good for many conversations. The
/// default repairs and validates only.
#[derive(Default)]
pub(crate) struct Recipe {
    request: assemble::Recipe,
    /// A summary, and the file that it is from.
    summary: Option<(String, SummaryForm)>,
    previous: Option<Previous>,
    pins: Vec<MessageId>,
}

/// A conversation to make a request of, and the session that it is of.
pub(crate) struct Source {
    pub(crate) loaded: Loaded,
    pub(crate) session: Option<KeptSession>,
}

/// A request that was made, or one that waits, and how it came about.
pub(crate) struct Made {
    pub(crate) assembly: Assembly,
    /// The messages up to now, if the request waits.
    draft: Vec<Entry>,
    pub(crate) pinned: BTreeSet<MessageId>,
    /// The index from which on it differs from the previous request, if one was given
    /// and is not repeated whole.
    pub(crate) changed_from: Option<usize>,
    /// What the request may take, if there is a window.
    pub(crate) limit: Option<u64>,
}

impl Made {
    /// The messages of the request, or those that it would have up to now.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.assembly.outcome {
            Outcome::Ready(prompt) => prompt.entries(),
            Outcome::Waiting(_) => &self.draft,
        }
    }
}

impl AssemblyArguments {
    /// Reads the conversation.
    pub(crate) fn load(&self, limit: ByteCount) -> Result<Source, Failure> {
        let Some(session) = self.session.open()? else {
            return Ok(Source { loaded: input::load(self.path(), limit)?, session: None });
        };
        let mut loaded = session.loaded_at(self.session.at)?;
        if self.plain {
            loaded.summary = None;
        }
        Ok(Source { loaded, session: Some(session) })
    }

    /// The file of the conversation.
    pub(crate) fn path(&self) -> &Path {
        // It is there unless there is a session.
        self.file.as_deref().unwrap_or(Path::new("-"))
    }

    /// Reads the files that the flags name.
    pub(crate) fn read(&self, limit: ByteCount) -> Result<Recipe, Failure> {
        let previous = self.previous.as_ref().map(|path| read_previous(path, limit));
        let summary = self.summary.as_ref().map(|path| read_summary(path, limit));
        Ok(Recipe {
            request: self.request(limit)?,
            summary: summary.transpose()?,
            previous: previous.transpose()?,
            pins: self.pin.iter().map(MessageId::new).collect(),
        })
    }

    /// Whether the flags ask for a budget, for which tokens must be counted.
    pub(crate) fn has_window(&self) -> bool {
        self.window.is_some()
    }

    /// What counts the tokens of this conversation's requests.
    pub(crate) fn ledger(&self, loaded: &Loaded) -> Arc<Ledger> {
        Arc::new(Ledger::new(counter_for(self.model.as_deref().unwrap_or(&loaded.options.model))))
    }

    fn contexts(&self, limit: ByteCount) -> Result<Vec<Context>, Failure> {
        let mut contexts = Vec::new();
        let role_file = self.role_file.as_ref().map(|path| format!("@{}", path.display()));
        let own = [
            (ContextKind::Role, self.role.as_ref().or(role_file.as_ref())),
            (ContextKind::Todo, self.todo.as_ref()),
            (ContextKind::Info, self.info.as_ref()),
            (ContextKind::Notes, self.notes.as_ref()),
        ];
        for (kind, text) in own {
            if let Some(text) = text {
                contexts.push(Context::new(kind, read_text(text, limit)?));
            }
        }
        for (name, text) in &self.context {
            let kind = neutral::context_kind(name);
            if !matches!(kind, ContextKind::Other(_)) {
                let rule = format!("`{name}` has a flag of its own, --{name}");
                return Err(Failure::new("--context", rule));
            }
            if contexts.iter().any(|context| context.kind == kind) {
                return Err(Failure::new("--context", format!("`{name}` is given twice")));
            }
            contexts.push(Context::new(kind, read_text(text, limit)?));
        }
        Ok(contexts)
    }

    fn request(&self, limit: ByteCount) -> Result<assemble::Recipe, Failure> {
        let budget = self.window.map(|window| {
            let usual = Budget::of_window(window);
            Budget { reserve: self.reserve.unwrap_or(usual.reserve), ..usual }
        });
        if let Some(budget) = budget.filter(|budget| budget.limit() == 0) {
            let Budget { window, reserve, .. } = budget;
            let rule = format!("a window of {window} less {reserve} for the answer leaves nothing");
            return Err(Failure::new("--reserve", rule));
        }
        let mut request = assemble::Recipe::new();
        let system = self.system.iter().map(|text| read_text(text, limit));
        request.system = system.collect::<Result<_, _>>()?;
        request.context = self.contexts(limit)?;
        if let Some(name) = &self.agent {
            request.agent = Agent::Sub(AgentName::new(name));
        }
        request.rule = self.place.clone().unwrap_or_default();
        request.missing_result = match self.missing {
            Missing::Make => MissingResult::Make,
            Missing::Drop => MissingResult::DropCall,
        };
        request.open_block = if self.wait { OpenBlock::Wait } else { OpenBlock::Mend };
        request.summary_role = match self.summary_role {
            Some(SummaryAs::User) => SummaryRole::User,
            Some(SummaryAs::System) | None => SummaryRole::System,
        };
        request.budget = budget;
        Ok(request)
    }
}

impl Recipe {
    /// Makes the request of a conversation; tokens are counted if there is a ledger.
    pub(crate) fn make(
        &self,
        loaded: &Loaded,
        ledger: Option<&Arc<Ledger>>,
    ) -> Result<Made, Failure> {
        let conversation = &loaded.conversation;
        let pinned = self.pinned(loaded)?;
        let summary = match &self.summary {
            Some((file, summary)) => {
                let summary = summary.over(conversation);
                Some(summary.map_err(|e| Failure::session(file, &e))?)
            }
            None => loaded.summary.clone(),
        };
        let mut recipe = self.request.clone();
        recipe.summary = summary.map(Arc::new);
        recipe.tools = loaded.tools.clone();
        recipe.ledger = ledger.cloned();
        recipe.check_agent().map_err(|e| Failure::assembly(&loaded.name, &e))?;
        let mut view = View::of(conversation.visible().cloned());
        view.pinned.clone_from(&pinned);
        let may_wait = recipe.open_block == OpenBlock::Wait;
        let mut draft = Vec::new();
        let observe = |_, now: &[Entry]| {
            if may_wait {
                now.clone_into(&mut draft);
            }
        };
        let assembly = assemble_observed(
            &view,
            &recipe,
            Requirements::STRICT,
            self.previous.as_ref(),
            observe,
        )
        .map_err(|e| Failure::assembly(&loaded.name, &e))?;
        let limit = recipe.budget.map(|budget| budget.limit());
        let stable = assembly.report.stable_prefix.map(|stable| stable.messages);
        let before = self.previous.as_ref().map_or(0, |previous| previous.messages.len());
        let changed_from = stable.filter(|&stable| stable < before);
        Ok(Made { assembly, draft, pinned, changed_from, limit })
    }

    /// What the flags pin, and what is marked so in the conversation.
    fn pinned(&self, loaded: &Loaded) -> Result<BTreeSet<MessageId>, Failure> {
        let conversation = &loaded.conversation;
        let marked = conversation.marks().find(|(mark, _)| *mark == PINNED);
        let marked = marked.into_iter().flat_map(|(_, indices)| indices);
        let marked = marked.filter_map(|index| conversation.message(index));
        let mut pinned: BTreeSet<MessageId> = marked.map(|message| message.id.clone()).collect();
        for pin in &self.pins {
            if !conversation.log().any(|message| message.id == *pin) {
                let rule = format!("there is no message {:?} in {}", pin.as_str(), loaded.name);
                return Err(Failure::new("--pin", rule));
            }
            pinned.insert(pin.clone());
        }
        Ok(pinned)
    }
}

/// The text of an argument, or of the file that it names with `@`.
fn read_text(argument: &str, limit: ByteCount) -> Result<Arc<str>, Failure> {
    match argument.strip_prefix('@') {
        Some(path) => Ok(input::Input::read(Path::new(path), limit)?.text.into()),
        None => Ok(argument.into()),
    }
}

fn read_previous(path: &Path, limit: ByteCount) -> Result<Previous, Failure> {
    let file = input::Input::read(path, limit)?;
    let prompt = neutral::read(&file.text).map_err(|e| {
        file.fault(&e).hint("--previous takes a request as `interleaf build` printed it")
    })?;
    Ok(Previous::of(prompt.messages().cloned()))
}

fn read_summary(path: &Path, limit: ByteCount) -> Result<(String, SummaryForm), Failure> {
    let file = input::Input::read(path, limit)?;
    let summary = SummaryForm::read(&file.text).map_err(|e| file.fault(&e))?;
    Ok((file.name, summary))
}

fn parse_source(text: &str) -> Result<(String, String), String> {
    let source = text.split_once('=').filter(|(name, _)| !name.trim().is_empty());
    let source = source.map(|(name, text)| (name.trim().to_owned(), text.to_owned()));
    source.ok_or_else(|| "a source is written NAME=TEXT, such as weather=@weather.txt".into())
}
