//! The second verb: what came back is taken in.

use std::collections::HashSet;
use std::sync::Arc;

use interleaf_assemble::{Agent, open_calls};
use interleaf_conversation::Event;
use interleaf_model::{AgentName, Answered, Message, Origin, Reply, ToolCall};
use interleaf_store::{Page, RequestUsage, SentRequest};

use super::lane::{Asked, prefix_of};
use super::{Session, now};
use crate::append::RETRIES;
use crate::{Error, ErrorKind};

/// How many requests are looked at at once to find the last one of an agent.
const PAGE: usize = 32;

impl Session {
    /// Takes in an answer: the message, what it cost, why it ended, who made it and the
    /// API's name for it, in one transaction. Gives the message as it is kept;
    /// [`Message::answered`] tells the rest later.
    ///
    /// It is the answer of the agent whose request it names. One that names none, because
    /// it was read without the request's decoder, answers the newest request that has no
    /// answer yet.
    ///
    /// What was left of a stream that was cut is taken in the same way; its finish says
    /// so.
    ///
    /// # Errors
    /// If another writer was first. Nothing is changed then.
    pub async fn take(&mut self, reply: Reply) -> Result<Arc<Message>, Error> {
        let agent = self.asker(reply.request).await?;
        self.take_for(agent.as_ref(), reply).await
    }

    pub(super) async fn take_for(
        &mut self,
        agent: Option<&AgentName>,
        reply: Reply,
    ) -> Result<Arc<Message>, Error> {
        if let Some(known) = self.taken(agent, &reply) {
            return Ok(known);
        }
        let Reply { message, finish, usage, model, id, request, .. } = reply;
        let asked = match self.lane(agent).asked.clone() {
            Some(asked) if request.is_none_or(|number| number == asked.number) => Some(asked),
            // Another node asked, or this one did before it was started anew.
            _ => match request {
                Some(number) => self.asked(number, agent).await?,
                None => self.last_request(agent).await?.map(Asked::of),
            },
        };
        let mut answered = Answered::default();
        answered.request = asked.as_ref().map(|asked| asked.number);
        answered.vendor = asked.as_ref().map(|asked| asked.vendor.as_str().into());
        answered.model = model.or_else(|| asked.as_ref().map(|asked| asked.model.as_str().into()));
        answered.response = id;
        answered.prefix = asked.as_ref().and_then(|asked| asked.prefix.clone());
        answered.finish = Some(finish);
        let mut message = message.with_answered(&answered).map_err(Error::form)?;
        message.origin = origin_of(agent);
        message.at = Some(message.at.map_or_else(now, Ok)?);
        let message = Arc::new(message);

        let mut conversation = self.conversation.clone();
        let mut events = vec![conversation.append(message).map_err(Error::conversation)?];
        if let Some(usage) = usage {
            events.push(conversation.note_usage(usage, agent).map_err(Error::conversation)?);
        }
        let mut commit = self.commit_of(&events)?;
        let spent = asked.as_ref().zip(usage);
        commit.usage = spent.map(|(asked, usage)| RequestUsage { no: asked.number, usage });
        let index = conversation.log_len() as u32 - 1;
        self.send(commit).await?;
        self.conversation = conversation;
        self.lane(agent).asked = None;
        self.learn(asked, usage);
        let kept = self.conversation.message(index);
        kept.cloned().ok_or_else(|| Error::rule("the message that was taken is not in the log"))
    }

