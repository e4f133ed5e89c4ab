//! From flags to what a request is made of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueHint::FilePath;
use clap::{Args, ValueEnum};
use interleaf::assemble::{
    self, Agent, Authority, Budget, Carrier, ContextText, Ledger, LookAlikes, MissingResult,
    OpenBlock, Part, PlacementRule, Share, Shares, SummaryRole, SystemMessages,
};
use interleaf::model::{AgentName, ContextKind, MessageId};
use interleaf::read::{self, Before, SummaryForm};
use interleaf::{Preview, Single, Target, neutral};

use crate::arguments::{ByteCount, parse_tokens};
use crate::failure::Failure;
use crate::input::{self, Loaded};
use crate::open::{OpenSession, SessionArguments};

const CONTEXT: &str = "Context block";
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
        "role", "role_file", "todo", "todo_file", "info", "info_file", "notes", "notes_file",
        "context", "context_file", "place", "carrier", "summary", "summary_role", "window", "reserve",
        "part", "said_by",
    ])]
    pub(crate) plain: bool,

    /// A system prompt; may be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = CONTEXT)]
    system: Vec<String>,
    /// A file with a system prompt, which comes after those given as text; may be repeated
    #[arg(long, value_name = "PATH", value_hint = FilePath, help_heading = CONTEXT)]
    system_file: Vec<PathBuf>,
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
    /// A file with the TODO list
    #[arg(long, value_name = "PATH", value_hint = FilePath, conflicts_with = "todo")]
    #[arg(help_heading = CONTEXT)]
    todo_file: Option<PathBuf>,
    /// Useful information
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = CONTEXT)]
    info: Option<String>,
    /// A file with useful information
    #[arg(long, value_name = "PATH", value_hint = FilePath, conflicts_with = "info")]
    #[arg(help_heading = CONTEXT)]
    info_file: Option<PathBuf>,
    /// Folder notes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = CONTEXT)]
    notes: Option<String>,
    /// A file with folder notes
    #[arg(long, value_name = "PATH", value_hint = FilePath, conflicts_with = "notes")]
    #[arg(help_heading = CONTEXT)]
    notes_file: Option<PathBuf>,
    /// A further source; may be repeated
    #[arg(long, value_name = "NAME=TEXT", value_parser = parse_source, help_heading = CONTEXT)]
    context: Vec<(String, String)>,
    /// A further source in a file; may be repeated
    #[arg(long, value_name = "NAME=PATH", value_parser = parse_source, help_heading = CONTEXT)]
    context_file: Vec<(String, String)>,
    /// Tell the model who says one of these: operator, user, agent or data, such as `info=data`;
    /// may be repeated
    #[arg(long, value_name = "SOURCE=WHO", value_parser = parse_said_by, help_heading = CONTEXT)]
    said_by: Vec<(String, Authority)>,
    /// Where the block goes: after_tool_result(N), before_assistant(N), from_end(N), after_system, tail;
    /// or by what a session recorded: sticky(N), delta(N), auto(N) [default: after_tool_result(3)]
    #[arg(long, value_name = "RULE", help_heading = CONTEXT)]
    place: Option<PlacementRule>,
    /// In what its texts are sent: `message`, each a user message; `attached`, at the end of the
    /// tool result or user message before their place; `system`, each a system message, where
    /// the target takes one there [default: message]
    #[arg(long, value_name = "CARRIER", help_heading = CONTEXT)]
    carrier: Option<Carrier>,

    /// A summary: {"text": …, "start": ID, "covers": [ID, …] or {"first": ID, "last": ID}}
    #[arg(long, value_name = "PATH", value_hint = FilePath, help_heading = REPAIR)]
    summary: Option<PathBuf>,
    /// Send the summary in this role [default: system]
    #[arg(long, value_name = "ROLE", help_heading = REPAIR)]
    summary_role: Option<SummaryAs>,
    /// Where system messages go that come after the beginning: `head`, or `in_place`, as text
    /// where the target takes no system message [default: head]
    #[arg(long, value_name = "WHERE", help_heading = REPAIR)]
    system_messages: Option<SystemMessages>,
    /// For a call without a result: add a result that says none was recorded, or drop the call
    /// [default: make]
    #[arg(long, value_name = "WHAT", help_heading = REPAIR)]
    missing: Option<Missing>,
    /// Leave calls at the end open until their results come; there is no request until then
    #[arg(long, help_heading = REPAIR)]
    wait: bool,
    /// Make the request for this sub-agent
    #[arg(long, value_name = "NAME", help_heading = REPAIR)]
    pub(crate) agent: Option<String>,
    /// Never summarise or leave out this message; may be repeated
    #[arg(long, value_name = "ID", help_heading = REPAIR)]
    pin: Vec<String>,
    /// The previous request, as `build` printed it or an API got it, to tell the stable prefix
    #[arg(long, value_name = "PATH", value_hint = FilePath, help_heading = REPAIR)]
    previous: Option<PathBuf>,
    /// Drop thinking whose prefix changed since --previous, or since the session's last request,
    /// for models that take it back only after the same bytes
    #[arg(long, help_heading = "API")]
    bound_thinking: bool,

    /// The model's context window, in tokens: what does not fit is shortened
    #[arg(long, value_name = "N", value_parser = parse_tokens, help_heading = BUDGET)]
    window: Option<u64>,
    /// How much of the window to keep free for the answer [default: an eighth]
    #[arg(long, value_name = "N", requires = "window", help_heading = BUDGET)]
    reserve: Option<u64>,
    /// What a part of the request (tools, system, context, history) may take, in tokens or as a
    /// share of what the window leaves: `context=500..10%`, `tools=..4000`; may be repeated
    #[arg(long, value_name = "PART=MIN..MAX", value_parser = parse_part, requires = "window")]
    #[arg(help_heading = BUDGET)]
    part: Vec<(Part, Share)>,
    /// Which part gives way first when the request does not fit [default: history,context,tools]
    #[arg(long, value_name = "PART,…", value_delimiter = ',', requires = "part")]
    #[arg(help_heading = BUDGET)]
    give_way: Vec<Part>,
    /// Which source of the context gives way first [default: notes,info,…,todo,role]
    #[arg(long, value_name = "SOURCE,…", value_delimiter = ',', requires = "part")]
    #[arg(help_heading = BUDGET)]
    give_way_in_context: Vec<String>,
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

