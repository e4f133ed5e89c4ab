//! The commands of a chat: lines that begin with a slash.

use std::env::current_dir;
use std::path::Path;

use interleaf_agent::Standing;

use super::Chat;
use crate::commands::sessions::records::Changes;
use crate::failure::{Failure, Stop};

/// What comes after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The next line.
    Line,
    /// The user leaves.
    Leave,
    /// The program is asked to end.
    Stop,
}

/// Each command: its name, what may follow it, and what it does.
pub(super) const COMMANDS: [(&str, &str, &str); 14] = [
    ("help", "", "these lines"),
    ("context", "", "what the model saw of the context, and its cost"),
    ("cost", "", "what the session took and cost, by model"),
    ("session", "", "which session this is"),
    ("todo", "[add TEXT | done ITEM | remove ITEM]", "the TODO list"),
    ("info", "[add FILE=WHY | remove FILE]", "files that stand in every request"),
    ("note", "[add FOLDER=TEXT | remove KEY]", "notes on folders"),
    ("undo", "", "takes the last turn back; files stay as they are"),
    ("redo", "", "brings back what /undo took"),
    ("fork", "", "goes on in a copy; the session stays as it is"),
    ("compact", "", "has a summary take the place of what is old"),
    ("model", "MODEL", "changes the model, after showing what that costs"),
    ("go", "", "goes on with a turn that did not come to its end"),
    ("quit", "", "leaves"),
];

/// How wide the commands are in the help.
const COLUMN: usize = 20;

impl Chat<'_> {
    /// Does what a command says.
    pub(super) fn command(&mut self, line: &str) -> Result<Next, Stop> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (name, rest) = (name.trim(), rest.trim());
        let takes = COMMANDS.iter().find(|(known, ..)| *known == name).map(|(_, takes, _)| *takes);
        let mut next = Next::Line;
        let done = match name {
            _ if takes == Some("") && !rest.is_empty() => {
                Err(Failure::new(format!("/{name}"), "nothing may follow it").into())
            }
            "help" => self.help(),
            "context" => self.context(),
            "cost" => self.cost(),
            "session" => self.tell_session(),
            "todo" | "info" | "note" => self.records(name, rest),
            "undo" => self.undo(),
            "redo" => self.redo(),
            "fork" => self.fork(),
            "compact" => self.compact().map(|then| next = then),
            "model" => self.model(rest).map(|then| next = then),
            "go" if Standing::of(self.session_mut()?).goes_on() => return self.turn(None),
            "go" => Err(Failure::new("/go", "the last turn has come to its end").into()),
            "quit" | "exit" => return Ok(Next::Leave),
            _ => {
                let rule = "there is no such command; /help lists them";
                Err(Failure::new(format!("/{name}"), rule).into())
            }
        };
        match done {
            Err(Stop::Failure(failure)) => self.tell_failure(&failure)?,
            other => other?,
        }
        Ok(next)
    }

    fn help(&mut self) -> Result<(), Stop> {
        for (name, takes, what) in COMMANDS {
            let command = format!("/{name} {takes}");
            // Two lines where one would be too long for a narrow terminal.
            match command.len() > COLUMN {
                true => self.output.line(format_args!("  {command}\n  {:COLUMN$} {what}", ""))?,
                false => self.output.line(format_args!("  {command:<COLUMN$} {what}"))?,
            }
        }
        self.note("what you type while the agent works is said to it before its next request")
    }

    /// Shows or changes what the session keeps, as `interleaf sessions todo` and the like do.
    fn records(&mut self, name: &str, rest: &str) -> Result<(), Stop> {
        let id = self.session()?.id().to_string();
        let words = match rest.split_once(char::is_whitespace) {
            Some((verb, what)) => vec![verb.to_owned(), self.placed(name, verb, what.trim())],
            None if rest.is_empty() => Vec::new(),
            None => vec![rest.to_owned()],
        };
        let changes = match name {
            "todo" => Changes::Todo(Default::default()),
            "info" => Changes::Info(Default::default()),
            _ => Changes::Note(Default::default()),
        };
        let opened = self.opened.clone();
        let changes = changes.in_words(&format!("/{name}"), &words)?;
        changes.make(opened.clone().session(&id)?, self.output)?;
        let session = self.session.as_mut().ok_or_else(super::lost)?;
        opened.asked(session.refresh())?;
        Ok(())
    }

    /// A path is the agent's, wherever the program runs.
    fn placed(&self, name: &str, verb: &str, what: &str) -> String {
        let folder = self.agent.folder().map(Path::to_owned).or_else(|| current_dir().ok());
        let Some(folder) = folder.filter(|_| name != "todo") else { return what.to_owned() };
        let (path, note) = what.split_once('=').unwrap_or((what, ""));
        let whole = folder.join(path);
        let whole = whole.canonicalize().unwrap_or(whole);
        match (verb, name) {
            ("add", _) => format!("{}={note}", whole.display()),
            ("remove", "info") if whole.exists() => whole.display().to_string(),
            _ => what.to_owned(),
        }
    }
}
