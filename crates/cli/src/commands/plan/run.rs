//! `interleaf plan run`.

use std::io::{IsTerminal as _, stderr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;
use clap::ValueHint::{DirPath, FilePath};
use interleaf::model::ToolCall;
use interleaf::plan::{Language, Mode, Plan, PlanSettings};
use interleaf::{Session, Target};
use interleaf_agent::settings::{Ask, Guard, Origin, Setting, Settings, Word};
use interleaf_agent::{
    Boxed, KeptPlan, Limits, PlanEnd, PlanEnded, PlanRunner, Scene, StepEnd, StepReport, Tool,
    Toolbox, tools,
};
use interleaf_transport::{Amount, Transport};
use serde_json::{Value, json};

use super::ask::{language_parser, mode_parser};
use super::board::Board;
use super::{failure, name_of, templates};
use crate::arguments::ByteCount;
use crate::failure::{Failure, Fault, Stop, Verdict, printable};
use crate::input::Input;
use crate::open::{Missing, OpenSession, OpenStore};
use crate::output::{Output, say};
use crate::reach::{ReachArguments, parse_seconds};
use crate::settled::PlaceArguments;
use crate::stopped::Wishes;
use crate::working::{NOT_KEPT, allowed_by_person, servers, took_in_all};

/// Run a plan: ask for the arguments of each step, check them, and call its tool
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf plan run fixtures/plan/count.json --vendor anthropic --model claude-sonnet-4-5
  interleaf plan run PLAN.json --vendor openai --model gpt-4.1 --mode xml --at-once 8 --yes
  interleaf plan run --session 0199
  interleaf plan run --session 0199 --again count

A step begins as soon as all that it depends on is done, several at once. Steps may call read, list,
search, write, edit, run, the tools of the TODO list, useful information and notes, recall, and the
tools of the MCP servers in interleaf.toml. A plan may declare one of these itself, with a narrower
schema. You are asked before a step changes something, unless [permissions] of interleaf.toml allow
it or --yes is given.

All is kept in a session: --session goes on where it was, also after a kill. What was answered is
not asked for again, and a step that changes something is not run twice: if it was started and
nobody knows its end, it has failed, and --again runs it anew. If a step fails, what depends on it
is skipped, and all else is done. The results of the last steps go to standard output, what is
done to standard error. Ctrl-C interrupts it. Exit codes: 0 all steps are done; 1 steps failed; 10
it came to a limit; 130 interrupted; 8 nobody can be asked; 3 to 6 the store refused.")]
pub(crate) struct RunArguments {
    /// The plan; `-` is standard input [default: the plan of the session]
    #[arg(required_unless_present = "session", value_hint = FilePath)]
    file: Option<PathBuf>,
    /// Go on with the run of this session, or begin one in it; the start of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    place: PlaceArguments,
    /// Ask for this step anew, and run it again though it failed; may be repeated
    #[arg(long, value_name = "STEP", requires = "session")]
    again: Vec<String>,
    /// Let steps change files and run commands without asking
    #[arg(long)]
    yes: bool,
    /// Print how it ended as JSON, and nothing else
    #[arg(long)]
    json: bool,

    /// Who serves the model [default: as before in the session, or in interleaf.toml]
    #[arg(long, value_name = "NAME", requires = "model", help_heading = "API")]
    vendor: Option<String>,
    /// The model [default: as before in the session, or in interleaf.toml]
    #[arg(long, value_name = "NAME", requires = "vendor", help_heading = "API")]
    model: Option<String>,
    /// Who is asked if there is no answer; may be repeated [default: as before in the session, or in
    /// interleaf.toml]
    #[arg(long, value_name = "VENDOR:MODEL", help_heading = "API")]
    fallback: Vec<String>,
    /// How to ask the model: xml, native, or auto (native, then xml if it makes no call)
    /// [default: auto, or as before in the session]
    #[arg(long, value_parser = mode_parser(), help_heading = "API")]
    mode: Option<Mode>,
    /// The language of the texts
    #[arg(long, value_parser = language_parser(), default_value = "en", help_heading = "API")]
    lang: Language,
    /// Maximum number of times to ask the model in each mode
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "API")]
    tries: usize,
    /// A folder with texts that replace the built-in ones; `plan templates` makes one
    #[arg(long, value_name = "DIR", value_hint = DirPath, help_heading = "API")]
    templates: Option<PathBuf>,

    /// The most steps at the same time [default: 4]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    at_once: Option<usize>,
    /// The most requests [default: as many as the steps need]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    rounds: Option<u32>,
    /// The most tokens, sent and made
    #[arg(long, value_name = "N", help_heading = "Limits")]
    tokens: Option<u64>,
    /// The most money, where the price is known
    #[arg(long, value_name = "AMOUNT", help_heading = "Limits")]
    money: Option<Amount>,
    /// The most seconds
    #[arg(long, value_name = "S", value_parser = parse_seconds, help_heading = "Limits")]
    time: Option<Duration>,

    #[command(flatten)]
    reach: ReachArguments,
}

