//! A session's requests, each made from the one before.

mod basis;
mod border;
mod prior;
mod safe;
mod shown;
mod source;
mod stable;

pub(crate) use self::prior::{Prior, Spent};

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{Entry, Message, MessageId, Requirements};

use self::basis::Basis;
use self::source::Source;
use self::stable::Remembered;
use crate::allot::{Called, Targets};
use crate::assemble::{Making, assemble_after};
use crate::brief::Brief;
use crate::delta::Kept;
use crate::draft::Draft;
use crate::finding::Findings;
use crate::steps::{AFTER_REPAIR, STEPS, filter, repair};
use crate::{
    Assembly, ContextText, Elements, Error, Outcome, Placement, PlacementRule, Rebase, Recipe,
    ShownContext, Step, ToolOrder, View,
};

/// A conversation that grows, and the requests made from it.
///
/// Turns that no later message can change are settled: they go through the steps
/// once, and a request continues them. The outcome and the report are the same as
/// those of [`assemble`](crate::assemble()) on the whole view with the session's previous request; the
/// work is that of the messages at its end. Settings may change from one request to
/// the next; a change that touches settled turns costs one pass over the view. Where a
/// request cannot be made so (a rule that puts the block at the head, a rule of the
/// caller's own) it is made from the whole view.
///
/// ```
/// use interleaf_assemble::{Outcome, Recipe, Running};
/// use interleaf_model::{Message, Requirements};
///
/// let mut running = Running::new();
/// running.append(Message::user("Which files are here?"));
/// let assembly = running.assemble(&Recipe::new(), Requirements::STRICT)?;
/// assert!(matches!(assembly.outcome, Outcome::Ready(_)));
/// # Ok::<(), interleaf_assemble::Error>(())
/// ```
#[derive(Default)]
pub struct Running {
    view: View,
    /// How often the pinned messages or the view were replaced.
    edition: u64,
    /// The tools that are called in it.
    called: Called,
    /// What the source and the settled turns were made for.
    made_for: Option<Basis>,
    source: Source,
    prior: Box<Prior>,
    /// How many of the elements that were shown it was settled with, where they stood.
    n_elements: usize,
    previous: Option<Remembered>,
    /// Where the previous request had its context block.
    placement: Option<Placement>,
    /// What was shown of the context and stays shown.
    shown: ShownContext,
    /// How often that was replaced.
    shown_edition: u64,
    /// The order of its tools, which stays.
    tools: ToolOrder,
}

impl Running {
    /// A conversation in which nothing has been said.
    pub fn new() -> Self {
        Self::default()
    }

    /// The conversation with this view: the start of a session.
    pub fn of(view: View) -> Self {
        let mut running = Self::new();
        running.replace_view(view);
        running
    }

    /// Takes in the next message.
    pub fn append(&mut self, message: impl Into<Arc<Message>>) {
        self.view.messages.push(message.into());
    }

    /// Takes in what an operation has left visible. What the next request has in common
    /// with the one before is still known.
    pub fn replace_view(&mut self, view: View) {
        self.view = view;
        self.called = Called::default();
        self.edition += 1;
    }

    /// Takes in which messages are pinned now.
    pub fn set_pinned(&mut self, pinned: BTreeSet<MessageId>) {
        if self.view.pinned != pinned {
            self.view.pinned = pinned;
            self.edition += 1;
        }
    }

    /// Makes a request, and remembers it as the previous request.
    ///
    /// # Errors
    /// As [`assemble`](crate::assemble()).
    pub fn assemble(&mut self, recipe: &Recipe, requires: Requirements) -> Result<Assembly, Error> {
        let assembly = self.preview(recipe, requires)?;
        self.remember(&assembly);
        Ok(assembly)
    }

    /// Makes a request to look at it. The next one is compared with the one before, as
    /// if there had been none; [`remember`](Self::remember) makes it count.
    ///
    /// # Errors
    /// As [`assemble`](crate::assemble()).
    pub fn preview(&mut self, recipe: &Recipe, requires: Requirements) -> Result<Assembly, Error> {
        let (recipe, kept) = self.tools.suit(recipe);
        let made = match self.continued(&recipe, requires) {
            Some(assembly) => assembly,
            None => self.whole(&recipe, requires),
        };
        made.map(|mut assembly| {
            assembly.report.tool_order = kept;
            assembly
        })
    }

    /// Remembers a request of this session as the previous request. One that waits is
    /// not remembered.
    pub fn remember(&mut self, assembly: &Assembly) {
        if let Outcome::Ready(prompt) = &assembly.outcome {
            self.previous = Some(Remembered::of(prompt, self.previous.as_ref()));
            self.placement.clone_from(&assembly.report.placement);
            self.remember_elements(assembly.report.elements.as_ref());
            self.tools.take(prompt.tools());
        }
    }

