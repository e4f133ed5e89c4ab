//! Running the call of a step.

use std::sync::Arc;

use interleaf::conversation::Conversation;
use interleaf::model::{AssistantPart, CallId, Json, Message, Origin, ToolCall};
use interleaf::plan::Results;

use super::PlanEvent;
use super::course::{Course, Halt, Went};
use super::standing::{Stood, arguments_of, is_error, name_of, why_failed};
use crate::again::Again;
use crate::call::{CallEnd, STARTED, Stage, failure, run_call};
use crate::calls::mark_of;
use crate::{Effect, Output};

impl Course {
    /// Brings a step to its end.
    pub(super) async fn step(
        &self,
        at: usize,
        stood: &Stood,
        results: &Results,
        went: &mut Went,
    ) -> Result<(), Halt> {
        let (index, call) = match &stood.call {
            Some(known) if stood.result.is_none() => known.clone(),
            // It was never run, or reads: the arguments are paid for.
            Some((_, call)) => self.say_call(at, stood.attempt + 1, &arguments_of(call)).await?,
            None => {
                let arguments = Box::pin(self.arguments(at, stood, results, went)).await?;
                self.say_call(at, stood.attempt, &arguments).await?
            }
        };
        went.arguments = Some(arguments_of(&call));
        let known = result_in(self.scene.session().await.conversation(), index, &call.id);
        let (result, halt) = match known {
            Some(known) => (known, None),
            None => {
                let ended = self.call(at, (index, &call), stood.is_started, went).await?;
                let (output, halt) = match ended {
                    CallEnd::Told(output) => (output, None),
                    CallEnd::Stopped(output, end) => (output, Some(Halt::of(end))),
                };
                let kept = self.keep_result((at, stood.attempt), (index, &call), output).await;
                (kept?, halt)
            }
        };
        let failed = is_error(&result).then(|| why_failed(&result));
        went.result = Some(result);
        match (halt, failed) {
            (Some(halt), _) => Err(halt),
            (None, Some(why)) => Err(Halt::Failed(why)),
            (None, None) => Ok(()),
        }
    }

    /// Says the call of a step, so that it is known before it runs. If another run was first,
    /// such as one that was dropped while it wrote, that call is the one.
    async fn say_call(
        &self,
        at: usize,
        attempt: u32,
        arguments: &Json,
    ) -> Result<(u32, ToolCall), Halt> {
        let step = &self.plan.steps()[at];
        let name = name_of(step.id.as_str(), attempt);
        let call = ToolCall::new(&name, step.tool.as_str(), arguments.as_str());
        let call = call.map_err(|error| Halt::Failed(error.to_string()))?;
        let message = said(call.clone())?;
        let mut session = self.scene.session().await;
        let mut again = Again::default();
        loop {
            if let Some(known) = call_in(session.conversation(), &call.id) {
                return Ok(known);
            }
            match session.append(message.clone()).await {
                Ok(index) => return Ok((index, call)),
                Err(error) => again.after(error, &mut session).await?,
            }
        }
    }

    /// Runs a call.
    async fn call(
        &self,
        at: usize,
        (index, call): (u32, &ToolCall),
        is_started: bool,
        went: &mut Went,
    ) -> Result<CallEnd, Halt> {
        let tool = self.tools[at].clone();
        let changes = tool.effect() == Effect::Changes;
        if changes && is_started {
            return Ok(CallEnd::Told(failure(STARTED)));
        }
        let begins = async {
            if changes {
                self.mark_started(at, index, call).await?;
                went.is_marked = true;
            }
            self.tell(PlanEvent::Started { step: at, call: call.clone() });
            Ok(true)
        };
        let stage = Stage { scene: &self.scene, guards: &self.hooks, with_content: false };
        run_call(tool, call, stage, begins).await
    }

    /// Marks a call as started. If it is so already, somebody else runs it: nothing is said of
    /// it here, and the run ends.
    async fn mark_started(&self, at: usize, index: u32, call: &ToolCall) -> Result<(), Halt> {
        let mark = mark_of(call);
        let mut session = self.scene.session().await;
        let mut again = Again::default();
        loop {
            if session.conversation().has_mark(index, &mark) {
                let id = &self.plan.steps()[at].id;
                return Err(Halt::Broken(format!(
                    "step {id} was started by another run in the same session: go on when that \
                     has ended"
                )));
            }
            match session.mark(index, &mark).await {
                Ok(()) => return Ok(()),
                Err(error) => again.after(error, &mut session).await?,
            }
        }
    }

    /// Keeps the result of a call: one, whoever writes it. If another run took this one for dead
    /// and said so, what the call gave is kept as that of a new one, which counts.
    async fn keep_result(
        &self,
        (at, attempt): (usize, u32),
        (index, call): (u32, &ToolCall),
        output: Output,
    ) -> Result<Arc<Message>, Halt> {
        let mut session = self.scene.session().await;
        let mut again = Again::default();
        loop {
            let conversation = session.conversation();
            let (messages, result) = match result_in(conversation, index, &call.id) {
                Some(known) if !is_error(&known) || output.is_error => return Ok(known),
                None => {
                    let result = Arc::new(output.answer(call, conversation));
                    (vec![result.clone()], result)
                }
                Some(_) => {
                    let id = self.plan.steps()[at].id.as_str();
                    let later = (attempt + 1..).map_while(|n| CallId::new(name_of(id, n)).ok());
                    let mut free = later.filter(|id| call_in(conversation, id).is_none());
                    let Some(id) = free.next() else {
                        return Err(Halt::Broken(format!("the result of step {id} is not kept")));
                    };
                    let call = ToolCall { id, ..call.clone() };
                    let result = Arc::new(output.answer(&call, conversation));
                    (vec![said(call)?, result.clone()], result)
                }
            };
            match session.append_all(messages).await {
                Ok(_) => return Ok(result),
                Err(error) => again.after(error, &mut session).await?,
            }
        }
    }
}

/// The message that makes a call.
fn said(call: ToolCall) -> Result<Arc<Message>, Halt> {
    let message = Message::assistant_parts([AssistantPart::Call(call)]);
    message.map(Arc::new).map_err(|error| Halt::Failed(error.to_string()))
}

/// A call of the log, and where it stands.
fn call_in(conversation: &Conversation, id: &CallId) -> Option<(u32, ToolCall)> {
    let says = |said: &Message| said.calls().find(|call| call.id == *id).cloned();
    let mut said = (0_u32..).zip(conversation.log());
    said.find_map(|(index, said)| {
        Some((index, says(said).filter(|_| said.origin == Origin::Main)?))
    })
}

/// The result of a call that stands at this place of the log.
fn result_in(conversation: &Conversation, index: u32, call: &CallId) -> Option<Arc<Message>> {
    let mut since = conversation.log().skip(index as usize);
    since.find(|said| said.as_result().is_some_and(|own| own.call == *call)).cloned()
}
