//! Where a call runs: what a tool, a source or a hook may know and use.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use interleaf::Session;
use interleaf::assemble::Agent as Who;
use tokio::sync::{Mutex, MutexGuard, mpsc, watch};

use crate::Event;
use crate::limits::Tally;

/// Where a call runs. It is cheap to clone.
#[derive(Clone)]
pub struct Scene(pub(crate) Arc<Props>);

pub(crate) struct Props {
    pub(crate) name: String,
    /// Whose requests these are, in the session.
    pub(crate) who: Who,
    pub(crate) session: Arc<Mutex<Session>>,
    pub(crate) folder: PathBuf,
    pub(crate) events: mpsc::UnboundedSender<Event>,
    /// Whether it is to stop.
    pub(crate) stop: watch::Receiver<bool>,
    /// The names of the agents that stand above this one.
    pub(crate) above: Vec<String>,
    pub(crate) tally: Arc<Tally>,
    /// Whether a tool asked for a compaction.
    pub(crate) compacts: AtomicBool,
    /// Whether another run works on what an agent that was sent works on.
    pub(crate) overtaken: AtomicBool,
}

impl Scene {
    /// The agent's name.
    pub fn agent(&self) -> &str {
        &self.0.name
    }

    /// Whose requests these are, in the session: the main agent's, or a sub-agent's.
    pub fn who(&self) -> &Who {
        &self.0.who
    }

    /// The folder that it works in.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// The session. Nobody else can use it for as long as this is held.
    pub async fn session(&self) -> MutexGuard<'_, Session> {
        self.0.session.lock().await
    }

    /// Has the session compacted before the next request.
    pub fn ask_for_compaction(&self) {
        self.0.compacts.store(true, Ordering::Relaxed);
    }

    pub(crate) fn wants_compaction(&self) -> bool {
        self.0.compacts.swap(false, Ordering::Relaxed)
    }

    /// Whether the run is to stop.
    pub fn is_stopped(&self) -> bool {
        *self.0.stop.borrow()
    }

    /// Whether the run is to stop, or its time is over.
    pub(crate) fn is_cut_short(&self) -> bool {
        let is_late = |deadline| tokio::time::Instant::now() >= deadline;
        self.is_stopped() || self.0.tally.deadline().is_some_and(is_late)
    }

    /// Waits until the run is to stop.
    pub async fn stopped(&self) {
        let mut stop = self.0.stop.clone();
        if stop.wait_for(|stop| *stop).await.is_err() {
            // Nobody is left who could stop it.
            std::future::pending::<()>().await;
        }
    }

    /// Tells whoever listens; nobody need.
    pub(crate) fn tell(&self, event: Event) {
        let _ = self.0.events.send(event);
    }
}
