//! The steps, in order. Each takes the draft, gives it back, and says what it did.

mod compress;
mod filter;
mod fit;
mod place;
mod repair;
mod system;
mod validate;

use std::fmt;

use interleaf_model::{Prompt, Violation};
use serde::Serialize;

use crate::Error;
use crate::draft::Draft;
use crate::finding::Findings;
use crate::order::Order;

type Run = fn(&Order<'_>, Draft, &mut Findings) -> Result<Draft, Error>;

/// Every step that works on the draft, in the order in which they run.
pub(crate) const STEPS: [(Step, Run); 6] = [
    (Step::Compress, compress::run),
    (Step::Filter, filter::run),
    (Step::Repair, repair::run),
    (Step::Place, place::run),
    (Step::System, system::run),
    (Step::Fit, fit::run),
];

/// The step that makes a prompt of a draft, or refuses.
pub(crate) const VALIDATE: fn(&Order<'_>, Draft) -> Result<Prompt, Violation> = validate::run;

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The summary takes the place of what it covers (B1).
    Compress,
    /// What says nothing, or is not for this agent, goes (B2).
    Filter,
    /// Every call gets exactly one result, right after it (B3).
    Repair,
    /// The context block goes in (B4).
    Place,
    /// One system message, first (B5).
    System,
    /// The request is made to fit the window (B10).
    Fit,
    /// Every law is checked (B6).
    Validate,
}

impl Step {
    /// The step's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compress => "compress",
            Self::Filter => "filter",
            Self::Repair => "repair",
            Self::Place => "place",
            Self::System => "system",
            Self::Fit => "fit",
            Self::Validate => "validate",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
