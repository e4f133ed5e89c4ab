//! Running the calls of an answer.
//!
//! | a call | what becomes of it |
//! |---|---|
//! | of a tool that changes something | is marked as started before it runs |
//! | that is marked and has no result | is not run again: the model is told |
//! | of a tool that reads, or goes on where it was | is run again |
//! | of a tool that is not there | gets a result that says so |
//!
//! All calls of an answer run at the same time. Results are kept in the order of the calls, those
//! that are there at the same time in one transaction: each transaction goes over all calls of
//! the answer.

use std::collections::HashSet;
use std::sync::Arc;

use interleaf::Session;
use interleaf::assemble::Agent as Who;
use interleaf::model::{Message, ToolCall};
use tokio::task::{JoinError, JoinHandle};
use tracing::Instrument as _;

use crate::course::{Course, Failed, cut_short};
use crate::{Allow, Effect, End, Event, Limit, Output, Scene, Tool, ToolError, spans};

/// What is said of a call that was started and whose result nobody knows.
pub(crate) const STARTED: &str = "[This call was started, and its result is not recorded: the program \
    was stopped, or another run is at it. It may have taken effect, in whole or in part. Look before \
    you do it again.]";

/// What is said of a call that was interrupted while it ran.
pub(crate) const INTERRUPTED: &str =
    "[This call was interrupted. It may have taken effect, in part. Look before you go on.]";

/// What is said of a call that was not run.
pub(crate) const NOT_RUN: &str =
    "[This call was not run: the agent was interrupted, or its time was over.]";

/// What is said of a call that has the id of another.
const SAME_ID: &str = "[This call was not run: another call of the same answer has the same id. \
    Make it again, by itself.]";

/// The most results that are kept in one transaction.
const MOST_AT_ONCE: usize = 256;

/// A call on its way.
enum Running {
    Known(Output),
    Task(Task),
}

