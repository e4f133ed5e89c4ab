//! A server: its tools, and calls of them.
//!
//! | what happens | what becomes of it |
//! |---|---|
//! | a call takes too long, with the connection that it waits for | that call fails; the server stays |
//! | the connection is lost | all calls wait for one new connection |
//! | … before a call reached the server | it is made again |
//! | … while a call ran that reads | it is made again |
//! | … while another call ran | it fails, and says that it may have taken effect |
//! | it cannot be reached | whoever looks for its tools has it tried again, at longer and longer intervals |
//! | a tool is gone, or was never there | a call of it fails; no other tool is called |

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as Lock, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::JsonObject;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant as Deadline;

use crate::connect::connect;
use crate::link::{Failure, Link, after};
use crate::listener::Listener;
use crate::question::Respondent;
use crate::secrets::{Secrets, beginning};
use crate::tool::{ServerTool, ToolList};
use crate::{Answer, Error, ErrorKind, ServerSettings};

/// How long a server that could not be reached is left alone at first; then twice as long each
/// time.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How often in a row it is tried before it is left to calls.
const MOST_TRIES: u32 = 8;

/// The most bytes of what a tool says that failed.
const MOST_ERROR: usize = 1024 * 1024;

/// An MCP server. It is cheap to clone; when the last clone is dropped, the server's program is
/// ended with all that it started.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    name: Arc<str>,
    settings: ServerSettings,
    respondent: Option<Arc<dyn Respondent>>,
    tools: ToolList,
    /// Held while a connection is made: whoever needs it waits for the same one.
    link: Mutex<Option<Arc<Link>>>,
    /// How many connections were tried.
    tries: AtomicU64,
    /// Why the last one was not to be had.
    failed: Lock<Option<Failed>>,
    /// What no error shows, since a connection was tried.
    secrets: Lock<Secrets>,
    /// What tries again.
    trying: Lock<Option<AbortHandle>>,
}

struct Failed {
    error: Error,
    at: Instant,
    /// How often in a row.
    times: u32,
}

impl Server {
    /// A server that is not connected yet; the first call connects it. What it asks is answered
    /// with the defaults that it declares, or declined.
    pub fn new(name: impl Into<Arc<str>>, settings: ServerSettings) -> Self {
        Self::of(name.into(), settings, None)
    }

    /// The same, with somebody who answers what the server asks.
    pub fn with_respondent(
        name: impl Into<Arc<str>>,
        settings: ServerSettings,
        respondent: impl Respondent + 'static,
    ) -> Self {
        Self::of(name.into(), settings, Some(Arc::new(respondent)))
    }

