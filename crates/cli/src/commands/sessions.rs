//! `interleaf sessions`.
//!
//! ```text
//!   store ──▶ OpenStore ──▶ show · query · op … as for a file
//!               └──▶ export · import: JSON lines, or another store
//! ```

mod append;
mod export;
mod fork;
mod import;
mod ls;
mod mark;
mod new;
mod op;
mod query;
pub(super) mod records;
mod rm;
mod roll_back;
mod search;
mod show;

use clap::{Args, Subcommand};
use interleaf::model::Timestamp;

use crate::arguments::ByteCount;
use crate::failure::{Failure, Fault, Stop};
use crate::open::{Missing, OpenSession, OpenStore};
use crate::output::Output;

/// Keep conversations in a store, and work on them there
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
EXAMPLES
  ID=$(interleaf sessions new --title 'the alarm')
  interleaf sessions append $ID --user 'Why did the alarm ring on Sunday?'
  interleaf sessions show $ID
  interleaf sessions ls
  interleaf build --session $ID --to anthropic --model claude-sonnet-4-5
  interleaf sessions rm $ID --yes

A store is a URL: sqlite:PATH, or postgres://USER:PASSWORD@HOST/DATABASE. Without
--store it is $INTERLEAF_STORE, or a file in your data folder. ID is the id of a
session, or enough of its start to tell it from the others."
)]
pub(crate) struct SessionsArguments {
    #[command(subcommand)]
    command: SessionsCommand,

    /// The store [default: $INTERLEAF_STORE, or a file in your data folder]
    #[arg(long, global = true, value_name = "URL", help_heading = "General")]
    store: Option<String>,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    #[command(alias = "list")]
    Ls(ls::LsArguments),
    Show(show::ShowArguments),
    New(new::NewArguments),
    Append(append::AppendArguments),
    Query(query::QueryArguments),
    Op(Box<op::OpArguments>),
    Fork(fork::ForkArguments),
    Mark(mark::MarkArguments),
    #[command(alias = "rollback")]
    RollBack(roll_back::RollBackArguments),
    #[command(flatten)]
    Records(records::RecordsCommand),
    Search(search::SearchArguments),
    Export(export::ExportArguments),
    Import(import::ImportArguments),
    Rm(rm::RmArguments),
}

/// On which state of a session a change builds.
#[derive(Debug, Args)]
struct Expected {
    /// Refuse unless the session has exactly this many events, so that nobody else has written
    #[arg(long, value_name = "SEQ")]
    expect: Option<u64>,
}

pub(crate) fn run(
    arguments: SessionsArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    let SessionsArguments { command, store } = arguments;
    let makes = matches!(command, SessionsCommand::New(_) | SessionsCommand::Import(_));
    let opened =
        || OpenStore::open(store.as_deref(), if makes { Missing::Make } else { Missing::Refuse });
    let session = |id: &str| opened()?.session(id);
    match command {
        SessionsCommand::Ls(arguments) => ls::run(&arguments, &opened()?, output),
        SessionsCommand::Show(arguments) => show::run(&arguments, &session(&arguments.id)?, output),
        SessionsCommand::New(arguments) => new::run(arguments, &opened()?, output),
        SessionsCommand::Append(arguments) => append::run(&arguments, session, limit, output),
        SessionsCommand::Query(arguments) => {
            super::query::print(&session(&arguments.id)?.loaded(), arguments.criteria, output)
        }
        SessionsCommand::Op(arguments) => op::run(*arguments, session, limit, output),
        SessionsCommand::Fork(it) => fork::run(&it, &session(&it.id)?, output),
        SessionsCommand::Mark(it) => mark::run(&it, session(&it.id)?, output),
        SessionsCommand::RollBack(it) => roll_back::run(&it, session(&it.id)?, output),
        SessionsCommand::Records(command) => records::run(command, session, limit, output),
        SessionsCommand::Search(arguments) => search::run(&arguments, &opened()?, output),
        SessionsCommand::Export(arguments) => export::run(&arguments, &opened()?, output),
        SessionsCommand::Import(arguments) => import::run(&arguments, opened, limit, output),
        SessionsCommand::Rm(arguments) => rm::run(&arguments, &opened()?, output),
    }
}

impl Expected {
    /// Refuses a session that is not as expected. The store looks again when it writes.
    fn check(&self, session: &OpenSession) -> Result<(), Failure> {
        let current = session.session.seq();
        match self.expect {
            Some(expected) if expected != current => {
                let rule = format!("--expect is {expected}, but the next event is {current}");
                let failure = Failure::new(session.name(), rule).of(Fault::Conflict);
                Err(failure.hint("nothing was written; look at the session and try again"))
            }
            _ => Ok(()),
        }
    }
}

fn now() -> Result<Timestamp, Failure> {
    interleaf::now().map_err(|e| Failure::session("the clock", &e))
}

/// An instant to the second, for people.
fn seconds_text(at: Timestamp) -> String {
    let text = at.to_string();
    let seconds = text.split_once('.').map(|(seconds, _)| format!("{seconds}Z"));
    seconds.unwrap_or(text)
}
