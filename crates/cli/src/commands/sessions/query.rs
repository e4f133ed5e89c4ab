//! `interleaf sessions query`.

use clap::Args;

use crate::commands::query::{Criteria, print};
use crate::failure::Stop;
use crate::open::OpenSession;
use crate::output::Output;

/// Find messages of a session by role, number, turn, tool, time and mark
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions query $ID --role user --last 3
  interleaf sessions query $ID --mark pinned --all --json

All criteria must hold; --first, --last or --range then takes
some of what matches.")]
pub(crate) struct QueryArguments {
    /// The session
    pub(crate) id: String,

    #[command(flatten)]
    criteria: Criteria,
}

pub(crate) fn run(
    arguments: QueryArguments,
    session: &OpenSession,
    output: &mut Output,
) -> Result<(), Stop> {
    print(&session.loaded(), arguments.criteria, output)
}