    fn of(
        name: Arc<str>,
        settings: ServerSettings,
        respondent: Option<Arc<dyn Respondent>>,
    ) -> Self {
        Self(Arc::new(Inner {
            name,
            settings,
            respondent,
            tools: ToolList::default(),
            link: Mutex::new(None),
            tries: AtomicU64::new(0),
            failed: Lock::default(),
            secrets: Lock::default(),
            trying: Lock::default(),
        }))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Connects it, if it is not connected, and lists its tools.
    ///
    /// # Errors
    /// If it cannot be started or reached.
    pub async fn connect(&self) -> Result<(), Error> {
        self.link().await.map(|_| ())
    }

    /// Its tools, in the order in which they were first seen: late ones are at the end, and those
    /// that are gone are still there, and marked.
    pub fn tools(&self) -> Vec<ServerTool> {
        self.0.tools.all()
    }

    /// What its settings name among its tools that it has not, in a sentence; nothing, if it has
    /// all of them or was not reached yet.
    pub fn misnamed(&self) -> Option<String> {
        let has = self.0.tools.names();
        let named = self.0.settings.tools.iter().flatten();
        let lacks: Vec<&str> = named.filter(|name| !has.contains(name)).map(|n| &**n).collect();
        if lacks.is_empty() || has.is_empty() {
            return None;
        }
        let (lacks, has) = (lacks.join(", "), has.join(", "));
        Some(format!("mcp.{} has no tool {lacks}; it has {has}", self.name()))
    }

    /// Has a server that could not be reached tried again, unless that was a moment ago or it was
    /// tried often. Nobody waits for it: once it is connected, its tools are there.
    pub fn try_again(&self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let mut trying = lock(&self.0.trying);
        let is_due = lock(&self.0.failed).as_ref().is_some_and(Failed::is_due);
        if !is_due || trying.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        let server = self.clone();
        let task = runtime.spawn(async move {
            match server.connect().await {
                Ok(()) => tracing::info!(server = server.name(), "connected late"),
                Err(error) => tracing::warn!(server = server.name(), %error, "not connected"),
            }
        });
        *trying = Some(task.abort_handle());
    }

    /// Calls a tool with arguments, which are a JSON object. A call that waits for a connection
    /// longer than a call may take fails, and the server goes on starting.
    ///
    /// # Errors
    /// If there is no result. The error says whether the call may have taken effect.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<Answer, Error> {
        let arguments = self.arguments(arguments)?;
        let mut deadline = after(self.0.settings.timeout);
        let mut before: Option<(bool, Error)> = None;
        loop {
            let link = match (self.link_by(deadline).await, &before) {
                (Ok(link), _) => link,
                // The first error says more: that it may have taken effect.
                (Err(_), Some((true, first))) => return Err(first.clone()),
                (Err(error), _) => return Err(error),
            };
            let known = self.known(tool)?;
            let made = link.call(tool, arguments.clone(), &self.0.settings, &mut deadline).await;
            let (reached, why) = match made {
                Ok(result) => return Ok(self.told(result.into())),
                Err(Failure::Refused(why)) => return Err(self.error(ErrorKind::Refused, why)),
                Err(Failure::Timeout) => {
                    let limit = self.0.settings.timeout.as_secs_f64();
                    let why = format!("the call took more than {limit} s and was called off");
                    return Err(self.error(ErrorKind::Timeout, doubtful(why, &known)));
                }
                Err(Failure::Lost { reached, why }) => (reached, why),
            };
            self.lose(&link).await;
            let error = match reached {
                true => doubtful(format!("it was lost while the call ran: {why}"), &known),
                false => format!("it was lost before the call reached it: {why}"),
            };
            let error = self.error(ErrorKind::Lost, error);
            if before.is_some() || (reached && !known.is_read_only) {
                return Err(error);
            }
            tracing::warn!(server = self.name(), tool, %error, "called again");
            before = Some((reached, error));
        }
    }

    /// Lets go of the server: a program may end by itself, before it is ended.
    pub async fn close(&self) {
        if let Some(task) = lock(&self.0.trying).take() {
            task.abort();
        }
        if let Some(link) = self.0.link.lock().await.take().and_then(Arc::into_inner) {
            link.close().await;
        }
    }

    /// The connection; a new one, if there is none or it is lost. Whoever waits for one that
    /// cannot be had gets the same error.
    async fn link(&self) -> Result<Arc<Link>, Error> {
        let n_tries = self.0.tries.load(Ordering::Acquire);
        let mut slot = self.0.link.lock().await;
        match &*slot {
            Some(link) if !link.is_lost() => return Ok(link.clone()),
            Some(_) => *slot = None,
            None if self.0.tries.load(Ordering::Acquire) > n_tries => {
                if let Some(Failed { error, .. }) = &*lock(&self.0.failed) {
                    return Err(error.clone());
                }
            }
            None => {}
        }
        let secrets = Secrets::of(&self.0.settings.reach);
        *lock(&self.0.secrets) = secrets.clone();
        let listener = Listener {
            secrets,
            server: self.0.name.clone(),
            tools: self.0.tools.clone(),
            offered: self.0.settings.tools.as_deref().map(Arc::from),
            respondent: self.0.respondent.clone(),
            progress: Default::default(),
            listing: Arc::default(),
            is_due: Arc::default(),
        };
        let made = connect(&self.0.settings, listener).await;
        let made = made.map(Arc::new).map_err(|(kind, why)| self.error(kind, why));
        {
            let mut failed = lock(&self.0.failed);
            let times = failed.as_ref().map_or(0, |failed| failed.times) + 1;
            let error = made.as_ref().err().cloned();
            *failed = error.map(|error| Failed { error, at: Instant::now(), times });
        }
        self.0.tries.fetch_add(1, Ordering::Release);
        *slot = made.as_ref().ok().cloned();
        made
    }