    /// The calls that the model waits for, of the main agent.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        self.open_calls_of(&Agent::Main)
    }

    /// Answers open calls, all in one transaction, and gives the log index of the first
    /// result. [`ToolCall::result`] and [`ToolCall::failure`] make them. If another
    /// writer was first, such as a sub-agent, they come after what that one wrote, as long as
    /// the calls are open then.
    ///
    /// # Errors
    /// If one is not the result of an open call, or another writer was first time and again.
    pub async fn results(
        &mut self,
        results: impl IntoIterator<Item = Message>,
    ) -> Result<u32, Error> {
        self.results_for(&Agent::Main, results).await
    }

    pub(super) async fn results_for(
        &mut self,
        agent: &Agent,
        results: impl IntoIterator<Item = Message>,
    ) -> Result<u32, Error> {
        let results: Vec<Message> = results.into_iter().collect();
        // Not by `retrying`: a loop that borrows in a closure may not move between threads.
        for _ in 0..RETRIES {
            match self.answer_calls(agent, &results).await {
                Err(error) if error.kind() == ErrorKind::Conflict => self.refresh().await?,
                done => return done,
            };
        }
        self.answer_calls(agent, &results).await
    }

    async fn answer_calls(&mut self, agent: &Agent, results: &[Message]) -> Result<u32, Error> {
        let mut open = self.open_calls_of(agent);
        let mut messages = Vec::new();
        for message in results {
            let Some(result) = message.as_result() else {
                let role = message.role();
                return Err(Error::rule(format!("a result is expected, not a {role} message")));
            };
            let Some(at) = open.iter().position(|call| call.id == result.call) else {
                let rule = format!("the result for {} answers no open call", result.call);
                return Err(Error::rule(rule));
            };
            open.remove(at);
            messages.push(Arc::new(message.clone().with_origin(origin_of(agent.name()))));
        }
        self.append_all(messages).await
    }

    /// The calls that an agent waits for.
    pub(super) fn open_calls_of(&self, agent: &Agent) -> Vec<ToolCall> {
        let open = open_calls(self.conversation.visible(), agent);
        open.into_iter().map(|open| open.call).collect()
    }

    /// The message of this very answer, if it was taken before: whoever does not know
    /// whether a write arrived may take the answer again.
    fn taken(&self, agent: Option<&AgentName>, reply: &Reply) -> Option<Arc<Message>> {
        let number = reply.request?;
        let origin = origin_of(agent);
        let own = self.conversation.log().rev().filter(|message| message.origin == origin);
        let mut answers = own.filter_map(|message| Some((message, message.answered()?)));
        let (message, answered) = answers.find(|(_, a)| a.request.is_some_and(|n| n <= number))?;
        let is_same = answered.request == Some(number)
            && answered.response == reply.id
            && message.body == reply.message.body;
        is_same.then(|| message.clone())
    }

    /// Whose request an answer is to, if it names this one or none.
    async fn asker(&self, number: Option<u64>) -> Result<Option<AgentName>, Error> {
        let agents = self.agents.iter().map(|(name, lane)| (Some(name), lane));
        let lanes = std::iter::once((None, &self.main)).chain(agents);
        let open = lanes.filter_map(|(agent, lane)| Some((agent, lane.asked.as_ref()?.number)));
        let open = open.filter(|(_, open)| number.is_none_or(|number| number == *open));
        if let Some((agent, _)) = open.max_by_key(|(_, number)| *number) {
            return Ok(agent.cloned());
        }
        // Another node asked, or this one did before it was started anew.
        let request = match number {
            Some(number) => self.request_of(number).await?,
            None => self.unanswered().await?,
        };
        match request {
            Some(request) => Ok(self.beginner(&request).await?.flatten()),
            None => Ok(None),
        }
    }

    /// The newest request that no message of the session answers, among the last ones.
    async fn unanswered(&self) -> Result<Option<SentRequest>, Error> {
        let answers = self.conversation.log().filter_map(|message| message.answered()?.request);
        let answered: HashSet<u64> = answers.collect();
        let requests = self.requests(Page::newest(PAGE)).await?;
        Ok(requests.into_iter().rfind(|request| !answered.contains(&request.no)))
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

    /// The last request of an agent.
    pub(super) async fn last_request(
        &self,
        agent: Option<&AgentName>,
    ) -> Result<Option<SentRequest>, Error> {
        let mut page = Page::newest(PAGE);
        loop {
            let requests = self.requests(page).await?;
            let Some(first) = requests.first().map(|request| request.no) else { return Ok(None) };
            for request in requests.into_iter().rev() {
                if self.beginner(&request).await?.is_some_and(|by| by.as_ref() == agent) {
                    return Ok(Some(request));
                }
            }
            page = Page::before(first, PAGE);
        }
    }

    /// Which agent made a request; nothing, if that is not known.
    async fn beginner(&self, request: &SentRequest) -> Result<Option<Option<AgentName>>, Error> {
        let page = Page::from(request.seq, 1);
        let events = self.store.events(self.id(), page).await.map_err(Error::store)?;
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
        let prefix = prefix_of(&request);
        let SentRequest { no, vendor, model, .. } = request;
        Self { number: no, vendor, model, prefix, counted: None }
    }
}

/// What marks the messages of an agent.
pub(super) fn origin_of(agent: Option<&AgentName>) -> Origin {
    agent.map_or(Origin::Main, |name| Origin::SubAgent(name.clone()))
}
