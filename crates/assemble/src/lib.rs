//! From a view to a request that is always valid.
//!
//! ```text
//!   View ────▶ Draft ─ compress ▸ filter ▸ repair ▸ place ▸ system ▸ fit ─▶ validate ──▶ Prompt
//!   + Recipe            └──────────── findings, by step ────────────┘                    │
//!   + Requirements                           Report ◀── placement, tokens, stable prefix ┘
//! ```
//!
//! A [`View`] is the visible part of a conversation; a [`Recipe`] is what else a request
//! is made from. The steps hand a draft from one to the next ([`steps`] lists them in
//! order), each in its own file and each saying what it changed and why. Only the last
//! one can make a [`Prompt`](interleaf_model::Prompt). The same input gives the same
//! bytes, in every process; the conversation is never changed. A [`Running`] session
//! makes the same requests at the cost of what is new.
//!
//! ```
//! use std::sync::Arc;
//! use interleaf_assemble::{Outcome, Recipe, View, assemble};
//! use interleaf_model::{ContextKind, Requirements, notation};
//!
//! let messages = notation::parse("u list the files\na [call c1 ls]\n")?;
//! let view = View::of(messages.into_iter().map(Arc::new));
//! let recipe = Recipe::new().with_context(ContextKind::Todo, "1. list the files");
//!
//! let assembly = assemble(&view, &recipe, Requirements::STRICT, None)?;
//! let Outcome::Ready(prompt) = assembly.outcome else { unreachable!() };
//! // The call had no result: one was made. The context block stands after the user.
//! assert_eq!(prompt.entries().len(), 4);
//! assert_eq!(prompt.context(), Some(1..2));
//! assert_eq!(assembly.report.findings().count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;

mod context;
mod recipe;
mod shares;
mod view;

mod allot;
mod brief;
mod carrier;
mod carry;
mod delta;
mod draft;
mod fence;
mod finding;
mod open;
pub mod steps;

mod placement;
mod prefix;
mod tokens;
mod tool_order;

mod report;

mod assemble;
mod running;

pub use assemble::{Assembly, Outcome, assemble, assemble_observed, assemble_or_draft};
pub use carrier::{Carrier, Refused, SystemMessages};
pub use context::{Authority, ContextText, Gap};
pub use delta::{Element, ElementForm, Elements, Rebase, ShownContext, SourceWay, Way};
pub use draft::OpenCall;
pub use error::{Error, ErrorKind};
pub use fence::{FencedContext, FencedText};
pub use finding::{Cause, Finding, FindingKind};
pub use open::open_calls;
pub use placement::{CustomRule, Fallback, Layout, Placement, PlacementRule};
pub use prefix::StablePrefix;
pub use recipe::{
    Agent, Budget, CachePrices, LookAlikes, MissingResult, OpenBlock, Recipe, Summary, SummaryRole,
};
pub use report::{PartReport, Report, SourceReport, SourceState, StepReport, Tokens, counts};
pub use running::Running;
pub use shares::{Amount, Part, Share, Shares};
pub use steps::Step;
#[cfg(feature = "bpe")]
pub use tokens::Bpe;
pub use tokens::{Estimate, Ledger, Rate, SentAs, TokenCounter, counter_for};
pub use tool_order::{KeptOrder, ToolOrder};
pub use view::{Previous, View};
