//! The job: asks a model for the arguments of one step until they are right (E2–E9).
//!
//! ```text
//!   Job::new ──▶ next ──▶ Ask(request) ──▶ (a model) ──▶ give(reply) ──▶ next ──▶ …
//!                  ├────▶ Done(answer)      valid arguments, and what was mended
//!                  └────▶ Failed(failure)   every attempt, and why it was refused
//! ```
//!
//! | the reply | native | xml | auto |
//! |---|---|---|---|
//! | a valid call, or one that can be mended | done | done | done |
//! | a call with faults | ask again | ask again | ask again, the same way |
//! | no call | ask again | ask again | ask again, as xml |
//! | the last try of a way is used up | failed | failed | failed |
//!
//! Nothing here does I/O. A draft never takes the place of an answer.

mod judge;
mod messages;
mod request;
mod shown;

use std::sync::Arc;

use interleaf_model::{Json, Message, Reply};

pub use self::judge::{Attempt, Objection};
pub use self::messages::merge_adjacent;
pub use self::request::StepRequest;
use crate::calls::{Note, TextTools};
use crate::{Error, ErrorKind, Language, Plan, PlanStep, PlanTool, Repair, Results, Templates};

/// How a model is asked for a call (E2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// As text, in the XML protocol.
    Xml,
    /// Through the API's own tool calling, the tool forced.
    Native,
    /// Native first, then XML if the model made no call.
    #[default]
    Auto,
}

/// The way a single request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// The call is text in the XML protocol.
    Xml,
    /// The call is the API's own.
    Native,
}

/// Whether the earlier conversation is sent in xml mode, where it may lead the model away
/// from the protocol (E7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum InXml {
    /// It is left out.
    #[default]
    LeaveOut,
    /// It is kept.
    Keep,
}

/// How a job is done.
#[derive(Debug, Clone)]
pub struct PlanSettings {
    /// How the model is asked.
    pub mode: Mode,
    /// The language of the texts.
    pub language: Language,
    /// Maximum number of times to ask the model in each mode; at least once.
    pub tries: usize,
    /// System texts of the agent, between the protocol and the stage's own.
    pub overlays: Vec<String>,
    /// The earlier conversation.
    pub conversation: Vec<Message>,
    /// Whether it is sent in xml mode.
    pub conversation_in_xml: InXml,
    /// The longest result, or argument of an earlier step, that is shown whole, in bytes
    /// (E11).
    pub result_limit: usize,
    /// The longest request, in bytes. To keep to it, long results are shortened further.
    pub request_limit: usize,
}

impl Default for PlanSettings {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            language: Language::default(),
            tries: 3,
            overlays: Vec::new(),
            conversation: Vec::new(),
            conversation_in_xml: InXml::default(),
            result_limit: 16 << 10,
            request_limit: 400 << 10,
        }
    }
}

/// Where a job stands, and so what to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum JobState {
    /// Send this, and give the job the reply.
    Ask(Box<StepRequest>),
    /// The arguments are there.
    Done(StepArguments),
    /// They are not, and no try is left.
    Failed(StepFailure),
}

/// Arguments that keep to the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct StepArguments {
    /// The arguments, an object. What was not mended is as the model wrote it.
    pub arguments: Json,
    /// What was mended in them.
    pub repairs: Vec<Repair>,
    /// What was passed over when the text was read.
    pub notes: Vec<Note>,
    /// The way that led to them.
    pub way: Way,
    /// Whether native calling was tried first, in vain.
    pub fell_back: bool,
    /// How many replies it took.
    pub n_replies: usize,
}

/// Why there are no arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct StepFailure {
    /// Every reply, and why it was refused.
    pub attempts: Vec<Attempt>,
    /// Whether native calling was tried first, in vain.
    pub fell_back: bool,
}

