//! An agent as a tool of the agent above it (C8, C9).
//!
//! It has a conversation of its own in the same session: it hears and says only what is its own,
//! and shares the TODO list, the useful information and the folder notes. Its name follows from
//! the call that began it, so that a run which was stopped goes on where it was, and one that has
//! ended says again what it said, without another request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use interleaf::assemble::Agent as Who;
use interleaf::model::{self, AgentName, Message, ToolCall};
use interleaf::store::ErrorKind;
use interleaf::{Session, Target};
use interleaf_transport::Transport;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{Mutex, Semaphore, mpsc};

use crate::again::{Again, written};
use crate::call::not_run;
use crate::calls::caller;
use crate::course::{Course, Outcome, cut_short, last_words};
use crate::limits::Tally;
use crate::scene::{Props, Scene};
use crate::{Agent, Boxed, Effect, End, Event, Hook, Output, Tool, ToolError};

/// What a sub-agent is told.
#[derive(Deserialize, JsonSchema)]
struct Sent {
    /// The whole task, with all that it must know: it hears nothing else of this conversation.
    task: String,
}

/// Sends an agent with a task.
pub(crate) struct SubAgent {
    agent: Agent,
    transport: Transport,
    targets: Vec<Target>,
    /// Holds back those that are more than may run at once, of all that the agent above sends.
    turns: Arc<Semaphore>,
    /// The hooks of the agents above it.
    guards: Vec<Arc<dyn Hook>>,
}

impl SubAgent {
    pub(crate) fn new(
        agent: &Agent,
        transport: &Transport,
        above: &[Target],
        (turns, guards): (&Arc<Semaphore>, &[Arc<dyn Hook>]),
    ) -> Self {
        let own = agent.targets.as_slice();
        let targets = if own.is_empty() { above } else { own };
        Self {
            agent: agent.clone(),
            transport: transport.clone(),
            targets: targets.to_vec(),
            turns: turns.clone(),
            guards: guards.to_vec(),
        }
    }

    async fn send(&self, task: &str, call: &ToolCall, above: &Scene) -> Result<Output, ToolError> {
        let tally = above.0.tally.top();
        let limits = tally.limits();
        if tally.sub_agents.fetch_add(1, Ordering::Relaxed) >= limits.sub_agents {
            let most = limits.sub_agents;
            return Err(ToolError::new(format!(
                "no more than {most} sub-agents are sent in a run"
            )));
        }
        let _turn = self.turns.acquire().await?;
        let (store, id, name) = {
            let session = above.session().await;
            (session.store().clone(), session.id(), self.name_for(call, &session, above.who()))
        };
        let who = Who::Sub(name.clone());
        // A handle of its own: it asks while the one above waits, and others beside it.
        let mut session = Session::open(store, id).await?;
        if let Some(end) = stored_end(&session, &who) {
            return Ok(report(&self.agent, &end, &last_words(session.conversation(), &who)));
        }
        let has_begun = session.conversation().log().any(|message| who.hears(message));
        if !has_begun && above.is_cut_short() {
            return Ok(Output { end: Some(cut_short(above).await), ..not_run() });
        }
        written!(session, session.sub_agent(name.clone()).begin(task));
        let (tell, mut events) = mpsc::unbounded_channel();
        let scene = Scene(Arc::new(Props {
            name: self.agent.name.clone(),
            who: who.clone(),
            session: Arc::new(Mutex::new(session)),
            folder: self.agent.folder.clone().unwrap_or_else(|| above.0.folder.clone()),
            events: tell,
            stop: above.0.stop.clone(),
            above: above.0.above.iter().chain([&above.0.name]).cloned().collect(),
            tally: Arc::new(Tally::new(self.agent.limits.clone(), Some(above.0.tally.clone()))),
            compacts: AtomicBool::new(false),
            overtaken: AtomicBool::new(false),
        }));
        let listener = above.clone();
        let told = name.to_string();
        let telling = tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                let is_last = matches!(event, Event::Ended(_));
                let event = Box::new(event);
                listener.tell(Event::Sub { agent: told.clone(), event });
                // A tool that does not hear that it is to end may hold on to the other end.
                if is_last {
                    break;
                }
            }
        });
        let (targets, guards) = (self.targets.clone(), &self.guards);
        let course = Course::new(&self.agent, &self.transport, targets, scene.clone(), guards)
            .map_err(|error| ToolError::new(error.to_string()))?;
        // On the heap: a sub-agent may send one too.
        let Outcome { end, text, store_refused, .. } = Box::pin(course.run()).await;
        if store_refused == Some(ErrorKind::Conflict) {
            above.0.overtaken.store(true, Ordering::Relaxed);
        }
        store_end(&scene, &who, &end).await?;
        drop(scene);
        // All that it told comes before its result.
        let _ = telling.await;
        Ok(report(&self.agent, &end, &text))
    }

    /// The name of the one that a call sends: the same after a kill, and another for each call.
    /// Some servers give the calls of every answer the same ids.
    fn name_for(&self, call: &ToolCall, session: &Session, above: &Who) -> AgentName {
        let name = &self.agent.name;
        let upto = caller(session, above, call).map_or(0, |index| index as usize + 1);
        let makes = |message: &&Arc<Message>| message.calls().any(|other| other.id == call.id);
        match session.conversation().log().take(upto).filter(makes).count() {
            0 | 1 => AgentName::new(format!("{name}-{}", call.id)),
            n => AgentName::new(format!("{name}-{}_{n}", call.id)),
        }
    }
}

