//! Running the calls of an answer.
//!
//! | a call | what becomes of it |
//! |---|---|
//! | of a tool that changes something | is marked as started before it runs |
//! | that is marked and has no result | is not run again: the model is told |
//! | of a tool that reads, or goes on where it was | is run again |
//! | of a tool that is not there | gets a result that says so |
//!
//! All calls of an answer begin at the same time, and none waits for another, nor for a person who
//! is asked about another. Results are stored as soon as they are ready; those that are ready
//! together in the order of the calls, and in one transaction, because each transaction goes over
//! all calls of the answer. A request always has them in the order of the calls.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use interleaf::Session;
use interleaf::assemble::Agent as Who;
use interleaf::conversation::{Operation, Replace};
use interleaf::model::{Message, Role, ToolCall};
use tokio::sync::mpsc;

use crate::again::{Again, is_busy, written};
use crate::call::{CallEnd, STARTED, Stage, failure, run_call};
use crate::course::{Course, Failed};
use crate::{Effect, End, Event, Output, Tool};

/// What is said of a call that has the id of another.
const SAME_ID: &str = "[This call was not run: another call of the same answer has the same id. \
    Make it again, by itself.]";

/// The most results that are kept in one transaction. It goes over all calls of the answer, so
/// that small ones would cost more than linear time.
const MOST_AT_ONCE: usize = 8192;

/// A call that has ended, and its place in the answer.
struct Done {
    at: usize,
    call: ToolCall,
    output: Output,
}

impl Course {
    /// Runs calls and keeps their results. What fails for one takes nothing from the others.
    pub(crate) async fn answer_calls(&self, calls: Vec<ToolCall>) -> Result<(), Failed> {
        let running = FuturesUnordered::new();
        let mut ids = HashSet::with_capacity(calls.len());
        for (at, call) in calls.into_iter().enumerate() {
            // What is started, and who was sent, is known by the id of the call.
            let is_first = ids.insert(call.id.clone());
            running.push(self.done(at, call, is_first));
        }
        let (tell, told) = mpsc::unbounded_channel();
        // Neither may wait for the other: a call that is to be marked holds up the session.
        let (ran, kept) = tokio::join!(hand_on(running, tell), self.keep_as_they_come(told));
        ran.and(kept)
    }

    /// Runs a call to its end.
    async fn done(&self, at: usize, call: ToolCall, is_first: bool) -> Result<Done, Failed> {
        let ended = match is_first {
            true => self.run_one(&call).await?,
            false => CallEnd::Told(failure(SAME_ID)),
        };
        let (mut output, stopped) = match ended {
            CallEnd::Told(output) => (output, None),
            CallEnd::Stopped(output, end) => (output, Some(end)),
        };
        let sends = self.agent.sends(call.name.as_str());
        if sends && self.scene.0.overtaken.load(Ordering::Relaxed) {
            // The report is the other run's to give.
            return Err(Failed::overtaken(output.text));
        }
        // The result of a call that sent an agent has how that one ended.
        if sends && output.end.is_none() {
            output.end = Some(stopped.unwrap_or_else(|| End::Failed(output.text.clone())));
        }
        Ok(Done { at, call, output })
    }

    async fn run_one(&self, call: &ToolCall) -> Result<CallEnd, Failed> {
        let Some(tool) = self.tool(call) else {
            let names: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
            let names = names.join(", ");
            let text = format!("there is no tool {:?} now; there are: {names}", call.name.as_str());
            return Ok(CallEnd::Told(failure(text)));
        };
        let changes = tool.effect() == Effect::Changes;
        // Nobody is asked about a call that is not run again.
        if changes && is_started(&*self.scene.session().await, self.scene.who(), call) {
            return Ok(CallEnd::Told(failure(STARTED)));
        }
        let begins = async {
            let is_ours = !changes || self.mark_started(call).await?;
            if is_ours {
                self.scene.tell(Event::Started(call.clone()));
            }
            Ok(is_ours)
        };
        let with_content = self.agent.traces_content;
        let stage = Stage { scene: &self.scene, guards: &self.guards, with_content };
        run_call(tool, call, stage, begins).await
    }

    fn tool(&self, call: &ToolCall) -> Option<Arc<dyn Tool>> {
        let at = self.specs.iter().position(|spec| spec.name == call.name)?;
        self.tools.get(at).cloned()
    }

    /// Marks a call as started. Says whether that is so by this mark: if another run was first,
    /// the call is that one's.
    async fn mark_started(&self, call: &ToolCall) -> Result<bool, Failed> {
        let (who, mut session) = (self.scene.who(), self.scene.session().await);
        let mut again = Again::default();
        loop {
            // A call that is no longer there is nobody's to run.
            let Some(index) = caller(&session, who, call) else { return Ok(false) };
            if is_started(&session, who, call) {
                return Ok(false);
            }
            match session.mark(index, &mark_of(call)).await {
                Err(error) => again.after(error, &mut session).await?,
                Ok(()) => return Ok(true),
            }
        }
    }

    /// Puts a result in the place of the word that its call was started: the run that gave that
    /// took the call for dead.
    async fn put_right(
        &self,
        session: &mut Session,
        call: &ToolCall,
        told: &Message,
    ) -> Result<(), Failed> {
        let mut again = Again::default();
        loop {
            let Fate::Answered { index, by } = fate(session, self.scene.who(), call) else {
                return Ok(());
            };
            if by.text() != STARTED || told.text() == STARTED {
                return Ok(());
            }
            let message = told.clone().with_origin(by.origin.clone());
            let replace = Replace { index, message, split_blocks: false };
            match session.operate(Operation::Replace(replace)).await {
                Ok(_) => return Ok(()),
                Err(error) => again.after(error, session).await?,
            }
        }
    }

