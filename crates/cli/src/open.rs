//! Sessions that a store keeps, for commands that wait.
//!
//! ```text
//!   --store, INTERLEAF_STORE, interleaf.toml, default ──▶ OpenStore ──find──▶ id ──open──▶ Session
//!                                         └─ wait: a runtime of one thread
//! ```

mod refusal;
mod request;

use std::future::Future;
use std::io;
use std::sync::{Arc, LazyLock};

use clap::Args;
use interleaf::assemble::Recipe;
use interleaf::conversation::Conversation;
use interleaf::store::{self, SessionId, Store};
use interleaf::wire::Options;
use interleaf::{LeftOut, Session};
use interleaf_agent::Places;
use interleaf_agent::settings::Settings;
use tokio::runtime::{Builder, Runtime};

use crate::failure::{Failure, printable};
use crate::input::Loaded;
use crate::output::say;
use crate::until;

/// Which store is used when the user names none.
const STORE_VARIABLE: &str = "INTERLEAF_STORE";

const SESSION: &str = "Session";

/// How to name what a request is made from beside the conversation.
const GIVE: &str = "--system, --tools, --role, --context and others give it";

/// Says what the last request had and this one does not.
pub(crate) fn say_left_out(left_out: &LeftOut) {
    let had = left_out.to_string();
    say(format_args!("note: {}, and this one does not ({GIVE})", printable(&had)));
}

/// A session in place of a file.
#[derive(Debug, Args)]
pub(crate) struct SessionArguments {
    /// Use this session: its conversation, summary, TODO list, information and folder notes; the
    /// start of its id is enough
    #[arg(long, value_name = "ID", help_heading = SESSION)]
    pub(crate) session: Option<String>,
    /// The store that keeps it [default: $INTERLEAF_STORE, or a file in your data folder]
    #[arg(long, value_name = "URL", requires = "session", conflicts_with = "file", help_heading = SESSION)]
    store: Option<String>,
    /// The session as it was when it had this many events
    #[arg(long, value_name = "SEQ", requires = "session", conflicts_with = "file", help_heading = SESSION)]
    pub(crate) at: Option<u64>,
}

/// What a command does where no store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It refuses: there can be nothing to read.
    Refuse,
    /// It makes one.
    Make,
}

/// A store that is open.
#[derive(Clone)]
pub(crate) struct OpenStore {
    pub(crate) store: Arc<dyn Store>,
    runtime: &'static Runtime,
}

/// A session that is open.
pub(crate) struct OpenSession {
    pub(crate) session: Session,
    pub(crate) opened: OpenStore,
}

impl SessionArguments {
    /// Opens the session, if the flags name one.
    pub(crate) fn open(&self) -> Result<Option<OpenSession>, Failure> {
        let Some(id) = &self.session else { return Ok(None) };
        OpenStore::open(self.store.as_deref(), Missing::Refuse)?.session(id).map(Some)
    }
}

impl OpenStore {
    /// Opens the store at a URL; without one, that of the environment, or the default.
    pub(crate) fn open(url: Option<&str>, missing: Missing) -> Result<Self, Failure> {
        let (subject, url) = address(url)?;
        Self::open_as(subject, &url, missing)
    }

    /// Opens the store at a URL, and says who named it if it cannot be.
    pub(crate) fn open_as(subject: &str, url: &str, missing: Missing) -> Result<Self, Failure> {
        let none = store::file_of(url).filter(|path| !path.exists());
        if let (Missing::Refuse, Some(path)) = (missing, none) {
            let rule = "there is no store here";
            return Err(Failure::new(path.display().to_string(), rule)
                .hint("`interleaf sessions new` and `import` make one; --store names another"));
        }
        let runtime = runtime(subject)?;
        let store = runtime
            .block_on(until::wait(subject, store::open(url)))
            .map_err(|e| Failure::store(subject, &e))?;
        Ok(Self { store, runtime })
    }

    /// Waits for an answer, however long that takes.
    pub(crate) fn wait<F: Future>(&self, answer: F) -> F::Output {
        self.runtime.block_on(answer)
    }

    /// Waits for what a store answers, as long as the command may take.
    pub(crate) fn in_time<F: Future>(&self, subject: &str, answer: F) -> F::Output {
        self.wait(until::wait(subject, answer))
    }

