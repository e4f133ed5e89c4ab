//! The loop of a plan: whatever may be worked on is, as many steps at once as are allowed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use interleaf::Target;
use interleaf::model::{Json, Message};
use interleaf::plan::Templates;
use interleaf::plan::{Plan, PlanSettings, Results, Schedule, StepId, StepResult, StepState};
use interleaf_transport::Transport;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::{Instrument as _, Span};

use super::standing::{Stood, arguments_of, is_error, step_result, why_failed};
use super::{PlanEnd, PlanEvent, StepEnd, StepReport};
use crate::{End, Hook, Limit, Scene, Tool};

/// A run of a plan, from the inside.
pub(super) struct Course {
    pub(super) plan: Plan,
    /// Who is asked: the first, and the others if that gives no answer. There is one at least.
    pub(super) targets: Vec<Target>,
    pub(super) transport: Transport,
    pub(super) scene: Scene,
    /// The tool of each step.
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) hooks: Vec<Arc<dyn Hook>>,
    pub(super) settings: PlanSettings,
    pub(super) templates: Templates,
    pub(super) events: mpsc::UnboundedSender<PlanEvent>,
}

/// How a run ended, and what became of its steps.
pub(super) struct Outcome {
    pub(super) end: PlanEnd,
    pub(super) steps: Vec<StepReport>,
}

/// Why a step came to no good end.
#[derive(Debug, Clone)]
pub(super) enum Halt {
    /// It failed.
    Failed(String),
    Interrupted,
    OutOfBudget(Limit),
    /// The run cannot go on.
    Broken(String),
}

impl Halt {
    /// What a step's own request or arguments broke.
    pub(super) fn step(error: interleaf::plan::Error) -> Self {
        Self::Failed(error.to_string())
    }

    pub(super) fn of(end: End) -> Self {
        match end {
            End::OutOfBudget(limit) => Self::OutOfBudget(limit),
            End::Failed(why) => Self::Broken(why),
            End::Interrupted | End::Completed | End::Refused => Self::Interrupted,
        }
    }
}

