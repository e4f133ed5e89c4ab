//! `interleaf sessions fork`.

use clap::Args;
use interleaf::store::{NewSession, SessionId};

use super::now;
use crate::failure::Stop;
use crate::open::OpenSession;
use crate::output::Output;

/// Make a session that shares another's past, and print its id
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions fork $ID
  interleaf sessions fork $ID --at 1 --title 'another way'

Nothing is copied, and the two are independent from then on.")]
pub(crate) struct ForkArguments {
    /// The session
    pub(crate) id: String,

    /// Share only this many events, from the first [default: all]
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,

    /// Title [default: as the other]
    #[arg(long)]
    title: Option<String>,

    /// The id of the new session, a UUID [default: a new one]
    #[arg(long = "id", value_name = "UUID")]
    new_id: Option<SessionId>,
}

pub(crate) fn run(
    arguments: &ForkArguments,
    session: &OpenSession,
    output: &mut Output,
) -> Result<(), Stop> {
    let head = session.session.head();
    let title = arguments.title.as_ref().unwrap_or(&head.title);
    let mut new = NewSession::fork_of(head, arguments.at.unwrap_or(head.next_seq), title, now()?);
    new.id = arguments.new_id.unwrap_or(new.id);
    let fork = session.opened.ask(session.opened.store.create(new))?;
    Ok(output.line(fork.id)?)
}
