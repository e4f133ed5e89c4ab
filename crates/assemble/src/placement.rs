//! Where the context block may go, and where a rule wants it.

mod layout;
mod rule;

pub use layout::Layout;
pub(crate) use rule::STAYING;
pub use rule::{CustomRule, PlacementRule};

use std::fmt;
use std::sync::Arc;

use interleaf_model::{Message, MessageId};
use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};
use xxhash_rust::xxh3::Xxh3Default;

use crate::delta::{Kept, ShownContext, SourceWay, cheapest, ways};
use crate::{Carrier, ContextText, Rebase, Recipe, Refused};

/// Where the context block went, and how that came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Placement {
    /// The rule that was asked.
    pub rule: String,
    /// The message that the rule went by, if it went by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<MessageId>,
    /// What was done because the rule itself had no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// Whether the place was inside a tool block and went before it.
    pub before_block: bool,
    /// The message that the block stands right after; absent if only the system head
    /// stands before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<MessageId>,
    /// The index of the block in the request.
    pub index: usize,
    /// How many messages it has, or texts, if a message carries them.
    pub messages: usize,
    /// In what it is sent. With `attached`, `index` and `after` name the message that has it
    /// at its end.
    #[serde(default, skip_serializing_if = "Carrier::is_message")]
    pub carrier: Carrier,
    /// Why it is not sent in the carrier that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// A hash of what it says, if the rule goes by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<SmolStr>,
}

/// What a rule that remembers goes by.
#[derive(Debug, Clone)]
pub(crate) struct Memory<'a> {
    /// Where the previous request had its block.
    pub(crate) previous: Option<&'a Placement>,
    /// A hash of what the block says now, if the rule goes by that.
    pub(crate) content: Option<SmolStr>,
    /// What was shown and stays shown, if the rule amends.
    pub(crate) kept: Option<Kept<'a>>,
    /// How each source is shown, if the rule chooses.
    pub(crate) ways: Vec<SourceWay>,
}

impl<'a> Memory<'a> {
    pub(crate) fn of(
        recipe: &Recipe,
        context: &[ContextText],
        (previous, shown): (Option<&'a Placement>, &'a ShownContext),
        view: &[Arc<Message>],
    ) -> Self {
        let goes_by_content = matches!(recipe.rule, PlacementRule::Sticky(_));
        let is_auto = matches!(recipe.rule, PlacementRule::Auto(_));
        let _span = is_auto.then(|| tracing::debug_span!("choose").entered());
        let prices = recipe.cache_prices.filter(|prices| is_auto && prices.read > 0.0);
        let ways = prices.map(|prices| ways(shown, context, prices, view)).unwrap_or_default();
        let kept = recipe.rule.amending().map(|_| {
            let prices = prices.filter(|_| shown.differs(context));
            let cut = prices.and_then(|prices| cheapest(shown, prices, &ways, view));
            let n = cut.unwrap_or(shown.elements().len());
            Kept { shown, n, rebased: cut.map(|_| Rebase::Cost) }
        });
        Self { previous, content: goes_by_content.then(|| hash(context)), kept, ways }
    }

    /// Whether what was shown before must go in again.
    pub(crate) fn has_elements(&self) -> bool {
        self.kept.is_some_and(|kept| !kept.is_empty())
    }

    /// Shows nothing of what was shown before where it stood.
    pub(crate) fn rebase(&mut self, why: Rebase) {
        if let Some(kept) = &mut self.kept {
            kept.rebase(why);
        }
    }

    /// Where the block stands, if it says what it said. The position is absent if what it
    /// stood after is not in the layout, which may begin with the system head or later.
    pub(crate) fn stood(&self, layout: &Layout<'_>, has_head: bool) -> Option<Option<usize>> {
        let previous = self.previous?;
        let says_the_same = self.content.is_some() && previous.content == self.content;
        says_the_same.then(|| match &previous.after {
            Some(after) => layout.after(after),
            // Only the system head stood before it.
            None => has_head.then_some(0),
        })
    }
}

/// A hash of what a block says.
fn hash(context: &[ContextText]) -> SmolStr {
    hash_of(block_texts(context).into_iter().map(|text| (text.kind.as_str(), &*text.text)))
}

/// A hash of texts of these kinds, the same in every process and version.
pub(crate) fn hash_of<'t>(texts: impl IntoIterator<Item = (&'t str, &'t str)>) -> SmolStr {
    let mut hash = Xxh3Default::new();
    for (kind, text) in texts {
        for part in [kind, text] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    format_smolstr!("{:016x}", hash.digest())
}

/// The texts that make the block, in its order.
pub(crate) fn block_texts(context: &[ContextText]) -> Vec<&ContextText> {
    let mut texts: Vec<&ContextText> =
        context.iter().filter(|context| context.says_something()).collect();
    texts.sort_by_key(|context| context.kind.rank());
    texts
}

interleaf_model::only_objects!(Placement);

/// What is done when a rule has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fallback {
    /// After the last user message.
    AfterLastUser,
    /// At the end.
    AtEnd,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AfterLastUser => "there are too few: after the last user message",
            Self::AtEnd => "there are too few: at the end",
        })
    }
}

/// What a rule answers: a position, not yet made safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Before the message at this position of the layout; its length means the end.
    pub(crate) position: usize,
    /// The position of the message that the rule went by.
    pub(crate) anchor: Option<usize>,
    /// What was done because the rule had no answer.
    pub(crate) fallback: Option<Fallback>,
}
