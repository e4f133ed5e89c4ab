//! A run of a plan: steps are asked for their arguments and run, as soon as they may be (E10).
//!
//! ```text
//!   PlanRunner ──start──▶ PlanRun ──▶ PlanEvent, PlanEvent, … ──▶ PlanEnded
//!                            │
//!                            │   ready ──▶ ask ──▶ call ──▶ mark ──▶ run ──▶ result ──▶ ready …
//!                            └─  ready ──▶ ask ──▶ …      (several steps at once)
//! ```
//!
//! All that a run knows stands in the log of its session, so that it survives an export, a fork
//! and a kill, is found by a search, and can be talked about afterwards:
//!
//! | what | where |
//! |---|---|
//! | the plan, who is asked and how | a record of the kind `plan_run` |
//! | the objective | the user's message |
//! | every answer to a step, with its usage | a message of the sub-agent `step-ID-N` |
//! | the arguments that were found right | a call `step-ID-N` of the main agent |
//! | that the call was started | a mark on it, as on the calls of any agent |
//! | what it gave | the result of the call |
//!
//! A run that is started again begins by reading that: an answer that is there is not asked for
//! again, a call that is there is not made again, and a call that changes something and was
//! started is not run again.

mod asking;
mod calling;
mod course;
mod ended;
mod event;
mod kept;
mod runner;
mod standing;

use std::sync::Arc;

use interleaf::Session;
use tokio::sync::{Mutex, mpsc, watch};

use self::course::Outcome;
pub use self::ended::{PlanEnd, PlanEnded, StepEnd, StepReport};
pub use self::event::PlanEvent;
pub use self::kept::KeptPlan;
pub use self::runner::PlanRunner;
use crate::Error;
use crate::limits::Tally;
use crate::task::Task;

/// A run of a plan. It goes on by itself; dropping it stops it at once, and the session is left
/// as it was last written.
pub struct PlanRun {
    events: mpsc::UnboundedReceiver<PlanEvent>,
    stop: watch::Sender<bool>,
    task: Task<Outcome>,
    session: Arc<Mutex<Session>>,
    tally: Arc<Tally>,
}

/// Stops a run of a plan.
#[derive(Clone)]
pub struct PlanHandle(watch::Sender<bool>);

impl PlanHandle {
    /// Stops it: nothing new is begun, calls that run are ended and say so. The session can be
    /// gone on with.
    pub fn interrupt(&self) {
        self.0.send_replace(true);
    }
}

impl PlanRun {
    /// What happens next; `None`, when it has ended.
    pub async fn next(&mut self) -> Option<PlanEvent> {
        self.events.recv().await
    }

    /// What stops it, while [`next`](Self::next) is waited for.
    pub fn handle(&self) -> PlanHandle {
        PlanHandle(self.stop.clone())
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// If the session cannot be read.
    pub async fn finish(mut self) -> Result<PlanEnded, Error> {
        let Outcome { end, steps } = match self.task.end().await {
            Ok(outcome) => outcome,
            Err(error) => Outcome { end: PlanEnd::Failed(error.to_string()), steps: Vec::new() },
        };
        let Self { session, tally, .. } = self;
        let session = crate::run::owned(session).await?;
        Ok(PlanEnded { end, steps, used: tally.used(), session })
    }
}
