//! `interleaf sessions op`.

use clap::Args;
use interleaf::Edit;

use super::Expected;
use crate::arguments::{ByteCount, Form};
use crate::commands::op::changes::Changes;
use crate::commands::op::{Outcome, apply, print};
use crate::failure::{Failure, Stop};
use crate::input::Loaded;
use crate::open::OpenSession;
use crate::output::Output;

/// Change what is visible in a session
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions op $ID --keep-last 10 --dry-run
  interleaf sessions op $ID --role user --keep-last 2 --others keep
  interleaf sessions op $ID '{\"truncate\":{\"keep_last\":5}}' --json
  interleaf sessions op $ID --mark 0=pinned --clear

Messages are only hidden, never lost: `interleaf sessions roll-back` shows them
again. All changes of one command are written together, or none. N, A..B and POS
count in the view; INDEX is a place in the log.")]
pub(crate) struct OpArguments {
    /// The session
    id: String,

    #[command(flatten)]
    changes: Changes,

    /// Show what it would do, and write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    form: Form,
}

pub(crate) fn run(
    arguments: OpArguments,
    session: impl Fn(&str) -> Result<OpenSession, Failure>,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    let changes = arguments.changes.read(limit)?;
    let session = session(&arguments.id)?;
    arguments.expected.check(&session)?;
    let run = if arguments.dry_run { Run::Dry } else { Run::Real };
    change(session, changes, run, &arguments.form, output)
}

/// Whether a change is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    Real,
    Dry,
}

/// Makes changes of what was loaded, and writes them in one transaction.
pub(super) fn write(
    session: &mut OpenSession,
    loaded: &mut Loaded,
    changes: Vec<Edit>,
) -> Result<Outcome, Failure> {
    let outcome = apply(loaded, changes)?;
    let OpenSession { session, opened } = session;
    let written = opened.wait(session.apply(&outcome.edited.events));
    written.map_err(|e| Failure::session(&loaded.name, &e))?;
    Ok(outcome)
}

/// Makes changes, and says what they did.
pub(super) fn change(
    mut session: OpenSession,
    changes: Vec<Edit>,
    run: Run,
    form: &Form,
    output: &mut Output,
) -> Result<(), Stop> {
    let mut loaded = session.loaded();
    let outcome = match run {
        Run::Real => write(&mut session, &mut loaded, changes)?,
        Run::Dry => apply(&mut loaded, changes)?,
    };
    let events = session.session.seq();
    print(&loaded, &outcome, form, Some(events), output)?;
    if form.json {
        return Ok(());
    }
    let batch = loaded.conversation.batches().count() - 1;
    let told = match run {
        Run::Real => output.remark(format_args!("batch {batch}, event {events} is next")),
        Run::Dry => output.remark(format_args!("batch {batch}, not written: --dry-run")),
    };
    Ok(told?)
}
