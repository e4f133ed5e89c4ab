//! Which steps may run now, and what a result makes ready (E10).
//!
//! | state | may become | when |
//! |---|---|---|
//! | waiting | ready | the last of its dependencies is done |
//! | waiting | blocked | something that it depends on failed |
//! | ready | running | [`start`](Schedule::start) |
//! | running | done, failed | [`finish`](Schedule::finish) |
//!
//! Nothing here runs anything or keeps time. A schedule is rebuilt from the plan and
//! the stored results: a finished step is never offered again, a failed one is.

use crate::{Error, ErrorKind, Plan, Results, StepResult};

/// How far a run of a plan is.
#[derive(Debug, Clone)]
pub struct Schedule {
    plan: Plan,
    states: Vec<StepState>,
    results: Results,
    needed_by: Vec<Vec<usize>>,
    n_missing: Vec<usize>,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepState {
    /// Something that it depends on is not done.
    Waiting,
    /// It may run now.
    Ready,
    /// It was started.
    Running,
    /// It is done; its result is stored.
    Done,
    /// It ran and did not succeed.
    Failed,
    /// Something that it depends on failed.
    Blocked,
}

impl Schedule {
    /// A run that begins.
    pub fn new(plan: &Plan) -> Self {
        Self::resume(plan, &Results::default())
    }

    /// A run that goes on where it was stopped: what succeeded is done, all else is
    /// still to do.
    pub fn resume(plan: &Plan, results: &Results) -> Self {
        let n_steps = plan.steps().len();
        let mut needed_by = vec![Vec::new(); n_steps];
        for (at, step) in plan.steps().iter().enumerate() {
            for &needed in &step.depends_on {
                needed_by[needed].push(at);
            }
        }
        let is_done = |at: usize| results.get(at).is_some_and(|result| result.success);
        let mut kept = Results::default();
        for (at, result) in results.iter().filter(|&(at, _)| at < n_steps && is_done(at)) {
            kept.insert(at, result.clone());
        }
        let missing =
            |step: &crate::PlanStep| step.depends_on.iter().filter(|&&at| !is_done(at)).count();
        let n_missing: Vec<usize> = plan.steps().iter().map(missing).collect();
        let state = |at: usize| match (is_done(at), n_missing[at]) {
            (true, _) => StepState::Done,
            (false, 0) => StepState::Ready,
            (false, _) => StepState::Waiting,
        };
        let states = (0..n_steps).map(state).collect();
        Self { plan: plan.clone(), states, results: kept, needed_by, n_missing }
    }

    /// How far a step is; none if there is no such step.
    pub fn state(&self, step: usize) -> Option<StepState> {
        self.states.get(step).copied()
    }

    /// The steps that may run now, in the order of the plan.
    pub fn ready(&self) -> Vec<usize> {
        self.in_state(StepState::Ready)
    }

    /// What is still to do: everything that is not done.
    pub fn remaining(&self) -> Vec<usize> {
        (0..self.states.len()).filter(|&at| self.states[at] != StepState::Done).collect()
    }

    /// Whether nothing runs and nothing can be started any more.
    pub fn is_over(&self) -> bool {
        let goes_on = |state: &StepState| matches!(state, StepState::Ready | StepState::Running);
        !self.states.iter().any(goes_on)
    }

    /// The results so far.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// Says that a step is being run, so that nobody else is offered it.
    ///
    /// # Errors
    /// If it is not ready.
    pub fn start(&mut self, step: usize) -> Result<(), Error> {
        self.expect(step, &[StepState::Ready], "is not ready to run")?;
        self.states[step] = StepState::Running;
        Ok(())
    }

    /// Stores what a step gave, and says which steps that makes ready. A failure makes
    /// none ready, and blocks everything that depends on the step.
    ///
    /// # Errors
    /// If the step neither runs nor is ready.
    pub fn finish(&mut self, step: usize, result: StepResult) -> Result<Vec<usize>, Error> {
        self.expect(step, &[StepState::Ready, StepState::Running], "was not started")?;
        let success = result.success;
        self.results.insert(step, result);
        if !success {
            self.states[step] = StepState::Failed;
            self.block_behind(step);
            return Ok(Vec::new());
        }
        self.states[step] = StepState::Done;
        let mut freed = Vec::new();
        for &waiting in &self.needed_by[step] {
            self.n_missing[waiting] -= 1;
            if self.n_missing[waiting] == 0 && self.states[waiting] == StepState::Waiting {
                self.states[waiting] = StepState::Ready;
                freed.push(waiting);
            }
        }
        Ok(freed)
    }

    fn block_behind(&mut self, step: usize) {
        let mut open = vec![step];
        while let Some(at) = open.pop() {
            for &waiting in &self.needed_by[at] {
                if self.states[waiting] == StepState::Waiting {
                    self.states[waiting] = StepState::Blocked;
                    open.push(waiting);
                }
            }
        }
    }

    fn in_state(&self, state: StepState) -> Vec<usize> {
        (0..self.states.len()).filter(|&at| self.states[at] == state).collect()
    }

    fn expect(&self, step: usize, states: &[StepState], rule: &str) -> Result<(), Error> {
        match self.states.get(step) {
            Some(state) if states.contains(state) => Ok(()),
            Some(_) => {
                let id = &self.plan.steps()[step].id;
                Err(Error::new(
                    ErrorKind::NotReady,
                    format!("steps[{step}]"),
                    format!("step {id} {rule}"),
                ))
            }
            None => {
                let rule = "the plan has no such step";
                Err(Error::new(ErrorKind::UnknownStep, format!("steps[{step}]"), rule))
            }
        }
    }
}
