//! Which request an answer is to.

use std::collections::HashSet;
use std::sync::Arc;

use interleaf_conversation::Event;
use interleaf_model::{AgentName, Message};
use interleaf_store::{Page, SentRequest, SessionId};

use super::Session;
use super::lane::Asked;
use super::told::Told;
use crate::Error;

/// An answer that names no request is to one of the last ones.
const PAGE: usize = 32;

/// So many answers are looked at to find one to a request.
pub(super) const RECENT: usize = 4 * PAGE;

impl Session {
    /// Whose request an answer is to, and which.
    pub(super) async fn asker(
        &self,
        number: Option<u64>,
    ) -> Result<(Option<AgentName>, Option<Asked>), Error> {
        let agents = self.agents.iter().map(|(name, lane)| (Some(name), lane));
        let lanes = std::iter::once((None, &self.main)).chain(agents);
        let open = lanes.filter_map(|(agent, lane)| Some((agent, lane.asked.as_ref()?)));
        let open = open.filter(|(_, asked)| number.is_none_or(|number| number == asked.number));
        if let Some((agent, asked)) = open.max_by_key(|(_, asked)| asked.number) {
            return Ok((agent.cloned(), Some(asked.clone())));
        }
        // Another node asked, or this one did before it was started anew.
        let request = match number {
            Some(number) => self.request_of(number).await?,
            None => self.unanswered().await?,
        };
        let Some(request) = request else { return Ok((None, None)) };
        Ok((self.beginner(&request).await?.flatten(), Some(Asked::of(request))))
    }

    /// Which request of an agent an answer is to, if it names this one or none.
    pub(super) async fn asked_by(
        &mut self,
        agent: Option<&AgentName>,
        number: Option<u64>,
    ) -> Result<Option<Asked>, Error> {
        let known = self.lane(agent).asked.as_ref();
        let known = known.filter(|asked| number.is_none_or(|number| number == asked.number));
        if let Some(asked) = known {
            return Ok(Some(asked.clone()));
        }
        match number {
            Some(number) => self.asked(number, agent).await,
            None => Ok(self.unanswered_of(agent).await?.map(Asked::of)),
        }
    }

    /// The newest request that no message of the session answers, among the last ones.
    async fn unanswered(&self) -> Result<Option<SentRequest>, Error> {
        let answered = self.answered();
        let requests = self.requests(Page::newest(PAGE)).await?;
        let is_open =
            |it: &SentRequest| !answered.contains(&it.no) && !self.is_unseen(self.id(), it);
        Ok(requests.into_iter().rfind(is_open))
    }

    /// The newest request of an agent that no message answers: its last one, however many
    /// others have made since, or one of the last ones.
    async fn unanswered_of(&self, agent: Option<&AgentName>) -> Result<Option<SentRequest>, Error> {
        let answered = self.answered();
        let shared = self.head.parent.map_or(0, |fork| fork.seq);
        let event = self.conversation.last_request(agent).filter(|&event| event >= shared);
        if let Some(event) = event
            && let Some(last) = self.request_begun(event, None).await?
            && !answered.contains(&last.no)
        {
            return Ok(Some(last));
        }
        let requests = self.requests(Page::newest(PAGE)).await?;
        for request in requests.into_iter().rev().filter(|it| !answered.contains(&it.no)) {
            if self.beginner(&request).await?.is_some_and(|by| by.as_ref() == agent) {
                return Ok(Some(request));
            }
        }
        Ok(None)
    }

    /// What was said here, the newest first, and not in the past that a fork shares: there,
    /// the numbers of requests are another session's.
    pub(super) fn newest_own(&self) -> impl Iterator<Item = &Arc<Message>> {
        let n_own = self.conversation.log_len().saturating_sub(self.n_shared);
        self.conversation.log().rev().take(n_own)
    }

    /// The requests that the last answers are to.
    fn answered(&self) -> HashSet<u64> {
        let own = self.newest_own();
        own.filter_map(|message| message.answered()?.request).take(RECENT).collect()
    }

    async fn request_of(&self, number: u64) -> Result<Option<SentRequest>, Error> {
        let requests = self.requests(Page::from(number, 1)).await?;
        Ok(requests.into_iter().find(|request| request.no == number))
    }

    /// The request of this number, which must be this agent's.
    async fn asked(&self, number: u64, agent: Option<&AgentName>) -> Result<Option<Asked>, Error> {
        let Some(request) = self.request_of(number).await? else { return Ok(None) };
        match self.beginner(&request).await? {
            Some(by) if by.as_ref() != agent => {
                let [by, agent] = [by.as_ref(), agent].map(|agent| match agent {
                    None => "the main agent".to_owned(),
                    Some(name) => format!("the sub-agent {name}"),
                });
                Err(Error::rule(format!("{by} made request {number}, not {agent}")))
            }
            _ => Ok(Some(Asked::of(request))),
        }
    }

    /// Which agent made a request; nothing, if that is not known.
    pub(super) async fn beginner(
        &self,
        request: &SentRequest,
    ) -> Result<Option<Option<AgentName>>, Error> {
        self.beginner_in(self.id(), request).await
    }

    /// Which agent made a request of a session.
    pub(super) async fn beginner_in(
        &self,
        session: SessionId,
        request: &SentRequest,
    ) -> Result<Option<Option<AgentName>>, Error> {
        let page = Page::from(request.seq, 1);
        let events = self.store.events(session, page).await.map_err(Error::store)?;
        let event =
            events.first().map(|stored| stored.event()).transpose().map_err(Error::store)?;
        Ok(match event {
            Some(Event::RequestBegan { agent }) => Some(agent),
            _ => None,
        })
    }
}

impl Asked {
    fn of(request: SentRequest) -> Self {
        let Told { prefix, names, .. } = Told::by(&request);
        let SentRequest { no, seq, vendor, model, .. } = request;
        Self {
            number: no,
            event: Some(seq),
            log_len: None,
            vendor,
            model,
            prefix,
            names,
            counted: None,
        }
    }
}
