//! From a view to a request that is always valid.
//!
//! ```text
//!   Input ──▶ Draft ─ compress ▸ filter ▸ repair ▸ place ▸ system ▸ fit ─▶ validate ──▶ Prompt
//!   (view, summary,      └──────────── findings, by step ────────────┘                    │
//!    context, prompts)                        Report ◀── placement, tokens, stable prefix ┘
//! ```
//!
//! An [`Input`] holds all that a request is made of, as data. The steps hand a
//! draft from one to the next ([`steps`] lists them in order), each in its own file
//! and each saying what it changed and why. Only the last one can make a
//! [`Prompt`](interleaf_model::Prompt). The same input gives the same bytes, in
//! every process; the conversation is never changed.
//!
//! ```
//! use std::sync::Arc;
//! use interleaf_assemble::{Context, Input, Outcome, assemble};
//! use interleaf_model::{ContextKind, notation};
//!
//! let view = notation::parse("u list the files\na [call c1 ls]\n")?;
//! let mut input = Input::of(view.into_iter().map(Arc::new));
//! input.context.push(Context::new(ContextKind::Todo, "1. list the files"));
//!
//! let assembly = assemble(&input)?;
//! let Outcome::Ready(prompt) = assembly.outcome else { unreachable!() };
//! // The call had no result: one was made. The context block stands behind the user.
//! assert_eq!(prompt.entries().len(), 4);
//! assert_eq!(prompt.context(), Some(1..2));
//! assert_eq!(assembly.report.findings().count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;

mod input;

mod draft;
mod finding;
pub mod steps;

mod placement;
mod prefix;
mod tokens;

mod report;

mod assemble;
mod running;

pub use assemble::{Assembly, Outcome, assemble, assemble_observed};
pub use error::{Error, ErrorKind};
pub use finding::{Cause, Change, Finding};
pub use input::{
    Agent, Budget, Context, Input, MissingResult, OpenBlock, Settings, Summary, SummaryRole,
};
pub use placement::{CustomRule, Fallback, Layout, Placement, Rule};
pub use prefix::StablePrefix;
pub use report::{Report, StepReport, Tokens};
pub use running::Running;
pub use steps::Step;
pub use tokens::{Bpe, Estimate, Ledger, TokenCounter, counter_for};