    fn remember_elements(&mut self, elements: Option<&Elements>) {
        let n_kept = elements.map_or(0, |elements| elements.kept);
        match elements {
            Some(elements) => self.shown.take(elements),
            None => self.shown = ShownContext::default(),
        }
        // What is settled may hold elements that are gone, if another request was made since.
        if n_kept < self.n_elements {
            self.shown_edition += 1;
        }
    }

    /// What was shown of the context and stays shown.
    pub fn shown(&self) -> &ShownContext {
        &self.shown
    }

    /// The order of its tools, as its requests have had them.
    pub fn tool_order(&self) -> &ToolOrder {
        &self.tools
    }

    /// Remembers a request that was made elsewhere as the previous request. All that is
    /// known of it is where its context and its tools stood: what the next one has in common
    /// with it is not reported.
    pub fn resume(&mut self, placement: Option<Placement>, shown: ShownContext, tools: ToolOrder) {
        (self.previous, self.placement, self.shown) = (None, placement, shown);
        (self.tools, self.shown_edition) = (tools, self.shown_edition + 1);
    }

    fn whole(&self, recipe: &Recipe, requires: Requirements) -> Result<Assembly, Error> {
        let previous = self.previous.as_ref().map(Remembered::messages);
        let previous = (previous.as_deref(), (self.placement.as_ref(), &self.shown));
        let made = assemble_after(&self.view, recipe, requires, previous, &mut |_, _| {});
        made.map(|(assembly, _)| assembly)
    }

    /// The request, made from what came since the settled turns; nothing, if it cannot
    /// be made so.
    fn continued(
        &mut self,
        recipe: &Recipe,
        requires: Requirements,
    ) -> Option<Result<Assembly, Error>> {
        match recipe.rule {
            PlacementRule::AfterSystem | PlacementRule::Custom(_) => return None,
            PlacementRule::AfterToolResult(_)
            | PlacementRule::BeforeAssistant(_)
            | PlacementRule::FromEnd(_)
            | PlacementRule::Tail
            | PlacementRule::Sticky(_)
            | PlacementRule::Delta(_)
            | PlacementRule::Auto(_) => {}
        }
        // The order borrows what the rest changes.
        let view = std::mem::take(&mut self.view);
        let previous = self.previous.take();
        let placement = self.placement.take();
        let shown = std::mem::take(&mut self.shown);
        let mut called = std::mem::take(&mut self.called);
        called.extend(&view.messages);
        let seen = (&view, Some(&called));
        let made = match Brief::of(seen, recipe, requires, (placement.as_ref(), &shown)) {
            Ok(brief) => self.make_or_rebase(brief, &view.messages, previous.as_ref()),
            Err(error) => Some(Err(error)),
        };
        (self.view, self.called) = (view, called);
        (self.previous, self.placement, self.shown) = (previous, placement, shown);
        made
    }

    /// Makes it with what was shown of the context, or without, if that cannot stay.
    fn make_or_rebase(
        &mut self,
        mut brief: Brief<'_>,
        view: &[Arc<Message>],
        previous: Option<&Remembered>,
    ) -> Option<Result<Assembly, Error>> {
        loop {
            let has_elements = brief.memory.has_elements();
            match self.make(&brief, view, previous) {
                Attempt::Remake(targets) => {
                    if let Err(error) = brief.aim(targets) {
                        return Some(Err(error));
                    }
                }
                Attempt::Rebase(why) if has_elements => brief.rebase(why),
                // Without them it may fit.
                Attempt::Done(made) if has_elements && made.is_err() => {
                    brief.rebase(Rebase::LeftOut)
                }
                Attempt::Rebase(_) | Attempt::Not => return None,
                Attempt::Done(made) => return Some(*made),
            }
        }
    }

    fn make(
        &mut self,
        brief: &Brief<'_>,
        view: &[Arc<Message>],
        previous: Option<&Remembered>,
    ) -> Attempt {
        let basis = Basis::of(brief, self.edition, self.shown_edition);
        let holds = self.made_for.as_ref() == Some(&basis) && self.source.extend(brief, view);
        if !holds {
            *self.prior = Prior::default();
            self.source = match Source::of(brief, view) {
                Ok(source) => source,
                Err(error) => return Attempt::Done(Box::new(Err(error))),
            };
            self.made_for = Some(basis);
        } else if let Some(kept) = brief.memory.kept {
            self.unsettle_elements(kept);
        }
        self.n_elements = brief.memory.kept.map_or(0, |kept| kept.n);
        let has_block = brief.allotted.context.iter().any(ContextText::says_something);
        let tail = self.repaired(brief, has_block);
        let source = &self.source.entries[tail.from..];
        let cuts = safe::cuts(brief, has_block, source, &tail.draft.entries);
        if cuts.is_empty() {
            return self.finish(brief, tail, previous);
        }
        let cuts: Vec<usize> = cuts.into_iter().map(|cut| tail.from + cut).collect();
        self.prior = tail.draft.prior.unwrap_or_default();
        self.settle(brief, &cuts);
        let tail = self.repaired(brief, has_block);
        self.finish(brief, tail, previous)
    }

