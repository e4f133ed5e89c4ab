//! Context that is shown once and then amended: what was shown stays where it was, and what
//! changes is said further down. So every request repeats the one before it.
//!
//! ```text
//!   texts now ─┐
//!   shown so far ──▶ news ──▶ elements ──▶ the tail of the request ──▶ shown so far
//!                                 └── insert: the old ones, each after its message
//! ```

mod cost;
mod element;
mod insert;
mod lines;
mod news;
mod way;

pub(crate) use cost::{cheapest, since};
pub use element::{Element, ElementForm, Elements, Rebase};
pub(crate) use insert::insert;
pub(crate) use lines::amended;
pub(crate) use news::{Amending, News, news};
pub(crate) use way::ways;
pub use way::{SourceWay, Way};

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use hashbrown::HashMap;
use interleaf_model::{ContextKind, Entry, Message, MessageId};

use crate::fence::Whole;
use crate::{Authority, ContextText, Gap};

/// What a session has shown of its context and still shows, in the order in which it did.
#[derive(Debug, Clone, Default)]
pub struct ShownContext {
    elements: Vec<Arc<Element>>,
    /// The same as messages.
    entries: Vec<Entry>,
    /// What each source says by now, to a reader of all elements.
    states: BTreeMap<SourceKey, State>,
    /// The elements that stand after a message, and those that open the conversation.
    anchors: HashMap<Option<MessageId>, Vec<usize>>,
    /// An element amends what was not shown.
    is_broken: bool,
    /// An element tells how they are read.
    explains: bool,
    /// About how many bytes were said before the last one.
    said: u64,
    /// How the last request showed each source.
    ways: Vec<SourceWay>,
}

/// Several sources of a kind are told apart by their order.
pub(crate) type SourceKey = (ContextKind, u32);

/// Each source with its key. One that says nothing now, or cannot be read, keeps its number.
pub(crate) fn keyed(context: &[ContextText]) -> impl Iterator<Item = (SourceKey, &ContextText)> {
    let mut counts: BTreeMap<&ContextKind, u32> = BTreeMap::new();
    context.iter().map(move |text| {
        let count = counts.entry(&text.kind).or_default();
        let nth = *count;
        *count += 1;
        ((text.kind.clone(), nth), text)
    })
}

/// What a source says by now.
#[derive(Debug, Clone, Default)]
struct State {
    version: u32,
    /// Nothing, once it was withdrawn.
    says: Option<Arc<str>>,
    /// What was left out of it.
    gap: Option<Gap>,
    /// Who was said to say it.
    authority: Option<Authority>,
    /// How many elements have amended it since it was last shown whole.
    n_changes: u32,
    /// How many messages of the conversation came before its last whole copy.
    whole_at: usize,
    /// About how many bytes were said before its last whole copy.
    said_before: u64,
    /// The bytes of an element that changed it, the last ones counting most.
    change: Option<usize>,
}

impl State {
    /// Whether a reader of all elements takes this for true.
    fn is(&self, whole: Whole<'_>) -> bool {
        self.says.as_deref() == Some(whole.text)
            && (self.gap, self.authority) == (whole.gap, whole.authority)
    }

    /// What a reader of all elements takes for true.
    fn whole(&self) -> Option<Whole<'_>> {
        let (gap, authority) = (self.gap, self.authority);
        self.says.as_deref().map(|text| Whole { text, gap, authority })
    }
}

impl ShownContext {
    /// What these elements, in their order, show.
    pub fn of(elements: impl IntoIterator<Item = Arc<Element>>) -> Self {
        let mut shown = Self::default();
        elements.into_iter().for_each(|element| shown.push(element));
        shown
    }

