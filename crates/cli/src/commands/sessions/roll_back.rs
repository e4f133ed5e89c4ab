//! `interleaf sessions roll-back`.

use clap::Args;
use interleaf::Edit;

use super::{Expected, op};
use crate::arguments::Form;
use crate::failure::Stop;
use crate::open::OpenSession;
use crate::output::Output;

/// Take the view of a session back to the end of a batch
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions roll-back $ID 0

`interleaf sessions show` lists the batches. A rollback begins a batch of its own,
so it can itself be rolled back.")]
pub(crate) struct RollBackArguments {
    /// The session
    pub(crate) id: String,

    /// The batch
    batch: u32,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    form: Form,
}

pub(crate) fn run(
    arguments: &RollBackArguments,
    session: OpenSession,
    output: &mut Output,
) -> Result<(), Stop> {
    arguments.expected.check(&session)?;
    let changes = vec![Edit::RollBack(arguments.batch)];
    op::change(session, changes, op::Run::Real, &arguments.form, output)
}