pub(crate) fn run(
    arguments: &RunArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let settings = arguments.layer().over(arguments.place.settings()?);
    let settings = arguments.reach.naming_key(settings);
    // What is wrong is told before a session is made.
    let settled = settings.targets().map_err(|e| Failure::misnamed(&e))?;
    if arguments.session.is_none() && settled.is_empty() {
        let such = "such as --vendor anthropic --model claude-sonnet-4-5, or `vendor` and `model` \
                    in interleaf.toml";
        return Err(Failure::new("--vendor", "name who is to be asked").hint(such).into());
    }
    // A file that is missing is told before a program is started.
    let input = arguments.file.as_ref().map(|file| Input::read(file, limit)).transpose()?;
    let servers = servers(&settings)?;
    let mut tools = offered(&settings);
    tools.extend(servers.iter().flat_map(Toolbox::tools));
    let plan = input.map(|input| read(&input, &tools)).transpose()?;
    let templates = templates::load(arguments.templates.as_deref(), limit)?;
    // What cannot run leaves no session.
    let refused = |e: &interleaf_agent::Error| arguments.failure(e);
    if let Some(plan) = &plan {
        let checked = PlanRunner::new(plan.clone()).with_tools(tools.clone()).check();
        checked.map_err(|e| refused(&e))?;
    }
    let opened = arguments.place.store(match arguments.session {
        Some(_) => Missing::Refuse,
        None => Missing::Make,
    })?;
    let (session, kept, opened) = match &arguments.session {
        Some(asked) => {
            let OpenSession { session, opened } = opened.session(asked)?;
            let kept = opened.wait(KeptPlan::of(&session)).map_err(|e| refused(&e))?;
            (session, kept, opened)
        }
        None => {
            let title = plan.iter().flat_map(|plan| plan.objective().chars()).take(60);
            let title = title.collect::<String>();
            let made = opened.wait(Session::create(opened.store.clone(), &title));
            (made.map_err(|e| Failure::session("a new session", &e))?, None, opened)
        }
    };
    let id = session.id().to_string();
    let plan = plan.or(kept.as_ref().map(|kept| kept.plan.clone()));
    let plan = plan.ok_or_else(|| {
        let failure = Failure::new(&id, "this session has no run of a plan");
        failure.hint("with the FILE of a plan, that begins in it")
    })?;
    let targets = arguments.targets((&opened, &session), kept.as_ref(), (&settings, settled))?;
    let transport = settings.at(Transport::builder());
    let transport = arguments.reach.agents_transport(transport, &targets[0])?;
    let board = Arc::new(Mutex::new(Board::new(&plan, arguments.json)));
    let at = (targets.clone(), arguments.place.places()?.folder);
    let runner = arguments.runner(&plan, kept.as_ref(), at).with_templates(templates);
    let runner = runner.with_limits(limits(&settings));
    let mut permissions = settings.permissions();
    permissions.all = arguments.yes;
    let person = Person { board: board.clone() };
    let runner = runner.with_tools(tools).with_hook(Guard::new(permissions, person));
    let ended = opened.wait(async {
        let mut wishes = Wishes::listen();
        let mut run = runner.start(&transport, session).await?;
        if !arguments.json {
            say(format_args!("session: {id}"));
        }
        let handle = run.handle();
        let mut ticks = tokio::time::interval(Duration::from_millis(100));
        loop {
            tokio::select! {
                event = run.next() => match event {
                    Some(event) => locked(&board).take(&event),
                    None => break,
                },
                _ = wishes.next() => handle.interrupt(),
                _ = ticks.tick() => locked(&board).draw(),
            }
        }
        locked(&board).resume();
        run.finish().await
    });
    let ended = ended.map_err(|e| refused(&e))?;
    // Nobody was asked: what was to be done is not worth a session.
    let is_nothing = ended.used.requests == 0 && matches!(ended.end, PlanEnd::Failed(_));
    let is_kept = arguments.session.is_some() || !is_nothing;
    if !is_kept {
        opened.ask(opened.store.remove(ended.session.id()))?;
    }
    arguments.tell(is_kept.then_some(&*id), &ended, (&targets, transport.currency()), output)?;
    match ended.end {
        PlanEnd::Completed => Ok(Verdict::Fine),
        PlanEnd::OutOfBudget(_) => Ok(Verdict::Unfinished),
        PlanEnd::Interrupted => Ok(Verdict::Interrupted),
        PlanEnd::Failed(why) => Err(Failure::new(id, why).of(Fault::Api).into()),
        _ => Ok(Verdict::Findings),
    }
}

