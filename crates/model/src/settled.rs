//! The part of a conversation that every later request repeats.

use std::fmt;
use std::sync::Arc;

use crate::{CarriedTexts, Entry, Law, Prompt, Requirements, Role, Violation};

/// The beginning of a conversation after the system head, as later requests repeat it:
/// whole turns, up to and with a turn of the user's.
///
/// It is a chain: a link, and the settled beginning before it. A link that was written once
/// need not be looked at again; the same link may be in several chains.
pub struct Settled {
    earlier: Option<Arc<Self>>,
    link: Arc<Link>,
    len: usize,
    has_calls: bool,
    carried: CarriedTexts,
}

/// Some turns in a row: they end with the user's, and each is whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Link {
    turns: Prompt,
}

impl Link {
    /// Makes a link of these entries.
    ///
    /// # Errors
    /// If they break a law. There must be no system head and no fresh context among
    /// them, and the last must not be the assistant's: its results may be to come.
    pub fn check(requires: Requirements, entries: Vec<Entry>) -> Result<Arc<Self>, Violation> {
        let broken = |law, index| Violation { law, index: Some(index), message: None };
        let n = entries.len();
        let open = Requirements { user_first: false, ..requires };
        let mut turns = Prompt::check_for(open, entries, Arc::new([]))?;
        if let Some(context) = turns.context() {
            return Err(broken(Law::ContextTogether, context.start));
        }
        match turns.entries() {
            [first, .., last] | [first @ last]
                if !first.is_head() && last.message.role() != Role::Assistant => {}
            _ => return Err(broken(Law::SettledTurns, n)),
        }
        turns.require(requires);
        Ok(Arc::new(Self { turns }))
    }

    /// Its turns alone, as a prompt.
    pub fn turns(&self) -> &Prompt {
        &self.turns
    }

    /// Its messages.
    pub fn entries(&self) -> &[Entry] {
        self.turns.entries()
    }

    fn opens_with(&self) -> Option<Role> {
        self.entries().first().map(|entry| entry.message.role())
    }
}

impl Settled {
    /// Settles further turns after `earlier`.
    ///
    /// # Errors
    /// If they do not fit there: after others, they must begin with the assistant's;
    /// at the beginning with the user's, if the target asks for that.
    pub fn after(earlier: Option<Arc<Self>>, link: Arc<Link>) -> Result<Arc<Self>, Violation> {
        let begins_with_assistant = link.opens_with() == Some(Role::Assistant);
        let law = match &earlier {
            Some(_) if !begins_with_assistant => Some(Law::SettledTurns),
            None if begins_with_assistant && link.turns.requirements().user_first => {
                Some(Law::UserFirst)
            }
            Some(_) | None => None,
        };
        if let Some(law) = law {
            let message = link.entries().first().map(|entry| entry.message.id.clone());
            return Err(Violation { law, index: Some(0), message });
        }
        let len = link.entries().len() + earlier.as_ref().map_or(0, |earlier| earlier.len);
        let calls_before = earlier.as_ref().is_some_and(|earlier| earlier.has_calls);
        let has_calls = calls_before || link.entries().iter().any(|e| e.message.has_calls());
        let carried_before = earlier.as_ref().map(|earlier| earlier.carried);
        let carried = carried_before.into_iter().chain(link.entries().iter().map(Entry::carried));
        let carried = carried.sum();
        Ok(Arc::new(Self { earlier, link, len, has_calls, carried }))
    }

    /// The chain before the last link.
    pub fn earlier(&self) -> Option<&Arc<Self>> {
        self.earlier.as_ref()
    }

    /// The last link.
    pub fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether any call is made in it.
    pub fn has_calls(&self) -> bool {
        self.has_calls
    }

    /// How many texts its messages carry.
    pub fn carried(&self) -> CarriedTexts {
        self.carried
    }

    /// Never: a link holds at least one message.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Every link, the oldest first.
    pub fn links(&self) -> impl Iterator<Item = &Arc<Link>> {
        let mut links = vec![&self.link];
        let mut chain = self;
        while let Some(earlier) = &chain.earlier {
            links.push(&earlier.link);
            chain = earlier;
        }
        links.into_iter().rev()
    }

    /// The messages of every link, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.links().flat_map(|link| link.entries())
    }
}

/// A chain may have tens of thousands of links: they are taken apart one by one, not
/// one inside the other.
impl Drop for Settled {
    fn drop(&mut self) {
        let mut earlier = self.earlier.take();
        while let Some(mut chain) = earlier.and_then(Arc::into_inner) {
            earlier = chain.earlier.take();
        }
    }
}

impl PartialEq for Settled {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.len == other.len && self.entries().eq(other.entries()))
    }
}

impl Eq for Settled {}

impl fmt::Debug for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries()).finish()
    }
}
