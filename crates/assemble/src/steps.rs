//! The steps, in order. Each takes the draft, gives it back, and says what it did.

pub(crate) mod compress;
pub(crate) mod filter;
pub(crate) mod fit;
mod place;
pub(crate) mod repair;
mod system;
mod validate;

use std::fmt;

use interleaf_model::{Prompt, Violation};
use serde::Serialize;

use crate::Error;
use crate::brief::Brief;
use crate::draft::Draft;
use crate::finding::Findings;

pub(crate) type Run = fn(&Brief<'_>, &mut Draft, &mut Findings) -> Result<(), Error>;

/// Every step that works on the draft, in the order in which they run.
pub(crate) const STEPS: [(Step, Run); 6] = [
    (Step::Compress, compress::run),
    (Step::Filter, filter::run),
    (Step::Repair, repair::run),
    (Step::Place, place::run),
    (Step::System, system::run),
    (Step::Fit, fit::run),
];

/// How many of them a settled turn has been through.
pub(crate) const AFTER_REPAIR: usize = 3;

/// The step that makes a prompt of a draft, or refuses.
pub(crate) const VALIDATE: fn(&Brief<'_>, &mut Draft) -> Result<Prompt, Violation> = validate::run;

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