/// Ends its task when it is dropped.
pub(crate) struct Task(pub(crate) JoinHandle<Result<Output, ToolError>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Task {
    /// Begins to run a call. What was said is told in its span only if that is asked for.
    pub(crate) fn of(
        tool: Arc<dyn Tool>,
        call: ToolCall,
        scene: Scene,
        with_content: bool,
    ) -> Self {
        let span = spans::execute_tool(&*tool, &call, with_content);
        let within = span.clone();
        let task = async move {
            let given = tool.call(&call, &scene).await;
            match &given {
                Ok(output) => spans::gave(&span, output, with_content),
                Err(error) => spans::gave(&span, &failure(error.text()), with_content),
            }
            given
        };
        Self(tokio::spawn(task.instrument(within)))
    }
}

/// What is said of a call that has ended.
pub(crate) fn told(call: &ToolCall, done: Result<Result<Output, ToolError>, JoinError>) -> Output {
    match done {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => failure(error.text()),
        Err(error) => failure(format!("the tool {} broke: {error}", call.name)),
    }
}

impl Course {
    /// Runs calls and keeps their results.
    pub(crate) async fn answer_calls(&mut self, calls: Vec<ToolCall>) -> Result<(), Failed> {
        let mut running = Vec::with_capacity(calls.len());
        let mut ids = HashSet::with_capacity(calls.len());
        for call in calls {
            // What is started, and who was sent, is known by the id of the call.
            let runs = match ids.insert(call.id.clone()) {
                true => self.begin(&call).await?,
                false => Running::Known(failure(SAME_ID)),
            };
            running.push((call, runs));
        }
        let mut done = Vec::new();
        for (call, runs) in running {
            // Nothing that is done waits for what is not.
            let waits = matches!(&runs, Running::Task(task) if !task.0.is_finished());
            if waits || done.len() >= MOST_AT_ONCE {
                self.keep_all(&mut done).await?;
            }
            let output = match runs {
                Running::Known(output) => output,
                Running::Task(mut task) => self.outcome(&call, &mut task).await,
            };
            let output = self.with_end(&call, output);
            done.push((call, output));
        }
        self.keep_all(&mut done).await
    }

    /// Begins to run a call.
    async fn begin(&self, call: &ToolCall) -> Result<Running, Failed> {
        let Some(tool) = self.tool(call) else {
            let names = self.tools.iter().map(|tool| tool.spec().name.to_string());
            let names = names.collect::<Vec<_>>().join(", ");
            let text = format!("there is no tool {:?} now; there are: {names}", call.name.as_str());
            return Ok(Running::Known(failure(text)));
        };
        let effect = tool.effect();
        if effect == Effect::Changes {
            let session = self.scene.session().await;
            if is_started(&session, self.scene.who(), call) {
                return Ok(Running::Known(failure(STARTED)));
            }
        }
        // Who hears the end may have begun before: it does nothing more, and tells how far it came.
        let only_tells = tool.hears_the_end() && self.scene.is_cut_short();
        let allowed = tokio::select! {
            biased;
            () = std::future::ready(()), if only_tells => Ok(()),
            _ = cut_short(&self.scene) => return Ok(Running::Known(failure(NOT_RUN))),
            allowed = self.allowed(call, effect) => allowed,
        };
        if let Err(why) = allowed {
            return Ok(Running::Known(failure(format!("[This call was refused: {why}]"))));
        }
        if effect == Effect::Changes {
            let mut session = self.scene.session().await;
            if !mark_started(&mut session, self.scene.who(), call).await? {
                return Ok(Running::Known(failure(STARTED)));
            }
        }
        self.scene.tell(Event::Started(call.clone()));
        let with_content = self.agent.traces_content;
        let (call, scene) = (call.clone(), self.scene.clone());
        Ok(Running::Task(Task::of(tool, call, scene, with_content)))
    }

    /// Asks all hooks.
    async fn allowed(&self, call: &ToolCall, effect: Effect) -> Result<(), String> {
        for hook in &self.guards {
            if let Allow::Refuse(why) = hook.before_call(call, effect, &self.scene).await {
                return Err(why);
            }
        }
        Ok(())
    }

    fn tool(&self, call: &ToolCall) -> Option<Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == call.name).cloned()
    }

    /// What becomes of a call that runs.
    async fn outcome(&self, call: &ToolCall, task: &mut Task) -> Output {
        let tells = self.tool(call).is_some_and(|tool| tool.hears_the_end());
        let done = tokio::select! {
            biased;
            done = &mut task.0 => done,
            _ = cut_short(&self.scene), if !tells => return failure(INTERRUPTED),
        };
        told(call, done)
    }

    /// The result of a call that sent an agent has how that one ended.
    fn with_end(&self, call: &ToolCall, mut output: Output) -> Output {
        if self.agent.sends(call.name.as_str()) {
            output.end.get_or_insert_with(|| match output.text.as_str() {
                NOT_RUN | INTERRUPTED if self.scene.is_stopped() => End::Interrupted,
                NOT_RUN | INTERRUPTED => End::OutOfBudget(Limit::Time),
                why => End::Failed(why.to_owned()),
            });
        }
        output
    }

    /// Keeps results of calls, in one transaction if that can be.
    async fn keep_all(&self, done: &mut Vec<(ToolCall, Output)>) -> Result<(), Failed> {
        if done.len() > 1 {
            let mut session = self.scene.session().await;
            let answers =
                done.iter().map(|(call, output)| output.answer(call, session.conversation()));
            let answers: Vec<Message> = answers.collect();
            if self.take_results(&mut session, answers.iter().cloned()).await.is_ok() {
                drop(session);
                done.clear();
                for told in answers {
                    self.scene.tell(Event::Result(Arc::new(told)));
                }
            }
        }
        // One that cannot be kept does not take the others with it.
        for (call, output) in done.drain(..) {
            self.keep(&call, &output).await?;
        }
        Ok(())
    }

    async fn take_results(
        &self,
        session: &mut Session,
        results: impl IntoIterator<Item = Message>,
    ) -> Result<u32, interleaf::Error> {
        match self.scene.who() {
            Who::Main => session.results(results).await,
            Who::Sub(name) => session.sub_agent(name.clone()).results(results).await,
        }
    }

    /// Keeps the result of a call.
    async fn keep(&self, call: &ToolCall, output: &Output) -> Result<(), Failed> {
        let mut session = self.scene.session().await;
        let who = self.scene.who();
        let (told, kept) = loop {
            let result = output.answer(call, session.conversation());
            let told = Arc::new(result.clone());
            let kept = self.take_results(&mut session, [result]).await;
            // Another agent may have taken its id meanwhile.
            let is_taken =
                !told.id.is_unassigned() && session.conversation().find(&told.id).is_some();
            if kept.is_ok() || !is_taken {
                break (told, kept);
            }
        };
        if let Err(error) = kept {
            // Another run may have answered it, such as one that was dropped while it wrote.
            session.refresh().await?;
            let call = told.as_result().map(|result| &result.call);
            let heard = session.conversation().visible().rev().filter(|it| who.hears(it));
            // That run may have gone on since then.
            let since = heard.take_while(|it| !it.calls().any(|other| Some(&other.id) == call));
            let mut results = since.filter_map(|message| message.as_result());
            if !results.any(|result| Some(&result.call) == call) {
                return Err(error.into());
            }
        }
        drop(session);
        self.scene.tell(Event::Result(told));
        Ok(())
    }
}

pub(crate) fn failure(text: impl Into<String>) -> Output {
    Output { is_error: true, ..text.into().into() }
}

pub(crate) fn mark_of(call: &ToolCall) -> String {
    format!("started:{}", call.id)
}

/// The log index of the message that makes a call.
pub(crate) fn caller(session: &Session, who: &Who, call: &ToolCall) -> Option<u32> {
    let conversation = session.conversation();
    let makes = |message: &&Arc<Message>| {
        who.hears(message) && message.calls().any(|other| other.id == call.id)
    };
    let message = conversation.visible().rev().find(makes)?;
    conversation.find(&message.id)
}

fn is_started(session: &Session, who: &Who, call: &ToolCall) -> bool {
    let caller = caller(session, who, call);
    caller.is_some_and(|index| session.conversation().has_mark(index, &mark_of(call)))
}

/// Marks a call as started. Says whether that is so by this mark: if another run was first, the
/// call is that one's.
async fn mark_started(session: &mut Session, who: &Who, call: &ToolCall) -> Result<bool, Failed> {
    loop {
        // A call that is no longer there is nobody's to run.
        let Some(index) = caller(session, who, call) else { return Ok(false) };
        if is_started(session, who, call) {
            return Ok(false);
        }
        match session.mark(index, &mark_of(call)).await {
            Err(error) => session.recover(error).await?,
            Ok(()) => return Ok(true),
        }
    }
}
