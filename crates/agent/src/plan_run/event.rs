//! What happens in a run of a plan, while it happens.

use std::sync::Arc;

use interleaf::model::{Message, ToolCall};
use interleaf::plan::{Plan, Way};
use interleaf_transport::{Answer, Attempt, Because};

use super::PlanEnd;
use crate::event::line;

/// What happens in a run of a plan. A step is told by its place in the plan.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum PlanEvent {
    /// A step was done before this run began.
    Known(usize),
    /// A step may be worked on now, for all that it depends on is done.
    Began(usize),
    /// A model is asked for the arguments of a step.
    Asking {
        /// Which step.
        step: usize,
        /// Which try of its way it is, counted from 1.
        attempt: usize,
        /// How it is asked.
        way: Way,
    },
    /// The model has answered; whether the arguments are right is not known yet.
    Answered {
        /// Which step.
        step: usize,
        /// What it said, and what it cost.
        answer: Box<Answer>,
    },
    /// A model gave no answer, and the next is asked.
    FellBack {
        /// Which step.
        step: usize,
        /// Why there is no answer.
        why: String,
    },
    /// An answer broke off and is asked for again.
    BrokeOff {
        /// Which step.
        step: usize,
        /// Why.
        why: String,
    },
    /// A step has its arguments, and its call begins to run.
    Started {
        /// Which step.
        step: usize,
        /// The call.
        call: ToolCall,
    },
    /// A step is done, and its result is stored.
    Done {
        /// Which step.
        step: usize,
        /// What it gave.
        result: Arc<Message>,
    },
    /// A step has failed.
    Failed {
        /// Which step.
        step: usize,
        /// Why.
        why: String,
    },
    /// A step is not run, for something that it depends on has failed.
    Skipped {
        /// Which step.
        step: usize,
        /// What it depends on.
        because: usize,
    },
    /// A step was stopped before its end, and can be gone on with.
    Stopped(usize),
    /// The run has ended.
    Ended(PlanEnd),
}

impl PlanEvent {
    /// The step that it is about.
    pub fn step(&self) -> Option<usize> {
        match self {
            Self::Known(step) | Self::Began(step) | Self::Stopped(step) => Some(*step),
            Self::Asking { step, .. }
            | Self::Answered { step, .. }
            | Self::FellBack { step, .. }
            | Self::BrokeOff { step, .. }
            | Self::Started { step, .. }
            | Self::Done { step, .. }
            | Self::Failed { step, .. }
            | Self::Skipped { step, .. } => Some(*step),
            Self::Ended(_) => None,
        }
    }

    /// In a line, for a person, without the step. Nothing in it does anything to a terminal.
    pub fn in_words(&self, plan: &Plan) -> String {
        match self {
            Self::Known(_) => "done before".to_owned(),
            Self::Began(_) => "begins".to_owned(),
            Self::Asking { attempt: 1, way, .. } => format!("asking ({})", way.as_str()),
            Self::Asking { attempt, way, .. } => {
                format!("asking ({}, try {attempt})", way.as_str())
            }
            Self::Answered { answer, .. } => {
                let is_other = |attempt: &Attempt| attempt.because == Because::FallBack;
                let by = match answer.attempts.iter().any(is_other) {
                    true => format!(" by {}", line(&format!("{} {}", answer.vendor, answer.model))),
                    false => String::new(),
                };
                let spent = answer.spent.map(|spent| format!(": {spent}")).unwrap_or_default();
                format!("answered{by}{spent}")
            }
            Self::FellBack { why, .. } => format!("no answer, the next is asked: {}", line(why)),
            Self::BrokeOff { why, .. } => format!("broke off, asked again: {}", line(why)),
            Self::Started { call, .. } => {
                format!("{}({})", line(call.name.as_str()), line(call.arguments.as_str()))
            }
            Self::Done { result, .. } => format!("done: {}", line(&result.text())),
            Self::Failed { why, .. } => format!("failed: {}", line(why)),
            Self::Skipped { because, .. } => {
                let id = plan.steps().get(*because).map_or("", |step| step.id.as_str());
                format!("skipped: it depends on {}", line(id))
            }
            Self::Stopped(_) => "stopped".to_owned(),
            Self::Ended(end) => line(&end.to_string()),
        }
    }
}
