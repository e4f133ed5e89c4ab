//! What runs a plan, and how a run begins.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use interleaf::assemble::Agent as Who;
use interleaf::plan::{Mode, Plan, PlanSettings, Templates};
use interleaf::{Session, Target};
use interleaf_transport::Transport;
use tokio::sync::{Mutex, mpsc, watch};

use super::course::Course;
use super::standing::{self, Stood};
use super::{PlanRun, kept};
use crate::course::NO_MODEL;
use crate::limits::Tally;
use crate::scene::{Props, Scene};
use crate::task::Task;
use crate::{Error, Hook, Limits, Tool};

/// What runs a plan: whom it asks, its tools and its limits.
///
/// ```no_run
/// use interleaf::plan::Plan;
/// use interleaf::{Session, Target, store};
/// use interleaf_agent::{PlanRunner, tools};
/// use interleaf_transport::Transport;
///
/// # async fn example(text: &str) -> Result<(), Box<dyn std::error::Error>> {
/// let tools = tools::reading();
/// let specs: Vec<_> = tools.iter().map(|tool| tool.spec()).collect();
/// let plan = Plan::read_with(text, &specs).map_err(|faults| faults[0].clone())?;
/// let runner = PlanRunner::new(plan)
///     .with_target(Target::new("anthropic", "claude-sonnet-4-5")?)
///     .with_tools(tools);
/// let session = Session::create(store::open("sqlite:plans.db").await?, "a plan").await?;
/// let ended = runner.start(&Transport::new()?, session).await?.finish().await?;
/// println!("{}", ended.end);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PlanRunner {
    plan: Plan,
    targets: Vec<Target>,
    tools: Vec<Arc<dyn Tool>>,
    hooks: Vec<Arc<dyn Hook>>,
    settings: PlanSettings,
    templates: Option<Templates>,
    limits: Limits,
    folder: Option<PathBuf>,
    again: Vec<String>,
}

impl PlanRunner {
    /// Runs this plan, four steps at once. Its requests are not limited, for the plan does that.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            targets: Vec::new(),
            tools: Vec::new(),
            hooks: Vec::new(),
            settings: PlanSettings::default(),
            templates: None,
            limits: Limits { rounds: None, ..Limits::default() },
            folder: None,
            again: Vec::new(),
        }
    }

    /// Adds a model that is asked for arguments: the first that is added is asked, the others if it
    /// gives no answer.
    #[must_use]
    pub fn with_target(mut self, target: Target) -> Self {
        self.targets.push(target);
        self
    }

    /// Adds tools that run its steps.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a tool that runs its steps.
    #[must_use]
    pub fn with_tool(self, tool: impl Tool + 'static) -> Self {
        self.with_tools([Arc::new(tool) as Arc<dyn Tool>])
    }

    /// Adds a hook, which may refuse the calls of steps.
    #[must_use]
    pub fn with_hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// How steps are asked for their arguments.
    #[must_use]
    pub fn with_settings(mut self, settings: PlanSettings) -> Self {
        self.settings = settings;
        self
    }

    /// The texts that the model gets, in place of those that are built in.
    #[must_use]
    pub fn with_templates(mut self, templates: Templates) -> Self {
        self.templates = Some(templates);
        self
    }

    /// How much a run may use, and how many steps it runs at once.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The folder that its tools work in; without it, that of the program.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Asks for a step anew, and runs it again, though it ran and failed.
    #[must_use]
    pub fn again(mut self, step: impl Into<String>) -> Self {
        self.again.push(step.into());
        self
    }

    /// Whether every step has a tool here, before there is a session.
    ///
    /// # Errors
    /// If one has none, or two tools have one name.
    pub fn check(&self) -> Result<(), Error> {
        self.tools_of_steps().map(drop)
    }

    /// Begins the plan in a session, or goes on with it.
    ///
    /// # Errors
    /// If a step has no tool here, no model is set, the session has a run of
    /// another plan, or it cannot be read or written.
    pub async fn start(
        &self,
        transport: &Transport,
        mut session: Session,
    ) -> Result<PlanRun, Error> {
        let targets = self.targets.clone();
        if targets.is_empty() {
            return Err(Error::rule(format!("the plan: {NO_MODEL}")));
        }
        let tools = self.tools_of_steps()?;
        let templates = match &self.templates {
            Some(templates) => templates.clone(),
            None => Templates::built_in().map_err(Error::plan)?,
        };
        let folder = self.folder.clone().map_or_else(std::env::current_dir, Ok);
        let folder = folder.map_err(Error::folder)?;
        kept::begin(&mut session, &self.plan, &targets, self.settings.mode).await?;
        let stood = self.stood(&session)?;
        let mut settings = self.settings.clone();
        if settings.mode == Mode::Auto && targets.iter().any(Target::has_text_tools) {
            // It is known that one of them makes no native call, and all can write text.
            settings.mode = Mode::Xml;
        }
        let (tell, events) = mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let session = Arc::new(Mutex::new(session));
        let tally = Arc::new(Tally::new(self.limits.clone(), None));
        // What agents tell is not told of a plan: nobody listens.
        let (nobody, _) = mpsc::unbounded_channel();
        let scene = Scene(Arc::new(Props {
            name: "plan".to_owned(),
            who: Who::Main,
            session: session.clone(),
            folder,
            events: nobody,
            stop: stopped,
            above: Vec::new(),
            tally: tally.clone(),
            compacts: AtomicBool::new(false),
            overtaken: AtomicBool::new(false),
        }));
        let course = Arc::new(Course {
            plan: self.plan.clone(),
            targets,
            transport: transport.clone(),
            scene,
            tools,
            hooks: self.hooks.clone(),
            settings,
            templates,
            events: tell,
        });
        let task = Task::of(course.run(stood));
        Ok(PlanRun { events, stop, task, session, tally })
    }

    /// The tool of each step.
    fn tools_of_steps(&self) -> Result<Vec<Arc<dyn Tool>>, Error> {
        let specs: Vec<_> = self.tools.iter().map(|tool| tool.spec().name).collect();
        for (n, name) in specs.iter().enumerate() {
            if specs[..n].contains(name) {
                return Err(Error::rule(format!("the plan: two of its tools are called {name}")));
            }
        }
        let of_step = |(at, step): (usize, &interleaf::plan::PlanStep)| {
            let found = specs.iter().position(|name| *name == step.tool);
            found.map(|n| self.tools[n].clone()).ok_or_else(|| {
                let names: Vec<&str> = specs.iter().map(|name| name.as_str()).collect();
                let (id, tool) = (&step.id, step.tool.as_str());
                Error::rule(format!(
                    "steps[{at}].tool: nothing here runs the tool {tool:?} of step {id}; there \
                     are: {}",
                    names.join(", ")
                ))
            })
        };
        self.plan.steps().iter().enumerate().map(of_step).collect()
    }

    /// What the session knows of each step.
    fn stood(&self, session: &Session) -> Result<Vec<Stood>, Error> {
        let mut stood = standing::of(session.conversation(), &self.plan);
        for id in &self.again {
            let Some(at) = self.plan.find(id) else {
                return Err(Error::rule(format!("the plan has no step {id:?} to run again")));
            };
            if stood[at].is_done() {
                let rule = format!(
                    "step {id} is done: a fork of the session from before it can run it again"
                );
                return Err(Error::rule(rule));
            }
            stood[at] = Stood::anew(stood[at].attempt + 1);
        }
        Ok(stood)
    }
}
