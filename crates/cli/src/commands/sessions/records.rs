//! What a session keeps beside the conversation: `sessions todo`, `info`, `note` and
//! `summary`. Each makes all its changes or none, and shows what there is then.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use interleaf::model::Timestamp;
use interleaf::{Error, FolderNote, InfoRange, Information, Session, TodoStatus, now};

use crate::arguments::ByteCount;
use crate::failure::{Failure, Stop, printable};
use crate::input::Input;
use crate::open::OpenSession;
use crate::output::{Output, say};

/// How often a change is made again when others write at the same time.
const RETRIES: usize = 63;

#[derive(Debug, Subcommand)]
pub(crate) enum RecordsCommand {
    Todo(TodoArguments),
    Info(InfoArguments),
    Note(NoteArguments),
    Summary(SummaryArguments),
}

/// Show the TODO list of a session, or change it
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions todo $ID --add 'mend the horn' --add 'paint it'
  interleaf sessions todo $ID --done 1 --remove 2
  interleaf sessions todo $ID --add 'watch the build' --for 2h

Items are added first, then done or set, then removed: all of it, or nothing. An item that has
expired is still listed, with its time, until it is removed; no request shows it.")]
pub(crate) struct TodoArguments {
    /// The session
    id: String,
    #[command(flatten)]
    changes: TodoChanges,
}

#[derive(Debug, Default, Args)]
pub(crate) struct TodoChanges {
    /// Add an item at the end; may be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    add: Vec<String>,
    #[command(flatten)]
    expiry: Expiry,
    /// An item, such as 1 or 1.2, is done; may be repeated
    #[arg(long, value_name = "ITEM")]
    done: Vec<String>,
    /// An item has this state: pending, in_progress or done; may be repeated
    #[arg(long, value_name = "ITEM=STATE", value_parser = parse_state)]
    set: Vec<(String, TodoStatus)>,
    /// Remove an item and all under it; may be repeated
    #[arg(long, value_name = "ITEM")]
    remove: Vec<String>,
}

/// Show the useful information of a session, or change it: files, read for each request
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions info $ID --add 'README.md=what the program is for'
  interleaf sessions info $ID --add 'CHANGELOG.md=what changed' --until 2030-01-01T12:00:00Z
  interleaf sessions info $ID --remove README.md

A file is kept by its absolute path, and read anew for every request of the session. A
line is a file, or the key of a part of one, and its note.")]
pub(crate) struct InfoArguments {
    /// The session
    id: String,
    #[command(flatten)]
    changes: InfoChanges,
}

#[derive(Debug, Default, Args)]
pub(crate) struct InfoChanges {
    /// Add a file, and say why it is useful; may be repeated
    #[arg(long, value_name = "FILE=NOTE", allow_hyphen_values = true)]
    add: Vec<String>,
    #[command(flatten)]
    expiry: Expiry,
    /// Remove a file, or the entry with this key; may be repeated
    #[arg(long, value_name = "FILE|KEY")]
    remove: Vec<String>,
}

/// Show the folder notes of a session, or change them
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions note $ID --add 'src=one folder for each API' --read src/wire/encode.rs
  interleaf sessions note $ID --add 'src=frozen for the release' --for 3d
  interleaf sessions note $ID --remove 0

A note is in the requests of a session once a file in its folder, or further down, was
read in that session: --read says so. Folder and file must begin in the same way: src is
not ./src. A line is the key of a note, its folder and its text.")]
pub(crate) struct NoteArguments {
    /// The session
    id: String,
    #[command(flatten)]
    changes: NoteChanges,
}

#[derive(Debug, Default, Args)]
pub(crate) struct NoteChanges {
    /// Add a note on a folder; may be repeated
    #[arg(long, value_name = "FOLDER=NOTE", allow_hyphen_values = true)]
    add: Vec<String>,
    #[command(flatten)]
    expiry: Expiry,
    /// The main agent has read this file; may be repeated
    #[arg(long, value_name = "FILE")]
    read: Vec<PathBuf>,
    /// Remove the note with this key; may be repeated
    #[arg(long, value_name = "KEY")]
    remove: Vec<String>,
}

/// Until when what is added holds.
#[derive(Debug, Default, Args)]
struct Expiry {
    /// What is added holds until then, and is not in requests any more afterwards
    #[arg(long, value_name = "TIME", requires = "add")]
    until: Option<Timestamp>,
    /// The same, from now: 2h, 90m, 3d
    #[arg(long = "for", value_name = "LENGTH", requires = "add", conflicts_with = "until")]
    #[arg(value_parser = parse_length)]
    length: Option<Timestamp>,
}

