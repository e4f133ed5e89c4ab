//! Why a command stopped, and how that is said.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write as _};
use std::panic::PanicHookInfo;

use anstyle::{AnsiColor, Style};
use interleaf::model::Place;
use interleaf::store::hide_passwords;

/// How a command that ran to its end ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fine,
    /// There is something that the caller must see to.
    Findings,
    /// It goes on with what was printed.
    Unfinished,
}

/// The end of a command before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something is wrong with what we were given.
    Failure(Box<Failure>),
    /// Nobody reads our output any more, as under `| head`. Nothing is wrong.
    PipeClosed,
}

/// Bad input or bad usage, said in one line: `error: FILE: place: rule`.
#[derive(Debug)]
pub(crate) struct Failure {
    subject: String,
    place: String,
    rule: String,
    hint: Option<String>,
}

impl Failure {
    /// A rule that `subject`, a file or an argument, breaks.
    pub(crate) fn new(subject: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { subject: subject.into(), place: String::new(), rule: rule.into(), hint: None }
    }

    /// Where in the subject.
    pub(crate) fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }

    /// What the user could do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A file that the system does not let us read or write.
    pub(crate) fn io(subject: impl Into<String>, error: &io::Error) -> Self {
        let rule = match error.kind() {
            ErrorKind::NotFound => "there is no such file".to_owned(),
            ErrorKind::PermissionDenied => "permission denied".to_owned(),
            ErrorKind::IsADirectory => "this is a directory, not a file".to_owned(),
            ErrorKind::NotADirectory => "a part of the path is not a directory".to_owned(),
            _ => error.to_string(),
        };
        Self::new(subject, rule)
    }

    /// A fault that a wire format found.
    pub(crate) fn wire(subject: &str, error: &interleaf::wire::Error) -> Self {
        Self::new(subject, error.message()).at(place_text(error.place()))
    }

    /// What the conversation refused.
    pub(crate) fn conversation(subject: &str, error: &interleaf::conversation::Error) -> Self {
        Self::new(subject, error.message()).at(error.field())
    }

    /// Why no request could be made.
    pub(crate) fn assembly(subject: &str, error: &interleaf::assemble::Error) -> Self {
        let failure = Self::new(subject, error.to_string());
        match error.figures() {
            Some(_) => failure.hint("a larger --window or a smaller --reserve makes room"),
            None => failure,
        }
    }

    /// A text that is no JSON, or JSON of another shape.
    pub(crate) fn json(subject: &str, error: &serde_json::Error) -> Self {
        let mut rule = error.to_string();
        if let Some(end) = rule.rfind(" at line ") {
            rule.truncate(end);
        }
        let failure = Self::new(subject, rule);
        match (error.line(), error.column()) {
            // A rule that the parser itself does not know has no place of its own.
            (0, _) => failure,
            (line, column) => failure.at(format!("line {line} column {column}")),
        }
    }

    /// The failure in one line.
    pub(crate) fn text(&self) -> String {
        let pieces = [&self.subject, &self.place, &self.rule];
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
        let text = pieces.map(|piece| printable(piece)).collect::<Vec<_>>().join(": ");
        hide_passwords(&text).into_owned()
    }

    /// Prints the failure for a person.
    pub(crate) fn print(&self) {
        let text = self.text();
        let red = AnsiColor::Red.on_default().bold();
        let mut stderr = anstream::stderr().lock();
        // There is nobody left to tell if this fails.
        let _ = writeln!(stderr, "{red}error:{red:#} {text}");
        if let Some(hint) = &self.hint {
            let bold = Style::new().bold();
            let _ = writeln!(stderr, "{bold}hint:{bold:#} {}", printable(hint));
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(Box::new(failure))
    }
}

/// Only writing to standard output fails with a bare error.
impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Failure::io("standard output", &error).into(),
        }
    }
}

/// Says that we, and not the user, did something wrong.
pub(crate) fn print_bug(bug: &PanicHookInfo<'_>) {
    let _ = writeln!(
        io::stderr(),
        "error: this is a bug in interleaf, not in your input: {}\n\
         hint: please report it with the command that you ran; nothing was half-written",
        printable(&bug.to_string().replace('\n', " ")),
    );
}

/// A text from outside that cannot move the cursor or flood the screen.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, 600)
}

/// A text from outside, cut to this length, that cannot move the cursor.
pub(crate) fn escaped(text: &str, longest: usize) -> Cow<'_, str> {
    if !text.contains(char::is_control) && text.len() <= longest {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for (n, c) in text.chars().enumerate() {
        match c {
            _ if n == longest => {
                out.push('…');
                break;
            }
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn place_text(place: &Place) -> String {
    match (place.path.as_str(), place.line_column) {
        (path, None) => path.to_owned(),
        ("", Some((line, column))) => format!("line {line} column {column}"),
        (path, Some((line, column))) => format!("{path}, line {line} column {column}"),
    }
}
