//! Which message has which id: no two have the same (A1).

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use interleaf_model::{Message, MessageId};

/// The ids of a log. Most messages are named by their place, and are found by it: only the
/// others are listed.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ids {
    others: OrdMap<MessageId, u32>,
}

impl Ids {
    /// The index of the message with this id.
    pub(crate) fn find(&self, id: &MessageId, log: &Vector<Arc<Message>>) -> Option<u32> {
        let by_place = || {
            let index: u32 = id.as_str().strip_prefix('m')?.parse().ok()?;
            log.get(index as usize).filter(|message| message.id == *id).map(|_| index)
        };
        self.others.get(id).copied().or_else(by_place)
    }

    /// Notes the id of a message that comes into the log.
    pub(crate) fn add(&mut self, id: &MessageId, index: u32) {
        if *id != MessageId::of_index(index as usize) {
            self.others.insert(id.clone(), index);
        }
    }
}