impl Expiry {
    fn at(&self) -> Option<Timestamp> {
        self.until.or(self.length)
    }
}

/// So much later than now.
fn parse_length(text: &str) -> Result<Timestamp, String> {
    now().map_err(|e| e.to_string())?.later(text).map_err(|e| e.to_string())
}

/// Show the summary of a session, or hand one in
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions append $ID '{\"id\": \"m9\", \"role\": \"user\", \"content\": \"And now?\"}'
  echo 'They mended the horn.' | interleaf sessions summary $ID - --through m9
  interleaf sessions summary $ID

Requests have the summary in place of the messages that it stands for; the log keeps
them. `sessions export` shows the ids of messages.")]
pub(crate) struct SummaryArguments {
    /// The session
    id: String,
    /// A file with a new summary; `-` is standard input
    #[arg(requires = "through")]
    file: Option<PathBuf>,
    /// It stands for the visible messages up to the one with this id
    #[arg(long, value_name = "MESSAGE", requires = "file")]
    through: Option<String>,
}

/// Changes of one kind of records.
pub(crate) enum Changes {
    Todo(TodoChanges),
    Info(InfoChanges),
    Note(NoteChanges),
}

impl Changes {
    /// The same, and what words say, such as `add TEXT`. They come after what the command is
    /// called.
    pub(crate) fn in_words(mut self, called: &str, words: &[String]) -> Result<Self, Failure> {
        let Some((verb, rest)) = words.split_first() else { return Ok(self) };
        let what = rest.join(" ").trim().to_owned();
        let forms = match &self {
            Self::Todo(_) => ["add TEXT", "done ITEM", "remove ITEM"].as_slice(),
            Self::Info(_) => &["add FILE=WHY", "remove FILE"],
            Self::Note(_) => &["add FOLDER=TEXT", "remove KEY"],
        };
        let list = match (&mut self, verb.as_str()) {
            _ if what.is_empty() => None,
            (Self::Todo(it), "add") => Some(&mut it.add),
            (Self::Todo(it), "done") => Some(&mut it.done),
            (Self::Todo(it), "remove") => Some(&mut it.remove),
            (Self::Info(it), "add") => Some(&mut it.add),
            (Self::Info(it), "remove") => Some(&mut it.remove),
            (Self::Note(it), "add") => Some(&mut it.add),
            (Self::Note(it), "remove") => Some(&mut it.remove),
            _ => None,
        };
        let Some(list) = list else {
            let forms: Vec<String> =
                forms.iter().map(|form| format!("`{called} {form}`")).collect();
            let rule = format!("write `{called}` alone, or {}", forms.join(", "));
            return Err(Failure::new("", rule));
        };
        list.push(what);
        Ok(self)
    }

    /// Makes them in a session, and shows what there is then.
    pub(crate) fn make(self, session: OpenSession, output: &mut Output) -> Result<(), Stop> {
        let OpenSession { mut session, opened } = session;
        let change = async |session: &mut Session| match &self {
            Self::Todo(it) => it.change(session).await,
            Self::Info(it) => it.change(session).await,
            Self::Note(it) => it.change(session).await,
        };
        let shown = opened.asked(session.retrying(RETRIES, change))?;
        // Beside the output: a program that reads it gets no item.
        if shown.is_empty() {
            say("(none)");
        }
        if let Self::Info(InfoChanges { add, .. }) = &self {
            for file in add.iter().map(|text| absolute(noted(text).0)) {
                // To open a pipe would wait for whoever is at its other end.
                let known = std::fs::metadata(&file);
                let is_file = known.as_ref().is_ok_and(std::fs::Metadata::is_file);
                let opened =
                    if is_file { std::fs::File::open(&file).map(drop) } else { known.map(drop) };
                if let Err(error) = opened {
                    let (file, error) = (file.display().to_string(), error.to_string());
                    say(printable(&format!("note: {file} cannot be read: {error}")));
                }
            }
        }
        shown.iter().try_for_each(|line| Ok(output.line(line)?))
    }
}

pub(crate) fn run(
    command: RecordsCommand,
    open: impl Fn(&str) -> Result<OpenSession, Failure>,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    let (id, changes) = match command {
        RecordsCommand::Todo(TodoArguments { id, changes }) => (id, Changes::Todo(changes)),
        RecordsCommand::Info(InfoArguments { id, changes }) => (id, Changes::Info(changes)),
        RecordsCommand::Note(NoteArguments { id, changes }) => (id, Changes::Note(changes)),
        RecordsCommand::Summary(SummaryArguments { id, file, through }) => {
            let OpenSession { mut session, opened } = open(&id)?;
            if let (Some(file), Some(through)) = (file, through) {
                let text = Input::read(&file, limit)?.text;
                opened.asked(session.summarise_through(&through.into(), &text))?;
            }
            let active = opened.asked(session.active_summary())?;
            let text = active.as_ref().map_or("", |active| active.text.trim_end());
            return text.lines().try_for_each(|line| Ok(output.line(line)?));
        }
    };
    changes.make(open(&id)?, output)
}

