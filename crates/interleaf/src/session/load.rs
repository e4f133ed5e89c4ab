//! From events to a conversation.

use std::ops::Range;

use interleaf_conversation::Conversation;
use interleaf_store::{Page, SessionId, Store};

use crate::Error;

/// So many events are read at once.
const PAGE: usize = 2048;

/// The conversation that the first so many events make.
pub(super) async fn conversation(
    store: &dyn Store,
    id: SessionId,
    seq: u64,
) -> Result<Conversation, Error> {
    let mut conversation = Conversation::new();
    extend(store, id, &mut conversation, 0..seq).await?;
    Ok(conversation)
}

/// Takes in these events.
pub(super) async fn extend(
    store: &dyn Store,
    id: SessionId,
    conversation: &mut Conversation,
    seqs: Range<u64>,
) -> Result<(), Error> {
    let mut next = seqs.start;
    while next < seqs.end {
        let limit = PAGE.min(usize::try_from(seqs.end - next).unwrap_or(PAGE));
        let events = store.events(id, Page::from(next, limit)).await.map_err(Error::store)?;
        if events.is_empty() {
            return Err(Error::too_short(id, next, seqs.end));
        }
        for stored in events {
            let event = stored.event().map_err(Error::store)?;
            conversation.apply(&event).map_err(Error::conversation)?;
            next = stored.seq + 1;
        }
    }
    Ok(())
}
