//! What a session keeps beside the conversation: `sessions todo`, `info`, `note` and
//! `summary`. Each shows what there is after its changes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use interleaf::{Error, FolderNote, Session, TodoStatus};

use crate::arguments::ByteCount;
use crate::failure::{Failure, Stop};
use crate::input::Input;
use crate::open::OpenSession;
use crate::output::Output;

#[derive(Debug, Subcommand)]
pub(crate) enum RecordsCommand {
    /// Show the TODO list of a session, or change it
    Todo {
        #[command(flatten)]
        edit: Edit,
        /// An item, such as 1 or 1.2, is done; may be repeated
        #[arg(long, value_name = "ITEM")]
        done: Vec<String>,
    },
    /// Show the useful information of a session, or change it: files, read for each request
    Info(Edit),
    /// Show the folder notes of a session, or change them
    Note(Edit),
    /// Show the summary of a session, or hand one in
    Summary {
        /// The session
        id: String,
        /// A file with a new summary; `-` is standard input
        #[arg(requires = "through")]
        file: Option<PathBuf>,
        /// It stands for the visible messages up to this one
        #[arg(long, value_name = "MESSAGE", requires = "file")]
        through: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Edit {
    /// The session
    id: String,
    /// Add this: an item, or FILE=NOTE, or FOLDER=NOTE; may be repeated
    #[arg(long, value_name = "TEXT")]
    add: Vec<String>,
    /// Remove this item, or what is shown under this key; may be repeated
    #[arg(long, value_name = "KEY")]
    remove: Vec<String>,
}

pub(crate) fn run(
    command: RecordsCommand,
    open: impl Fn(&str) -> Result<OpenSession, Failure>,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    let (RecordsCommand::Todo { edit: Edit { id, .. }, .. }
    | RecordsCommand::Info(Edit { id, .. })
    | RecordsCommand::Note(Edit { id, .. })
    | RecordsCommand::Summary { id, .. }) = &command;
    let OpenSession { mut session, opened } = open(id)?;
    let text = match &command {
        RecordsCommand::Summary { file: Some(file), .. } => Input::read(file, limit)?.text,
        _ => String::new(),
    };
    let shown = opened.asked(command.change(&mut session, &text))?;
    Ok(output.bytes(shown.as_bytes())?)
}

impl RecordsCommand {
    /// Makes the changes, and gives what there is then.
    async fn change(&self, session: &mut Session, summary: &str) -> Result<String, Error> {
        let line = |key: &str, text: &str| format!("{key} {text}\n");
        let noted = |text| str::split_once(text, '=').unwrap_or((text, ""));
        match self {
            Self::Todo { edit, done } => {
                let mut todo = session.todo();
                for text in &edit.add {
                    todo.add(text).await?;
                }
                for item in done {
                    todo.set(item, TodoStatus::Done).await?;
                }
                for item in &edit.remove {
                    todo.remove(item).await?;
                }
                todo.text().await
            }
            Self::Info(edit) => {
                let mut information = session.information();
                for (file, note) in edit.add.iter().map(|text| noted(text)) {
                    information.add(file, None, note).await?;
                }
                for key in &edit.remove {
                    information.remove(key).await?;
                }
                let ranges = information.ranges().await?;
                Ok(ranges.iter().map(|(key, range)| line(key, &range.note)).collect())
            }
            Self::Note(edit) => {
                let mut notes = session.notes();
                for (folder, note) in edit.add.iter().map(|text| noted(text)) {
                    notes.add(folder, note).await?;
                }
                for key in &edit.remove {
                    notes.remove(key).await?;
                }
                let all = notes.all().await?;
                let text = |note: &FolderNote| format!("{}: {}", note.folder.display(), note.text);
                Ok(all.iter().map(|(key, note)| line(key, &text(note))).collect())
            }
            Self::Summary { through, .. } => {
                if let Some(through) = through {
                    session.summarise_through(&through.as_str().into(), summary).await?;
                }
                let active = session.active_summary().await?;
                Ok(active.map_or_else(String::new, |kept| format!("{}\n", kept.text.trim_end())))
            }
        }
    }
}
