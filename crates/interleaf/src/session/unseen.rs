//! Requests that no model saw: they were never sent, or refused before anything was computed.
//!
//! Such a request is noted with a usage of no tokens, and no message answers it. It filled no
//! cache, so that the next one is held against the last request before it that a model saw.

use interleaf_model::Usage;
use interleaf_store::{Page, SentRequest, SessionId};

use super::Session;
use super::asker::RECENT;
use super::told::Told;
use crate::Error;

/// So many such requests are passed over: each names one that came before those known to be so.
const MOST: usize = 64;

impl Session {
    /// Notes that nothing of a request was computed: it could not be sent, or the API refused it.
    /// The next one is held against the last request that a model saw.
    ///
    /// # Errors
    /// If there is no such request, or another writer was first time and again.
    pub async fn note_unseen(&mut self, no: u64) -> Result<(), Error> {
        self.note_usage(no, Usage::default()).await
    }

    /// Whether no model saw a request of this session, or of one that it is a fork of. An API
    /// may report no tokens of one that it answered.
    pub(super) fn is_unseen(&self, session: SessionId, request: &SentRequest) -> bool {
        let n_own = self.conversation.log_len().saturating_sub(self.n_shared);
        let n_later = if session == self.id() { 0 } else { n_own };
        let answers = || {
            let log = self.conversation.log().rev().skip(n_later);
            log.filter_map(|message| message.answered()?.request).take(RECENT)
        };
        request.usage == Some(Usage::default()) && answers().all(|no| no != request.no)
    }

    /// The last request of an agent that a model saw, from the one that began with this event
    /// back. What a cache holds begins there: the next request is held against it, and so are
    /// the warmth of the cache and a change of model.
    pub(super) async fn seen_at(
        &self,
        event: Option<u64>,
    ) -> Result<Option<(SessionId, SentRequest)>, Error> {
        let Some(event) = event else { return Ok(None) };
        let Some(request) = self.request_begun(event, None).await? else { return Ok(None) };
        let session = self.head_of(event).await?.id;
        self.seen_from(session, request).await
    }

    /// The last request that a model saw, from this one back.
    pub(super) async fn seen_from(
        &self,
        mut session: SessionId,
        mut request: SentRequest,
    ) -> Result<Option<(SessionId, SentRequest)>, Error> {
        for _ in 0..MOST {
            if !self.is_unseen(session, &request) {
                return Ok(Some((session, request)));
            }
            let impact = Told::by(&request).impact;
            let against = impact.and_then(|it| Some((it.of_session, it.against?)));
            let Some((of, number)) = against else { return Ok(None) };
            session = of.unwrap_or(session);
            let page = self.store.requests(session, Page::from(number, 1)).await;
            let found = page.map_err(Error::store)?.into_iter().find(|it| it.no == number);
            let Some(found) = found else { return Ok(None) };
            request = found;
        }
        Ok(None)
    }
}
