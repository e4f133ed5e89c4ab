//! What the user types: at the prompt with an editor, while the agent works as plain lines, and
//! without a terminal line by line.

mod editor;
#[cfg(unix)]
mod typed;

use std::io::{self, BufRead as _, IsTerminal as _, stdin, stdout};

use interleaf::model::{Role, shown_lines};
use tokio::task::spawn_blocking;

use self::editor::Editor;
#[cfg(unix)]
pub(super) use self::typed::Typed;
use crate::output::Output;
use crate::stopped::{Wish, Wishes};

/// What the user types.
pub(super) enum Input {
    /// At a terminal. The editor is away while a line is read.
    Terminal(Option<Box<Editor>>),
    /// From a file or a pipe.
    Lines,
}

/// What came of waiting for a line.
pub(super) enum Line {
    /// A line, or several that belong together.
    Said(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the file.
    Ended,
    /// The program is asked to end.
    Stopped,
}

impl Input {
    pub(super) fn open() -> Self {
        match stdin().is_terminal() && stdout().is_terminal() {
            true => Self::Terminal(Editor::new().map(Box::new)),
            false => Self::Lines,
        }
    }

    /// Waits for the next line at the prompt.
    pub(super) async fn line(&mut self, wishes: &mut Wishes) -> io::Result<Line> {
        let Self::Terminal(editor) = self else { return plain_lines(wishes).await };
        let Some(mut away) = editor.take() else { return plain_lines(wishes).await };
        let mode = Mode::now();
        let mut reading = spawn_blocking(move || {
            let line = away.line();
            (away, line)
        });
        loop {
            tokio::select! {
                read = &mut reading => {
                    let (back, line) = read.map_err(io::Error::other)?;
                    *editor = Some(back);
                    return line;
                }
                // The editor tells Ctrl-C by itself.
                wish = wishes.next() => if wish != Wish::Interrupt {
                    mode.restore();
                    return Ok(Line::Stopped);
                },
            }
        }
    }

    /// Waits for the answer to a question, where no terminal is.
    pub(super) async fn answer(&self) -> io::Result<Option<String>> {
        Ok(match spawn_blocking(read_line).await.map_err(io::Error::other)?? {
            Line::Said(text) => Some(text),
            _ => None,
        })
    }

    /// Shows a line that no terminal has shown.
    pub(super) fn echo(&self, text: &str, output: &mut Output) -> io::Result<()> {
        if self.is_terminal() {
            return Ok(());
        }
        let user = output.palette.role(Role::User);
        let text = shown_lines(text).replace('\n', "\n  ");
        output.line(format_args!("{user}>{user:#} {text}"))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Keeps the history for the next time.
    pub(super) fn save(&mut self) {
        if let Self::Terminal(Some(editor)) = self {
            editor.save();
        }
    }
}

/// Lines of standard input that belong together.
async fn plain_lines(wishes: &mut Wishes) -> io::Result<Line> {
    let mut all: Option<String> = None;
    loop {
        let read = tokio::select! {
            read = spawn_blocking(read_line) => read.map_err(io::Error::other)??,
            _ = wishes.next() => return Ok(Line::Stopped),
        };
        let Line::Said(line) = read else {
            return Ok(all.map_or(Line::Ended, Line::Said));
        };
        let said = all.take().map_or_else(String::new, |before| before + "\n");
        match line.strip_suffix('\\') {
            Some(begun) => all = Some(said + begun),
            None => return Ok(Line::Said(said + &line)),
        }
    }
}

fn read_line() -> io::Result<Line> {
    let mut line = Vec::new();
    if stdin().lock().read_until(b'\n', &mut line)? == 0 {
        return Ok(Line::Ended);
    }
    // What is no UTF-8 is shown as such.
    let line = String::from_utf8_lossy(&line);
    Ok(Line::Said(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// How the terminal was set before the editor took it.
struct Mode {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

#[cfg(unix)]
impl Mode {
    fn now() -> Self {
        Self { before: rustix::termios::tcgetattr(stdin()).ok() }
    }

    fn restore(&self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(before) = &self.before {
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}

#[cfg(not(unix))]
impl Mode {
    fn now() -> Self {
        Self {}
    }

    fn restore(&self) {}
}
