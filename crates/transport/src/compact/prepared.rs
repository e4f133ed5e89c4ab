//! Summaries that are written while the agent goes on, one for each session at a time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use interleaf::assemble::Recipe;
use interleaf::compaction::Compaction;
use interleaf::store::SessionId;
use interleaf::{Session, Target};
use tokio::task::JoinHandle;

use super::before::{at_once, is_no_room};
use super::done::outdated;
use super::{By, Compacting, SummaryText, Written, name};
use crate::failed::Failed;
use crate::incoming::Deadline;
use crate::{Attempts, Error, ErrorKind, Transport};

/// As many summaries are kept for sessions that nobody asks again; the oldest is dropped.
const MOST: usize = 256;

pub(super) type Outcome = Result<(Compaction, Written), Error>;

/// The summaries that are being written, or wait to be taken in.
#[derive(Default)]
pub(super) struct UnderWay(Mutex<HashMap<SessionId, Prepared>>);

struct Prepared {
    began: Instant,
    task: JoinHandle<Outcome>,
}

impl Drop for Prepared {
    /// Whoever forgets a summary wants no more of it.
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl UnderWay {
    /// Has a summary written, unless one is.
    pub(super) async fn begin(
        &self,
        transport: &Transport,
        session: &mut Session,
        (recipe, target): (&Recipe, &Target),
        how: &Compacting,
    ) -> Result<(), Error> {
        if self.lock().contains_key(&session.id()) {
            return Ok(());
        }
        let policy = at_once(&how.policy);
        let plan = session.compaction(&policy, recipe, target).await;
        let mut plan = match plan.map_err(|e| Error::in_session(e, name(target))) {
            Ok(Some(plan)) => plan,
            Ok(None) => return Ok(()),
            Err(e) if is_no_room(&e) => return Ok(()),
            Err(e) => return Err(e),
        };
        let mut copy = session.duplicate();
        // The task must not hold what it is kept in.
        let transport = Transport(transport.0.clone(), None, None);
        let (recipe, target) = (recipe.clone(), target.clone());
        let writer = how.writer.clone().unwrap_or_else(|| target.clone());
        let task = tokio::spawn(async move {
            let (own, total) = ((&recipe, &target), transport.total());
            let by = By { policy: &policy, own, writer: &writer, total };
            let written = transport.write(&mut copy, &mut plan, by).await?;
            Ok((plan, written))
        });
        let mut kept = self.lock();
        if kept.len() >= MOST {
            let oldest = kept.iter().min_by_key(|(_, prepared)| prepared.began);
            if let Some(id) = oldest.map(|(id, _)| *id) {
                kept.remove(&id);
            }
        }
        kept.insert(session.id(), Prepared { began: Instant::now(), task });
        Ok(())
    }

    /// The summary of a session, if one was begun; it is waited for until then, and stays
    /// under way if that is not enough.
    pub(super) async fn taken(
        &self,
        id: SessionId,
        total: Option<Deadline>,
    ) -> Result<Option<Outcome>, Failed> {
        let Some(mut prepared) = self.lock().remove(&id) else { return Ok(None) };
        let written = match Deadline::wait(total, &mut prepared.task).await {
            Ok(written) => written,
            Err(failed) => {
                self.lock().insert(id, prepared);
                return Err(failed);
            }
        };
        Ok(Some(written.unwrap_or_else(|e| {
            let failed = Failed::new(ErrorKind::Request, format!("a summary was not written: {e}"));
            Err(Error::of(failed, ("", ""), Attempts::default()))
        })))
    }

    /// Drops the summary of a session, and gives the texts that were written for it.
    pub(super) async fn forget(&self, id: SessionId) -> Vec<SummaryText> {
        let prepared = self.lock().remove(&id);
        let Some(mut prepared) = prepared.filter(|prepared| prepared.task.is_finished()) else {
            return Vec::new();
        };
        match (&mut prepared.task).await {
            Ok(Ok((_, written))) => outdated(written.texts),
            Ok(Err(e)) => e.into_lost(),
            Err(_) => Vec::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Prepared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