    /// Nothing was shown.
    pub(crate) fn none() -> &'static Self {
        static NONE: LazyLock<ShownContext> = LazyLock::new(ShownContext::default);
        &NONE
    }

    /// The elements, in the order in which they were shown.
    pub fn elements(&self) -> &[Arc<Element>] {
        &self.elements
    }

    /// The same, as they are sent.
    pub fn messages(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.entries.iter().map(|entry| &entry.message)
    }

    /// What a source says by now, to a reader of all elements.
    pub fn says(&self, kind: &ContextKind, nth: u32) -> Option<&Arc<str>> {
        self.states.get(&(kind.clone(), nth))?.says.as_ref()
    }

    /// The same as a text, with who says it and what is left out of it.
    pub fn text(&self, kind: &ContextKind, nth: u32) -> Option<ContextText> {
        let Whole { text, gap, authority } = self.whole(&(kind.clone(), nth))?;
        let text = ContextText::new(kind.clone(), text);
        Some(ContextText { gap, told_authority: authority, ..text })
    }

    /// What a reader of all elements takes a source to say.
    pub(crate) fn whole(&self, key: &SourceKey) -> Option<Whole<'_>> {
        self.states.get(key)?.whole()
    }

    /// The version of what a source says.
    pub(crate) fn version(&self, key: &SourceKey) -> Option<u32> {
        self.states.get(key).map(|state| state.version)
    }

    /// Whether a reader of all elements takes something else for true than these texts say.
    pub(crate) fn differs(&self, context: &[ContextText]) -> bool {
        let mut speaking = keyed(context).filter(|(_, text)| text.says_something());
        speaking
            .any(|(key, text)| self.states.get(&key).is_none_or(|state| !state.is(Whole::of(text))))
    }

    /// Whether each element amends what stands before it. What was stored by hand may not.
    pub fn is_sound(&self) -> bool {
        !self.is_broken
    }

    /// Takes in what a request has shown.
    pub fn take(&mut self, shown: &Elements) {
        self.truncate(shown.kept);
        shown.new.iter().for_each(|element| self.push(element.clone()));
        self.ways.clone_from(&shown.ways);
    }

    /// How many requests are expected to come: a conversation goes on for half as long again.
    fn requests_to_come(&self) -> f64 {
        const LEAST: usize = 16;
        self.elements.last().map_or(0, |last| last.n_before / 4).max(LEAST) as f64
    }

    /// Forgets the elements from a number on.
    pub(crate) fn truncate(&mut self, n: usize) {
        if n < self.elements.len() {
            let kept = std::mem::take(&mut self.elements).into_iter().take(n);
            *self = Self::of(kept);
        }
    }

    fn push(&mut self, element: Arc<Element>) {
        self.said = self.said.saturating_add(element.since);
        let state = self.states.entry((element.kind.clone(), element.nth)).or_default();
        let is_next = element.version == state.version.saturating_add(1);
        if is_next && state.version > 0 {
            let size = element.size();
            state.change = Some(state.change.map_or(size, |mean| (3 * mean + size) / 4));
        }
        state.version = element.version;
        match element.form {
            ElementForm::Whole | ElementForm::Withdrawn => {
                (state.n_changes, state.whole_at) = (0, element.n_before);
                state.said_before = self.said;
                state.says.clone_from(&element.says);
                (state.gap, state.authority) = (element.gap, element.authority);
            }
            ElementForm::Changes => {
                state.n_changes = state.n_changes.saturating_add(1);
                let changes = state.says.as_deref().zip(element.says.as_deref());
                let says = changes.and_then(|(old, changes)| lines::amended(old, changes));
                self.is_broken |= !is_next || says.is_none();
                state.says = says.map(Arc::from);
            }
        }
        self.explains |= element.explains;
        let no = self.elements.len();
        self.anchors.entry(element.after.clone()).or_default().push(no);
        self.entries.push(element.entry(no));
        self.elements.push(element);
    }
}

/// What is shown follows from the elements.
impl PartialEq for ShownContext {
    fn eq(&self, other: &Self) -> bool {
        self.elements == other.elements
    }
}

impl Eq for ShownContext {}

/// What a request goes by: the first `n` of the elements that were shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept<'a> {
    pub(crate) shown: &'a ShownContext,
    pub(crate) n: usize,
    /// Why it is not all of them.
    pub(crate) rebased: Option<Rebase>,
}

impl Kept<'_> {
    /// The same without any element.
    pub(crate) fn rebase(&mut self, why: Rebase) {
        (self.n, self.rebased) = (0, Some(why));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Whether an element stands right after this message.
    pub(crate) fn stands_after(&self, id: &MessageId) -> bool {
        let first = self.shown.anchors.get(&Some(id.clone())).and_then(|numbers| numbers.first());
        first.is_some_and(|&first| first < self.n)
    }
}
