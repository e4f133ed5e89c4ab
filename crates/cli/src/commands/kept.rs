//! `interleaf todo`, `info` and `note`: what a session keeps, for the session of this folder.

use clap::{Args, Subcommand};

use super::sessions::records::{Changes, InfoChanges, NoteChanges, TodoChanges};
use crate::failure::Stop;
use crate::open::Missing;
use crate::output::Output;
use crate::settled::PlaceArguments;

#[derive(Debug, Subcommand)]
pub(crate) enum KeptCommand {
    Todo(TodoArguments),
    Info(InfoArguments),
    Note(NoteArguments),
}

/// Show the TODO list of the newest session of this folder, or change it
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf todo
  interleaf todo add mend the horn
  interleaf todo --add 'mend the horn' --set 1=in_progress
  interleaf todo --session 0199 --done 1 --remove 2

The agent reads the list in every request. `interleaf sessions todo ID` is the same.")]
pub(crate) struct TodoArguments {
    #[command(flatten)]
    session: OfSession,
    #[command(flatten)]
    changes: TodoChanges,
}

/// Show the useful information of the newest session of this folder, or change it
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf info --add 'README.md=what the program is for'
  interleaf info --remove README.md

Each file is read anew for every request. `interleaf sessions info ID` is the same.")]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    session: OfSession,
    #[command(flatten)]
    changes: InfoChanges,
}

/// Show the folder notes of the newest session of this folder, or change them
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf note --add 'src=one folder for each API'
  interleaf note --remove 0

A folder is kept by its absolute path, and its note is in requests once a file in it was read.
`interleaf sessions note ID` is the same, with the folder as it is written.")]
pub(crate) struct NoteArguments {
    #[command(flatten)]
    session: OfSession,
    #[command(flatten)]
    changes: NoteChanges,
}

#[derive(Debug, Args)]
struct OfSession {
    /// A change in words, such as `add` and what is added
    #[arg(value_name = "CHANGE")]
    words: Vec<String>,
    /// The session; the start of its id is enough [default: the newest that was run here]
    #[arg(long, value_name = "ID", help_heading = "Session")]
    session: Option<String>,
    #[command(flatten)]
    place: PlaceArguments,
}

pub(crate) fn run(command: KeptCommand, output: &mut Output) -> Result<(), Stop> {
    let (called, OfSession { words, session, place }, changes) = match command {
        KeptCommand::Todo(it) => ("todo", it.session, Changes::Todo(it.changes)),
        KeptCommand::Info(it) => ("info", it.session, Changes::Info(it.changes)),
        KeptCommand::Note(it) => ("note", it.session, Changes::Note(it.changes)),
    };
    let changes = match changes.in_words(&format!("interleaf {called}"), &words)? {
        Changes::Note(it) => Changes::Note(it.absolute()),
        changes => changes,
    };
    let opened = place.store(Missing::Refuse)?;
    let id = session.map_or_else(|| place.newest(&opened), Ok)?;
    changes.make(opened.session(&id)?, output)
}
