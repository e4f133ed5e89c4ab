//! What a compaction would do and whom it would ask, for people and as data.

use std::fmt;

use serde::Serialize;
use smol_str::SmolStr;

use super::{Compaction, Facts, FormCause, SummaryForm};

/// As many facts are named.
const NAMED: usize = 12;

/// A plan, what its summary must keep, and who would be asked for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outlook {
    /// What would go, and what would stay.
    #[serde(flatten)]
    pub plan: Compaction,
    /// What the summary must keep.
    pub facts: Facts,
    /// Who would be asked for it.
    pub asks: Asks,
}

/// Who would be asked for a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Asks {
    /// A model.
    Model {
        /// Whose.
        vendor: SmolStr,
        /// Which.
        model: SmolStr,
        /// The tokens of the request.
        tokens: u64,
        /// What it would read.
        form: SummaryForm,
        /// Why it would read that.
        because: FormCause,
    },
    /// No model: a digest would be made.
    Nobody {
        /// Why.
        because: String,
    },
}

impl fmt::Display for Outlook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)?;
        let Facts { kept, left_out } = &self.facts;
        writeln!(f, "keeps   {} facts, word for word", kept.len())?;
        for fact in kept.iter().take(NAMED) {
            writeln!(f, "          {}: {}", fact.rule, fact.text)?;
        }
        if kept.len() > NAMED {
            writeln!(f, "          and {} more", kept.len() - NAMED)?;
        }
        for left_out in left_out {
            writeln!(f, "          left out, {left_out}")?;
        }
        match &self.asks {
            Asks::Model { vendor, model, tokens, form, because } => {
                writeln!(f, "asks    {vendor} ({model}): {form}, {tokens} tokens")?;
                writeln!(f, "          {because}")
            }
            Asks::Nobody { because } => writeln!(f, "asks    no model: {because}"),
        }
    }
}
