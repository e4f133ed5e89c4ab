//! What of a request is the same as in the one before.

use std::sync::Arc;

use interleaf_model::{Entry, Message};
use serde::Serialize;

use crate::tokens::Counting;

/// The leading messages that are the same as in the previous request: what a
/// prompt cache can reuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StablePrefix {
    /// How many messages.
    pub messages: usize,
    /// The bytes of their neutral form.
    pub bytes: usize,
    /// Their tokens, if tokens are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

pub(crate) fn stable_prefix(
    previous: &[Arc<Message>],
    entries: &[Entry],
    counting: Option<&Counting<'_>>,
) -> StablePrefix {
    let same = entries.iter().zip(previous).take_while(|(entry, old)| same(&entry.message, old));
    let stable: Vec<&Arc<Message>> = same.map(|(entry, _)| &entry.message).collect();
    StablePrefix {
        messages: stable.len(),
        bytes: stable.iter().map(|message| message.neutral_len()).sum(),
        tokens: counting.map(|counting| stable.iter().map(|m| counting.message(m)).sum()),
    }
}

/// Whether two messages say the same to a model; names and times are not sent.
fn same(a: &Arc<Message>, b: &Arc<Message>) -> bool {
    Arc::ptr_eq(a, b) || (a.body == b.body && a.extra == b.extra)
}
