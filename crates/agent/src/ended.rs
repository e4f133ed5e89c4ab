//! How a run ended.

use std::fmt;

use interleaf::Session;
use interleaf::store::ErrorKind;
use interleaf_transport::Amount;
use serde::{Deserialize, Serialize};

use crate::Limit;

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
    /// The rounds that it began, without those of sub-agents: what its limit counts.
    pub rounds: u32,
    /// The requests that were sent, those of sub-agents included.
    pub requests: u32,
    /// Those of them whose usage is not known, or only a part of it, such as one that was
    /// interrupted: what they took beyond that is neither in `tokens` nor in `money`.
    pub unknown: u32,
    /// The tokens that it used, those of sub-agents included.
    pub tokens: u64,
    /// What that cost, as far as prices are known.
    pub money: Amount,
    /// What was said to it while it ran and that it did not come to hear.
    pub unheard: Vec<String>,
    /// What its store refused, if that is why it could not go on.
    pub store_refused: Option<ErrorKind>,
    /// The session, to go on with.
    pub session: Session,
}

impl End {
    /// A word for it, which is stored.
    pub(crate) fn mark(&self) -> String {
        match self {
            Self::OutOfBudget(limit) => format!("ended:out_of_budget:{limit}"),
            Self::Completed => "ended:completed".to_owned(),
            Self::Interrupted => "ended:interrupted".to_owned(),
            Self::Failed(_) => "ended:failed".to_owned(),
            Self::Refused => "ended:refused".to_owned(),
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
