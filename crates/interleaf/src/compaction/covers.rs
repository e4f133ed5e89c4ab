//! The ids of the messages that a summary is to cover.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use interleaf_assemble::Summary;
use interleaf_model::{Message, MessageId};
use serde::{Serialize, Serializer};

/// The ids of the messages that a summary is to cover. A plan is looked at more often than it is
/// carried out, so they are put in order when they are first asked for.
#[derive(Clone)]
pub struct Covers {
    messages: Arc<[Arc<Message>]>,
    /// It takes the place of this one, and covers what that does.
    earlier: Option<Arc<Summary>>,
    ids: OnceLock<BTreeSet<MessageId>>,
}

impl Covers {
    pub(crate) fn of(messages: Arc<[Arc<Message>]>, earlier: Option<Arc<Summary>>) -> Self {
        Self { messages, earlier, ids: OnceLock::new() }
    }
}

impl Deref for Covers {
    type Target = BTreeSet<MessageId>;

    fn deref(&self) -> &Self::Target {
        self.ids.get_or_init(|| {
            let new = self.messages.iter().map(|message| message.id.clone());
            let earlier = self.earlier.iter().flat_map(|summary| summary.covers.iter().cloned());
            new.chain(earlier).collect()
        })
    }
}

impl PartialEq for Covers {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Covers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Serialize for Covers {
    /// In the order of the conversation, as far as it is known.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let earlier = self.earlier.iter().flat_map(|summary| &summary.covers);
        let mut ids: Vec<&MessageId> = earlier.collect();
        // Of these only the names are known, which usually end in numbers.
        ids.sort_by_key(|id| id.as_str().len());
        let is_new = |id: &&MessageId| {
            self.earlier.as_ref().is_none_or(|summary| !summary.covers.contains(*id))
        };
        let new = self.messages.iter().map(|message| &message.id).filter(is_new);
        serializer.collect_seq(ids.into_iter().chain(new))
    }
}
