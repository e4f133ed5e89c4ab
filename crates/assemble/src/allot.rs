//! What of the context and of the tools a request shows: all of it, or what fits the part's
//! share (H10).
//!
//! ```text
//!   recipe ──▶ expired texts go ──▶ down to the maxima ──▶ fit: does the whole fit?
//!                                          ▲                      │ no, and the history is
//!                                          └────── targets ◀──────┘ at its minimum
//! ```
//!
//! Both depend on the settings and the texts alone, so that the next request shows the same.

mod called;
mod sources;
mod targets;
mod tools;

pub(crate) use self::called::Called;
pub(crate) use self::targets::Figures;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use interleaf_model::{Message, Tool, ToolName};

use crate::delta::SourceKey;
use crate::finding::Findings;
use crate::shares::{Part, Share, Shares};
use crate::tokens::Counting;
use crate::{Cause, ContextText, Error, Recipe, ShownContext};

/// What the context and the tools may take, beside their maxima; nothing, if they need not
/// give way for the sake of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Targets {
    pub(crate) context: Option<u64>,
    pub(crate) tools: Option<u64>,
    /// How many parts went down to their minimum because the history could not.
    pub(crate) n_forced: usize,
}

/// The context and the tools of a request.
#[derive(Clone)]
pub(crate) struct Allotted<'a> {
    pub(crate) context: Cow<'a, [ContextText]>,
    pub(crate) tools: Arc<[Tool]>,
    /// What the tools take, if tokens are counted.
    pub(crate) tools_tokens: u64,
    /// The shares in tokens, if any are set.
    pub(crate) rooms: Option<Rooms>,
    pub(crate) targets: Targets,
    /// What each takes whole, and when it is down to its maximum.
    pub(crate) context_cost: (u64, u64),
    pub(crate) tools_cost: (u64, u64),
    /// What gave way.
    pub(crate) findings: Findings,
    /// The sources that hold no more, by their place in the recipe, ascending.
    pub(crate) expired: Vec<usize>,
}

/// The shares of a budget, in tokens.
#[derive(Debug, Clone)]
pub(crate) struct Rooms {
    shares: Shares,
    limit: u64,
    pub(crate) order: Vec<Part>,
}

/// What a part may take, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Room {
    pub(crate) min: Option<u64>,
    pub(crate) max: Option<u64>,
}

impl Rooms {
    fn of(recipe: &Recipe) -> Result<Option<Self>, Error> {
        if recipe.shares.is_unset() {
            return Ok(None);
        }
        let Some(budget) = recipe.budget else {
            return Err(Error::settings("the parts share a budget, and there is none"));
        };
        let (shares, limit) = (recipe.shares.clone(), budget.limit());
        shares.check(limit)?;
        let order = shares.giving_order();
        Ok(Some(Self { shares, limit, order }))
    }

    pub(crate) fn of_part(&self, part: Part) -> Room {
        let Share { min, max } = self.shares.of(part);
        let tokens = |amount: crate::Amount| amount.tokens(self.limit);
        Room { min: min.map(tokens), max: max.map(tokens) }
    }
}

impl<'a> Allotted<'a> {
    /// Down to the maxima and these targets.
    pub(crate) fn of(
        recipe: &'a Recipe,
        view: (&[Arc<Message>], Option<&Called>),
        shown: &ShownContext,
        counting: Option<&Counting<'_>>,
        targets: Targets,
    ) -> Result<Self, Error> {
        let is_expired = |text: &ContextText| text.says_something() && text.is_expired(recipe.at);
        let places = recipe.context.iter().enumerate();
        let expired = places.filter(|(_, text)| is_expired(text)).map(|(at, _)| at);
        let expired: Vec<usize> = expired.collect();
        let mut context = Cow::Borrowed(recipe.context.as_slice());
        for &at in &expired {
            // It keeps its number among those of its kind.
            let kind = recipe.context[at].kind.clone();
            context.to_mut()[at] = ContextText::new(kind, "");
        }
        let mut allotted = Self {
            context,
            tools: recipe.tools.clone(),
            tools_tokens: counting.map_or(0, |counting| counting.tools_whole(&recipe.tools)),
            rooms: Rooms::of(recipe)?,
            targets,
            context_cost: (0, 0),
            tools_cost: (0, 0),
            findings: Findings::default(),
            expired,
        };
        if let (Some(rooms), Some(counting)) = (allotted.rooms.clone(), counting) {
            allotted.fit_context(recipe, &rooms, shown, counting);
            allotted.fit_tools(recipe, &rooms, view, counting);
        }
        Ok(allotted)
    }

    fn fit_context(
        &mut self,
        recipe: &Recipe,
        rooms: &Rooms,
        shown: &ShownContext,
        counting: &Counting<'_>,
    ) {
        let amends = recipe.rule.amending().is_some();
        let mut sources = sources::Sources::of(&self.context, shown, amends, counting);
        let whole = sources.total();
        let rank = |key: &SourceKey| rooms.shares.source_rank(&key.0);
        if let Some(max) = rooms.of_part(Part::Context).max.filter(|&max| whole > max) {
            sources.reduce(max, rank);
        }
        let (at_most, of_max) = (sources.total(), sources.places());
        if let Some(target) = self.targets.context.filter(|&target| at_most > target) {
            sources.reduce(target, rank);
        }
        self.context_cost = (whole, at_most);
        for source in sources.reduced() {
            let cause = if of_max.contains(&source.at) { Cause::Share } else { Cause::Budget };
            let id = source.id();
            match source.is_left_out() {
                true => self.findings.add_dropped(&id, cause, source.whole),
                false => self.findings.add_tokens(&id, cause, (source.whole, source.cost)),
            }
            self.context.to_mut()[source.at] = source.text.clone();
        }
    }

    fn fit_tools(
        &mut self,
        recipe: &Recipe,
        rooms: &Rooms,
        (view, called): (&[Arc<Message>], Option<&Called>),
        counting: &Counting<'_>,
    ) {
        let all = counting.tools(&recipe.tools);
        let found = OnceCell::new();
        let stays = |name: &ToolName| {
            let called = called.unwrap_or_else(|| found.get_or_init(|| Called::of(view)));
            called.has(name) || recipe.kept_tools.contains(name)
        };
        let whole = self.tools_tokens;
        let mut at_most = whole;
        let max = rooms.of_part(Part::Tools).max;
        let steps = [(max, Cause::Share), (self.targets.tools, Cause::Budget)];
        for (limit, cause) in steps {
            if let Some(limit) = limit.filter(|&limit| self.tools_tokens > limit) {
                let fitted = tools::fitted(&all, limit, counting, stays);
                self.findings.retain(|id| !id.as_str().starts_with(tools::ID));
                fitted.tell(&mut self.findings, cause);
                (self.tools, self.tools_tokens) = (fitted.tools, fitted.tokens);
            }
            if cause == Cause::Share {
                at_most = self.tools_tokens;
            }
        }
        self.tools_cost = (whole, at_most);
    }
}
