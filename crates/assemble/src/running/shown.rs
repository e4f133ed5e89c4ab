//! What of the settled turns a request shows, as a chain of links.

use std::sync::Arc;

use interleaf_model::{Entry, Link, Provenance, Settled};

use super::prior::{Prior, Stretch};
use crate::brief::Brief;
use crate::draft::entry;
use crate::finding::Findings;
use crate::steps::fit::loss::{Fate, History, Loss, Terms};
use crate::steps::fit::{cleared_message, notice, put_notice};
use crate::{Cause, FindingKind, StablePrefix};

/// What of the settled turns a request shows. It grows with them; only when more gives
/// way is it made anew, and then of the links that there are.
#[derive(Default)]
pub(crate) struct Shown {
    /// What gave way, and what a cleared result takes.
    loss: (Loss, u64),
    /// How many stretches it has taken in.
    n_stretches: usize,
    pub(super) links: Vec<(ShownLink, Arc<Settled>)>,
    /// Which results were cleared.
    pub(crate) cleared: Findings,
    /// Which messages were left out, and how many.
    pub(crate) left_out: Findings,
    pub(crate) n_left_out: usize,
    /// What stays of the turns that were left out, until a link takes it up.
    pub(crate) stays: Vec<Entry>,
    /// What the notice costs, if a link holds it.
    pub(crate) notice_cost: Option<u64>,
    /// The bytes and tokens through each link, as far as they were asked for.
    sums: Vec<(usize, u64)>,
    /// The turns do not make a chain: the request must be made from the whole view.
    pub(super) is_broken: bool,
}

/// A link as it is shown.
#[derive(Clone)]
pub(super) struct ShownLink {
    pub(super) link: Arc<Link>,
    /// What its messages cost.
    pub(super) tokens: u64,
    cleared: Findings,
}

impl Shown {
    /// The chain.
    pub(super) fn chain(&self) -> Option<&Arc<Settled>> {
        self.links.last().map(|(_, chain)| chain)
    }

    /// How many messages are shown.
    pub(super) fn len(&self) -> usize {
        self.chain().map_or(0, |chain| chain.len())
    }

    /// How many links, from the first, are also those of another chain, and their sums.
    pub(super) fn common_with(
        &mut self,
        other: Option<&Arc<Settled>>,
        is_counted: bool,
    ) -> (usize, StablePrefix) {
        let n = match other {
            None => 0,
            Some(other) => {
                let is_it = |(_, chain): &(ShownLink, Arc<Settled>)| Arc::ptr_eq(chain, other);
                let end = self.links.iter().rposition(is_it).map(|at| at + 1);
                end.unwrap_or_else(|| {
                    let both = self.links.iter().zip(other.links());
                    both.take_while(|((shown, _), link)| Arc::ptr_eq(&shown.link, link)).count()
                })
            }
        };
        for (shown, _) in self.links.iter().take(n).skip(self.sums.len()) {
            let (bytes, tokens) = self.sums.last().copied().unwrap_or_default();
            let more = shown.link.entries().iter().map(|entry| entry.message.neutral_len());
            self.sums.push((bytes + more.sum::<usize>(), tokens + shown.tokens));
        }
        let Some(last) = n.checked_sub(1) else {
            return (
                0,
                StablePrefix { tokens: is_counted.then_some(0), ..StablePrefix::default() },
            );
        };
        let (bytes, tokens) = self.sums[last];
        let messages = self.links[last].1.len();
        (n, StablePrefix { messages, bytes, tokens: is_counted.then_some(tokens) })
    }

