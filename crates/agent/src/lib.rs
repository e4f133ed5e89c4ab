//! Agents that run: a loop, tools, sub-agents, and context that is fresh in every request.
//!
//! ```text
//!   Agent ──start──▶ Run ──▶ Event, Event, … ──▶ Ended
//!                     │
//!                     ├─ recipe: role, sources, tools      (made anew for every request)
//!                     ├─ ask: the session's next request, by the transport
//!                     └─ calls: all of an answer at once, results as they come
//! ```
//!
//! What an agent knows stands in its session: a run that was stopped, or killed, goes on when it
//! is started again. A call that changes something is marked before it runs, and is never run
//! twice in silence.

mod again;
mod agent;
mod call;
mod calls;
mod course;
mod definition;
mod ended;
mod error;
mod event;
mod hook;
mod limits;
mod offer;
mod places;
mod plan_run;
mod ran;
mod result;
mod role;
mod run;
mod scene;
mod source;
mod spans;
mod standing;
mod sub_agent;
mod task;
mod tool;
mod toolbox;
mod written;

pub mod settings;
pub mod tools;

/// MCP servers: a [`Server`](mcp::Server) is a [`Toolbox`].
pub use interleaf_mcp as mcp;

pub use agent::Agent;
pub use definition::{Definition, Definitions, Format, Kit};
pub use ended::{End, Ended};
pub use error::Error;
pub use event::Event;
pub use hook::{Allow, Hook};
pub use limits::{Limit, Limits, Used};
pub use places::Places;
pub use plan_run::{
    KeptPlan, PlanEnd, PlanEnded, PlanEvent, PlanHandle, PlanRun, PlanRunner, StepEnd, StepReport,
};
pub use ran::Ran;
pub use result::reports;
pub use run::{Handle, Run};
pub use scene::Scene;
pub use source::{ContextSource, Unread};
pub use standing::Standing;
pub use tool::{Boxed, Effect, Function, Output, Tool, ToolError, tool};
pub use toolbox::Toolbox;
pub use written::{Fault, Notice, Table, nearest};
