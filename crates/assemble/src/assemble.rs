//! The builder: the steps, one after the other.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use interleaf_model::{
    Carried, CarriedTexts, ContextKind, Entry, Message, Prompt, Provenance, Requirements, Role,
    Tool,
};

use crate::brief::Brief;
use crate::carry::carry;
use crate::delta::{Kept, SourceKey, keyed};
use crate::draft::Draft;
use crate::finding::Findings;
use crate::prefix::stable_prefix;
use crate::steps::{Run, STEPS, VALIDATE};
use crate::tokens::PER_MESSAGE;
use crate::{
    Carrier, ContextText, Elements, Error, OpenCall, Placement, Previous, Rebase, Recipe, Report,
    ShownContext, SourceReport, SourceState, StablePrefix, Step, StepReport, Tokens, View,
};

/// What came of assembling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembly {
    /// The request, or what it waits for.
    pub outcome: Outcome,
    /// What was done.
    pub report: Report,
}

impl Assembly {
    /// The tools of the request; none, if it waits.
    pub fn tools(&self) -> &[Tool] {
        match &self.outcome {
            Outcome::Ready(prompt) => prompt.tools(),
            Outcome::Waiting(_) => &[],
        }
    }
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
    let (assembly, _) = assemble_or_draft(view, recipe, requires, previous)?;
    Ok(assembly)
}

/// Like [`assemble`], and gives the messages so far of a request that waits.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_or_draft(
    view: &View,
    recipe: &Recipe,
    requires: Requirements,
    previous: Option<&Previous>,
) -> Result<(Assembly, Vec<Entry>), Error> {
    assemble_in_order(view, recipe, requires, previous, &mut |_, _| {})
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
    let (assembly, _) = assemble_in_order(view, recipe, requires, previous, &mut observe)?;
    Ok(assembly)
}

/// With the tools as the previous request had them.
fn assemble_in_order(
    view: &View,
    recipe: &Recipe,
    requires: Requirements,
    previous: Option<&Previous>,
    observe: &mut dyn FnMut(Step, &[Entry]),
) -> Result<(Assembly, Vec<Entry>), Error> {
    let (recipe, kept) = match previous {
        Some(previous) => previous.tools.suit(recipe),
        None => (Cow::Borrowed(recipe), None),
    };
    let made = assemble_after(view, &recipe, requires, known(previous), observe);
    made.map(|(mut assembly, draft)| {
        assembly.report.tool_order = kept;
        (assembly, draft)
    })
}

/// What is known of the previous request: its messages, and where its context stood.
pub(crate) type Known<'a> = (Option<&'a [Arc<Message>]>, (Option<&'a Placement>, &'a ShownContext));

fn known(previous: Option<&Previous>) -> Known<'_> {
    let messages = previous.filter(|previous| previous.knows_messages());
    let messages = messages.map(|previous| previous.messages.as_slice());
    let Some(previous) = previous else { return (messages, (None, ShownContext::none())) };
    (messages, (previous.placement.as_ref(), &previous.shown))
}

/// Makes a request; one that waits comes with the messages so far.
pub(crate) fn assemble_after(
    view: &View,
    recipe: &Recipe,
    requires: Requirements,
    (previous, before): Known<'_>,
    observe: &mut dyn FnMut(Step, &[Entry]),
) -> Result<(Assembly, Vec<Entry>), Error> {
    let mut brief = Brief::of((view, None), recipe, requires, before)?;
    while brief.memory.has_elements() || brief.allotted.rooms.is_some() {
        // Whether what was shown can stay is known at the end, and so is what must give way.
        let mut draft = Draft::of(&view.messages, recipe.look_alikes);
        let made = Making::default().run(&brief, &mut draft, &STEPS, &mut |_, _| {});
        let why = draft.rebase.or(made.is_err().then_some(Rebase::LeftOut));
        match (draft.remake, why.filter(|_| brief.memory.has_elements())) {
            (Some(targets), _) => brief.aim(targets)?,
            (None, Some(why)) => brief.rebase(why),
            (None, None) => break,
        }
    }
    let mut draft = Draft::of(&view.messages, recipe.look_alikes);
    let mut making = Making::default();
    making.run(&brief, &mut draft, &STEPS, observe)?;
    making.carry(&brief, &mut draft);
    if let Some(previous) = previous {
        let old = previous.iter();
        let stable = stable_prefix(old, draft.messages(), brief.counting.as_ref(), |message| {
            message.neutral_len()
        });
        making.stable(stable);
    }
    let assembly = making.finish(&brief, &mut draft, observe)?;
    Ok((assembly, draft.entries))
}

/// A report in the making.
#[derive(Default)]
pub(crate) struct Making {
    report: Report,
}

impl Making {
    /// Runs these steps.
    pub(crate) fn run(
        &mut self,
        brief: &Brief<'_>,
        draft: &mut Draft,
        steps: &[(Step, Run)],
        observe: &mut dyn FnMut(Step, &[Entry]),
    ) -> Result<(), Error> {
        for &(step, run) in steps {
            let before = self.report.steps.last().map_or(draft.entries.len(), |last| last.after);
            let mut findings = Findings::default();
            run(brief, draft, &mut findings)?;
            observe(step, &draft.entries);
            self.add(step, before, draft.len_after(step), findings);
        }
        Ok(())
    }

    /// Adds what a step did, and logs it (B8).
    pub(crate) fn add(&mut self, step: Step, before: usize, after: usize, findings: Findings) {
        let n = findings.len();
        tracing::debug!(step = step.as_str(), before, after, findings = n, "assembled");
        self.report.steps.push(StepReport { step, before, after, findings: findings.into_list() });
    }

