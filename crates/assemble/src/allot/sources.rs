//! The context in less room: head and tail of long sources, then sources left out whole.

use std::sync::Arc;

use interleaf_model::MessageId;

use crate::delta::{SourceKey, keyed};
use crate::fence::{self, Said, Whole};
use crate::steps::fit::fitting;
use crate::tokens::Counting;
use crate::{ContextText, Gap, ShownContext};

/// Less than this of a source is not worth showing.
const LEAST_SHOWN: u64 = 100;

/// To be cut where a line ends, a text may lose this part more of what stays.
const LINE_PART: usize = 8;

/// The sources that say something, and what each takes.
pub(super) struct Sources<'a> {
    sources: Vec<Source>,
    amends: bool,
    counting: &'a Counting<'a>,
}

/// A source, as it is shown.
pub(super) struct Source {
    /// Its place in the recipe.
    pub(super) at: usize,
    key: SourceKey,
    /// All that it says, and how much of it is left out for good.
    content: Arc<str>,
    missing: usize,
    full: ContextText,
    pub(super) text: ContextText,
    /// What all of it takes.
    pub(super) whole: u64,
    /// What is shown of it takes.
    pub(super) cost: u64,
}

impl Source {
    /// The id of its message.
    pub(super) fn id(&self) -> MessageId {
        MessageId::new(format!("context:{}", self.key.0.as_str()))
    }

    pub(super) fn is_left_out(&self) -> bool {
        self.text.gap.is_some() && self.text.text.is_empty()
    }
}

impl<'a> Sources<'a> {
    pub(super) fn of(
        context: &[ContextText],
        shown: &ShownContext,
        amends: bool,
        counting: &'a Counting<'a>,
    ) -> Self {
        let mut all = Self { sources: Vec::new(), amends, counting };
        for (at, (key, text)) in keyed(context).enumerate() {
            let mut text = text.clone();
            if text.is_unread && amends {
                // What was shown of it holds, and is what it takes.
                let Some(whole) = shown.whole(&key) else { continue };
                text = ContextText { text: whole.text.into(), gap: whole.gap, ..text };
            }
            if !text.says_something() {
                continue;
            }
            let content: Arc<str> = text.content().into();
            let missing = text.gap.map_or(0, |gap| gap.left_out);
            let cost = all.cost(&key, &text);
            let (whole, full) = (cost, text.clone());
            all.sources.push(Source { at, key, content, missing, full, text, whole, cost });
        }
        all
    }

    pub(super) fn total(&self) -> u64 {
        self.sources.iter().map(|source| source.cost).sum()
    }

    /// The sources of which not all is shown.
    pub(super) fn reduced(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| source.cost < source.whole)
    }

    /// Their places.
    pub(super) fn places(&self) -> Vec<usize> {
        self.reduced().map(|source| source.at).collect()
    }

    /// Goes down to this number of tokens, as far as it can: first every source to its share,
    /// then one after the other is left out.
    pub(super) fn reduce<R: Ord>(&mut self, target: u64, rank: impl Fn(&SourceKey) -> R) {
        let mut order: Vec<usize> = (0..self.sources.len()).collect();
        order.sort_by_key(|&i| rank(&self.sources[i].key));
        // Half of what each would have if all had the same.
        let share = (target / (2 * order.len() as u64).max(1)).min(LEAST_SHOWN);
        for &i in &order {
            let excess = self.total().saturating_sub(target);
            // Its heading, and the note that some is missing, take room in any case.
            let source = &self.sources[i];
            let least = self.cost(&source.key, &cut(source, 0)) + share;
            let room = source.cost.saturating_sub(excess).max(least);
            if excess > 0 && self.sources[i].cost > room {
                self.show(i, self.shortened(i, room));
            }
        }
        for &i in &order {
            if self.total() > target {
                self.show(i, Some(cut(&self.sources[i], 0)));
            }
        }
        // What is left of the room goes to the last ones that were left out.
        for &i in order.iter().rev() {
            let source = &self.sources[i];
            let room = (target + source.cost).saturating_sub(self.total());
            if source.is_left_out()
                && room > source.cost
                && let Some(text) = self.shortened(i, room)
            {
                let cost = self.cost(&source.key, &text);
                (self.sources[i].text, self.sources[i].cost) = (text, cost);
            }
        }
    }

    /// Shows this of a source, if it is less.
    fn show(&mut self, i: usize, text: Option<ContextText>) {
        let Some(text) = text else { return };
        let cost = self.cost(&self.sources[i].key, &text);
        let source = &mut self.sources[i];
        if cost < source.cost {
            (source.text, source.cost) = (text, cost);
        }
    }

    fn shortened(&self, i: usize, room: u64) -> Option<ContextText> {
        let source = &self.sources[i];
        if source.whole <= room {
            return Some(source.full.clone());
        }
        let tokens = |text: &ContextText| self.cost(&source.key, text);
        fitting(source.content.len(), room, source.whole, tokens, |keep| {
            Some(cut(source, keep)).filter(|text| !text.text.is_empty())
        })
    }

    /// What a source takes as a message.
    fn cost(&self, (kind, nth): &SourceKey, text: &ContextText) -> u64 {
        let whole = Whole::of(text);
        let said = match self.amends {
            true => fence::element((kind, *nth), 0, Said::Whole(whole)),
            false => fence::context(kind, whole),
        };
        self.counting.text(&said)
    }
}

/// About `keep` bytes of a source, half from its head and half from its tail, cut where lines
/// end if that leaves most of them.
fn cut(source: &Source, keep: usize) -> ContextText {
    let text = &*source.content;
    let (mut head, mut tail) =
        (text.floor_char_boundary(keep / 2), text.ceil_char_boundary(text.len() - keep / 2));
    let most = keep / LINE_PART;
    if let Some(end) = text[..head].rfind('\n').filter(|&end| end + most >= head) {
        head = end + 1;
    }
    if let Some(line) = text[tail..].find('\n').filter(|&line| line <= most) {
        tail += line + 1;
    }
    let left_out = text[head..tail].chars().count() + source.missing;
    let shown = format!("{}{}", &text[..head], &text[tail..]);
    let gap = Some(Gap { at: head, left_out });
    ContextText { text: shown.into(), gap, is_unread: false, ..source.text.clone() }
}
