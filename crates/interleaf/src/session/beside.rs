//! What the sessions that a fork comes from went on to send.

use interleaf_model::AgentName;
use interleaf_store::Page;

use super::Session;
use crate::Error;
use crate::impact::Before;

/// This many requests after the fork are looked at to find one of the agent's.
const PAGE: usize = 32;

impl Session {
    /// The first request of an agent that the session before the fork made after it, as long
    /// as the fork has made none itself. The two begin alike, further than with the last
    /// request that they share, and the cache holds both.
    pub(super) async fn beside(
        &mut self,
        agent: Option<&AgentName>,
    ) -> Result<Option<Before>, Error> {
        let last = self.conversation.newest_request(agent);
        let mut parent = self.head.parent;
        while let Some(fork) = parent.filter(|fork| last.is_none_or(|event| event < fork.seq)) {
            let head = self.store.head(fork.session).await.map_err(Error::store)?;
            if let Some(first) = self.first_from(&head, fork.seq, None).await? {
                let page = self.store.requests(head.id, Page::from(first.no, PAGE)).await;
                for request in page.map_err(Error::store)? {
                    let by = self.beginner_in(head.id, &request).await?;
                    if by.is_some_and(|by| by.as_ref() == agent) {
                        let seen = self.seen_from(head.id, request).await?;
                        return self.before_of(seen).await;
                    }
                }
            }
            parent = head.parent;
        }
        Ok(None)
    }
}
