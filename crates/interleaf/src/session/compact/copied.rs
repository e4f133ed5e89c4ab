//! A session beside itself, for what is done while the agent goes on.

use super::super::Session;

impl Session {
    /// The session as it is known here, once more: what is made from it is of this moment,
    /// while the session goes on. Nothing is read or copied but a few words. Of two that
    /// write, one wins, as with two nodes.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        let shared = (self.conversation.clone(), self.n_shared);
        let mut copy = Self::of(self.store.clone(), self.head.clone(), shared);
        copy.counters.clone_from(&self.counters);
        copy.root = self.root;
        copy
    }
}
