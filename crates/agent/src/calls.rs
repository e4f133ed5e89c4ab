//! Running the calls of an answer.
//!
//! | a call | what becomes of it |
//! |---|---|
//! | of a tool that changes something | is marked as started before it runs |
//! | that is marked and has no result | is not run again: the model is told |
//! | of a tool that reads, or goes on where it was | is run again |
//! | of a tool that is not there | gets a result that says so |
//!
//! All calls of an answer run at the same time. Results are kept in the order of the calls.

use std::sync::Arc;

use interleaf::Session;
use interleaf::assemble::Agent as Who;
use interleaf::model::{Message, ToolCall};
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::course::{Course, Failed, cut_short};
use crate::{Allow, Effect, Event, Output, Tool, ToolError};

/// What is said of a call that was started and whose result nobody knows.
const STARTED: &str = "[This call was started, and the program was stopped before its result was \
    recorded. It may have taken effect, in whole or in part. Look before you do it again.]";

/// What is said of a call that was interrupted while it ran.
const INTERRUPTED: &str =
    "[This call was interrupted. It may have taken effect, in part. Look before you go on.]";

/// What is said of a call that was interrupted before it ran.
const NOT_RUN: &str = "[This call was not run: the user interrupted.]";

/// A call on its way.
enum Running {
    Known(Output),
    Task(Task),
}

/// Ends its task when it is dropped.
struct Task(JoinHandle<Result<Output, ToolError>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Course {
    /// Runs calls and keeps their results.
    pub(crate) async fn answer_calls(&mut self, calls: Vec<ToolCall>) -> Result<(), Failed> {
        let mut running = Vec::with_capacity(calls.len());
        for call in calls {
            let runs = self.begin(&call).await?;
            running.push((call, runs));
        }
        for (call, runs) in running {
            let output = match runs {
                Running::Known(output) => output,
                Running::Task(mut task) => self.outcome(&call, &mut task).await,
            };
            let result = output.answer(&call);
            self.keep(result).await?;
        }
        Ok(())
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
        for hook in self.agent.hooks.iter().chain(&self.agent.guards) {
            if let Allow::Refuse(why) = hook.before_call(call, effect, &self.scene).await {
                return Ok(Running::Known(failure(format!("[This call was refused: {why}]"))));
            }
        }
        if self.scene.is_stopped() {
            return Ok(Running::Known(failure(NOT_RUN)));
        }
        if effect == Effect::Changes {
            let mut session = self.scene.session().await;
            mark_started(&mut session, self.scene.who(), call).await?;
        }
        self.scene.tell(Event::Started(call.clone()));
        let (scene, call) = (self.scene.clone(), call.clone());
        let span = tracing::info_span!(
            "execute_tool",
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = call.name.as_str(),
            "gen_ai.tool.call.id" = call.id.as_str(),
        );
        let task = async move { tool.call(&call, &scene).await };
        Ok(Running::Task(Task(tokio::spawn(task.instrument(span)))))
    }

    fn tool(&self, call: &ToolCall) -> Option<Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == call.name).cloned()
    }

    /// What becomes of a call that runs.
    async fn outcome(&self, call: &ToolCall, task: &mut Task) -> Output {
        let resumes = self.tool(call).is_some_and(|tool| tool.effect() == Effect::Resumes);
        let done = tokio::select! {
            biased;
            done = &mut task.0 => done,
            // What goes on where it was hears of it itself, and has something to say.
            _ = cut_short(&self.scene), if !resumes => return failure(INTERRUPTED),
        };
        match done {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => failure(error.text()),
            Err(error) => failure(format!("the tool {} broke: {error}", call.name)),
        }
    }

    /// Answers calls that were not run.
    pub(crate) async fn close(&mut self, calls: &[ToolCall]) -> Result<(), Failed> {
        for call in calls {
            let is_started = {
                let session = self.scene.session().await;
                is_started(&session, self.scene.who(), call)
            };
            let text = if is_started { STARTED } else { NOT_RUN };
            self.keep(failure(text).answer(call)).await?;
        }
        Ok(())
    }

    async fn keep(&self, result: Message) -> Result<(), Failed> {
        let mut session = self.scene.session().await;
        let told = Arc::new(result.clone());
        let who = self.scene.who();
        let kept = match who {
            Who::Main => session.results([result]).await,
            Who::Sub(name) => session.sub_agent(name.clone()).results([result]).await,
        };
        if let Err(error) = kept {
            // Another run may have answered it, such as one that was dropped while it wrote.
            session.refresh().await?;
            let call = told.as_result().map(|result| &result.call);
            let results = session.conversation().visible().rev().filter(|it| who.hears(it));
            let mut results = results.map_while(|message| message.as_result());
            if !results.any(|result| Some(&result.call) == call) {
                return Err(error.into());
            }
        }
        drop(session);
        self.scene.tell(Event::Result(told));
        Ok(())
    }
}

fn failure(text: impl Into<String>) -> Output {
    Output { is_error: true, ..text.into().into() }
}

fn mark_of(call: &ToolCall) -> String {
    format!("started:{}", call.id)
}

/// The log index of the message that makes a call.
fn caller(session: &Session, who: &Who, call: &ToolCall) -> Option<u32> {
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

async fn mark_started(session: &mut Session, who: &Who, call: &ToolCall) -> Result<(), Failed> {
    loop {
        let Some(index) = caller(session, who, call) else { return Ok(()) };
        match session.mark(index, &mark_of(call)).await {
            Err(error) => session.recover(error).await?,
            Ok(()) => return Ok(()),
        }
    }
}
