//! The second verb: what came back is taken in.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use interleaf_assemble::{Agent, open_calls};
use interleaf_model::{AgentName, Answered, CallId, Message, Origin, Reply, Role, ToolCall};
use interleaf_store::RequestUsage;

use super::asker::RECENT;
use super::lane::Asked;
use super::retry::{RETRIES, retried};
use super::{Session, now};
use crate::Error;
use crate::bound::thinks;
use crate::made_calls::is_same;

impl Session {
    /// Takes in an answer: the message, what it cost, why it ended, who made it and the
    /// API's name for it, in one transaction. Gives the message as it is kept;
    /// [`Message::answered`] tells the rest later.
    ///
    /// It is the answer of the agent whose request it names. One that names none, because
    /// it was read without the request's decoder, answers the newest of the last requests
    /// that has no answer yet; if all have one, it answers a request that was made elsewhere.
    ///
    /// What was left of a stream that was cut is taken in the same way; its finish says
    /// so. If another writer was first, it comes after what that one wrote.
    ///
    /// # Errors
    /// If another agent made the request that it names, if another run of the same agent has
    /// answered since the request was made ([`ErrorKind::Overtaken`](crate::ErrorKind)), or
    /// another writer was first time and again. Nothing is changed then.
    pub async fn take(&mut self, reply: Reply) -> Result<Arc<Message>, Error> {
        retried!(RETRIES, self.take_once(&reply).await, error => self.recover(error).await)
    }

    async fn take_once(&mut self, reply: &Reply) -> Result<Arc<Message>, Error> {
        let (agent, asked) = self.asker(reply.request).await?;
        self.take_as(agent.as_ref(), asked, reply).await
    }

    pub(super) async fn take_for(
        &mut self,
        agent: Option<&AgentName>,
        reply: Reply,
    ) -> Result<Arc<Message>, Error> {
        retried!(RETRIES, self.take_for_once(agent, &reply).await, error => self.recover(error).await)
    }

    async fn take_for_once(
        &mut self,
        agent: Option<&AgentName>,
        reply: &Reply,
    ) -> Result<Arc<Message>, Error> {
        let asked = self.asked_by(agent, reply.request).await?;
        self.take_as(agent, asked, reply).await
    }

    async fn take_as(
        &mut self,
        agent: Option<&AgentName>,
        asked: Option<Asked>,
        reply: &Reply,
    ) -> Result<Arc<Message>, Error> {
        let mut reply = reply.clone();
        if let Some(asked) = &asked {
            // Whoever read it may not have known the names of tools that were rewritten.
            reply.message = asked.names.restored(reply.message);
        }
        if let Some(known) = self.taken(agent, &reply) {
            return Ok(known);
        }
        if asked.as_ref().is_some_and(|asked| self.is_overtaken(agent, asked)) {
            return Err(Error::overtaken());
        }
        let Reply { message, finish, usage, model, id, .. } = reply;
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
        let mut made_calls = std::mem::take(&mut self.made_calls);
        let message = made_calls.fit(Arc::new(message), &self.conversation);

        let mut conversation = self.conversation.clone();
        let mut events = vec![];
        if asked.is_none() && usage.is_some() {
            // What it cost is not that of the last request that is known here.
            events.push(conversation.begin_request(agent).map_err(Error::conversation)?);
        }
        events.push(conversation.append(message).map_err(Error::conversation)?);
        if let Some(usage) = usage {
            let newest = conversation.newest_request(agent);
            let noted = match asked.as_ref().is_some_and(|asked| asked.event != newest) {
                true => conversation.note_earlier_usage(usage, agent),
                false => conversation.note_usage(usage, agent),
            };
            events.push(noted.map_err(Error::conversation)?);
        }
        let mut commit = self.commit_of(&events)?;
        let spent = asked.as_ref().zip(usage).map(|(asked, usage)| (asked.number, usage));
        commit.usage = spent.map(|(no, usage)| RequestUsage { no, usage });
        let index = conversation.log_len() as u32 - 1;
        self.send(commit).await?;
        self.conversation = conversation;
        self.made_calls = made_calls;
        self.lane(agent).asked = None;
        if let Some((no, usage)) = spent {
            self.lane(agent).answered(no, usage);
        }
        self.learn(asked, usage);
        let kept = self.conversation.message(index);
        kept.cloned().ok_or_else(|| Error::rule("the message that was taken is not in the log"))
    }

