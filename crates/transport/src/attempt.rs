//! What was tried, one line each.

use std::fmt;
use std::time::Duration;

use interleaf::Impact;
use interleaf::model::{Spent, Timestamp};
use smol_str::SmolStr;

use crate::ErrorKind;
use crate::failed::{Failed, seconds};

/// One try of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Attempt {
    /// Whom it went to.
    pub vendor: SmolStr,
    /// Which model it asked.
    pub model: SmolStr,
    /// When it began, by the clock of this machine.
    pub began: Option<Timestamp>,
    /// How long it took, until its first piece or its failure.
    pub took: Duration,
    /// How long was waited before it.
    pub waited: Duration,
    /// Why it is another try and not the first.
    pub because: Because,
    /// What it failed with: the kind, and a sentence. None: it was answered.
    pub failure: Option<(ErrorKind, String)>,
    /// What it cost though it failed, as far as the API told it before it broke off.
    pub spent: Option<Spent>,
    /// With a fall-back: what the change costs on the prompt cache.
    pub impact: Option<Box<Impact>>,
}

/// Why a try was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Because {
    /// It is the first.
    First,
    /// The one before failed in a way that may pass.
    Retry,
    /// The key was refused, and asked for again.
    NewKey,
    /// The API did not take back thinking, which is left out now.
    WithoutThinking,
    /// The vendor did not know the answer that the request went on from; all is said now.
    WholeHistory,
    /// The target before gave no answer.
    FallBack,
    /// The request was too long, and the session was compacted.
    Compacted,
    /// The request was still too long, and was shortened without a model.
    Shortened,
}

/// All tries of a call, in order.
#[derive(Debug, Clone, Default)]
pub struct Attempts(Vec<Attempt>);

impl Attempts {
    /// How many there were.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was tried.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Attempt> {
        self.0.iter()
    }

    pub(crate) fn push(&mut self, attempt: Attempt) {
        self.0.push(attempt);
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut Attempt> {
        self.0.last_mut()
    }

    /// Number and time, such as `3 tries in 1.5 s`, and the vendors if there were several.
    pub fn summary(&self) -> String {
        let time: Duration = self.0.iter().map(|attempt| attempt.took + attempt.waited).sum();
        let mut vendors: Vec<&str> = self.0.iter().map(|attempt| attempt.vendor.as_str()).collect();
        vendors.dedup();
        let of = if vendors.len() > 1 {
            format!(", {}", vendors.join(", then "))
        } else {
            String::new()
        };
        let tries = if self.len() == 1 { "try" } else { "tries" };
        format!("{} {tries} in {}{of}", self.len(), seconds(time))
    }
}

impl<'a> IntoIterator for &'a Attempts {
    type Item = &'a Attempt;
    type IntoIter = std::slice::Iter<'a, Attempt>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Attempt {
    /// One that begins now.
    pub(crate) fn new((vendor, model): (&str, &str), because: Because) -> Self {
        Self {
            vendor: vendor.into(),
            model: model.into(),
            began: interleaf::now().ok(),
            took: Duration::ZERO,
            waited: Duration::ZERO,
            because,
            failure: None,
            spent: None,
            impact: None,
        }
    }

    pub(crate) fn failed_with(&mut self, failed: &Failed) {
        let status = failed.status.map(|status| format!("HTTP {status}: ")).unwrap_or_default();
        self.failure = Some((failed.kind, format!("{status}{}", failed.text)));
        self.spent = failed.partial.as_ref().and_then(|reply| reply.usage).map(Spent::from);
    }
}

impl Because {
    fn words(self) -> &'static str {
        match self {
            Self::First => "",
            Self::Retry => "again",
            Self::NewKey => "with a new key",
            Self::WithoutThinking => "without thinking of earlier turns",
            Self::WholeHistory => "with the whole history",
            Self::FallBack => "as a fall-back",
            Self::Compacted => "after a compaction",
            Self::Shortened => "shortened",
        }
    }
}

/// A line for a person.
impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { vendor, model, took, waited, because, failure, spent, impact, .. } = self;
        write!(f, "{vendor} ({model})")?;
        if !because.words().is_empty() {
            write!(f, " {}", because.words())?;
        }
        if !waited.is_zero() {
            write!(f, " after {}", seconds(*waited))?;
        }
        match failure {
            Some((_, text)) => write!(f, ": {}", interleaf::model::shown(text))?,
            None => write!(f, ": answered in {}", seconds(*took))?,
        }
        if let Some(spent) = spent {
            write!(f, " (paid: {spent})")?;
        }
        if let Some(cost) = impact.as_ref().and_then(|impact| impact.cost.as_ref()) {
            let (read, computed) = (cost.read, cost.computed);
            write!(f, " (its cache should hold {read} tokens of the request, and not {computed})")?;
        }
        Ok(())
    }
}