impl From<interleaf::Error> for Halt {
    fn from(error: interleaf::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

/// What a run did for a step.
#[derive(Debug, Default)]
pub(super) struct Went {
    pub(super) arguments: Option<Json>,
    pub(super) result: Option<Arc<Message>>,
    pub(super) rounds: u32,
    pub(super) tokens: u64,
    /// Who gave its last answer: the vendor and the model.
    pub(super) answered_by: Option<(String, String)>,
    /// Whether a call that changes something was started.
    pub(super) is_marked: bool,
    took: Duration,
}

/// A step that was worked on.
type Worked = (Went, Result<(), Halt>);

/// How far a run is.
struct Progress {
    schedule: Schedule,
    /// What may be worked on now.
    queue: VecDeque<usize>,
    steps: Vec<StepReport>,
    /// Why nothing new is begun.
    halt: Option<Halt>,
}

impl Course {
    pub(super) fn tell(&self, event: PlanEvent) {
        // Nobody need listen.
        let _ = self.events.send(event);
    }

    /// Runs until it ends.
    pub(super) async fn run(self: Arc<Self>, stood: Vec<Stood>) -> Outcome {
        let span = tracing::info_span!("run_plan", "gen_ai.operation.name" = "invoke_agent");
        async {
            let mut progress = self.begin(&stood);
            self.work(&mut progress, &stood, &span).await;
            let end = progress.end();
            self.tell(PlanEvent::Ended(end.clone()));
            Outcome { end, steps: progress.steps }
        }
        .instrument(span.clone())
        .await
    }

    /// Takes in what is known of each step.
    fn begin(&self, stood: &[Stood]) -> Progress {
        let mut results = Results::default();
        for (at, own) in stood.iter().enumerate() {
            if let Some(result) = own.step_result().filter(|_| own.is_done()) {
                results.insert(at, result);
                self.tell(PlanEvent::Known(at));
            }
        }
        let schedule = Schedule::resume(&self.plan, &results);
        let mut needed = vec![false; stood.len()];
        for step in self.plan.steps() {
            step.depends_on.iter().for_each(|&at| needed[at] = true);
        }
        let report = |(at, own): (usize, &Stood)| {
            let step = &self.plan.steps()[at];
            StepReport {
                id: step.id.clone(),
                tool: step.tool.clone(),
                end: if own.is_done() { StepEnd::Done } else { StepEnd::Open },
                is_last: !needed[at],
                arguments: own.call.as_ref().map(|(_, call)| arguments_of(call)),
                result: own.result.clone(),
                was_started: own.is_started,
                rounds: 0,
                tokens: 0,
                answered_by: own.answered_by(),
                took: Duration::ZERO,
            }
        };
        let steps = stood.iter().enumerate().map(report).collect();
        let queue = schedule.ready().into();
        let mut progress = Progress { schedule, queue, steps, halt: None };
        // What ran and failed is not run again by itself.
        for (at, own) in stood.iter().enumerate().filter(|(_, own)| own.has_failed()) {
            let why = own.result.as_ref().map(|result| why_failed(result));
            progress.queue.retain(|&waiting| waiting != at);
            self.failed(&mut progress, at, why.unwrap_or_default());
        }
        progress
    }

    /// Works on steps until none is left that can be worked on.
    async fn work(self: &Arc<Self>, progress: &mut Progress, stood: &[Stood], span: &Span) {
        let at_once = self.scene.0.tally.limits().at_once.max(1);
        let mut running: JoinSet<Worked> = JoinSet::new();
        let mut places: HashMap<tokio::task::Id, usize> = HashMap::new();
        loop {
            // What has its arguments makes no request, but takes time.
            let deadline = self.scene.0.tally.deadline();
            let is_late = deadline.is_some_and(|at| at <= tokio::time::Instant::now());
            if progress.halt.is_none() && !progress.schedule.is_over() && is_late {
                progress.halt = Some(Halt::OutOfBudget(Limit::Time));
            }
            while running.len() < at_once
                && progress.halt.is_none()
                && !self.scene.is_stopped()
                && let Some(at) = progress.queue.pop_front()
            {
                // It is in the queue, so it is ready.
                let _ = progress.schedule.start(at);
                self.tell(PlanEvent::Began(at));
                let (course, stood) = (self.clone(), stood[at].clone());
                let results = progress.schedule.results().clone();
                let work = async move {
                    let (began, mut went) = (Instant::now(), Went::default());
                    let done = course.step(at, &stood, &results, &mut went).await;
                    went.took = began.elapsed();
                    (went, done)
                };
                places.insert(running.spawn(work.instrument(span.clone())).id(), at);
            }
            let Some(joined) = running.join_next_with_id().await else { break };
            let (id, (went, done)) = match joined {
                Ok(done) => done,
                Err(error) => {
                    let broken = Halt::Broken(format!("a step broke: {error}"));
                    (error.id(), (Went::default(), Err(broken)))
                }
            };
            if let Some(at) = places.remove(&id) {
                self.worked(progress, at, went, done);
            }
        }
        if progress.halt.is_none() && self.scene.is_stopped() && !progress.schedule.is_over() {
            progress.halt = Some(Halt::Interrupted);
        }
    }

    /// Takes in what became of a step.
    fn worked(&self, progress: &mut Progress, at: usize, went: Went, done: Result<(), Halt>) {
        let Went { arguments, result, rounds, tokens, answered_by, is_marked, took } = went;
        // What was not run, or only reads, is gone on with.
        let stopped = result.as_ref().filter(|own| is_marked && is_error(own));
        let stopped = stopped.map(|own| why_failed(own));
        let report = &mut progress.steps[at];
        (report.rounds, report.tokens, report.took) = (rounds, tokens, took);
        report.was_started |= is_marked;
        report.arguments = arguments.or(report.arguments.take());
        report.answered_by = answered_by.or(report.answered_by.take());
        report.result = result.or(report.result.take());
        match done {
            Ok(()) => self.done(progress, at),
            Err(Halt::Failed(why)) => self.failed(progress, at, why),
            Err(halt) => {
                match stopped {
                    Some(why) => self.failed(progress, at, why),
                    None => self.tell(PlanEvent::Stopped(at)),
                }
                // Of several reasons the gravest is told.
                let is_graver = match (&progress.halt, &halt) {
                    (None, _) => true,
                    (Some(known), Halt::Broken(_)) => !matches!(known, Halt::Broken(_)),
                    _ => false,
                };
                if is_graver {
                    progress.halt = Some(halt);
                }
            }
        }
    }

    fn done(&self, progress: &mut Progress, at: usize) {
        let report = &mut progress.steps[at];
        report.end = StepEnd::Done;
        let (Some(arguments), Some(result)) = (&report.arguments, &report.result) else { return };
        let told = step_result(arguments.clone(), result);
        self.tell(PlanEvent::Done { step: at, result: result.clone() });
        let freed = progress.schedule.finish(at, told).unwrap_or_default();
        progress.queue.extend(freed);
    }

    /// A step has failed, and what depends on it is not run.
    fn failed(&self, progress: &mut Progress, at: usize, why: String) {
        let report = &mut progress.steps[at];
        report.end = StepEnd::Failed(why.clone());
        let nothing = Json::from(serde_json::Value::Null);
        let arguments = report.arguments.clone().unwrap_or_else(|| nothing.clone());
        self.tell(PlanEvent::Failed { step: at, why });
        let failed = StepResult { success: false, arguments, data: nothing };
        // It was ready, or at work.
        let _ = progress.schedule.finish(at, failed);
        for (step, of_plan) in self.plan.steps().iter().enumerate() {
            let is_new = progress.steps[step].end == StepEnd::Open
                && progress.schedule.state(step) == Some(StepState::Blocked);
            let is_bad = |&&needed: &&usize| {
                let state = progress.schedule.state(needed);
                matches!(state, Some(StepState::Failed | StepState::Blocked))
            };
            if is_new && let Some(&because) = of_plan.depends_on.iter().find(is_bad) {
                let id = self.plan.steps()[because].id.clone();
                progress.steps[step].end = StepEnd::Skipped(id);
                self.tell(PlanEvent::Skipped { step, because });
            }
        }
    }
}

impl Progress {
    /// How the run ended.
    fn end(&self) -> PlanEnd {
        match &self.halt {
            Some(Halt::Broken(why) | Halt::Failed(why)) => return PlanEnd::Failed(why.clone()),
            Some(Halt::Interrupted) => return PlanEnd::Interrupted,
            Some(Halt::OutOfBudget(limit)) => return PlanEnd::OutOfBudget(*limit),
            None => {}
        }
        let is_failed = |report: &&StepReport| matches!(report.end, StepEnd::Failed(_));
        let failed: Vec<StepId> =
            self.steps.iter().filter(is_failed).map(|report| report.id.clone()).collect();
        match failed.is_empty() {
            true => PlanEnd::Completed,
            false => PlanEnd::StepsFailed(failed),
        }
    }
}