/// All that the flags say, with the files read; good for many conversations.
#[derive(Default)]
pub(crate) struct Recipe {
    pub(crate) request: assemble::Recipe,
    /// A summary, and the file that it is from.
    summary: Option<(String, SummaryForm)>,
    before: Before,
    pins: Vec<MessageId>,
    model: Option<String>,
    /// What counts the tokens of a session's requests.
    ledger: Option<Arc<Ledger>>,
    bound_thinking: bool,
    /// Whether the request before is one that the session recorded.
    is_of_session: bool,
}

/// A conversation to make a request of, and the session that it is of.
pub(crate) struct Source {
    pub(crate) loaded: Loaded,
    pub(crate) session: Option<OpenSession>,
}

/// A request that was made, or one that waits, and what it may take.
pub(crate) struct Made {
    pub(crate) preview: Preview,
    /// What the request may take, if there is a window.
    pub(crate) limit: Option<u64>,
}

impl AssemblyArguments {
    /// Reads the conversation. What a session keeps beside it goes into the recipe.
    pub(crate) fn load(&self, recipe: &mut Recipe, limit: ByteCount) -> Result<Source, Failure> {
        let Some(session) = self.session.open()? else {
            return Ok(Source { loaded: input::load(self.path(), limit)?, session: None });
        };
        let loaded = session.loaded_at(self.session.at)?;
        if !self.plain {
            recipe.request = session.recipe_at(&recipe.request, self.session.at)?;
        }
        if recipe.before.0.is_none() && recipe.before.1.is_none() {
            let agent = recipe.request.agent.name();
            recipe.before = session.previous(&loaded.conversation, agent)?;
            recipe.is_of_session = true;
        }
        Ok(Source { loaded, session: Some(session) })
    }

    /// Whether it is a session's next request: not one of the past, nor a plain one.
    pub(crate) fn is_next(&self) -> bool {
        self.session.at.is_none() && !self.plain
    }

