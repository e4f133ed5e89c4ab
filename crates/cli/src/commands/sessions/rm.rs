//! `interleaf sessions rm`.

use clap::Args;

use crate::failure::{Failure, Stop, printable};
use crate::kept::Kept;
use crate::lines::plural;
use crate::output::Output;

/// Remove a session and all that belongs to it
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions rm $ID --yes

A session that others are forks of is not removed.")]
pub(crate) struct RmArguments {
    /// The session
    id: String,

    /// Do it: nothing brings it back
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(arguments: &RmArguments, kept: &Kept, output: &mut Output) -> Result<(), Stop> {
    let id = kept.find(&arguments.id)?;
    let head = kept.ask(kept.store.head(id))?;
    let events = plural(usize::try_from(head.next_seq).unwrap_or(usize::MAX), "event");
    let told = format!("{:?}, {events}", printable(&head.title));
    if !arguments.yes {
        let rule = format!("{told}: it would be gone for good; --yes removes it");
        let failure = Failure::new(id.to_string(), rule);
        return Err(failure.hint("`interleaf sessions export` keeps a copy").into());
    }
    kept.ask(kept.store.remove(id))?;
    Ok(output.remark(format_args!("removed {id}, {told}"))?)
}
