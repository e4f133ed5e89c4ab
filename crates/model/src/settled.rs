//! The part of a conversation that every later request repeats.

use std::fmt;
use std::sync::Arc;

use crate::{Entry, Prompt, Requirements, Role, Violation};

/// The beginning of a conversation behind the system head, as every later request
/// repeats it: whole turns that nothing can change any more, up to and with a turn
/// of the user's.
///
/// It grows by links, each of which holds the one before it. Who has written a link
/// once need not look at it again.
pub struct Settled {
    earlier: Option<Arc<Self>>,
    turns: Prompt,
    len: usize,
}

impl Settled {
    /// Settles further turns behind `earlier`.
    ///
    /// # Errors
    /// If they break a law. There must be no system message and no context among
    /// them, and the last must not be the assistant's: its results may be to come.
    pub fn check(
        earlier: Option<Arc<Self>>,
        requires: Requirements,
        entries: Vec<Entry>,
    ) -> Result<Arc<Self>, Violation> {
        let len = entries.len() + earlier.as_ref().map_or(0, |earlier| earlier.len);
        let turns = match &earlier {
            Some(earlier) => {
                Prompt::check_continued(earlier.clone(), requires, entries, Arc::new([]))?
            }
            None => Prompt::check_for(requires, entries, Arc::new([]))?,
        };
        let broken = |law, index| Violation { law, index: Some(index), message: None };
        if let Some(context) = turns.context() {
            return Err(broken(crate::Law::ContextTogether, context.start));
        }
        match turns.entries().last() {
            Some(last) if last.message.role() != Role::Assistant => {}
            _ => return Err(broken(crate::Law::SettledTurns, len)),
        }
        // The link before is held once, not twice.
        Ok(Arc::new(Self { earlier, turns: turns.unlinked(), len }))
    }

    /// The link before this one.
    pub fn earlier(&self) -> Option<&Arc<Self>> {
        self.earlier.as_ref()
    }

    /// The turns of this link alone, as a prompt.
    pub fn turns(&self) -> &Prompt {
        &self.turns
    }

    /// How many messages there are, those of the links before it included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: a link holds at least one message.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Every link, the oldest first.
    pub fn links(&self) -> impl Iterator<Item = &Self> {
        let mut links = vec![self];
        let mut link = self;
        while let Some(earlier) = &link.earlier {
            links.push(earlier);
            link = earlier;
        }
        links.into_iter().rev()
    }

    /// The messages of every link, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.links().flat_map(|link| link.turns.entries())
    }
}

/// A chain may have tens of thousands of links: they are taken apart one by one, not
/// one inside the other.
impl Drop for Settled {
    fn drop(&mut self) {
        let mut earlier = self.earlier.take();
        while let Some(mut link) = earlier.and_then(Arc::into_inner) {
            earlier = link.earlier.take();
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
