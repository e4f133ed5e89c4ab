//! What of the settled turns a request shows, as a chain of links.

use std::sync::Arc;

use interleaf_model::{Entry, Link, MessageId, Settled};

use super::prior::{Prior, Stretch, tokens_of};
use crate::StablePrefix;
use crate::brief::Brief;
use crate::carry::{Carriers, carry};
use crate::finding::Findings;
use crate::steps::fit::{Fate, Given, History, Loss, Showing, Terms, notice, put_notice};

/// What of the settled turns a request shows. It grows with them; only when more gives
/// way is it made anew, and then of the links that there are.
#[derive(Default)]
pub(crate) struct Shown {
    /// What gave way.
    loss: Loss,
    /// How many stretches it has taken in.
    n_stretches: usize,
    pub(super) links: Vec<(ShownLink, Arc<Settled>)>,
    /// What gave way, and how it is told.
    pub(crate) given: Given,
    /// What stays of the turns that were left out, until a link takes it up.
    pub(crate) stays: Vec<Entry>,
    /// How many messages the links have before texts go into what carries them.
    pub(super) n_fitted: usize,
    /// What became of system messages that stay in place.
    pub(super) carried: Findings,
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
    given: Given,
    /// How many messages it has before texts go into what carries them.
    n_fitted: usize,
    /// What became of system messages that stay in place.
    carried: Findings,
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
        if self.loss != loss {
            *self = Self { loss, ..Self::default() };
        }
        let showing = terms.as_ref().zip(brief.counting.as_ref());
        let showing = showing.map(|(terms, counting)| Showing { history, loss, terms, counting });
        let first = prior.first_id();
        let left_out_before = history.left_out_before(loss);
        for stretch in &mut prior.stretches[self.n_stretches..] {
            let end = stretch.start + stretch.turns().len();
            // What is shown first takes up what stays of the stretches before it.
            let is_first = left_out_before > 0 && self.links.is_empty();
            let link = match showing {
                Some(showing) if is_first => {
                    let stays = self.leave_out(stretch, showing);
                    if end <= left_out_before {
                        self.stays.extend(stays.0);
                        self.n_stretches += 1;
                        continue;
                    }
                    let cuts_turn = history.cuts_turn(loss);
                    self.first_link(brief, (&first, &stretch.carriers), stays, cuts_turn)
                }
                showing => shown_link(stretch, brief, showing),
            };
            let chain = link.and_then(|link| {
                let chain = Settled::after(self.chain().cloned(), link.link.clone()).ok()?;
                Some((link, chain))
            });
            let Some((link, chain)) = chain else {
                self.is_broken = true;
                return;
            };
            self.given.extend(&link.given);
            self.n_fitted += link.n_fitted;
            self.carried.extend(&link.carried);
            self.links.push((link, chain));
            self.n_stretches += 1;
        }
    }

    /// What stays of a stretch that is left out, wholly or in part, and how much of it
    /// stands before the gap.
    fn leave_out(&mut self, stretch: &Stretch, showing: Showing<'_>) -> (Vec<Entry>, usize) {
        let (mut stays, mut n_before) = (Vec::new(), 0);
        for (at, old) in stretch.turns().iter().enumerate() {
            let place = stretch.start + at;
            if let Some(entry) = self.given.give((place, old), showing) {
                n_before += usize::from(place < showing.history.left_out_before(showing.loss));
                stays.push(entry);
            }
        }
        (stays, n_before)
    }

    /// The first link that is shown: what stays of all that is left out, the notice, and the
    /// rest of a stretch.
    fn first_link(
        &mut self,
        brief: &Brief<'_>,
        (first, carriers): (&MessageId, &Carriers),
        (mut rest, n_before): (Vec<Entry>, usize),
        cuts_turn: bool,
    ) -> Option<ShownLink> {
        let n_left_out = self.given.n_left_out;
        let made = (n_left_out > 0).then(|| notice(brief, first, n_left_out));
        let cost = |entry: &Entry| {
            brief.counting.as_ref().map_or(0, |counting| counting.message(&entry.message))
        };
        self.notice_cost = made.as_ref().map(cost);
        let mut entries = std::mem::take(&mut self.stays);
        let gap = cuts_turn.then_some(entries.len() + n_before);
        entries.append(&mut rest);
        put_notice(brief, made, &mut entries, 0, gap);
        // What gave way in it is told already.
        ShownLink::of(brief, carriers, entries, Given::default())
    }
}

impl ShownLink {
    /// These messages, with texts in what carries them.
    fn of(
        brief: &Brief<'_>,
        carriers: &Carriers,
        mut entries: Vec<Entry>,
        given: Given,
    ) -> Option<Self> {
        let n_fitted = entries.len();
        let carried = carry(brief, carriers, &mut entries).findings;
        let tokens = tokens_of(brief, &entries);
        let link = Link::check(brief.requires, entries).ok()?;
        Some(Self { link, tokens, given, n_fitted, carried })
    }
}

/// A stretch of which nothing is left out, as what gave way leaves it.
fn shown_link(
    stretch: &mut Stretch,
    brief: &Brief<'_>,
    showing: Option<Showing<'_>>,
) -> Option<ShownLink> {
    let plain = ShownLink {
        link: stretch.link.clone(),
        tokens: stretch.sent_tokens(brief),
        given: Given::default(),
        n_fitted: stretch.turns().len(),
        carried: stretch.carried.clone(),
    };
    let Some(showing) = showing else { return Some(plain) };
    let Showing { history, loss, .. } = showing;
    let entries = stretch.turns();
    let (start, end) = (stretch.start, stretch.start + entries.len());
    let grant = loss.grant.filter(|grant| (start..end).contains(&grant.place));
    let altered_before = history.altered_before(loss).map(|place| place.min(end));
    let last = altered_before.into_iter().fold(start, usize::max);
    let altered_before = (altered_before, grant);
    let is_altered = |place: usize| history.fate(place, loss) != Fate::Stays;
    if !(start..last).any(is_altered) {
        return Some(plain);
    }
    if let Some((before, shown)) = &stretch.altered
        && *before == altered_before
    {
        return Some(shown.clone());
    }
    let mut given = Given::default();
    let places = (start..).zip(entries);
    let shown: Vec<Entry> = places.filter_map(|place| given.give(place, showing)).collect();
    let shown = ShownLink::of(brief, &stretch.carriers, shown, given)?;
    stretch.altered = Some((altered_before, shown.clone()));
    Some(shown)
}