impl Tool for SubAgent {
    fn spec(&self) -> model::Tool {
        let what = match self.agent.description.as_str() {
            "" => format!("Sends the agent {} with a task, and gives its report.", self.agent.name),
            what => what.to_owned(),
        };
        model::Tool::of::<Sent>(self.agent.name.as_str(), what)
    }

    fn effect(&self) -> Effect {
        Effect::Resumes
    }

    /// It has something to say then.
    fn hears_the_end(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        scene: &'a Scene,
    ) -> Boxed<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let Sent { task } = call.arguments.parse()?;
            if task.trim().is_empty() {
                return Err(ToolError::new("the task is blank"));
            }
            self.send(&task, call, scene).await
        })
    }
}

/// What the agent above hears: how it ended, and all that it said last.
fn report(agent: &Agent, end: &End, text: &str) -> Output {
    let is_error = !matches!(end, End::Completed | End::OutOfBudget(_));
    let said = match text.trim() {
        "" => "(It said nothing.)",
        _ => text,
    };
    let end_of = Some(end.clone());
    Output { is_error, end: end_of, ..format!("[{}: {end}]\n\n{said}", agent.name).into() }
}

/// How it ended, if it ended for good and not by its last word.
fn stored_end(session: &Session, who: &Who) -> Option<End> {
    let conversation = session.conversation();
    let last = conversation.visible().rev().find(|message| who.hears(message))?;
    let index = conversation.find(&last.id)?;
    let mut marks = conversation.marks().filter(|(mark, _)| mark.starts_with("ended:"));
    marks.find_map(|(mark, mut at)| End::stored(mark).filter(|_| at.any(|at| at == index)))
}

async fn store_end(scene: &Scene, who: &Who, end: &End) -> Result<(), ToolError> {
    if End::stored(&end.mark()).is_none() {
        return Ok(());
    }
    let (mut session, mut again) = (scene.session().await, Again::default());
    loop {
        let conversation = session.conversation();
        let last = conversation.visible().rev().find(|message| who.hears(message));
        let Some(index) = last.and_then(|last| conversation.find(&last.id)) else {
            return Ok(());
        };
        match session.mark(index, &end.mark()).await {
            Err(error) => again.after(error, &mut session).await?,
            Ok(()) => return Ok(()),
        }
    }
}
