//! `interleaf plan ask`.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::ValueHint::{DirPath, FilePath};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use interleaf::model::Reply;
use interleaf::plan::{Job, JobState, Language, Mode, PlanSettings, Results};
use interleaf::wire::Vendor;
use interleaf::{ask, read};

use super::{PlanFile, failure, name_of, templates};
use crate::api::{Form, FormParser};
use crate::arguments::ByteCount;
use crate::destination;
use crate::failure::{Failure, Stop, Verdict};
use crate::input::{Input, read_bytes};
use crate::output::Output;

/// Print the request for the arguments of a step, or, given the replies, the arguments
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf plan ask fixtures/plan/logo.json --step 0 --mode native --to anthropic
  interleaf plan ask fixtures/plan/logo.json --step 1 --mode xml \\
    --results fixtures/plan/logo-results.json

A reply is a recorded answer of an API, an OpenAI-style message, or plain text.
With --reply, the output is {\"done\": …}, or {\"failed\": …} with exit code 1, or the next
request with exit code 10: the model has to be asked again.")]
pub(crate) struct AskArguments {
    #[command(flatten)]
    plan: PlanFile,

    /// The step, by its id
    #[arg(long, value_name = "ID")]
    step: String,

    /// The form of the request: neutral, or the API that it goes to
    #[arg(long, alias = "api", value_name = "API", value_parser = FormParser)]
    #[arg(default_value = "neutral")]
    to: Form,

    /// How to ask the model: xml, native, or auto (native, then xml if it makes no call)
    #[arg(long, value_parser = mode_parser(), default_value = "auto")]
    mode: Mode,

    /// The results of earlier steps: {"ID": {"arguments": …, "data": …, "success": …}}
    #[arg(long, value_name = "PATH", value_hint = FilePath)]
    results: Option<PathBuf>,

    /// A reply of the model; may be repeated, oldest first
    #[arg(long, value_name = "PATH", value_hint = FilePath)]
    reply: Vec<PathBuf>,

    /// The language of the texts
    #[arg(long, value_parser = language_parser(), default_value = "en")]
    lang: Language,

    /// Maximum number of times to ask the model in each mode
    #[arg(long, value_name = "N", default_value_t = 3)]
    tries: usize,

    /// A folder with texts that replace the built-in ones; `plan templates` makes one
    #[arg(long, value_name = "DIR", value_hint = DirPath)]
    templates: Option<PathBuf>,

    /// The model to ask
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

pub(crate) fn run(
    arguments: &AskArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let plan = arguments.plan.read_right(limit)?;
    let name = name_of(&arguments.plan.file);
    let templates = templates::load(arguments.templates.as_deref(), limit)?;
    let results = match &arguments.results {
        Some(path) => {
            let input = Input::read(path, limit)?;
            Results::read(&input.text, &plan).map_err(|e| failure(&input.name, &e))?
        }
        None => Results::default(),
    };
    let step = plan.find(&arguments.step).ok_or_else(|| {
        let ids: Vec<String> = plan.steps().iter().take(20).map(|s| s.id.to_string()).collect();
        let hint = format!("the plan has {}", ids.join(", "));
        Failure::new("--step", format!("there is no step {:?}", arguments.step)).hint(hint)
    })?;
    let settings = PlanSettings {
        mode: arguments.mode,
        language: arguments.lang,
        tries: arguments.tries,
        ..PlanSettings::default()
    };
    let fault = |e: interleaf::plan::Error| failure(&name, &e);
    let mut job = Job::new(&plan, step, &results, &settings, &templates).map_err(fault)?;
    for path in &arguments.reply {
        let reply = read_reply(path, limit)?;
        job.give(&reply).map_err(|e| failure(&name_of(path), &e))?;
    }
    let state = job.next().map_err(fault)?;
    let text = match &state {
        JobState::Done(_) | JobState::Failed(_) => ask::write_end(&state),
        JobState::Ask(request) => match arguments.to {
            Form::Neutral => ask::write(request),
            Form::Api(family) => {
                let model = arguments.model.as_deref().unwrap_or_default();
                let body = ask::body(request, Vendor::of(family), model);
                let body = body.map_err(|e| Failure::session(&name, &e))?;
                destination::body_text(&name, &body)? + "\n"
            }
        },
    };
    output.bytes(text.as_bytes())?;
    Ok(match state {
        JobState::Failed(_) => Verdict::Findings,
        JobState::Ask(_) if !arguments.reply.is_empty() => Verdict::Unfinished,
        JobState::Ask(_) | JobState::Done(_) => Verdict::Fine,
    })
}

fn read_reply(path: &Path, limit: ByteCount) -> Result<Reply, Failure> {
    let (name, bytes) = read_bytes(path, limit)?;
    read::reply(bytes).map_err(|e| Failure::session(&name, &e))
}

pub(super) fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).try_map(|name| {
        let mode = Mode::ALL.into_iter().find(|mode| mode.as_str() == name);
        mode.ok_or("there is no such mode")
    })
}

pub(super) fn language_parser() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.map(Language::as_str))
        .try_map(|name| name.parse::<Language>())
}