    /// The connection, if it is there in time. One that comes later is for the next call.
    async fn link_by(&self, deadline: Deadline) -> Result<Arc<Link>, Error> {
        let server = self.clone();
        let mut making = tokio::spawn(async move { server.link().await });
        let mut own = OfACall(Some(making.abort_handle()));
        match tokio::time::timeout_at(deadline, &mut making).await {
            Ok(Ok(made)) => made,
            Ok(Err(ended)) => Err(self.error(ErrorKind::Unreached, ended.to_string())),
            Err(_) => {
                own.0 = None;
                let limit = self.0.settings.timeout.as_secs_f64();
                let why = format!("it took more than {limit} s to connect: it was not made");
                Err(self.error(ErrorKind::Timeout, why))
            }
        }
    }

    /// Lets go of a connection that is lost, unless there is a new one already.
    async fn lose(&self, lost: &Arc<Link>) {
        let mut slot = self.0.link.lock().await;
        if slot.as_ref().is_some_and(|link| Arc::ptr_eq(link, lost)) {
            *slot = None;
        }
    }

    fn known(&self, tool: &str) -> Result<ServerTool, Error> {
        match self.0.tools.find(tool) {
            Some(known) if known.is_there => Ok(known),
            Some(_) => {
                let why = format!("it no longer has the tool {tool:?}");
                Err(self.error(ErrorKind::GoneTool, why))
            }
            None => {
                let names = self.tools().into_iter().filter(|tool| tool.is_there);
                let names = names.map(|tool| tool.name).collect::<Vec<_>>().join(", ");
                let why = format!("it has no tool {tool:?}; it has: {names}");
                Err(self.error(ErrorKind::UnknownTool, why))
            }
        }
    }

    fn arguments(&self, text: &str) -> Result<JsonObject, Error> {
        if text.trim().is_empty() {
            return Ok(JsonObject::new());
        }
        serde_json::from_str(text).map_err(|error| {
            let why = format!("the arguments are no JSON object: {error}");
            self.error(ErrorKind::Arguments, why)
        })
    }

    fn error(&self, kind: ErrorKind, why: impl AsRef<str>) -> Error {
        Error::new(&self.0.name, kind, self.hidden_in(why.as_ref()))
    }

    /// An answer as it is told: one that is an error shows no secret.
    fn told(&self, mut answer: Answer) -> Answer {
        if answer.is_error {
            answer.text = self.hidden_in(beginning(&answer.text, MOST_ERROR));
        }
        answer
    }

    fn hidden_in(&self, text: &str) -> String {
        let secrets = lock(&self.0.secrets).clone();
        secrets.hidden_in(text)
    }
}

/// A task that ends with the call that began it, unless it is let go.
struct OfACall(Option<AbortHandle>);

impl Drop for OfACall {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

impl Failed {
    /// Whether it is time to try again.
    fn is_due(&self) -> bool {
        let wait = FIRST_WAIT * 2_u32.saturating_pow(self.times - 1);
        // What is wrong in the settings stays wrong.
        self.error.kind() != ErrorKind::Settings
            && self.times <= MOST_TRIES
            && self.at.elapsed() >= wait
    }
}

fn lock<T>(of: &Lock<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is said of a call that the server may have made.
fn doubtful(why: String, tool: &ServerTool) -> String {
    match tool.is_read_only {
        true => why,
        false => format!("{why}. It may have taken effect: look before you do it again"),
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.0.name).finish_non_exhaustive()
    }
}