    /// What a store answers.
    pub(crate) fn ask<T>(
        &self,
        answer: impl Future<Output = Result<T, store::Error>>,
    ) -> Result<T, Failure> {
        self.in_time("", answer).map_err(|e| Failure::store("", &e))
    }

    /// What the library answers.
    pub(crate) fn asked<T>(
        &self,
        answer: impl Future<Output = Result<T, interleaf::Error>>,
    ) -> Result<T, Failure> {
        self.in_time("", answer).map_err(|e| Failure::session("", &e))
    }

    /// The session of this id, or the only one whose id begins so.
    pub(crate) fn find(&self, asked: &str) -> Result<SessionId, Failure> {
        self.in_time(asked, Session::find(&*self.store, asked)).map_err(|e| {
            let failure = Failure::session(asked, &e);
            match e.input_fault().is_some_and(|fault| fault.hint().is_none()) {
                true => failure.hint("`interleaf sessions ls` lists them"),
                false => failure,
            }
        })
    }

    /// Opens a session.
    pub(crate) fn session(self, asked: &str) -> Result<OpenSession, Failure> {
        let id = self.find(asked)?;
        let session = self.asked(Session::open(self.store.clone(), id))?;
        Ok(OpenSession { session, opened: self })
    }
}

impl OpenSession {
    /// What the session is called in messages to the user.
    pub(crate) fn name(&self) -> String {
        self.session.id().to_string()
    }

    /// What a session answers.
    pub(crate) fn ask<T>(
        &self,
        answer: impl Future<Output = Result<T, interleaf::Error>>,
    ) -> Result<T, Failure> {
        let name = self.name();
        self.opened.in_time(&name, answer).map_err(|e| Failure::session(&name, &e))
    }

    /// The conversation as other commands read one from a file.
    pub(crate) fn loaded(&self) -> Loaded {
        self.with(self.session.conversation().clone())
    }

    /// The conversation as it is or as it was.
    pub(crate) fn loaded_at(&self, at: Option<u64>) -> Result<Loaded, Failure> {
        let Some(seq) = at else { return Ok(self.loaded()) };
        let events = self.session.seq();
        if seq > events {
            let rule =
                format!("session {} ends at event {events}, before {seq}", self.session.id());
            return Err(Failure::new("--at", rule));
        }
        Ok(self.with(self.ask(self.session.at(seq))?))
    }

    /// A recipe with what the session adds to it, now or then.
    pub(crate) fn recipe_at(&self, recipe: &Recipe, at: Option<u64>) -> Result<Recipe, Failure> {
        self.ask(self.session.recipe_at(recipe, at.unwrap_or(u64::MAX)))
    }

    fn with(&self, conversation: Conversation) -> Loaded {
        Loaded {
            name: self.name(),
            conversation,
            tools: [].into(),
            options: Options::default(),
            family: None,
            rest: Vec::new(),
        }
    }
}

/// The one runtime: two stores that a session is copied between wait together.
static RUNTIME: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build());

/// What waits for stores and sockets.
pub(crate) fn runtime(subject: &str) -> Result<&'static Runtime, Failure> {
    RUNTIME.as_ref().map_err(|e| Failure::new(subject, e.to_string()))
}

/// The URL of the store, and who named it.
fn address(url: Option<&str>) -> Result<(&'static str, String), Failure> {
    if let Some(url) = url {
        return Ok(("--store", url.to_owned()));
    }
    match std::env::var_os(STORE_VARIABLE).filter(|url| !url.is_empty()) {
        Some(url) => {
            let url = url.into_string();
            let url = url.map_err(|_| Failure::new(STORE_VARIABLE, "this is not UTF-8"))?;
            Ok((STORE_VARIABLE, url))
        }
        None => match settled_store()? {
            Some(url) => Ok(("store in interleaf.toml", url)),
            None => Ok(("", store::default_url().map_err(|e| Failure::store("--store", &e))?)),
        },
    }
}

/// The store that the settings of this folder name.
fn settled_store() -> Result<Option<String>, Failure> {
    let Ok(folder) = std::env::current_dir() else { return Ok(None) };
    let found = Settings::of_files(&Places::of(folder)).map_err(|fault| Failure::fault(&fault))?;
    Ok(found.settings.store.map(|set| set.value))
}
