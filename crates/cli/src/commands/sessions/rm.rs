//! `interleaf sessions rm`.

use clap::Args;

use interleaf::model::plural;

use crate::failure::{Failure, Stop, printable};
use crate::open::OpenStore;
use crate::output::Output;

/// Remove a session and all that belongs to it
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions rm $ID --yes

A session with forks is not removed.")]
pub(crate) struct RmArguments {
    /// The session
    id: String,

    /// Confirm: a removed session cannot be brought back
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(
    arguments: &RmArguments,
    opened: &OpenStore,
    output: &mut Output,
) -> Result<(), Stop> {
    let id = opened.find(&arguments.id)?;
    let head = opened.ask(opened.store.head(id))?;
    let events = plural(head.next_seq, "event");
    let told = format!("{:?}, {events}", printable(&head.title));
    if !arguments.yes {
        let rule = format!("{told}: removing it is final; confirm with --yes");
        let failure = Failure::new(id.to_string(), rule);
        return Err(failure.hint("`interleaf sessions export` keeps a copy").into());
    }
    opened.ask(opened.store.remove(id))?;
    Ok(output.remark(format_args!("removed {id}, {told}"))?)
}