    /// Takes in the stretches that are new; begins again if more gave way.
    pub(super) fn update(
        &mut self,
        prior: &mut Prior,
        brief: &Brief<'_>,
        history: &History,
        (loss, terms): (Loss, Option<Terms>),
    ) {
        let cleared = terms.filter(|_| loss.results > 0).map_or(0, |terms| terms.cleared_cost());
        if self.loss != (loss, cleared) {
            *self = Self { loss: (loss, cleared), ..Self::default() };
        }
        let first = prior.first_id();
        let left_out_before = history.left_out_before(loss);
        for stretch in &mut prior.stretches[self.n_stretches..] {
            let end = stretch.start + stretch.link.entries().len();
            let link = if stretch.start < left_out_before {
                let mut rest = self.leave_out(stretch, history, terms.as_ref());
                if end <= left_out_before {
                    self.stays.append(&mut rest.0);
                    self.n_stretches += 1;
                    continue;
                }
                let made = (self.n_left_out > 0).then(|| notice(brief, &first, self.n_left_out));
                let cost = |entry: &Entry| {
                    brief.counting.as_ref().map_or(0, |counting| counting.message(&entry.message))
                };
                self.notice_cost = made.as_ref().map(cost);
                let mut entries = std::mem::take(&mut self.stays);
                entries.append(&mut rest.0);
                put_notice(brief, made, &mut entries, 0);
                let tokens = entries.iter().map(cost).sum();
                Link::check(brief.requires, entries).ok().map(|link| ShownLink {
                    link,
                    tokens,
                    cleared: rest.1,
                })
            } else {
                shown_link(stretch, brief, history, loss, terms.as_ref())
            };
            let chain = link.and_then(|link| {
                let chain = Settled::after(self.chain().cloned(), link.link.clone()).ok()?;
                Some((link, chain))
            });
            let Some((link, chain)) = chain else {
                self.is_broken = true;
                return;
            };
            self.cleared.extend(&link.cleared);
            self.links.push((link, chain));
            self.n_stretches += 1;
        }
    }

    /// What stays of a stretch that is left out, wholly or in part, and what of that
    /// was cleared.
    fn leave_out(
        &mut self,
        stretch: &Stretch,
        history: &History,
        terms: Option<&Terms>,
    ) -> (Vec<Entry>, Findings) {
        let mut stays = Vec::new();
        let mut cleared = Findings::default();
        for (at, old) in stretch.link.entries().iter().enumerate() {
            let place = stretch.start + at;
            match terms.map_or(Fate::Stays, |terms| history.fate(place, self.loss.0, terms)) {
                Fate::Stays => stays.push(old.clone()),
                Fate::Cleared => {
                    stays.push(clear(old));
                    let tokens = (history.cost_of(place), self.loss.1);
                    cleared.add_tokens(&old.message.id, Cause::Budget, tokens);
                }
                Fate::LeftOut => {
                    self.left_out.add(FindingKind::Dropped, &old.message.id, Cause::Budget);
                    self.n_left_out += 1;
                }
            }
        }
        (stays, cleared)
    }
}

/// A stretch of which nothing is left out, its old results cleared.
fn shown_link(
    stretch: &mut Stretch,
    brief: &Brief<'_>,
    history: &History,
    loss: Loss,
    terms: Option<&Terms>,
) -> Option<ShownLink> {
    let tokens = stretch.tokens.0 + stretch.tokens.1;
    let plain = ShownLink { link: stretch.link.clone(), tokens, cleared: Findings::default() };
    let Some(terms) = terms else { return Some(plain) };
    let entries = stretch.link.entries();
    let end = stretch.start + entries.len();
    let cleared_before = history.cleared_before(loss).min(end);
    let is_cleared = |place: usize| history.fate(place, loss, terms) == Fate::Cleared;
    if !(stretch.start..cleared_before).any(is_cleared) {
        return Some(plain);
    }
    if let Some((before, shown)) = &stretch.cleared
        && *before == cleared_before
    {
        return Some(shown.clone());
    }
    let mut tokens = tokens;
    let mut cleared = Findings::default();
    let mut shown = entries.to_vec();
    for (at, old) in shown.iter_mut().enumerate().filter(|(at, _)| is_cleared(stretch.start + at)) {
        let cost = history.cost_of(stretch.start + at);
        tokens = tokens - cost + terms.cleared_cost();
        cleared.add_tokens(&old.message.id, Cause::Budget, (cost, terms.cleared_cost()));
        *old = clear(old);
    }
    let link = Link::check(brief.requires, shown).ok()?;
    let shown = ShownLink { link, tokens, cleared };
    stretch.cleared = Some((cleared_before, shown.clone()));
    Some(shown)
}

fn clear(old: &Entry) -> Entry {
    entry(cleared_message(&old.message), Provenance::Altered)
}