/// The tools that steps may call.
pub(super) fn offered(settings: &Settings) -> Vec<Arc<dyn Tool>> {
    let remembering = tools::remembering().into_iter();
    // A plan has nothing to compact.
    let recall = remembering.filter(|tool| tool.spec().name.as_str() != "compact").collect();
    let writing = tools::writing_without(settings.withheld());
    [tools::reading(), writing, tools::keeping(), recall].concat()
}

/// Reads a plan whose steps call these tools; says every fault of it.
fn read(input: &Input, tools: &[Arc<dyn Tool>]) -> Result<Plan, Failure> {
    let specs: Vec<_> = tools.iter().map(|tool| tool.spec()).collect();
    Plan::read_with(&input.text, &specs).map_err(|faults| {
        let mut faults = faults.iter().map(|fault| failure(&input.name, fault));
        let first = faults.next();
        faults.for_each(|fault| say(fault.text()));
        first.unwrap_or_else(|| Failure::new(&input.name, "this is not a plan"))
    })
}

/// How much a plan may use. It makes as many requests as its steps need, unless somebody says
/// another number: the usual one is that of an agent.
fn limits(settings: &Settings) -> Limits {
    let mut limits = settings.limits();
    let is_usual = |set: &Setting<u32>| set.origin == Origin::Default;
    if settings.limits.rounds.as_ref().is_none_or(is_usual) {
        limits.rounds = None;
    }
    limits
}

