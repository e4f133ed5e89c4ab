//! The builder: the steps, one after the other.

use std::sync::Arc;

use interleaf_model::{CallId, Entry, Origin, Prompt, Provenance};

use crate::draft::Draft;
use crate::finding::Findings;
use crate::prefix::stable_prefix;
use crate::steps::filter::own_origin;
use crate::steps::{STEPS, VALIDATE};
use crate::{Error, Input, Report, Step, StepReport};

/// What came of assembling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembly {
    /// The request, or what it waits for.
    pub outcome: Outcome,
    /// What was done.
    pub report: Report,
}

/// The request, or what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A valid request.
    Ready(Prompt),
    /// No request: the caller said that results for these calls are still to come.
    Waiting(Vec<CallId>),
}

/// Makes a request of an input.
///
/// # Errors
/// If there is nothing to say, or what must be said does not fit the budget, or a
/// setting makes no sense. A history that can be mended is never an error.
pub fn assemble(input: &Input<'_>) -> Result<Assembly, Error> {
    assemble_observed(input, |_, _| {})
}

/// Like [`assemble`], and shows the messages after each step.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_observed(
    input: &Input<'_>,
    mut observe: impl FnMut(Step, &[Entry]),
) -> Result<Assembly, Error> {
    assemble_draft(input, Draft::of(&input.view), &mut observe)
}

/// Takes a draft through the steps.
pub(crate) fn assemble_draft(
    input: &Input<'_>,
    mut draft: Draft,
    observe: &mut dyn FnMut(Step, &[Entry]),
) -> Result<Assembly, Error> {
    let mut report = Report::default();
    for (step, run) in STEPS {
        let before = draft.entries.len();
        let mut findings = Findings::default();
        draft = run(input, draft, &mut findings)?;
        log(step, before, &draft.entries, &findings.0);
        observe(step, &draft.entries);
        let (after, findings) = (draft.entries.len(), findings.0);
        report.steps.push(StepReport { step, before, after, findings });
    }
    name_owner(input, &mut draft);
    report.placement = draft.placement.clone();
    report.tokens = draft.tokens.take();
    if let Some(placement) = &mut report.placement {
        let is_context = |entry: &Entry| matches!(entry.provenance, Provenance::Context(_));
        placement.index = draft.entries.iter().position(is_context).unwrap_or_default();
    }
    if let Some(previous) = &input.previous {
        report.stable_prefix = Some(stable_prefix(previous, &draft.entries, input.ledger));
    }
    if !draft.open.is_empty() {
        return Ok(Assembly { outcome: Outcome::Waiting(draft.open), report });
    }
    let n = draft.entries.len();
    let prompt = VALIDATE(input, draft).map_err(Error::invalid)?;
    log(Step::Validate, n, prompt.entries(), &[]);
    observe(Step::Validate, prompt.entries());
    let step = StepReport { step: Step::Validate, before: n, after: n, findings: Vec::new() };
    report.steps.push(step);
    report.breakpoint = prompt.breakpoint();
    Ok(Assembly { outcome: Outcome::Ready(prompt), report })
}

/// Marks what the steps made for a sub-agent as its own, so that it would hear it
/// again.
fn name_owner(input: &Input<'_>, draft: &mut Draft) {
    let origin = own_origin(input);
    if origin == Origin::Main {
        return;
    }
    for entry in &mut draft.entries {
        if entry.message.origin != origin && !matches!(entry.provenance, Provenance::Context(_)) {
            Arc::make_mut(&mut entry.message).origin = origin.clone();
        }
    }
}

fn log(step: Step, before: usize, entries: &[Entry], findings: &[crate::Finding]) {
    tracing::debug!(
        step = step.as_str(),
        before,
        after = entries.len(),
        findings = findings.len(),
        "assembled"
    );
}
