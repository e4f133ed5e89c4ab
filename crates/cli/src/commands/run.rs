//! `interleaf run`.

use clap::Args;

use crate::failure::{Stop, Verdict};
use crate::output::Output;
use crate::working::{Which, WorkArguments, parse_task};

/// Have an agent work in a folder
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf run 'Which tests fail, and why?' --vendor anthropic --model claude-sonnet-4-5
  interleaf run --session 0199 'And now mend them.' --yes
  interleaf double -- interleaf run 'Look around.' --vendor openai --model gpt-4.1

The agent reads, lists and searches the folder, keeps a TODO list, and writes, edits and runs
commands if you allow it, call by call, or with --yes. Its session keeps all: --session goes on,
also after a kill. The answer goes to standard output, what is done to standard error. Ctrl-C
interrupts it. Exit codes: 0 it is done; 10 it came to a limit; 130 interrupted; 1 refused; 8 no
answer from the API; 3 to 6 the store refused.")]
pub(crate) struct RunArguments {
    /// What to do; without it, a session goes on from where it is
    #[arg(required_unless_present = "session", value_parser = parse_task)]
    task: Option<String>,
    /// Go on with this session; the start of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print how it ended as JSON, and nothing else
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    work: WorkArguments,
}

pub(crate) fn run(arguments: &RunArguments, output: &mut Output) -> Result<Verdict, Stop> {
    let RunArguments { task, session, json, work } = arguments;
    let which = match (session, task) {
        (Some(session), _) => Which::Old(session),
        (None, task) => Which::New(task.as_deref().unwrap_or_default()),
    };
    work.open(which)?.go(task.as_deref(), *json, output)
}
