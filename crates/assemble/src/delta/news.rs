//! What a request must say of the context that was not said before.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{ContextKind, Message};

use super::{Element, ElementForm, Kept, ShownContext, SourceKey, State, keyed, lines, since};
use crate::ContextText;
use crate::fence;

/// When a source is shown whole again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amending {
    /// After this many changes of it.
    pub(crate) every: usize,
    /// When this many messages follow its last whole copy.
    pub(crate) within: usize,
    /// The same for the TODO list, before a message that is to be answered.
    pub(crate) near: usize,
}

/// The new elements of a request, in the order of the block. Their places are not known yet.
pub(crate) fn news(
    kept: Kept<'_>,
    context: &[ContextText],
    amending: Amending,
    (n_before, is_question): (usize, bool),
    view: &[Arc<Message>],
) -> Vec<Element> {
    let part;
    let shown = if kept.n < kept.shown.elements.len() {
        part = ShownContext::of(kept.shown.elements[..kept.n].iter().cloned());
        &part
    } else {
        kept.shown
    };
    let mut sources: Vec<(SourceKey, &ContextText)> = keyed(context).collect();
    sources.sort_by_key(|(key, _)| key.0.rank());
    // Of one that cannot be read, what was shown holds.
    let is_there = |text: &ContextText| text.is_unread || text.says_something();
    let there: BTreeSet<SourceKey> =
        sources.iter().filter(|(_, text)| is_there(text)).map(|(key, _)| key.clone()).collect();
    let mut new = Vec::new();
    for (key, text) in sources.into_iter().filter(|(_, text)| text.says_something()) {
        let says = fence::content(&text.kind, &text.text);
        let state = shown.states.get(&key);
        let is_near = is_question && text.kind == ContextKind::Todo;
        let furthest = if is_near { amending.near } else { amending.within };
        let is_far = |state: &State| n_before.saturating_sub(state.whole_at) > furthest;
        match state {
            Some(state) if state.says.as_deref() == Some(says) => {
                if is_far(state) {
                    new.push(element(key, state.version, ElementForm::Again, says));
                }
            }
            Some(State { version, says: Some(old), n_changes, .. }) => {
                let is_due =
                    (*n_changes as usize) + 1 >= amending.every || state.is_some_and(is_far);
                let changes = if is_due { None } else { lines::changes(old, says) };
                let changes = changes.filter(|changes| changes.len() < says.len());
                let (form, says) = match &changes {
                    Some(changes) => (ElementForm::Changes, changes.as_str()),
                    None => (ElementForm::Again, says),
                };
                new.push(element(key, version.saturating_add(1), form, says));
            }
            Some(State { version, says: None, .. }) => {
                new.push(element(key, version.saturating_add(1), ElementForm::Again, says));
            }
            None => new.push(element(key, 1, ElementForm::Whole, says)),
        }
    }
    for (key, state) in &shown.states {
        if state.says.is_some() && !there.contains(key) {
            let version = state.version.saturating_add(1);
            new.push(element(key.clone(), version, ElementForm::Withdrawn, ""));
        }
    }
    new.iter_mut().for_each(|element| element.n_before = n_before);
    if let Some(first) = new.first_mut() {
        first.since = since(shown, view);
    }
    if shown.elements.is_empty()
        && let Some(last) = new.last_mut()
    {
        last.explains = true;
    }
    new
}

fn element((kind, nth): SourceKey, version: u32, form: ElementForm, says: &str) -> Element {
    let says = (form != ElementForm::Withdrawn).then(|| Arc::from(says));
    let (after, n_before, since, explains) = (None, 0, 0, false);
    Element { kind, nth, version, form, after, n_before, since, explains, says }
}
