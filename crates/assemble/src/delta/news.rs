//! What a request must say of the context that was not said before.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{ContextKind, Entry, Message, MessageId, Provenance};

use super::{
    Element, ElementForm, Kept, ShownContext, SourceKey, SourceWay, State, keyed, lines, since, way,
};
use crate::draft::entry;
use crate::fence::{self, Said, Whole};
use crate::{Carrier, ContextText};

/// A source that is as long as what was said since its last whole copy, or a few times shorter, is
/// near by its tokens, however many messages that was.
const TIMES_ITS_LENGTH: u64 = 4;

/// When a source is shown whole again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amending {
    /// After this many changes of it.
    pub(crate) every: usize,
    /// When more than this many messages follow its last whole copy, and several times as many
    /// bytes as it has itself.
    pub(crate) within: usize,
    /// The same for the TODO list, before a message that is to be answered.
    pub(crate) near: usize,
}

/// What a request says of the context that was not said before.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// The new elements, in the order of the block. Their places are not known yet.
    pub(crate) elements: Vec<Element>,
    /// What goes to the tail and does not stay.
    pub(crate) tail: Vec<Entry>,
}

/// What a request must say.
pub(crate) fn news(
    kept: Kept<'_>,
    context: &[ContextText],
    (amending, ways): (Amending, &[SourceWay]),
    (n_before, is_question): (usize, bool),
    view: &[Arc<Message>],
) -> News {
    let part;
    let shown = if kept.n < kept.shown.elements.len() {
        part = ShownContext::of(kept.shown.elements[..kept.n].iter().cloned());
        &part
    } else {
        kept.shown
    };
    let mut sources: Vec<(SourceKey, &ContextText)> = keyed(context).collect();
    sources.sort_by_key(|(key, _)| key.0.rank());
    let tail_keys = way::at_tail(ways);
    let is_tail = |(key, _): &(SourceKey, &ContextText)| tail_keys.contains(key);
    let (tail, sources): (Vec<_>, Vec<_>) = sources.into_iter().partition(is_tail);
    let mut there: BTreeSet<SourceKey> = tail.iter().map(|(key, _)| key.clone()).collect();
    let mut new = Vec::new();
    for (key, text) in sources {
        let says = match text.is_unread {
            // What was shown of it holds.
            true => kept.shown.whole(&key),
            false => text.says_something().then(|| Whole::of(text)),
        };
        let Some(says) = says else { continue };
        there.insert(key.clone());
        let state = shown.states.get(&key);
        let is_near = is_question && text.kind == ContextKind::Todo;
        let furthest = if is_near { amending.near } else { amending.within };
        let is_far = |state: &State| {
            let said = || {
                (shown.said + since(shown, view, usize::MAX).1).saturating_sub(state.said_before)
            };
            // If messages were hidden since, only the bytes can tell.
            n_before.checked_sub(state.whole_at).unwrap_or(usize::MAX - 1) > furthest
                && said() >= TIMES_ITS_LENGTH * says.text.len() as u64
        };
        match state {
            Some(state) if state.is(says) => {
                if is_far(state) {
                    new.push(element(key, state.version, ElementForm::Whole, says));
                }
            }
            Some(State { version, says: Some(old), n_changes, gap, authority, .. }) => {
                // The lines of a text with a gap have no numbers.
                let is_due = (*n_changes as usize) + 1 >= amending.every
                    || state.is_some_and(is_far)
                    || gap.or(says.gap).is_some()
                    || *authority != says.authority;
                let changes = if is_due { None } else { lines::changes(old, says.text) };
                let changes = changes.filter(|changes| changes.len() < says.text.len());
                let (form, says) = match &changes {
                    Some(changes) => (ElementForm::Changes, Whole { text: changes, ..says }),
                    None => (ElementForm::Whole, says),
                };
                new.push(element(key, version.saturating_add(1), form, says));
            }
            Some(State { version, says: None, .. }) => {
                new.push(element(key, version.saturating_add(1), ElementForm::Whole, says));
            }
            None => new.push(element(key, 1, ElementForm::Whole, says)),
        }
    }
    for (key, state) in &shown.states {
        if state.says.is_some() && !there.contains(key) {
            let version = state.version.saturating_add(1);
            new.push(element(key.clone(), version, ElementForm::Withdrawn, NOTHING));
        }
    }
    for element in &mut new {
        element.n_before = n_before;
        element.after_cut = kept.n < kept.shown.elements.len();
    }
    if let Some(first) = new.first_mut() {
        first.since = since(shown, view, usize::MAX).1;
    }
    if !shown.explains
        && let Some(last) = new.iter_mut().rfind(|element| element.version > 1)
    {
        last.explains = true;
    }
    let tail = tail.into_iter().map(|(key, text)| at_tail(key, text)).collect();
    News { elements: new, tail }
}

/// A source that is shown whole, at the tail of this request only.
fn at_tail((kind, nth): SourceKey, text: &ContextText) -> Entry {
    let said = match text.is_unread {
        true => Said::Unread,
        false => Said::Whole(Whole::of(text)),
    };
    let id = MessageId::new(format!("context:{}#{nth}", kind.as_str()));
    let message = Message::user(&fence::element((&kind, nth), 0, said)).with_id(id);
    entry(message, Provenance::Context(kind))
}

const NOTHING: Whole<'_> = Whole { text: "", gap: None, authority: None };

fn element((kind, nth): SourceKey, version: u32, form: ElementForm, says: Whole<'_>) -> Element {
    let Whole { text, gap, authority } = says;
    let says = (form != ElementForm::Withdrawn).then(|| Arc::from(text));
    let (after, n_before, since, explains, after_cut) = (None, 0, 0, false, false);
    Element {
        kind,
        nth,
        version,
        form,
        after,
        carrier: Carrier::default(),
        n_before,
        since,
        explains,
        after_cut,
        says,
        gap,
        authority,
    }
}
