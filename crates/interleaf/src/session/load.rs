//! From events to a conversation.

use std::ops::Range;

use interleaf_conversation::Conversation;
use interleaf_store::{Head, Replay, SessionId, Store};

use crate::Error;

/// The conversation that the events before `seq` make.
pub(super) async fn conversation(
    store: &dyn Store,
    id: SessionId,
    seq: u64,
) -> Result<Conversation, Error> {
    let mut conversation = Conversation::new();
    extend(store, id, &mut conversation, 0..seq).await?;
    Ok(conversation)
}

/// The conversation of a session, and how many messages of it a fork shares.
pub(super) async fn session(
    store: &dyn Store,
    head: &Head,
) -> Result<(Conversation, usize), Error> {
    let shared = head.parent.map_or(0, |fork| fork.seq);
    let mut conversation = conversation(store, head.id, shared).await?;
    let n_shared = conversation.log_len();
    extend(store, head.id, &mut conversation, shared..head.next_seq).await?;
    Ok((conversation, n_shared))
}

/// Takes in these events.
pub(super) async fn extend(
    store: &dyn Store,
    id: SessionId,
    conversation: &mut Conversation,
    seqs: Range<u64>,
) -> Result<(), Error> {
    let (mut next, end) = (seqs.start, seqs.end);
    let mut events = Replay::new(store, id, seqs);
    while next < end {
        let page = events.next_page().await.map_err(Error::store)?;
        if page.is_empty() {
            return Err(Error::too_short(id, next, end));
        }
        for event in page {
            conversation.apply(&event).map_err(Error::conversation)?;
            next += 1;
        }
    }
    Ok(())
}
