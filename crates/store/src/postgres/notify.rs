//! Telling other nodes what changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use deadpool_postgres::Client;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::call::{Again, Calls, attempts};
use crate::error::Failure;
use crate::{Notice, SessionId};

/// The channel of `LISTEN` and `NOTIFY`.
pub(crate) const CHANNEL: &str = "interleaf";

/// The most notices that go out together: a payload must stay below 8000 bytes.
const TOGETHER: usize = 100;

pub(crate) struct Notifier(UnboundedSender<Notice>);

impl Notifier {
    /// Starts the task that sends; it ends when the notifier is dropped.
    pub(crate) fn start(calls: Arc<Calls>) -> Self {
        let (sender, receiver) = unbounded_channel();
        tokio::spawn(run(calls, receiver));
        Self(sender)
    }

    pub(crate) fn send(&self, notice: Notice) {
        // The task only ends with us.
        let _ = self.0.send(notice);
    }
}

async fn run(calls: Arc<Calls>, mut notices: UnboundedReceiver<Notice>) {
    let mut taken = Vec::new();
    while notices.recv_many(&mut taken, TOGETHER).await > 0 {
        let payload = payload(taken.drain(..));
        let sent = attempts!(calls, Again::Finds, |client, _second| send(client, &payload));
        if let Err(error) = sent {
            tracing::warn!(%error, "other nodes were not notified of a change");
        }
    }
}

/// The last notice of each session says it all.
fn payload(notices: impl Iterator<Item = Notice>) -> String {
    let mut last: BTreeMap<Option<SessionId>, Notice> = BTreeMap::new();
    for notice in notices {
        let session = match notice {
            Notice::Changed { session, .. } | Notice::Removed { session } => Some(session),
            Notice::Missed => None,
        };
        last.insert(session, notice);
    }
    let texts: Vec<String> = last.into_values().map(Notice::to_text).collect();
    texts.join(",")
}

async fn send(client: &Client, payload: &str) -> Result<(), Failure> {
    let statement = client.prepare_cached("SELECT pg_notify($1, $2)").await?;
    client.execute(&statement, &[&CHANNEL, &payload]).await?;
    Ok(())
}