/// An item and its state.
fn parse_state(text: &str) -> Result<(String, TodoStatus), String> {
    let (item, state) = text.split_once('=').unwrap_or((text, ""));
    let state = match state {
        "pending" => TodoStatus::Pending,
        "in_progress" => TodoStatus::InProgress,
        "done" => TodoStatus::Done,
        _ => return Err("an item and its state are expected, such as 1.2=in_progress".into()),
    };
    Ok((item.to_owned(), state))
}

impl TodoChanges {
    async fn change(&self, session: &mut Session) -> Result<Vec<String>, Error> {
        let mut draft = session.draft_records();
        for text in &self.add {
            let id = draft.todo().add(text).await?;
            if let Some(until) = self.expiry.at() {
                draft.todo().set_until(&id, Some(until)).await?;
            }
        }
        for item in &self.done {
            draft.todo().set(item, TodoStatus::Done).await?;
        }
        for (item, state) in &self.set {
            draft.todo().set(item, *state).await?;
        }
        for item in &self.remove {
            draft.todo().remove(item).await?;
        }
        draft.commit().await?;
        let text = session.todo().listing().await?;
        Ok(text.lines().map(|line| printable(line).into_owned()).collect())
    }
}

impl InfoChanges {
    async fn change(&self, session: &mut Session) -> Result<Vec<String>, Error> {
        let mut draft = session.draft_records();
        for (file, note) in self.add.iter().map(|text| noted(text)) {
            let until = self.expiry.at();
            draft.information().add_until(absolute(file), None, note, until).await?;
        }
        for asked in &self.remove {
            remove(&mut draft.information(), asked).await?;
        }
        draft.commit().await?;
        let ranges = session.information().ranges().await?;
        // A part of a file is removed by its key.
        let name = |key: &String, range: &InfoRange| match range.lines {
            None => format!("{}:", range.path.display()),
            Some(_) => key.clone(),
        };
        let line =
            |(key, range): &(String, InfoRange)| line(&name(key, range), &range.note, range.until);
        Ok(ranges.iter().map(line).collect())
    }
}

impl NoteChanges {
    /// The same with absolute paths: those are what an agent reads.
    pub(crate) fn absolute(mut self) -> Self {
        for text in &mut self.add {
            let (folder, note) = noted(text);
            *text = format!("{}={note}", absolute(folder).display());
        }
        for file in &mut self.read {
            *file = std::path::absolute(&*file).unwrap_or_else(|_| std::mem::take(file));
        }
        self
    }

    async fn change(&self, session: &mut Session) -> Result<Vec<String>, Error> {
        let mut draft = session.draft_records();
        for (folder, note) in self.add.iter().map(|text| noted(text)) {
            draft.notes().add_until(folder, note, self.expiry.at()).await?;
        }
        for file in &self.read {
            draft.notes().read_file(file, None).await?;
        }
        for key in &self.remove {
            draft.notes().remove(key).await?;
        }
        draft.commit().await?;
        let notes = session.notes().all().await?;
        let text = |note: &FolderNote| format!("{}: {}", note.folder.display(), note.text);
        Ok(notes.iter().map(|(key, note)| line(key, &text(note), note.until)).collect())
    }
}

/// Removes the ranges of a file, or the one of this key.
async fn remove(information: &mut Information<'_>, asked: &str) -> Result<(), Error> {
    let (mut ranges, path) = (information.ranges().await?, absolute(asked));
    ranges.retain(|(key, range)| key != asked && range.path == path);
    for (key, _) in &ranges {
        information.remove(key).await?;
    }
    if ranges.is_empty() { information.remove(asked).await } else { Ok(()) }
}

/// The path of a file, wherever it is named from; one that has none is kept as it is.
fn absolute(file: &str) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.into())
}

fn noted(text: &str) -> (&str, &str) {
    text.split_once('=').unwrap_or((text, ""))
}

fn line(key: &str, text: &str, until: Option<Timestamp>) -> String {
    let until = until.map(|until| format!(" (until {until})")).unwrap_or_default();
    format!("{} {}{until}", printable(key), printable(text))
}
