//! `interleaf sessions query`.

use clap::Args;

use crate::commands::query::Criteria;

/// Find messages of a session by role, number, turn, tool, text, time and mark
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
    pub(crate) criteria: Criteria,
}
