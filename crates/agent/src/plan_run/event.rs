//! What happens in a run of a plan, while it happens.

use std::sync::Arc;

use interleaf::model::{Message, ToolCall};
use interleaf::plan::Way;
use interleaf_transport::Answer;

use super::PlanEnd;

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