    /// Puts the texts of the context, and system messages that stay in place, into what
    /// carries them.
    pub(crate) fn carry(&mut self, brief: &Brief<'_>, draft: &mut Draft) {
        let carried = carry(brief, &draft.carriers, &mut draft.entries);
        if let Some(placement) = &mut draft.placement {
            let (carrier, refused) = carried.last;
            placement.refused = refused.or(placement.refused);
            placement.carrier = carrier;
        }
        let settled = draft.prior.as_ref().map(|prior| prior.carried());
        let mut findings = settled.unwrap_or_default();
        findings.extend(&carried.findings);
        let system = self.report.steps.iter_mut().find(|report| report.step == Step::System);
        if let Some(report) = system {
            report.findings.extend(findings.into_list());
        }
    }

    /// Adds what is the same as in the previous request.
    pub(crate) fn stable(&mut self, stable: StablePrefix) {
        self.report.stable_prefix = Some(stable);
    }

    /// Makes a prompt of the draft, unless it waits.
    pub(crate) fn finish(
        mut self,
        brief: &Brief<'_>,
        draft: &mut Draft,
        observe: &mut dyn FnMut(Step, &[Entry]),
    ) -> Result<Assembly, Error> {
        self.report.tokens = draft.tokens.take();
        self.report.parts = std::mem::take(&mut draft.parts);
        self.report.sources = sources(brief, draft);
        self.report.placement = draft.placement.take().map(|placement| placed(placement, draft));
        self.report.elements = brief.memory.kept.map(|Kept { n, rebased, .. }| {
            let new = std::mem::take(&mut draft.news).into_iter().map(Arc::new);
            let ways = brief.memory.ways.clone();
            Elements { kept: n, rebased, new: new.collect(), ways }
        });
        if !brief.open.is_empty() {
            let outcome = Outcome::Waiting(brief.open.clone());
            return Ok(Assembly { outcome, report: self.report });
        }
        let prompt = VALIDATE(brief, draft).map_err(Error::invalid)?;
        observe(Step::Validate, prompt.entries());
        let n_settled = prompt.settled().map_or(0, |settled| settled.len());
        let n = n_settled + prompt.entries().len();
        self.add(Step::Validate, n, n, Findings::default());
        if let Some(tokens) = &mut self.report.tokens {
            without_borders(tokens, &prompt);
        }
        self.report.breakpoint = prompt.breakpoint().map(|at| at + n_settled);
        Ok(Assembly { outcome: Outcome::Ready(prompt), report: self.report })
    }
}

/// Texts that other messages carry were counted as messages, and have no borders of their own.
fn without_borders(tokens: &mut Tokens, prompt: &Prompt) {
    let settled = prompt.settled().map(|settled| settled.carried());
    let carried: CarriedTexts =
        settled.into_iter().chain(prompt.entries().iter().map(Entry::carried)).sum();
    let borders = |n: usize| n as u64 * tokens.rate.apply(PER_MESSAGE);
    let (context, system) = (borders(carried.context), borders(carried.system));
    tokens.context = tokens.context.saturating_sub(context);
    tokens.history = tokens.history.saturating_sub(system);
}

/// What is told of each source.
fn sources(brief: &Brief<'_>, draft: &Draft) -> Vec<SourceReport> {
    let shown = brief.memory.kept.map(|kept| kept.shown);
    let news: BTreeMap<(&ContextKind, u32), u32> =
        draft.news.iter().map(|new| ((&new.kind, new.nth), new.version)).collect();
    let told = |(at, (key, text)): (usize, (SourceKey, &ContextText))| {
        let now = &brief.allotted.context[at];
        let state = match () {
            () if brief.allotted.expired.binary_search(&at).is_ok() => SourceState::Expired,
            () if text.is_unread => SourceState::Unread,
            () if !now.says_something() && !text.expired.is_empty() => SourceState::Expired,
            () if !now.says_something() => return None,
            () => match now.gap {
                None => SourceState::Whole,
                Some(_) if now.text.is_empty() => SourceState::LeftOut,
                Some(_) => SourceState::Shortened,
            },
        };
        let version = news.get(&(&key.0, key.1)).copied().or_else(|| shown?.version(&key));
        let (authority, until, expired) = (text.authority(), text.until, text.expired.clone());
        Some(SourceReport { kind: key.0, nth: key.1, state, authority, version, until, expired })
    };
    keyed(&brief.recipe.context).enumerate().filter_map(told).collect()
}

/// The placement with its place in the finished draft.
fn placed(mut placement: Placement, draft: &Draft) -> Placement {
    let is_context = |entry: &Entry| match entry.provenance {
        Provenance::Context(_) => true,
        Provenance::Element(_) => !draft.news.is_empty(),
        Provenance::Carrying(ref carrying) => carrying.texts.iter().any(|text| match text {
            Carried::Context(_) => true,
            Carried::Element(_) => !draft.news.is_empty(),
            Carried::System => false,
        }),
        Provenance::Original
        | Provenance::Altered
        | Provenance::System
        | Provenance::Summary
        | Provenance::Made
        | Provenance::Notice => false,
    };
    // What is new comes after what was shown before.
    let last = draft.entries.iter().rposition(is_context).unwrap_or_default();
    let (index, before) = match placement.carrier {
        Carrier::Attached => (last, draft.entries.get(last)),
        Carrier::Message | Carrier::System => {
            let index = (last + 1).saturating_sub(placement.messages);
            (index, index.checked_sub(1).and_then(|before| draft.entries.get(before)))
        }
    };
    let before = before.filter(|entry| entry.message.role() != Role::System);
    placement.after = before.map(|entry| entry.message.id.clone());
    let shown = draft.prior.as_ref().map_or(0, |prior| prior.len_after(Step::Validate));
    placement.index = index + shown;
    placement
}