    /// Whoever appends an answer instead of having it taken still has its thinking bound (C15):
    /// the first message here that answers a request is kept with what that request began with.
    /// Gives the agent that asked.
    pub(super) async fn answer_among(
        &mut self,
        messages: &mut [Arc<Message>],
    ) -> Result<Option<Option<AgentName>>, Error> {
        let answer = messages.iter_mut().find(|message| message.role() == Role::Assistant);
        let answer = answer.filter(|it| thinks(it) && it.answered().is_none());
        let Some(answer) = answer else { return Ok(None) };
        let agent = match &answer.origin {
            Origin::Main => None,
            Origin::SubAgent(name) => Some(name.clone()),
            Origin::Internal => return Ok(None),
        };
        let asked = self.asked_by(agent.as_ref(), None).await?;
        let Some(asked) = asked.filter(|asked| asked.prefix.is_some()) else { return Ok(None) };
        let mut answered = Answered::default();
        answered.request = Some(asked.number);
        answered.prefix = asked.prefix;
        *answer = Message::clone(answer).with_answered(&answered).map_err(Error::form)?.into();
        Ok(Some(agent))
    }

    /// The calls that the model waits for, of the main agent: those to run. A call that was cut
    /// off ([`Message::cut_call`]) is not among them; the next request says so to the model.
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
        retried!(RETRIES, self.answer_calls(agent, &results).await, error => self.recover(error).await)
    }

    async fn answer_calls(&mut self, agent: &Agent, results: &[Message]) -> Result<u32, Error> {
        let mut open: HashMap<CallId, usize> = HashMap::new();
        for call in self.unanswered_calls(agent) {
            *open.entry(call.id).or_default() += 1;
        }
        let mut messages = Vec::new();
        for message in results {
            let Some(result) = message.as_result() else {
                let role = message.role();
                return Err(Error::rule(format!("a result is expected, not a {role} message")));
            };
            match open.get_mut(&result.call).filter(|n_open| **n_open > 0) {
                Some(n_open) => *n_open -= 1,
                None => {
                    let rule = format!("the result for {} answers no open call", result.call);
                    return Err(Error::rule(rule));
                }
            }
            messages.push(Arc::new(message.clone().with_origin(origin_of(agent.name()))));
        }
        self.append_all(messages).await
    }

    /// The calls that have no result yet and no answer after them. Something else may have
    /// been said since.
    fn unanswered_calls(&self, agent: &Agent) -> Vec<ToolCall> {
        let mut open = self.open_calls_of(agent);
        let is_open = !open.is_empty();
        let mut answered = HashSet::new();
        let heard = self.conversation.visible().rev().filter(|message| agent.hears(message));
        for message in heard.filter(|message| !message.is_blank()) {
            answered.extend(message.as_result().map(|result| &result.call));
            if message.role() == Role::Assistant {
                // Nobody has to say anything of a call that was cut off, but may.
                let is_cut = |call: &ToolCall| {
                    is_open && message.cut_call().is_some_and(|cut| std::ptr::eq(cut, call))
                };
                let calls = message.calls().filter(|call| !answered.contains(&call.id));
                open.extend(calls.filter(|call| !is_open || is_cut(call)).cloned());
                break;
            }
        }
        open
    }

    /// The calls that an agent waits for.
    pub(super) fn open_calls_of(&self, agent: &Agent) -> Vec<ToolCall> {
        let open = open_calls(self.conversation.visible(), agent);
        open.into_iter().map(|open| open.call).collect()
    }

    /// Whether another run of the same agent has taken in an answer since a request was made here.
    /// What this one says knows nothing of that, nor of the calls that it makes.
    fn is_overtaken(&self, agent: Option<&AgentName>, asked: &Asked) -> bool {
        let Some(log_len) = asked.log_len else { return false };
        let origin = origin_of(agent);
        let n_since = self.conversation.log_len().saturating_sub(log_len);
        let mut since = self.conversation.log().rev().take(n_since);
        since.any(|message| message.origin == origin && message.answered().is_some())
    }

    /// The message of this very answer, if it was taken before: whoever does not know
    /// whether a write arrived may take the answer again.
    fn taken(&self, agent: Option<&AgentName>, reply: &Reply) -> Option<Arc<Message>> {
        let number = reply.request?;
        let origin = origin_of(agent);
        let own = self.newest_own().filter(|message| message.origin == origin);
        let answers = own.filter_map(|message| Some((message, message.answered()?)));
        let is_same = |(message, answered): &(&Arc<Message>, Answered)| {
            answered.request == Some(number)
                && answered.response == reply.id
                && is_same(&message.body, &reply.message.body)
        };
        answers.take(RECENT).find(is_same).map(|(message, _)| message.clone())
    }
}

/// What marks the messages of an agent.
pub(super) fn origin_of(agent: Option<&AgentName>) -> Origin {
    agent.map_or(Origin::Main, |name| Origin::SubAgent(name.clone()))
}
