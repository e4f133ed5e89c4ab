//! What of a request is the same as in the one before.

use std::sync::Arc;

use interleaf_model::Message;
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

/// `len` gives the bytes of a message's neutral form.
pub(crate) fn stable_prefix<'a>(
    previous: impl Iterator<Item = &'a Arc<Message>>,
    messages: impl Iterator<Item = &'a Arc<Message>>,
    counting: Option<&Counting<'_>>,
    len: impl Fn(&Arc<Message>) -> usize,
) -> StablePrefix {
    let mut stable = StablePrefix { tokens: counting.map(|_| 0), ..StablePrefix::default() };
    for (message, _) in messages.zip(previous).take_while(|(message, old)| same(message, old)) {
        stable.messages += 1;
        stable.bytes += len(message);
        if let (Some(tokens), Some(counting)) = (&mut stable.tokens, counting) {
            *tokens += counting.message(message);
        }
    }
    stable
}

impl StablePrefix {
    /// This and what comes after it.
    pub(crate) fn and(self, next: Self) -> Self {
        Self {
            messages: self.messages + next.messages,
            bytes: self.bytes + next.bytes,
            tokens: self.tokens.zip(next.tokens).map(|(tokens, more)| tokens + more),
        }
    }
}

/// Whether two messages say the same to a model; names and times are not sent.
fn same(a: &Arc<Message>, b: &Arc<Message>) -> bool {
    Arc::ptr_eq(a, b) || (a.body == b.body && a.extra == b.extra)
}
