//! `interleaf resume`.

use clap::Args;
use interleaf_agent::Standing;

use crate::failure::{Failure, Stop, Verdict};
use crate::output::{Output, say};
use crate::working::{Which, WorkArguments, parse_task};

/// Go on with a session, by default the newest one of this folder
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf resume
  interleaf resume --say 'And now the tests.'
  interleaf resume 0199 --yes

It is first said how the session stands: calls that wait, an answer that broke off, the last word.
Then its agent goes on as with `interleaf run --session`, with the model of its last request. A
call that changes something and was started is never run twice: the agent is told instead.")]
pub(crate) struct ResumeArguments {
    /// The session; the start of its id is enough [default: the newest that was run here]
    id: Option<String>,
    /// What to say to the agent
    #[arg(long, value_name = "TEXT", value_parser = parse_task)]
    say: Option<String>,
    /// Print how it ended as JSON, and nothing else
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    work: WorkArguments,
}

pub(crate) fn run(arguments: &ResumeArguments, output: &mut Output) -> Result<Verdict, Stop> {
    let ResumeArguments { id, say: said, json, work } = arguments;
    let id = id.clone().map_or_else(|| work.newest(), Ok)?;
    let mut working = work.open(Which::Old(&id))?;
    let standing = Standing::of(&mut working.session);
    if !json {
        say(&standing);
    }
    if said.is_none() && !standing.goes_on() {
        let id = working.session.id().to_string();
        let hint = format!("`interleaf resume {id} --say '…'` says what to do next");
        return Err(Failure::new(id, "there is nothing to go on with").hint(hint).into());
    }
    working.go(said.as_deref(), *json, output)
}