    /// The flag that makes a request of another time, if one is given.
    pub(crate) fn not_for_sending(&self) -> Option<&'static str> {
        self.session.at.map(|_| "--at")
    }

    /// Whether calls at the end wait for their results: what is sent in a session waits for
    /// them unless the flags say what they get.
    pub(crate) fn open_block(&self) -> OpenBlock {
        let goes_on = self.missing.is_some() && !self.wait;
        if goes_on { OpenBlock::Mend } else { OpenBlock::Wait }
    }

    /// Whether thinking is bound to what stands before it.
    pub(crate) fn binds_thinking(&self) -> Option<bool> {
        self.bound_thinking.then_some(true)
    }

    /// Messages to treat as pinned.
    pub(crate) fn pins(&self) -> Vec<MessageId> {
        self.pin.iter().map(MessageId::new).collect()
    }

    /// The file of the conversation.
    pub(crate) fn path(&self) -> &Path {
        // It is there unless there is a session.
        self.file.as_deref().unwrap_or(Path::new("-"))
    }

    /// Reads the files that the flags name.
    pub(crate) fn read(&self, limit: ByteCount) -> Result<Recipe, Failure> {
        if self.bound_thinking && self.previous.is_none() && self.session.session.is_none() {
            let rule = "thinking is held against an earlier request: give --previous or --session";
            return Err(Failure::new("--bound-thinking", rule));
        }
        if self.summary_role.is_some() && self.summary.is_none() && self.session.session.is_none() {
            let rule = "there is no summary: give --summary, or a --session that has one";
            return Err(Failure::new("--summary-role", rule));
        }
        let before = self.previous.as_ref().map(|path| read_previous(path, limit));
        let summary = self.summary.as_ref().map(|path| read_summary(path, limit));
        Ok(Recipe {
            request: self.request(limit)?,
            summary: summary.transpose()?,
            before: before.transpose()?.unwrap_or_default(),
            pins: self.pins(),
            model: self.model.clone(),
            ledger: None,
            bound_thinking: self.bound_thinking,
            is_of_session: false,
        })
    }

    fn contexts(&self, limit: ByteCount) -> Result<Vec<ContextText>, Failure> {
        let own = [
            (ContextKind::Role, &self.role, &self.role_file),
            (ContextKind::Todo, &self.todo, &self.todo_file),
            (ContextKind::Info, &self.info, &self.info_file),
            (ContextKind::Notes, &self.notes, &self.notes_file),
        ];
        let mut contexts = Vec::new();
        for (kind, text, file) in own {
            let file = file.as_ref().map(|path| read_text(path, limit)).transpose()?;
            if let Some(text) = text.as_deref().map(Arc::from).or(file) {
                contexts.push(ContextText::new(kind, text));
            }
        }
        let texts = self.context.iter().map(|(name, text)| Ok((name, Arc::from(text.as_str()))));
        let files = self.context_file.iter();
        let files = files.map(|(name, path)| Ok((name, read_text(Path::new(path), limit)?)));
        let mut places = BTreeMap::new();
        for source in texts.chain(files) {
            let (name, text) = source?;
            let kind = neutral::context_kind(name);
            if !matches!(kind, ContextKind::Other(_)) {
                let rule = format!("`{name}` has a flag of its own, --{name}");
                return Err(Failure::new("--context", rule));
            }
            if places.insert(kind.clone(), contexts.len()).is_some() {
                return Err(Failure::new("--context", format!("`{name}` appears twice")));
            }
            contexts.push(ContextText::new(kind, text));
        }
        for (name, who) in &self.said_by {
            let kind = neutral::context_kind(name);
            let place = places.get(&kind).copied();
            let place = place.or_else(|| contexts.iter().take(4).position(|it| it.kind == kind));
            let Some(said) = place.map(|place| &mut contexts[place]) else {
                let rule = format!("`{name}` is not among the texts that the flags give");
                return Err(Failure::new("--said-by", rule));
            };
            said.told_authority = Some(*who);
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
        let mut shares = Shares::new().with_order(self.give_way.clone());
        shares.sources =
            self.give_way_in_context.iter().map(|s| neutral::context_kind(s)).collect();
        for (n, &(part, share)) in self.part.iter().enumerate() {
            if self.part[..n].iter().any(|(earlier, _)| *earlier == part) {
                return Err(Failure::new("--part", format!("`{}` appears twice", part.as_str())));
            }
            shares = shares.with(part, share);
        }
        if let Some(budget) = budget {
            shares.check(budget.limit()).map_err(|e| Failure::new("--part", e.to_string()))?;
        }
        let mut request = assemble::Recipe::new().with_shares(shares);
        let system = self.system.iter().map(|text| Ok(Arc::from(text.as_str())));
        let files = self.system_file.iter().map(|path| read_text(path, limit));
        request.system = system.chain(files).collect::<Result<_, _>>()?;
        request.context = self.contexts(limit)?;
        let is_source = |name: &&String| match neutral::context_kind(name) {
            kind @ ContextKind::Other(_) => request.context.iter().any(|it| it.kind == kind),
            _ => true,
        };
        if let Some(name) = self.give_way_in_context.iter().find(|name| !is_source(name)) {
            let rule =
                format!("`{name}` is no source: role, todo, info, notes, or one of --context");
            return Err(Failure::new("--give-way-in-context", rule));
        }
        if let Some(name) = &self.agent {
            request.agent = Agent::Sub(AgentName::new(name));
        }
        request.rule = self.place.clone().unwrap_or_default();
        request.carrier = self.carrier.unwrap_or_default();
        request.system_messages = self.system_messages.unwrap_or_default();
        request.missing_result = match self.missing {
            Some(Missing::Make) | None => MissingResult::Make,
            Some(Missing::Drop) => MissingResult::DropCall,
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
    /// Repairs and validates a finished request, and does no more.
    pub(crate) fn plain() -> Self {
        let request = assemble::Recipe::new().with_look_alikes(LookAlikes::Keep);
        Self { request, ..Self::default() }
    }

    /// Makes the request of a conversation, for a target or in neutral form.
    pub(crate) fn make(
        &self,
        loaded: &Loaded,
        target: Option<&Target>,
        counts: bool,
    ) -> Result<Made, Failure> {
        let recipe = self.of(loaded, counts)?;
        let mut single = Single::of(&loaded.conversation, &recipe);
        single.pins = &self.pins;
        single.previous = self.before.0.as_ref();
        single.sent = self.before.1.as_deref();
        single.bound_thinking = self.bound_thinking;
        single.trusts_thinking = self.is_of_session;
        let preview = single.preview(target).map_err(|e| Failure::session(&loaded.name, &e))?;
        Ok(Made { preview, limit: recipe.budget.map(|budget| budget.limit()) })
    }

    /// The agent whose request it is.
    pub(crate) fn agent(&self) -> Option<&AgentName> {
        self.request.agent.name()
    }

    /// The target, by the session's own name for its cache. Tokens are then counted as the
    /// session counts them.
    pub(crate) fn keyed(
        &mut self,
        target: Option<Target>,
        session: Option<&mut OpenSession>,
    ) -> Result<Option<Target>, Failure> {
        match (target, session) {
            (Some(mut target), Some(session)) => {
                if self.bound_thinking {
                    // What is recorded must be what is shown.
                    target.bound_thinking = Some(true);
                }
                self.ledger = Some(session.ledger(&target.options.model)?);
                session.keyed(&target, self.request.agent.name()).map(Some)
            }
            (None, Some(session)) => {
                // Nobody is named: whoever was asked last is likely to be asked again.
                let last = session.ask(session.session.last_target()).ok();
                if let (Some(last), None) = (last, &self.model) {
                    self.ledger = Some(session.ledger(&last.options.model)?);
                }
                Ok(None)
            }
            (target, None) => Ok(target),
        }
    }

    /// Has tokens counted as those of this model, unless a flag names another; in a session, as
    /// it has learned to count them.
    pub(crate) fn count_for(
        &mut self,
        model: &str,
        session: Option<&mut OpenSession>,
    ) -> Result<(), Failure> {
        let model = self.model.get_or_insert_with(|| model.to_owned());
        self.ledger = session.map(|session| session.ledger(model)).transpose()?;
        Ok(())
    }

    /// What the flags say, and what the conversation brings with it.
    pub(crate) fn of(&self, loaded: &Loaded, counts: bool) -> Result<assemble::Recipe, Failure> {
        let mut recipe = self.request.clone();
        if let Some((file, summary)) = &self.summary {
            let summary = summary.over(&loaded.conversation);
            recipe.summary = Some(summary.map_err(|e| Failure::session(file, &e))?.into());
        }
        recipe.tools = loaded.tools.clone();
        if counts || recipe.budget.is_some() {
            let model = self.model.as_deref().unwrap_or(&loaded.options.model);
            let own = || Ledger::for_model(model).into();
            recipe.ledger = Some(self.ledger.clone().unwrap_or_else(own));
        }
        Ok(recipe)
    }
}

/// The text of a file. Only a flag for a path names one: a text is never taken for a path.
fn read_text(path: &Path, limit: ByteCount) -> Result<Arc<str>, Failure> {
    Ok(input::Input::read(path, limit)?.text.into())
}

fn read_previous(path: &Path, limit: ByteCount) -> Result<Before, Failure> {
    let file = input::Input::read(path, limit)?;
    let hint = "--previous takes a request as `interleaf build` printed it, or an API's body";
    read::before(&file.text).map_err(|e| file.fault(&e).hint(hint))
}

fn read_summary(path: &Path, limit: ByteCount) -> Result<(String, SummaryForm), Failure> {
    let file = input::Input::read(path, limit)?;
    let summary = SummaryForm::read(&file.text).map_err(|e| file.fault(&e))?;
    Ok((file.name, summary))
}

fn parse_part(text: &str) -> Result<(Part, Share), String> {
    let (part, share) =
        text.split_once('=').ok_or("a part is written PART=MIN..MAX, such as context=500..10%")?;
    let part = part.parse().map_err(|e: assemble::Error| e.to_string())?;
    Ok((part, share.parse().map_err(|e: assemble::Error| e.to_string())?))
}

fn parse_said_by(text: &str) -> Result<(String, Authority), String> {
    let (source, who) =
        text.split_once('=').ok_or("it is written SOURCE=WHO, such as info=data")?;
    let who = who.parse().map_err(|e: assemble::Error| e.to_string())?;
    Ok((source.trim().to_owned(), who))
}

fn parse_source(text: &str) -> Result<(String, String), String> {
    let source = text.split_once('=').filter(|(name, _)| !name.trim().is_empty());
    let source = source.map(|(name, text)| (name.trim().to_owned(), text.to_owned()));
    source.ok_or_else(|| "a source is written NAME=TEXT, or NAME=PATH for a file".into())
}
