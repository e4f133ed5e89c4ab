//! How a run ended.

use std::fmt;

use interleaf::Session;
use interleaf::store::ErrorKind;
use serde::{Deserialize, Serialize};

use crate::{Limit, Used};

/// How a run of an agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum End {
    /// It said its last word.
    Completed,
    /// It came to a limit.
    OutOfBudget(Limit),
    /// It was stopped.
    Interrupted,
    /// It could not go on.
    Failed(String),
    /// The model, or a filter of the API's, refused.
    Refused,
}

/// A run that has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ended {
    /// How.
    pub end: End,
    /// The last that the model said; empty, if it said nothing.
    pub text: String,
    /// What it used.
    pub used: Used,
    /// What was said to it while it ran and that it did not come to hear.
    pub unheard: Vec<String>,
    /// What its store refused, if that is why it could not go on.
    pub store_refused: Option<ErrorKind>,
    /// The session, to go on with.
    pub session: Session,
}

impl End {
    /// A word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::OutOfBudget(_) => "out_of_budget",
            Self::Interrupted => "interrupted",
            Self::Failed(_) => "failed",
            Self::Refused => "refused",
        }
    }

    /// How it is stored.
    pub(crate) fn mark(&self) -> String {
        match self {
            Self::OutOfBudget(limit) => format!("ended:{}:{limit}", self.as_str()),
            _ => format!("ended:{}", self.as_str()),
        }
    }

    /// The end that was stored under a word, if that is one that lasts.
    pub(crate) fn stored(mark: &str) -> Option<Self> {
        match mark.strip_prefix("ended:")? {
            "refused" => Some(Self::Refused),
            other => Limit::named(other.strip_prefix("out_of_budget:")?).map(Self::OutOfBudget),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::OutOfBudget(Limit::Length) => {
                f.write_str("out of budget: the answer reached its limit of output tokens")
            }
            Self::OutOfBudget(limit) => write!(f, "out of budget: its limit of {limit}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Failed(why) => write!(f, "failed: {why}"),
            Self::Refused => f.write_str("refused"),
        }
    }
}
