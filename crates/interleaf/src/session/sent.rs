//! The requests of a session, kept so that each can be retrieved and verified.

use std::cmp::Ordering;

use interleaf_assemble::{Previous, Report};
use interleaf_conversation::Conversation;
use interleaf_model::{AgentName, Usage};
use interleaf_store::{
    ErrorKind as StoreErrorKind, Head, LastBody, Page, RequestUsage, SentRequest, SessionId,
};

use super::Session;
use super::retry::{RETRIES, retried};
use super::told::{Telling, Told};
use super::trail::Stood;
use crate::Error;
use crate::impact::Before;

/// The number of requests read at once when one is looked for.
const PAGE: usize = 32;

/// A request that is about to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Sent<'a> {
    /// Which model is asked.
    pub model: &'a str,
    /// Who serves it.
    pub vendor: &'a str,
    /// The body, byte for byte.
    pub body: &'a [u8],
    /// What was done to make it.
    pub report: &'a Report,
}

impl Session {
    /// Notes a request that was made elsewhere, and gives its number. Of its body only
    /// what is new is stored.
    ///
    /// # Errors
    /// If another writer was first.
    pub async fn note_request(&mut self, sent: Sent<'_>) -> Result<u64, Error> {
        self.note_request_of(None, sent).await
    }

    pub(super) async fn note_request_of(
        &mut self,
        agent: Option<&AgentName>,
        sent: Sent<'_>,
    ) -> Result<u64, Error> {
        let body = [bytes::Bytes::copy_from_slice(sent.body)];
        self.catch_up(agent).await?;
        let told = Telling::after(sent.report, self.lane(agent).stored_with(sent.report, &[]));
        self.note_fragments(agent, (sent.model, sent.vendor), body, told).await
    }

    /// Notes what the API says that a request has cost so far. For the last request, the
    /// conversation's counters learn of it as well. If another writer was first, it is noted
    /// after what that one wrote.
    ///
    /// # Errors
    /// If there is no such request, or another writer was first time and again.
    pub async fn note_usage(&mut self, no: u64, usage: Usage) -> Result<(), Error> {
        retried!(RETRIES, self.note_usage_once(no, usage).await, error => self.recover(error).await)
    }

    async fn note_usage_once(&mut self, no: u64, usage: Usage) -> Result<(), Error> {
        let mut conversation = self.conversation.clone();
        let mut events = vec![];
        if no + 1 == self.head.next_request {
            let (agent, _) = self.asker(Some(no)).await?;
            let noted = conversation.note_usage(usage, agent.as_ref());
            events.push(noted.map_err(Error::conversation)?);
        }
        let mut commit = self.commit_of(&events)?;
        commit.usage = Some(RequestUsage { no, usage });
        self.send(commit).await?;
        self.conversation = conversation;
        self.lanes_mut().for_each(|lane| lane.answered(no, usage));
        self.look_again();
        Ok(())
    }

