//! `interleaf plan`: arguments for the steps of a plan.

mod ask;
mod board;
mod check;
mod run;
mod show;
mod templates;
mod xml;

use std::path::{Path, PathBuf};

use clap::ValueHint::FilePath;
use clap::{Args, Subcommand};
use interleaf::model::Tool;
use interleaf::plan::{ErrorKind, Plan};
use interleaf_agent::settings::Settings;

use crate::api::read_tools;
use crate::arguments::ByteCount;
use crate::failure::{Failure, Stop, Verdict};
use crate::input::Input;
use crate::output::Output;

/// Run a plan, or get valid arguments for its steps
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf plan check fixtures/plan/logo.json
  interleaf plan show fixtures/plan/logo.json
  interleaf plan ask fixtures/plan/logo.json --step 0 --mode xml

A plan is {\"objective\", \"tools\", \"steps\": [{\"tool\", \"reason\", \"depends_on\", \"draft\"}]}.")]
pub(crate) struct PlanArguments {
    #[command(subcommand)]
    command: PlanCommand,
}

#[derive(Debug, Subcommand)]
enum PlanCommand {
    Check(check::CheckArguments),
    Show(show::ShowArguments),
    Ask(Box<ask::AskArguments>),
    Run(Box<run::RunArguments>),
    Xml(xml::XmlArguments),
    Templates(templates::TemplatesArguments),
}

/// The plan, as the user names it.
#[derive(Debug, Args)]
struct PlanFile {
    /// The plan; `-` is standard input
    #[arg(default_value = "-", value_hint = FilePath)]
    file: PathBuf,

    /// Tools beside those of the plan: a JSON list, in any API's form or ours
    #[arg(long, value_name = "PATH", value_hint = FilePath)]
    tools: Option<PathBuf>,

    /// Let steps call the tools of `plan run` too, without declaring them
    #[arg(long)]
    built_in: bool,
}

pub(crate) fn run(
    arguments: &PlanArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    match &arguments.command {
        PlanCommand::Check(arguments) => check::run(arguments, limit, output),
        PlanCommand::Show(arguments) => show::run(arguments, limit, output),
        PlanCommand::Ask(arguments) => ask::run(arguments, limit, output),
        PlanCommand::Run(arguments) => run::run(arguments, limit, output),
        PlanCommand::Xml(arguments) => xml::run(arguments, limit, output),
        PlanCommand::Templates(arguments) => templates::run(arguments, output),
    }
}

impl PlanFile {
    /// Reads the plan, or gives every fault of it.
    fn read(&self, limit: ByteCount) -> Result<Result<Plan, Vec<Failure>>, Failure> {
        let input = Input::read(&self.file, limit)?;
        let tools = match &self.tools {
            Some(path) => read_tools(path, limit)?.tools.to_vec(),
            None => Vec::<Tool>::new(),
        };
        let plan = match self.built_in {
            true => {
                let given: Vec<_> = tools.iter().map(|tool| tool.name.clone()).collect();
                let others = run::offered(&Settings::default()).into_iter();
                let others = others.map(|tool| tool.spec());
                let others = others.filter(|tool| !given.contains(&tool.name));
                Plan::read_with(&input.text, &others.chain(tools).collect::<Vec<_>>())
            }
            false => Plan::read(&input.text, &tools),
        };
        let own = |fault: &interleaf::plan::Error| {
            let failure = failure(&input.name, fault);
            match !self.built_in && fault.kind() == ErrorKind::UnknownTool {
                true => failure.saying("--built-in knows the tools of `plan run`"),
                false => failure,
            }
        };
        Ok(plan.map_err(|faults| faults.iter().map(own).collect()))
    }

    /// Reads a plan that must be right.
    fn read_right(&self, limit: ByteCount) -> Result<Plan, Failure> {
        self.read(limit)?.map_err(|mut faults| {
            let hint = "`interleaf plan check` lists every fault";
            match faults.len() {
                0 => Failure::new(self.file.display().to_string(), "this is not a plan"),
                1 => faults.swap_remove(0),
                _ => faults.swap_remove(0).hint(hint),
            }
        })
    }
}

/// A fault that the plan crate found.
fn failure(subject: &str, error: &interleaf::plan::Error) -> Failure {
    Failure::new(subject, error.message()).at(error.place())
}

/// The name of a file for messages.
fn name_of(path: &Path) -> String {
    path.display().to_string()
}
