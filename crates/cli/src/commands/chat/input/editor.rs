//! The line editor at the prompt, with its history.

use std::io;
use std::path::PathBuf;

use interleaf::store;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Helper};

use super::Line;
use crate::commands::chat::commands::COMMANDS;
use crate::output::say;

const PROMPT: &str = "> ";

/// How many lines the history has.
const MOST_REMEMBERED: usize = 1_000;

/// The line editor.
pub(crate) struct Editor {
    editor: rustyline::Editor<Help, FileHistory>,
    history: Option<PathBuf>,
}

impl Editor {
    /// None, if the terminal cannot be used for it: then lines are read as they are.
    pub(super) fn new() -> Option<Self> {
        let config = Config::builder().max_history_size(MOST_REMEMBERED).ok()?;
        let config = config.history_ignore_space(true).auto_add_history(true).build();
        let mut editor = rustyline::Editor::with_config(config).ok()?;
        editor.set_helper(Some(Help));
        let history = history();
        if let Some(path) = history.as_ref().filter(|path| path.exists())
            && let Err(e) = editor.load_history(path)
        {
            say(format_args!("note: the history {} cannot be read: {e}", path.display()));
        }
        Some(Self { editor, history })
    }

    pub(super) fn line(&mut self) -> io::Result<Line> {
        match self.editor.readline(PROMPT) {
            Ok(text) => Ok(Line::Said(text.replace("\\\n", "\n"))),
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::Ended),
            Err(ReadlineError::Io(e)) => Err(e),
            Err(other) => Err(io::Error::other(other)),
        }
    }

    pub(super) fn save(&mut self) {
        let Some(path) = &self.history else { return };
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let saved = folder.map_err(ReadlineError::Io).and_then(|()| self.editor.save_history(path));
        if let Err(e) = saved {
            say(format_args!("note: the history {} cannot be kept: {e}", path.display()));
        }
    }
}

/// The file of the history, beside the store.
fn history() -> Option<PathBuf> {
    let url = store::default_url().ok()?;
    Some(store::file_of(&url)?.with_file_name("chat-history"))
}

/// What the editor knows of what is typed.
struct Help;

impl Helper for Help {}
impl Highlighter for Help {}

impl Hinter for Help {
    type Hint = String;
}

impl Validator for Help {
    /// A line that ends with a backslash goes on.
    fn validate(&self, typed: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match typed.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for Help {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..at).unwrap_or_default();
        let Some(begun) = typed.strip_prefix('/').filter(|begun| !begun.contains(' ')) else {
            return Ok((0, Vec::new()));
        };
        let names = COMMANDS.iter().map(|(name, ..)| *name);
        let found = names.filter(|name| name.starts_with(begun)).map(|name| format!("/{name} "));
        Ok((0, found.collect()))
    }
}