    /// A page of the requests that were sent from this session.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn requests(&self, page: Page) -> Result<Vec<SentRequest>, Error> {
        self.store.requests(self.id(), page).await.map_err(Error::store)
    }

    /// The last request that was sent when the session had at most `seq` events.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn request_at(&self, seq: u64) -> Result<Option<SentRequest>, Error> {
        let mut before = u64::MAX;
        loop {
            let page = self.requests(Page::before(before, PAGE)).await?;
            let Some(first) = page.first() else { return Ok(None) };
            before = first.no;
            let found = page.into_iter().rfind(|request| request.seq <= seq);
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// What the next request goes by: where the context and the tools stood in an agent's last
    /// request of a conversation, which is this session's, now or in its past.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn previous(
        &self,
        conversation: &Conversation,
        agent: Option<&AgentName>,
    ) -> Result<Option<Previous>, Error> {
        let Some(event) = conversation.last_request(agent) else { return Ok(None) };
        let Stood { placement, shown, tools, .. } = self.stood(event).await?;
        let previous = Previous::placed(placement, shown, tools);
        Ok(previous.knows_places().then_some(previous))
    }

    /// The body of that request, byte for byte as it was sent.
    ///
    /// # Errors
    /// If the store refuses, or what is stored does not have the hash.
    pub async fn previous_body(
        &self,
        conversation: &Conversation,
        agent: Option<&AgentName>,
    ) -> Result<Option<String>, Error> {
        let Some(event) = conversation.last_request(agent) else { return Ok(None) };
        let Some(request) = self.request_begun(event, None).await? else { return Ok(None) };
        let session = self.head_of(event).await?.id;
        let body = LastBody::read(&*self.store, session, request.no).await.map_err(Error::store)?;
        Ok(Some(String::from_utf8_lossy(&body.to_bytes()).into_owned()))
    }

    /// The session that an event is of: this one, or one that it is a fork of.
    pub(super) async fn head_of(&self, event: u64) -> Result<Head, Error> {
        let mut head = self.head.clone();
        while let Some(fork) = head.parent.filter(|fork| event < fork.seq) {
            head = self.store.head(fork.session).await.map_err(Error::store)?;
        }
        Ok(head)
    }

    /// The last request that a model saw, from the one that began with this event back, for the
    /// next one to be held against. None, if it was made by another version, or is damaged: that
    /// is told by whoever asks for it.
    pub(super) async fn before(&mut self, event: Option<u64>) -> Result<Option<Before>, Error> {
        let seen = self.seen_at(event).await?;
        self.before_of(seen).await
    }

    /// A request that a model saw, of this session or of one that it is a fork of, to hold another
    /// against.
    pub(super) async fn before_of(
        &mut self,
        seen: Option<(SessionId, SentRequest)>,
    ) -> Result<Option<Before>, Error> {
        let Some((session, request)) = seen else { return Ok(None) };
        let Told { trace: Some(trace), stored, .. } = Told::by(&request) else { return Ok(None) };
        let is_last = session == self.id() && request.no + 1 == self.head.next_request;
        let known = self.last_body.as_ref().filter(|_| is_last);
        let body = match known.map(|last| last.pieces().clone()) {
            Some(pieces) => pieces,
            None => match LastBody::read(&*self.store, session, request.no).await {
                Err(error) if error.kind() == StoreErrorKind::Corrupt => return Ok(None),
                read => {
                    let body = read.map_err(Error::store)?;
                    let pieces = body.pieces().clone();
                    if is_last {
                        self.last_body = Some(body);
                    }
                    pieces
                }
            },
        };
        let SentRequest { no: number, vendor, model, usage, .. } = request;
        let session = Some(session).filter(|session| *session != self.id());
        Ok(Some(Before { number, session, vendor, model, body, trace, usage, stored }))
    }

    /// The request that began with this event, which may be that of a session that this one is
    /// a fork of. None, if none was noted with it. Its number is looked for from a guess on.
    pub(super) async fn request_begun(
        &self,
        event: u64,
        guess: Option<u64>,
    ) -> Result<Option<SentRequest>, Error> {
        let head = self.head_of(event).await?;
        let found = self.first_from(&head, event, guess).await?;
        Ok(found.filter(|request| request.seq == event))
    }

    /// The first request of a session that began with this event or a later one. Its number is
    /// looked for from a guess on.
    pub(super) async fn first_from(
        &self,
        head: &Head,
        event: u64,
        guess: Option<u64>,
    ) -> Result<Option<SentRequest>, Error> {
        let at = async |no: u64| {
            let page = self.store.requests(head.id, Page::from(no, 1)).await;
            let request = page.map_err(Error::store)?.into_iter().next();
            Ok::<_, Error>(request.filter(|request| request.no == no))
        };
        // It is nearly always the last one. Later requests began with later events.
        let (mut low, mut high, mut found) = (0, head.next_request, None);
        let mut no = guess.unwrap_or(u64::MAX).min(high.saturating_sub(1));
        while low < high {
            let Some(request) = at(no).await? else { return Ok(None) };
            match request.seq.cmp(&event) {
                Ordering::Equal => return Ok(Some(request)),
                Ordering::Less => low = no + 1,
                Ordering::Greater => (high, found) = (no, Some(request)),
            }
            no = low + (high - low) / 2;
        }
        Ok(found)
    }

    /// The body of a request, byte for byte as it was sent: its hash is checked.
    ///
    /// # Errors
    /// If there is no such request, or what is stored does not have the hash.
    pub async fn rebuild(&self, no: u64) -> Result<Vec<u8>, Error> {
        let whole = self.rebuild_whole(no).await?;
        let requests = self.requests(Page::from(no, 1)).await?;
        let request = requests.into_iter().find(|request| request.no == no);
        let Some(stored) = request.as_ref().and_then(|request| Told::by(request).stored) else {
            return Ok(whole);
        };
        match stored.sent(&whole) {
            Some(Some(sent)) => Ok(sent),
            Some(None) => Ok(whole),
            None => Err(Error::rule(format!("what was sent of request {no} has another hash"))),
        }
    }

    /// As [`rebuild`](Self::rebuild), but all that the model saw: also what the vendor kept of
    /// the request before, which is not sent again.
    ///
    /// # Errors
    /// As [`rebuild`](Self::rebuild).
    pub async fn rebuild_whole(&self, no: u64) -> Result<Vec<u8>, Error> {
        Ok(self.read_body(no).await?.to_bytes())
    }

    async fn read_body(&self, no: u64) -> Result<LastBody, Error> {
        LastBody::read(&*self.store, self.id(), no).await.map_err(Error::store)
    }
}
