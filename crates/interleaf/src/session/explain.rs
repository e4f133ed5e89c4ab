//! What the requests that were sent cost, and why.

use interleaf_assemble::Agent;
use interleaf_model::{AgentName, Timestamp, Usage};
use interleaf_store::{LastBody, Page, SentRequest, SessionId};
use serde::Serialize;

use super::Session;
use super::told::Told;
use crate::{Error, Impact, Verdict};

/// How many requests are read at once.
const PAGE: usize = 32;

/// How many bytes are shown on each side of a place.
const AROUND: u64 = 60;

/// A request that was sent, and what is known of its cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedRequest {
    /// Its number in the session.
    pub number: u64,
    /// The sub-agent that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// When it was sent.
    pub at: Timestamp,
    /// Who was asked.
    pub vendor: String,
    /// Which model was asked.
    pub model: String,
    /// What it has in common with the agent's request before, if that was noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
    /// What the API says that it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the API says of its cache, against what was to be expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether no model saw it: it was not sent, or was refused before anything was computed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
}

/// What stands where two requests part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Parting {
    /// What both have before that place.
    pub shared: String,
    /// How the request before went on.
    pub before: String,
    /// How this one goes on.
    pub now: String,
}

impl Session {
    /// The last requests of an agent up to one, at most `n`, the oldest first; or those of all
    /// agents.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn explain(
        &self,
        agent: Option<&Agent>,
        upto: Option<u64>,
        n: usize,
    ) -> Result<Vec<ExplainedRequest>, Error> {
        self.explain_in((self.id(), u64::MAX), agent, upto, n).await
    }

    /// The last requests of an agent, at most `n`, the oldest first, those among them that a fork
    /// shares with its parents.
    pub(super) async fn explain_shared(
        &self,
        agent: &Agent,
        n: usize,
    ) -> Result<Vec<ExplainedRequest>, Error> {
        let (mut found, mut head, mut end) = (Vec::new(), self.head.clone(), u64::MAX);
        loop {
            let left = n - found.len();
            let mut earlier = self.explain_in((head.id, end), Some(agent), None, left).await?;
            earlier.append(&mut found);
            found = earlier;
            let Some(fork) = head.parent.filter(|_| found.len() < n) else { return Ok(found) };
            end = end.min(fork.seq);
            head = self.store.head(fork.session).await.map_err(Error::store)?;
        }
    }

    /// The same of a session's requests before an event.
    async fn explain_in(
        &self,
        (session, end): (SessionId, u64),
        agent: Option<&Agent>,
        upto: Option<u64>,
        n: usize,
    ) -> Result<Vec<ExplainedRequest>, Error> {
        let mut found = Vec::new();
        let mut before = upto.map_or(u64::MAX, |upto| upto.saturating_add(1));
        while found.len() < n {
            let page = self.store.requests(session, Page::before(before, PAGE)).await;
            let page = page.map_err(Error::store)?;
            let Some(first) = page.first() else { break };
            before = first.no;
            for request in page.into_iter().rev().filter(|request| request.seq < end) {
                let by = self.beginner_in(session, &request).await?.flatten();
                let is_asked = agent.is_none_or(|agent| agent.name() == by.as_ref());
                if found.len() < n && is_asked {
                    let unseen = self.is_unseen(session, &request);
                    found.push(explained(request, by, unseen));
                }
            }
        }
        found.reverse();
        Ok(found)
    }

    /// The request that was made of the session when it had `seq` events, if this was its body.
    ///
    /// # Errors
    /// If the store refuses, or what is stored does not have the hash.
    pub async fn recorded_at(
        &self,
        seq: u64,
        body: &[u8],
    ) -> Result<Option<ExplainedRequest>, Error> {
        let Some(request) = self.request_begun(seq, None).await? else { return Ok(None) };
        let session = self.head_of(seq).await?.id;
        let sent = LastBody::read(&*self.store, session, request.no).await.map_err(Error::store)?;
        if sent.to_bytes() != body {
            return Ok(None);
        }
        let by = self.beginner_in(session, &request).await?.flatten();
        let unseen = self.is_unseen(session, &request);
        Ok(Some(explained(request, by, unseen)))
    }

    /// What stands where a request and the one before it part. None, if they do not.
    ///
    /// # Errors
    /// If a body cannot be read.
    pub async fn parting(&self, request: &ExplainedRequest) -> Result<Option<Parting>, Error> {
        let known = request.impact.as_ref();
        let Some((impact, place)) = known.and_then(|impact| Some((impact, impact.place.as_ref()?)))
        else {
            return Ok(None);
        };
        let Some(number) = impact.against else { return Ok(None) };
        let of = impact.of_session.unwrap_or(self.id());
        if of == self.id() && number >= request.number {
            return Ok(None);
        }
        let read = async |session, no| LastBody::read(&*self.store, session, no).await;
        let old = read(of, number).await.map_err(Error::store)?;
        let new = read(self.id(), request.number).await.map_err(Error::store)?;
        let around = |body: &LastBody, start: u64, end: u64| {
            let pieces = body.pieces();
            let bytes = pieces.copy(start.min(pieces.len())..end.min(pieces.len()));
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let shared = around(&new, place.byte.saturating_sub(AROUND), place.byte);
        let before = around(&old, place.byte_before, place.byte_before + AROUND);
        let now = around(&new, place.byte, place.byte + AROUND);
        Ok(Some(Parting { shared, before, now }))
    }
}

fn explained(request: SentRequest, agent: Option<AgentName>, unseen: bool) -> ExplainedRequest {
    let impact = Told::by(&request).impact;
    let SentRequest { no: number, at, vendor, model, usage, .. } = request;
    let usage = usage.filter(|_| !unseen);
    let told = impact.as_ref().zip(usage);
    let verdict = told.and_then(|(impact, usage)| impact.verdict(usage));
    ExplainedRequest { number, agent, at, vendor, model, impact, usage, verdict, unseen }
}