/// The work of getting the arguments of one step. It borrows nothing: a server or another
/// language can hold it between two replies.
#[derive(Debug, Clone)]
pub struct Job {
    plan: Plan,
    index: usize,
    tool_index: usize,
    /// All that the step depends on, dependencies first.
    chain: Arc<[usize]>,
    results: Results,
    settings: PlanSettings,
    templates: Templates,
    text_tools: TextTools,
    way: Way,
    fell_back: bool,
    attempts: Vec<Attempt>,
    answer: Option<StepArguments>,
}

impl Job {
    /// The job of one step.
    ///
    /// # Errors
    /// If there is no such step, or something that it depends on has no result.
    pub fn new(
        plan: &Plan,
        step: usize,
        results: &Results,
        settings: &PlanSettings,
        templates: &Templates,
    ) -> Result<Self, Error> {
        let place = format!("steps[{step}]");
        let (Some(found), Some(tool_index)) = (plan.steps().get(step), plan.tool_index(step))
        else {
            return Err(Error::new(ErrorKind::UnknownStep, place, "the plan has no such step"));
        };
        let chain: Arc<[usize]> = plan.chain(step).into();
        for &needed in &*chain {
            if results.get(needed).is_none() {
                let (own, id) = (&found.id, &plan.steps()[needed].id);
                let rule = format!("step {own} needs the result of step {id}, which is missing");
                return Err(Error::new(ErrorKind::NotReady, place, rule));
            }
        }
        Ok(Self {
            plan: plan.clone(),
            index: step,
            tool_index,
            chain,
            results: results.clone(),
            settings: settings.clone(),
            templates: templates.clone(),
            text_tools: TextTools::new([&plan.tools()[tool_index].tool]),
            way: match settings.mode {
                Mode::Xml => Way::Xml,
                Mode::Native | Mode::Auto => Way::Native,
            },
            fell_back: false,
            attempts: Vec::new(),
            answer: None,
        })
    }

    /// What to do next. Asking twice gives the same.
    ///
    /// # Errors
    /// If a replaced template cannot be rendered with the values of this step, or the
    /// request does not fit its limit with every long result shortened.
    pub fn next(&self) -> Result<JobState, Error> {
        if let Some(answer) = &self.answer {
            return Ok(JobState::Done(answer.clone()));
        }
        if self.n_tries() >= self.settings.tries.max(1) {
            let Self { attempts, fell_back, .. } = self;
            return Ok(JobState::Failed(StepFailure {
                attempts: attempts.clone(),
                fell_back: *fell_back,
            }));
        }
        Ok(JobState::Ask(Box::new(self.request()?)))
    }

    /// Takes a reply to the last request.
    ///
    /// # Errors
    /// If the job is over.
    pub fn give(&mut self, reply: &Reply) -> Result<(), Error> {
        if self.answer.is_some() || self.n_tries() >= self.settings.tries.max(1) {
            let rule = "the job is over and takes no further reply";
            return Err(Error::new(ErrorKind::NotReady, self.place(), rule));
        }
        match self.judge(reply) {
            Ok(answer) => self.answer = Some(answer),
            Err(attempt) => {
                let is_silent = attempt.objections == [Objection::NoCall];
                self.attempts.push(attempt);
                if is_silent && self.settings.mode == Mode::Auto && self.way == Way::Native {
                    self.way = Way::Xml;
                    self.fell_back = true;
                }
            }
        }
        Ok(())
    }

    fn place(&self) -> String {
        format!("steps[{}]", self.index)
    }

    fn step(&self) -> &PlanStep {
        &self.plan.steps()[self.index]
    }

    fn tool(&self) -> &PlanTool {
        &self.plan.tools()[self.tool_index]
    }

    /// How often the model was asked in the present way.
    fn n_tries(&self) -> usize {
        self.attempts.iter().filter(|attempt| attempt.way == self.way).count()
    }
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Xml, Self::Native, Self::Auto];

    /// The mode's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Native => "native",
            Self::Auto => "auto",
        }
    }
}

impl Way {
    /// The way's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Native => "native",
        }
    }
}
