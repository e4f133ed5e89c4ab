//! Arguments for a plan step: a step and a schema in, valid arguments out.
//!
//! A [`Plan`] is an objective and steps that wait for each other; a [`Schedule`] says
//! which of them may run now. For one step a [`Job`] says what to send to a model, is
//! given the reply, and ends with arguments that keep to the tool's [`Schema`], or with
//! an explicit failure. The call travels as text in an XML protocol or as the API's
//! own tool call, with one meaning. [`calls`] reads calls out of text, and needs no plan.
//!
//! ```text
//!   JSON ──▶ Plan ──▶ Schedule ──▶ a step that is ready
//!                                     │
//!              Templates ──▶ Job ──▶ StepRequest ──▶ (a model) ──▶ Reply
//!                             ▲                                  │
//!                             └── TextTools::read · Schema::mend ◀─┘
//! ```
//!
//! Nothing here does I/O, asks a clock or draws a random number.
//!
//! ```
//! use interleaf_plan::{Job, Mode, JobState, Plan, Results, PlanSettings, Templates};
//!
//! let plan = Plan::read(r#"{
//!     "objective": "Will it rain?",
//!     "tools": [{"name": "forecast", "parameters": {"type": "object",
//!         "properties": {"city": {"type": "string"}}, "required": ["city"]}}],
//!     "steps": [{"tool": "forecast", "reason": "look at the sky"}]
//! }"#, &[]).map_err(|faults| faults[0].clone())?;
//! let (results, templates) = (Results::default(), Templates::built_in()?);
//! let settings = PlanSettings { mode: Mode::Xml, ..PlanSettings::default() };
//! let job = Job::new(&plan, 0, &results, &settings, &templates)?;
//! let JobState::Ask(request) = job.next()? else { panic!("nothing was answered yet") };
//! assert_eq!(request.messages.len(), 2);
//! # Ok::<(), interleaf_plan::Error>(())
//! ```

mod error;

mod graph;
mod plan;
mod results;
mod schedule;

mod exact;
mod schema;

pub mod calls;
mod xml;

mod job;
mod protocol;
mod templates;

pub use error::{Error, ErrorKind};
pub use job::{
    Attempt, InXml, Job, JobState, Mode, Objection, PlanSettings, StepArguments, StepFailure,
    StepRequest, Way, merge_adjacent,
};
pub use plan::{Plan, PlanStep, PlanTool, StepId, read_tools};
pub use protocol::{Asked, Datum};
pub use results::{Results, StepResult};
pub use schedule::{Schedule, StepState};
pub use schema::{Mended, Repair, RepairKind, Schema, SchemaFault};
pub use templates::{Language, Templates};
