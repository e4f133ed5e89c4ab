//! Why a command stopped, and how that is said.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write as _};
use std::panic::PanicHookInfo;

use anstyle::{AnsiColor, Style};
use interleaf::model::{Place, shown, shown_lines};
use interleaf::store::hide_passwords;

/// How a command that ran to its end ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fine,
    /// There is something that the caller must see to.
    Findings,
    /// It goes on with what was printed.
    Unfinished,
    /// The user stopped it. What it had done until then is kept.
    Interrupted,
    /// A command that it ran ended with this code.
    Command(u8),
}

/// The end of a command before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something is wrong with what we were given.
    Failure(Box<Failure>),
    /// Nobody reads our output any more, as under `| head`. Nothing is wrong.
    PipeClosed,
}

/// What the exit code tells of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// What we were given is bad, or was asked for in a bad way.
    Input = 2,
    /// Another writer was first.
    Conflict = 3,
    /// Another program holds the store.
    Busy = 4,
    /// No room is left on the disk.
    Full = 5,
    /// The store cannot be reached, or fell silent.
    Unavailable = 6,
    /// All is done, but standard output does not take what there is to say.
    Output = 7,
    /// A model API gave no answer, or only a part of one.
    Api = 8,
    /// The user stopped it before it began.
    Interrupted = 130,
}

/// What went wrong, said in one line: `error: FILE: place: rule`.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) fault: Fault,
    subject: String,
    place: String,
    rule: String,
    hint: Option<String>,
}

impl Failure {
    /// A rule that `subject`, a file or an argument, breaks.
    pub(crate) fn new(subject: impl Into<String>, rule: impl Into<String>) -> Self {
        let (subject, rule) = (subject.into(), rule.into());
        Self { fault: Fault::Input, subject, place: String::new(), rule, hint: None }
    }

    /// Where in the subject.
    pub(crate) fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }

    /// What the exit code is to tell.
    pub(crate) fn of(mut self, fault: Fault) -> Self {
        self.fault = fault;
        self
    }

    /// What is to be said beside the rule.
    pub(crate) fn saying(mut self, remark: &str) -> Self {
        self.rule += &format!("; {remark}");
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
        let is_full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        Self::new(subject, rule).of(if is_full { Fault::Full } else { Fault::Input })
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
            Some(_) if !error.parts().is_empty() => {
                failure.hint("--part sets what each part may take; a larger --window makes room")
            }
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
        print_error(&self.text());
        if let Some(hint) = &self.hint {
            let bold = Style::new().bold();
            let hint = printable(hint);
            let _ = writeln!(anstream::stderr(), "{bold}hint:{bold:#} {}", hide_passwords(&hint));
        }
    }
}

fn print_error(text: &str) {
    let red = AnsiColor::Red.on_default().bold();
    // There is nobody left to tell if this fails.
    let _ = writeln!(anstream::stderr(), "{red}error:{red:#} {text}");
}

impl Failure {
    /// Ends the program at once.
    pub(crate) fn end(&self) -> ! {
        self.print();
        std::process::exit(i32::from(self.fault as u8))
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
            _ => {
                let kept = "what the command changed is kept; only its output is missing";
                Failure::io("standard output", &error).of(Fault::Output).hint(kept).into()
            }
        }
    }
}

/// Says what is wrong with the arguments, or helps, and ends the program.
pub(crate) fn refuse(error: &clap::Error) -> ! {
    if error.use_stderr() {
        // The arguments may hold the address of a store, a key, or anything else. Without the
        // parser's colors, their words begin and end as anywhere.
        let text = error.render().to_string();
        match text.strip_prefix("error:") {
            Some(text) => print_error(&hide_passwords(&shown_lines(text.trim()))),
            // Help, where a command is missing.
            None => drop(error.print()),
        }
    } else {
        drop(error.print());
    }
    std::process::exit(error.exit_code())
}

/// Says that we, and not the user, did something wrong.
pub(crate) fn print_bug(bug: &PanicHookInfo<'_>) {
    let _ = writeln!(
        io::stderr(),
        "error: this is a bug in interleaf, not in your input: {}\n\
         hint: please report it with the command that you ran; what was stored is whole",
        printable(&bug.to_string().replace('\n', " ")),
    );
}

/// A text from outside that does nothing to the screen, and does not flood it.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 600;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", shown(&text[..end]))),
        None => shown(text),
    }
}

fn place_text(place: &Place) -> String {
    match (place.path.as_str(), place.line_column) {
        (path, None) => path.to_owned(),
        ("", Some((line, column))) => format!("line {line} column {column}"),
        (path, Some((line, column))) => format!("{path}, line {line} column {column}"),
    }
}