    /// Says of calls that nobody waits for any more that they were started.
    pub(crate) async fn tell_left_behind(&self) -> Result<(), Failed> {
        let left = left_behind(&*self.scene.session().await, self.scene.who());
        for call in left {
            self.keep(&call, &failure(STARTED)).await?;
        }
        Ok(())
    }

    /// Keeps results until no more come.
    async fn keep_as_they_come(
        &self,
        mut told: mpsc::UnboundedReceiver<Done>,
    ) -> Result<(), Failed> {
        let (mut ready, mut kept) = (Vec::new(), Ok(()));
        while told.recv_many(&mut ready, MOST_AT_ONCE).await > 0 {
            ready.sort_by_key(|done| done.at);
            kept = kept.and(self.keep_all(&mut ready).await);
        }
        kept
    }

    /// Keeps results of calls, in one transaction if that can be.
    async fn keep_all(&self, ready: &mut Vec<Done>) -> Result<(), Failed> {
        if ready.len() > 1 {
            let mut session = self.scene.session().await;
            let answers =
                ready.iter().map(|done| done.output.answer(&done.call, session.conversation()));
            let answers: Vec<Message> = answers.collect();
            match self.take_results(&mut session, &answers).await {
                Ok(()) => {
                    drop(session);
                    ready.clear();
                    for told in answers {
                        self.scene.tell(Event::Result(Arc::new(told)));
                    }
                }
                // Each of them would wait as long.
                Err(error) if is_busy(&error) => {
                    ready.clear();
                    return Err(error.into());
                }
                Err(_) => {}
            }
        }
        // One that cannot be kept does not take the others with it.
        let mut kept = Ok(());
        for Done { call, output, .. } in ready.drain(..) {
            kept = kept.and(self.keep(&call, &output).await);
        }
        kept
    }

    async fn take_results(
        &self,
        session: &mut Session,
        results: &[Message],
    ) -> Result<(), interleaf::Error> {
        let own = || results.iter().cloned();
        match self.scene.who() {
            Who::Main => written!(*session, session.results(own())),
            Who::Sub(name) => {
                written!(*session, session.sub_agent(name.clone()).results(own()))
            }
        };
        Ok(())
    }

    /// Keeps the result of a call.
    async fn keep(&self, call: &ToolCall, output: &Output) -> Result<(), Failed> {
        let mut session = self.scene.session().await;
        let who = self.scene.who();
        let (told, kept) = loop {
            let told = output.answer(call, session.conversation());
            let kept = self.take_results(&mut session, std::slice::from_ref(&told)).await;
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
            match fate(&session, who, call) {
                Fate::Answered { .. } => self.put_right(&mut session, call, &told).await?,
                // That run went on without it: a request shows it where its call stands.
                Fate::Unanswered if !is_busy(&error) => {
                    written!(*session, session.append(told.clone()));
                }
                Fate::Unanswered | Fate::Gone => return Err(error.into()),
            }
        }
        drop(session);
        self.scene.tell(Event::Result(Arc::new(told)));
        Ok(())
    }
}

/// Hands on what is done as it is done. The calls begin in their order, so that a person is asked
/// in that order.
async fn hand_on(
    mut running: FuturesUnordered<impl Future<Output = Result<Done, Failed>>>,
    tell: mpsc::UnboundedSender<Done>,
) -> Result<(), Failed> {
    let mut ran = Ok(());
    while let Some(done) = running.next().await {
        match done {
            // Who keeps it listens until the last has come.
            Ok(done) => drop(tell.send(done)),
            Err(failed) => ran = ran.and(Err(failed)),
        }
    }
    ran
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

/// What became of a call.
enum Fate {
    /// By a message at this position of the view.
    Answered {
        index: usize,
        by: Arc<Message>,
    },
    Unanswered,
    /// It is no longer visible.
    Gone,
}

fn fate(session: &Session, who: &Who, call: &ToolCall) -> Fate {
    let mut index = session.conversation().view_len();
    for said in session.conversation().visible().rev() {
        index -= 1;
        if !who.hears(said) {
            continue;
        }
        if said.as_result().is_some_and(|result| result.call == call.id) {
            return Fate::Answered { index, by: said.clone() };
        }
        if said.calls().any(|other| other.id == call.id) {
            return Fate::Unanswered;
        }
    }
    Fate::Gone
}

/// The calls of the last answer that were started and have no result, though something else was
/// said since: a request would not say of them that they may have taken effect.
fn left_behind(session: &Session, who: &Who) -> Vec<ToolCall> {
    let heard = || session.conversation().visible().rev().filter(|it| who.hears(it));
    let Some(last) = heard().find(|said| said.role() == Role::Assistant) else { return Vec::new() };
    let is_left = |call: &&ToolCall| {
        matches!(fate(session, who, call), Fate::Unanswered) && is_started(session, who, call)
    };
    last.calls().filter(is_left).cloned().collect()
}

fn is_started(session: &Session, who: &Who, call: &ToolCall) -> bool {
    let caller = caller(session, who, call);
    caller.is_some_and(|index| session.conversation().has_mark(index, &mark_of(call)))
}
