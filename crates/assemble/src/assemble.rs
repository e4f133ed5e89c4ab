//! The builder: the steps, one after the other.

use interleaf_model::{Entry, Prompt, Provenance, Requirements, Role};

use crate::draft::Draft;
use crate::finding::Findings;
use crate::order::{Order, is_own};
use crate::prefix::stable_prefix;
use crate::steps::{STEPS, VALIDATE};
use crate::{Error, Ledger, OpenCall, Previous, Recipe, Report, Step, StepReport, View};

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
    Waiting(Vec<OpenCall>),
}

/// Makes a request of a view.
///
/// `requires` is what the target asks for; [`Requirements::STRICT`] suits every API.
///
/// # Errors
/// If there is nothing to say, or what must be said does not fit the budget, or a
/// setting makes no sense. A history that can be mended is never an error.
pub fn assemble(
    view: &View,
    recipe: &Recipe,
    requires: Requirements,
    previous: Option<&Previous>,
) -> Result<Assembly, Error> {
    assemble_observed(view, recipe, requires, previous, |_, _| {})
}

/// Like [`assemble`], and shows the messages after each step.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_observed(
    view: &View,
    recipe: &Recipe,
    requires: Requirements,
    previous: Option<&Previous>,
    mut observe: impl FnMut(Step, &[Entry]),
) -> Result<Assembly, Error> {
    let order = Order {
        recipe,
        requires,
        pinned: &view.pinned,
        has_own: view.messages.iter().any(|message| is_own(&recipe.agent, message)),
        placement: previous.and_then(|previous| previous.placement.as_ref()),
        counting: recipe.ledger.as_deref().map(Ledger::counting),
    };
    let mut draft = Draft::of(&view.messages);
    let mut report = Report::default();
    for (step, run) in STEPS {
        let before = draft.entries.len();
        let mut findings = Findings::default();
        draft = run(&order, draft, &mut findings)?;
        observe(step, &draft.entries);
        report.add(step, before, draft.entries.len(), findings);
    }
    report.tokens = draft.tokens.take();
    report.placement = draft.placement.take();
    if let Some(placement) = &mut report.placement {
        let is_context = |entry: &Entry| matches!(entry.provenance, Provenance::Context(_));
        placement.index = draft.entries.iter().position(is_context).unwrap_or_default();
        let before = placement.index.checked_sub(1).and_then(|before| draft.entries.get(before));
        let before = before.filter(|entry| entry.message.role() != Role::System);
        placement.after = before.map(|entry| entry.message.id.clone());
    }
    if let Some(previous) = previous {
        let stable = stable_prefix(&previous.messages, &draft.entries, order.counting.as_ref());
        report.stable_prefix = Some(stable);
    }
    if !draft.open.is_empty() {
        return Ok(Assembly { outcome: Outcome::Waiting(draft.open), report });
    }
    let n = draft.entries.len();
    let prompt = VALIDATE(&order, draft).map_err(Error::invalid)?;
    observe(Step::Validate, prompt.entries());
    report.add(Step::Validate, n, n, Findings::default());
    report.breakpoint = prompt.breakpoint();
    Ok(Assembly { outcome: Outcome::Ready(prompt), report })
}

impl Report {
    /// Adds what a step did, and logs it (B8).
    fn add(&mut self, step: Step, before: usize, after: usize, findings: Findings) {
        let n = findings.len();
        tracing::debug!(step = step.as_str(), before, after, findings = n, "assembled");
        self.steps.push(StepReport { step, before, after, findings: findings.into_list() });
    }
}
