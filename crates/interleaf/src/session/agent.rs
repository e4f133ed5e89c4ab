//! An agent of the session: the main one, or one inside it with a conversation of its own.

use std::borrow::Cow;
use std::sync::Arc;

use interleaf_assemble::{Agent, Recipe};
use interleaf_conversation::{Counters, Fill};
use interleaf_model::{AgentName, Finish, Message, Reply, Role, ToolCall};

use super::retry::{RETRIES, retried};
use super::take::origin_of;
use super::{Sent, Session};
use crate::{Error, Next, Target};

/// An agent of the session, so that one loop serves the main agent and its sub-agents.
///
/// A sub-agent hears and says only what is its own, and its requests and tokens are counted
/// for it alone. The main agent does not notice it. Its first message is its task, and its
/// recipe must define its role (C9).
///
/// ```
/// use interleaf::assemble::Recipe;
/// use interleaf::model::{ContextKind, Message};
/// use interleaf::{Next, Session, Target, store};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut session = Session::create(store::open("memory:").await?, "").await?;
/// session.append(Message::user("Mend the tests.")).await?;
///
/// let recipe = Recipe::new().with_context(ContextKind::Role, "You look for causes.");
/// let target = Target::new("anthropic", "claude-sonnet-4-5")?.with_key("sk-123");
/// let mut scout = session.sub_agent("scout");
/// scout.append(Message::user("Why does the first test fail?")).await?;
/// let Next::Send(request) = scout.request(&recipe, &target).await? else { panic!() };
/// assert!(!String::from_utf8(request.body.to_bytes())?.contains("Mend"));
///
/// let error = scout.request(&Recipe::new(), &target).await.unwrap_err();
/// assert!(error.to_string().contains("the sub-agent scout has no role definition"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct SessionAgent<'s> {
    session: &'s mut Session,
    agent: Agent,
}

impl Session {
    /// The main agent of this session. Its `append`, `request`, `results` and
    /// `open_calls` do what the session's do.
    pub fn main_agent(&mut self) -> SessionAgent<'_> {
        SessionAgent { session: self, agent: Agent::Main }
    }

    /// A sub-agent of this session.
    pub fn sub_agent(&mut self, name: impl Into<AgentName>) -> SessionAgent<'_> {
        SessionAgent { session: self, agent: Agent::Sub(name.into()) }
    }
}

impl SessionAgent<'_> {
    /// Says a message to it. Gives its log index.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub async fn append(&mut self, message: Message) -> Result<u32, Error> {
        let origin = origin_of(self.agent.name());
        self.session.append(message.with_origin(origin)).await
    }

    /// Gives it its task, unless it has one: a run that was stopped goes on where it was.
    /// One that has other work to do next time needs another name, such as that of the call
    /// that it answers. If another writer was first, it comes after what that one wrote.
    ///
    /// # Errors
    /// If the task may not be appended, or another writer was first time and again.
    pub async fn begin(&mut self, task: &str) -> Result<(), Error> {
        retried!(RETRIES, self.begin_once(task).await, error => self.session.recover(error).await)
    }

    async fn begin_once(&mut self, task: &str) -> Result<(), Error> {
        let has_task = self.session.conversation().log().any(|m| self.agent.hears(m));
        if !has_task {
            self.append(Message::user(task)).await?;
        }
        Ok(())
    }

    /// Makes its next request, and notes it.
    ///
    /// # Errors
    /// As [`Session::request`]; also if the recipe does not define its role.
    pub async fn request(&mut self, recipe: &Recipe, target: &Target) -> Result<Next, Error> {
        let mut recipe = Cow::Borrowed(recipe);
        if recipe.agent != self.agent {
            recipe.to_mut().agent.clone_from(&self.agent);
        }
        self.session.request(&recipe, target).await
    }

    /// Notes a request of its own that was made elsewhere, as [`Session::note_request`] does.
    ///
    /// # Errors
    /// As [`Session::note_request`].
    pub async fn note_request(&mut self, sent: Sent<'_>) -> Result<u64, Error> {
        self.session.note_request_of(self.agent.name(), sent).await
    }

    /// Takes in an answer to its last request.
    ///
    /// # Errors
    /// As [`Session::take`].
    pub async fn take(&mut self, reply: Reply) -> Result<Arc<Message>, Error> {
        self.session.take_for(self.agent.name(), reply).await
    }

    /// Answers open calls of its own.
    ///
    /// # Errors
    /// As [`Session::results`].
    pub async fn results(
        &mut self,
        results: impl IntoIterator<Item = Message>,
    ) -> Result<u32, Error> {
        self.session.results_for(&self.agent, results).await
    }

    /// The calls that it waits for, as those of [`Session::open_calls`].
    pub fn open_calls(&self) -> Vec<ToolCall> {
        self.session.open_calls_of(&self.agent)
    }

    /// What it answered, if nothing was said to it since it was asked: its run had come to its
    /// end, though whoever started it may have been stopped before hearing of it. An answer
    /// that calls tools, that was cut off with its connection, or that the API paused, is none.
    /// One that reached the limit of its length is, and [`Message::answered`] tells.
    pub fn answer(&self) -> Option<&Arc<Message>> {
        let conversation = self.session.conversation();
        let mut said = conversation.visible().rev();
        let last = said.find(|message| self.agent.hears(message))?;
        let finish = last.answered().and_then(|answered| answered.finish);
        let goes_on = matches!(finish, Some(Finish::Cut | Finish::Paused)) || last.has_calls();
        // What was said while the model was answering, it has not seen.
        let since = conversation.since_request(self.agent.name());
        let unseen = since.is_some_and(|mut since| {
            since.any(|message| message.role() == Role::User && self.agent.hears(message))
        });
        (last.role() == Role::Assistant && !goes_on && !unseen).then_some(last)
    }

    /// Its token counters; `None` if it is a sub-agent that never made a request.
    pub fn usage(&self) -> Option<&Counters> {
        let conversation = self.session.conversation();
        match &self.agent {
            Agent::Main => Some(conversation.usage()),
            Agent::Sub(name) => conversation.usage_of(name),
        }
    }

    /// How full its window is.
    pub fn fill(&self) -> Option<Fill<'_>> {
        let conversation = self.session.conversation();
        match &self.agent {
            Agent::Main => conversation.fill(),
            Agent::Sub(name) => conversation.fill_of(name),
        }
    }

    /// The session that it is part of.
    pub fn session(&mut self) -> &mut Session {
        self.session
    }
}
