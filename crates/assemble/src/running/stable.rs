//! What a request has in common with the one before, at the cost of what is new.

use hashbrown::HashMap;
use std::sync::Arc;

use interleaf_model::{Entry, Message, Prompt, Role};

use super::shown::Shown;
use crate::StablePrefix;
use crate::prefix::stable_prefix;
use crate::tokens::Counting;

/// The session's previous request.
pub(super) struct Remembered {
    prompt: Prompt,
    /// The bytes of its messages after the settled ones, by address: the prompt keeps them
    /// alive, so that no other message has that address.
    lens: HashMap<usize, usize>,
}

impl Remembered {
    /// The request that was just made, after `before`.
    pub(super) fn of(prompt: &Prompt, before: Option<&Self>) -> Self {
        let known = |message| match before {
            Some(before) => before.len(message),
            None => message.neutral_len(),
        };
        let lens = prompt.messages().map(|message| (address(message), known(message))).collect();
        Self { prompt: prompt.clone(), lens }
    }

    fn len(&self, message: &Arc<Message>) -> usize {
        let known = self.lens.get(&address(message)).copied();
        known.unwrap_or_else(|| message.neutral_len())
    }

    /// Its messages, in order.
    pub(super) fn messages(&self) -> Vec<Arc<Message>> {
        self.prompt.whole().messages().cloned().collect()
    }

    /// What the request made of `entries`, after what is shown of the settled turns, has
    /// in common with this one.
    pub(super) fn against(
        &self,
        entries: &[Entry],
        mut shown: Option<&mut Shown>,
        counting: Option<&Counting<'_>>,
    ) -> StablePrefix {
        let (old_head, old_rest) = split(self.prompt.entries());
        let (head, rest) = split(entries);
        let stable = stable_prefix(messages(old_head), messages(head), counting, |m| self.len(m));
        if stable.messages < old_head.len() || stable.messages < head.len() {
            // One side goes on with its turns while the other is still in its head.
            return stable;
        }
        let old_chain = self.prompt.settled();
        let (n_common, common) = match &mut shown {
            Some(shown) => shown.common_with(old_chain, counting.is_some()),
            None => (0, StablePrefix { tokens: counting.map(|_| 0), ..StablePrefix::default() }),
        };
        let stable = stable.and(common);
        // Nothing is left of the old chain if it is the beginning of the new one.
        let old_chain = old_chain.filter(|chain| chain.len() > common.messages);
        let old_links = old_chain.into_iter().flat_map(|chain| chain.links()).skip(n_common);
        let old = old_links.flat_map(|link| messages(link.entries())).chain(messages(old_rest));
        let links = shown.map_or(&[][..], |shown| &shown.links);
        let new_links = links.iter().skip(n_common).map(|(shown, _)| &shown.link);
        let new = new_links.flat_map(|link| messages(link.entries())).chain(messages(rest));
        stable.and(stable_prefix(old, new, counting, |m| self.len(m)))
    }
}

fn address(message: &Arc<Message>) -> usize {
    Arc::as_ptr(message).addr()
}

fn split(entries: &[Entry]) -> (&[Entry], &[Entry]) {
    let head = entries.iter().take_while(|entry| entry.message.role() == Role::System).count();
    entries.split_at(head)
}

fn messages(entries: &[Entry]) -> impl Iterator<Item = &Arc<Message>> {
    entries.iter().map(|entry| &entry.message)
}