    /// Gives up the settled turns in which another number of elements makes a difference:
    /// all from the one that the first of these stands after. Elements stand in the order in
    /// which they were shown.
    fn unsettle_elements(&mut self, kept: Kept<'_>) {
        let first = self.n_elements.min(kept.n);
        let Some(element) = kept.shown.elements().get(first) else { return };
        if kept.n == self.n_elements {
            return;
        }
        let mut n_given_up = 1;
        let is_it = |entry: &Entry| element.after.as_ref() == Some(&entry.message.id);
        while !self.prior.stretches.is_empty()
            && !self.source.entries[self.prior.n_source()..].iter().any(is_it)
        {
            self.prior.unsettle(n_given_up);
            n_given_up *= 2;
        }
    }

    /// What came since the settled turns, repaired. Turns are given up again until the
    /// rule finds its answer in it.
    fn repaired(&mut self, brief: &Brief<'_>, has_block: bool) -> Tail {
        let mut n_given_up = 1;
        loop {
            let prior = std::mem::take(&mut self.prior);
            let from = prior.n_source();
            let has_prior = !prior.stretches.is_empty();
            let source = &self.source.entries[from..];
            let mut draft = Draft { entries: source.to_vec(), ..Draft::default() };
            draft.prior = has_prior.then_some(prior);
            let (mut filtered, mut repaired) = (Findings::default(), Findings::default());
            // Neither of the two can fail.
            let _ = filter::run(brief, &mut draft, &mut filtered);
            let n_filtered = draft.len_after(Step::Filter);
            let _ = repair::run(brief, &mut draft, &mut repaired);
            if let Some(mut prior) = draft.prior.take() {
                let reaches_back = safe::reaches_back(brief, &prior, source, &draft.entries);
                let has_results = prior.has_results();
                if reaches_back || !border::reaches(brief, has_block, has_results, &draft.entries) {
                    prior.unsettle(if reaches_back { usize::MAX } else { n_given_up });
                    n_given_up *= 2;
                    self.prior = prior;
                    continue;
                }
                draft.prior = Some(prior);
            }
            return Tail { draft, from, n_filtered, filtered, repaired };
        }
    }

    /// Takes a repaired draft through the other steps.
    fn finish(&mut self, brief: &Brief<'_>, tail: Tail, previous: Option<&Remembered>) -> Attempt {
        let Tail { mut draft, n_filtered, filtered, repaired, .. } = tail;
        let source = &self.source;
        let n_source = source.entries.len();
        let mut making = Making::default();
        making.add(Step::Compress, source.n_view, n_source, source.findings.clone());
        let all = |step, tail: &Findings| {
            let mut all = draft.prior.as_ref().map(|p| p.findings(step)).unwrap_or_default();
            all.extend(tail);
            all
        };
        let (filtered, repaired) = (all(Step::Filter, &filtered), all(Step::Repair, &repaired));
        making.add(Step::Filter, n_source, n_filtered, filtered);
        making.add(Step::Repair, n_filtered, draft.len_after(Step::Repair), repaired);
        let result = making.run(brief, &mut draft, &STEPS[AFTER_REPAIR..], &mut |_, _| {});
        if let Some(targets) = draft.remake {
            self.prior = draft.prior.take().unwrap_or_default();
            return Attempt::Remake(targets);
        }
        let result = result.and_then(|()| {
            making.carry(brief, &mut draft);
            if let Some(previous) = previous {
                let shown = draft.prior.as_mut().map(|prior| &mut prior.shown);
                making.stable(previous.against(&draft.entries, shown, brief.counting.as_ref()));
            }
            making.finish(brief, &mut draft, &mut |_, _| {})
        });
        let rebase = draft.rebase;
        let is_broken = draft.prior.as_ref().is_some_and(|prior| prior.shown.is_broken);
        self.prior = draft.prior.take().unwrap_or_default();
        if is_broken {
            *self.prior = Prior::default();
            return Attempt::Not;
        }
        match rebase {
            Some(why) => Attempt::Rebase(why),
            None => Attempt::Done(Box::new(result)),
        }
    }

    /// Settles the turns before each of these places of the source.
    fn settle(&mut self, brief: &Brief<'_>, cuts: &[usize]) {
        for &cut in cuts {
            let from = self.prior.n_source();
            let prior = std::mem::take(&mut self.prior);
            self.prior = prior.settle(brief, &self.source.entries[from..cut]);
            if self.prior.n_source() != cut {
                return;
            }
        }
    }
}

/// What came of making a request.
enum Attempt {
    Done(Box<Result<Assembly, Error>>),
    /// It cannot be made from what is settled.
    Not,
    /// What was shown of the context cannot stay.
    Rebase(Rebase),
    /// It fits only with less of the context or of the tools.
    Remake(Targets),
}

/// What came since the settled turns, repaired.
struct Tail {
    draft: Draft,
    /// Where it begins in the source.
    from: usize,
    /// How many messages the filter left, the settled ones included.
    n_filtered: usize,
    filtered: Findings,
    repaired: Findings,
}
