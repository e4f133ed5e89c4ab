//! How a run of a plan ended.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use interleaf::Session;
use interleaf::model::{Json, Message, ToolName, plural};
use interleaf::plan::StepId;

use crate::{Limit, Used};

/// How a run of a plan ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanEnd {
    /// Every step is done.
    Completed,
    /// These steps failed; what depends on them was not run, all else is done.
    StepsFailed(Vec<StepId>),
    /// It came to a limit.
    OutOfBudget(Limit),
    /// It was stopped.
    Interrupted,
    /// It could not go on: nobody can be asked, or the session cannot be written.
    Failed(String),
}

/// A run of a plan that has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlanEnded {
    /// How.
    pub end: PlanEnd,
    /// What became of each step, in the order of the plan.
    pub steps: Vec<StepReport>,
    /// What it used.
    pub used: Used,
    /// The session, to go on with.
    pub session: Session,
}

/// What became of a step.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StepReport {
    /// Its name.
    pub id: StepId,
    /// The tool that it calls.
    pub tool: ToolName,
    /// How it ended.
    pub end: StepEnd,
    /// Whether no other step depends on it: its result is a part of the plan's.
    pub is_last: bool,
    /// Its arguments, if they are known.
    pub arguments: Option<Json>,
    /// The result of its call, if there is one.
    pub result: Option<Arc<Message>>,
    /// Whether its call was started, and changes something: if it failed, it is run again only
    /// where that is wished.
    pub was_started: bool,
    /// The requests that this run made for it.
    pub rounds: u32,
    /// The tokens that they used.
    pub tokens: u64,
    /// Who gave its last answer: the vendor and the model. None, if that is not known.
    pub answered_by: Option<(String, String)>,
    /// How long this run worked on it.
    pub took: Duration,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepEnd {
    /// It is done.
    Done,
    /// It failed, and why.
    Failed(String),
    /// It was not run, for this one that it depends on has failed or was not run.
    Skipped(StepId),
    /// It is still to do.
    Open,
}

impl PlanEnd {
    /// A word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::StepsFailed(_) => "steps_failed",
            Self::OutOfBudget(_) => "out_of_budget",
            Self::Interrupted => "interrupted",
            Self::Failed(_) => "failed",
        }
    }
}

impl StepEnd {
    /// A word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed(_) => "failed",
            Self::Skipped(_) => "skipped",
            Self::Open => "open",
        }
    }
}

/// How many steps are named.
const MOST_NAMED: usize = 12;

impl fmt::Display for PlanEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::StepsFailed(steps) => {
                let named: Vec<&str> =
                    steps.iter().take(MOST_NAMED).map(|step| step.as_str()).collect();
                let more = match steps.len() > MOST_NAMED {
                    true => ", …",
                    false => "",
                };
                let n = plural(steps.len(), "step");
                write!(f, "{n} failed: {}{more}", named.join(", "))
            }
            Self::OutOfBudget(limit) => write!(f, "out of budget: its limit of {limit}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Failed(why) => write!(f, "failed: {why}"),
        }
    }
}