fn locked(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunArguments {
    /// What keeps the plan from running, told of the file or the session.
    fn failure(&self, error: &interleaf_agent::Error) -> Failure {
        let file = self.file.as_ref().map(|file| name_of(file));
        let subject = file.or_else(|| self.session.clone()).unwrap_or_default();
        match error.as_plan() {
            Some(fault) => failure(&subject, fault).hint(
                "a run goes on with the plan that it began with; without --session it begins anew",
            ),
            None => Failure::agent(&subject, error),
        }
    }

    /// What flags say of the settings.
    fn layer(&self) -> Settings {
        let flag = |name, said: &Option<String>| said.clone().map(|it| Setting::flag(name, it));
        let mut layer = Settings::default();
        layer.limits.rounds = self.rounds.map(|it| Setting::flag("--rounds", it));
        layer.limits.tokens = self.tokens.map(|it| Setting::flag("--tokens", it));
        layer.limits.money = self.money.map(|it| Setting::flag("--money", it));
        layer.limits.time = self.time.map(|it| Setting::flag("--time", it));
        layer.limits.at_once = self.at_once.map(|it| Setting::flag("--at-once", it));
        layer.vendor = flag("--vendor", &self.vendor);
        layer.model = flag("--model", &self.model);
        let fallback = Some(self.fallback.clone()).filter(|named| !named.is_empty());
        layer.fallback = fallback.map(|named| Setting::flag("--fallback", named));
        layer
    }

    /// Who is asked, and who is asked then: as flags say, as before in the session, as is settled.
    fn targets(
        &self,
        (opened, session): (&OpenStore, &Session),
        kept: Option<&KeptPlan>,
        (settings, mut settled): (&Settings, Vec<Target>),
    ) -> Result<Vec<Target>, Failure> {
        let as_before = |(vendor, model): &(String, String)| settings.model_of(vendor, model).ok();
        let before = kept.iter().flat_map(|kept| &kept.asked).map(as_before);
        let mut before = before.collect::<Vec<_>>().into_iter();
        let first = match before.next().flatten().filter(|_| self.model.is_none()) {
            Some(target) => target,
            None if self.model.is_some() && !settled.is_empty() => settled.remove(0),
            None => match opened.wait(session.last_target()) {
                Ok(last) => last,
                Err(_) if !settled.is_empty() => settled.remove(0),
                Err(error) => {
                    let failure = Failure::session("--session", &error);
                    return Err(failure.hint("--vendor and --model name it"));
                }
            },
        };
        let mut others = settings.fallbacks().map_err(|e| Failure::misnamed(&e))?;
        if others.is_empty() {
            others.extend(before.flatten());
        }
        Ok([vec![self.reach.at_address(first)], others].concat())
    }

    fn runner(
        &self,
        plan: &Plan,
        kept: Option<&KeptPlan>,
        (targets, folder): (Vec<Target>, PathBuf),
    ) -> PlanRunner {
        let settings = PlanSettings {
            mode: self.mode.or(kept.map(|kept| kept.mode)).unwrap_or_default(),
            language: self.lang,
            tries: self.tries,
            ..PlanSettings::default()
        };
        let runner = PlanRunner::new(plan.clone());
        let runner = targets.into_iter().fold(runner, PlanRunner::with_target);
        let runner = runner.with_settings(settings);
        let runner = self.again.iter().fold(runner, |runner, step| runner.again(step));
        runner.in_folder(folder)
    }

    /// Tells how it ended.
    fn tell(
        &self,
        id: Option<&str>,
        ended: &PlanEnded,
        (targets, currency): (&[Target], &str),
        output: &mut Output,
    ) -> Result<(), Stop> {
        if self.json {
            let used = &ended.used;
            return Ok(output.json_line(&json!({
                "session": id,
                "end": ended.end.as_str(),
                "end_in_words": ended.end.to_string(),
                "steps": ended.steps.iter().map(step_json).collect::<Vec<_>>(),
                "requests": used.requests,
                "unknown_usage": used.unknown,
                "tokens": used.tokens,
                "price": used.price().map(|price| price.to_string()),
            }))?);
        }
        let is_answer = |step: &&StepReport| step.is_last && step.end == StepEnd::Done;
        let answers: Vec<&StepReport> = ended.steps.iter().filter(is_answer).collect();
        for step in &answers {
            if answers.len() > 1 {
                output.line(format_args!("# {}", printable(step.id.as_str())))?;
            }
            let text = step.result.as_ref().map(|result| result.text().into_owned());
            let text = text.unwrap_or_default();
            output.answer(&text)?;
            if !text.ends_with('\n') {
                output.line("")?;
            }
        }
        output.flush()?;
        // A table has room for a part of it; lines have said it.
        let asked = targets
            .first()
            .map(|target| (target.vendor.name.as_str(), target.options.model.as_str()));
        for step in ended.steps.iter().filter(|_| stderr().is_terminal()) {
            let by =
                step.answered_by.as_ref().map(|(vendor, model)| (vendor.as_str(), model.as_str()));
            if let Some((vendor, model)) = by.filter(|_| by != asked) {
                let by = format!("{} was answered by {vendor} {model}", step.id);
                say(printable(&by));
            }
            if let StepEnd::Failed(why) = &step.end {
                say(format_args!("{} failed: {}", printable(step.id.as_str()), printable(why)));
            }
        }
        let end = match &ended.end {
            // Why stands in the error.
            PlanEnd::Failed(_) => "failed".to_owned(),
            end => printable(&end.to_string()).into_owned(),
        };
        say(format_args!("{end}: {}", took_in_all(&ended.used, currency)));
        let Some(id) = id else {
            say(NOT_KEPT);
            return Ok(());
        };
        let has_failed = |step: &&StepReport| matches!(step.end, StepEnd::Failed(_));
        let (again, anew): (Vec<_>, Vec<_>) =
            ended.steps.iter().filter(has_failed).partition(|step| step.was_started);
        let is_open = |step: &StepReport| step.end == StepEnd::Open;
        if ended.steps.iter().any(is_open) || !anew.is_empty() {
            say(format_args!("hint: `interleaf plan run --session {id}` goes on"));
        }
        if let [first, ..] = again[..] {
            let (first, n) = (printable(first.id.as_str()), again.len());
            let others = if n > 1 { ", as for the others that failed" } else { "" };
            say(format_args!(
                "hint: `interleaf plan run --session {id} --again {first}` runs {first} \
                 again{others}; look first whether it took effect"
            ));
        }
        Ok(())
    }
}

fn step_json(step: &StepReport) -> Value {
    let mut out = json!({
        "id": step.id.as_str(),
        "tool": step.tool.as_str(),
        "end": step.end.as_str(),
        "requests": step.rounds,
        "tokens": step.tokens,
        "vendor": step.answered_by.as_ref().map(|(vendor, _)| vendor),
        "model": step.answered_by.as_ref().map(|(_, model)| model),
        "seconds": (step.took.as_secs_f64() * 1000.0).round() / 1000.0,
        "arguments": step.arguments.as_ref().map(|own| own.to_value()),
        "result": step.result.as_ref().map(|own| own.text().into_owned()),
    });
    let why = match &step.end {
        StepEnd::Failed(why) => Some(why.clone()),
        StepEnd::Skipped(because) => Some(format!("it depends on {because}")),
        _ => None,
    };
    if let (Value::Object(out), Some(why)) = (&mut out, why) {
        out.insert("why".to_owned(), why.into());
    }
    out
}

/// Asks whoever sits at the terminal.
struct Person {
    board: Arc<Mutex<Board>>,
}

impl Ask for Person {
    fn ask<'a>(&'a self, call: &'a ToolCall, _: &'a Scene) -> Boxed<'a, Word> {
        Box::pin(async move {
            locked(&self.board).pause();
            // Its name says which step it is of: step-ID-1.
            let id = call.id.as_str();
            let step = id.strip_prefix("step-").and_then(|id| id.rsplit_once('-'));
            let word = allowed_by_person(step.map_or(id, |(step, _)| step), call).await;
            locked(&self.board).resume();
            word
        })
    }
}
