//! What was done to make a request, for programs and for people.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use interleaf_model::{ContextKind, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    Authority, Cause, Elements, Finding, FindingKind, KeptOrder, Part, Placement, Rate,
    StablePrefix, Step,
};

/// What was done to make a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// Each step, in order, with what it found.
    pub steps: Vec<StepReport>,
    /// Where the context block went, or what was added to it; absent if there is neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// What was said of the context that stays said, if the rule amends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<Elements>,
    /// Told if the tools stand as a session first sent them, and not as in the recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_order: Option<KeptOrder>,
    /// Each source of the context that says something, said something until now, or cannot be
    /// read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceReport>,
    /// What is the same as in the previous request, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stable_prefix: Option<StablePrefix>,
    /// The index of the last message that should be cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakpoint: Option<usize>,
    /// What the parts cost, if tokens are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// What each part may take and takes, if that is set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartReport>,
}

/// How a source of the context is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SourceReport {
    /// What it is about.
    pub kind: ContextKind,
    /// Which of the sources of that kind it is.
    #[serde(skip_serializing_if = "is_zero")]
    pub nth: u32,
    /// How much of it is shown.
    pub state: SourceState,
    /// Who says it.
    pub authority: Authority,
    /// The version of what it says, if the rule counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Until when it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// What of it holds no more, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expired: Vec<Arc<str>>,
}

/// How much of a source is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SourceState {
    /// All of it.
    Whole,
    /// Its head and its tail.
    Shortened,
    /// That it is left out.
    LeftOut,
    /// It holds no more, and is not shown; where it was, it is withdrawn.
    Expired,
    /// It cannot be read now.
    Unread,
}

/// What a part of a request may take, and what it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PartReport {
    /// Which part.
    pub part: Part,
    /// The tokens of all of it.
    pub before: u64,
    /// The tokens of what is sent of it.
    pub after: u64,
    /// Down to how many it gives way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// How many it may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Why it gave way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
}

impl PartReport {
    /// Whether it has a minimum or a maximum, or gave way.
    pub fn is_limited(&self) -> bool {
        self.min.is_some() || self.max.is_some() || self.cause.is_some()
    }

    /// Down to how many tokens it may give way.
    pub fn least(&self) -> u64 {
        let whole = self.max.unwrap_or(u64::MAX).min(self.before);
        let least = match self.part {
            Part::History => 0,
            Part::Context | Part::Tools | Part::System => whole,
        };
        self.min.unwrap_or(least).min(whole)
    }
}

/// For example `context: 3200 tokens, 1800 are sent, 500..2000 allowed`.
impl fmt::Display for PartReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, before, after, min, max, cause } = self;
        write!(f, "{part}: {before} tokens")?;
        if before != after {
            write!(f, ", {after} are sent")?;
        }
        if min.is_some() || max.is_some() {
            let side = |side: &Option<u64>| side.map(|n| n.to_string()).unwrap_or_default();
            write!(f, ", {}..{} allowed", side(min), side(max))?;
        }
        match cause {
            Some(cause) => write!(f, " ({cause})"),
            None => Ok(()),
        }
    }
}

fn is_zero(nth: &u32) -> bool {
    *nth == 0
}

/// What one step did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepReport {
    /// The step.
    pub step: Step,
    /// How many messages it was given.
    pub before: usize,
    /// How many it handed on.
    pub after: usize,
    /// What it changed, and why.
    pub findings: Vec<Finding>,
}

/// The tokens of a request, by part.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Tokens {
    /// What counted them.
    pub counter: String,
    /// At which rate. It is one for a counter that knows the model's own tokens; an
    /// estimate's follows what the API reports.
    #[serde(default, skip_serializing_if = "Rate::is_one")]
    pub rate: Rate,
    /// The system message.
    pub system: u64,
    /// The summary.
    pub summary: u64,
    /// The conversation, with what was made to mend it.
    pub history: u64,
    /// The context block.
    pub context: u64,
    /// The tools.
    pub tools: u64,
}

interleaf_model::only_objects!(Tokens);

impl Tokens {
    /// All together.
    pub fn total(&self) -> u64 {
        self.system + self.summary + self.history + self.context + self.tools
    }
}

impl Report {
    /// Every finding with its step, in order.
    pub fn findings(&self) -> impl Iterator<Item = (Step, &Finding)> {
        self.steps.iter().flat_map(|step| step.findings.iter().map(|f| (step.step, f)))
    }

    /// The findings, in runs of neighbours that say the same of several messages.
    pub fn runs(&self) -> Vec<(Step, Vec<&Finding>)> {
        let mut runs: Vec<(Step, Vec<&Finding>)> = Vec::new();
        for (step, finding) in self.findings() {
            let same = |old: &&Finding| (old.kind, old.cause) == (finding.kind, finding.cause);
            match runs.last_mut() {
                Some((of, run)) if *of == step && run.first().is_some_and(same) => {
                    run.push(finding);
                }
                _ => runs.push((step, vec![finding])),
            }
        }
        runs
    }
}

/// How many messages findings are about, by what was done to them: `1 made`, `2 moved`.
pub fn counts<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<String> {
    let mut counts: BTreeMap<FindingKind, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.kind).or_default() += finding.count;
    }
    counts.into_iter().map(|(kind, count)| format!("{count} {kind}")).collect()
}
