//! Standard output: lines for people, JSON for programs.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write as _};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use interleaf::model::{Role, shown_speech};
use serde::Serialize;

use crate::ink::{Ink, screened};

/// The width of a line where no terminal says another.
const DEFAULT_WIDTH: usize = 100;

/// Standard output, and what it can show.
pub(crate) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    pub(crate) palette: Palette,
    terminal_width: usize,
    /// Whether a terminal shows it. Anything else takes it as data.
    pub(crate) is_terminal: bool,
}

/// The styles; all plain where there are no colors.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Palette {
    pub(crate) dim: Ink,
    pub(crate) heading: Ink,
    pub(crate) mark: Ink,
    pub(crate) fault: Ink,
    system: Ink,
    user: Ink,
    assistant: Ink,
    tool: Ink,
}

impl Palette {
    /// The styles that a stream can show.
    pub(crate) fn of(stream: &impl RawStream) -> Self {
        match AutoStream::choice(stream) {
            ColorChoice::Never => Self::default(),
            ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => Self::colored(),
        }
    }

    fn colored() -> Self {
        Self {
            dim: Style::new().dimmed().into(),
            heading: Style::new().bold().into(),
            mark: AnsiColor::Yellow.on_default().bold().into(),
            fault: AnsiColor::Red.on_default().bold().into(),
            system: AnsiColor::Magenta.on_default().bold().into(),
            user: AnsiColor::Green.on_default().bold().into(),
            assistant: AnsiColor::Cyan.on_default().bold().into(),
            tool: AnsiColor::Blue.on_default().bold().into(),
        }
    }

    /// The style of a role's letter.
    pub(crate) fn role(&self, role: Role) -> Ink {
        match role {
            Role::System => self.system,
            Role::User => self.user,
            Role::Assistant => self.assistant,
            Role::Tool => self.tool,
        }
    }
}

impl Output {
    /// Our standard output.
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let palette = Palette::of(&stdout);
        let is_terminal = stdout.is_terminal();
        let terminal = is_terminal.then(|| terminal_size::terminal_size_of(&stdout));
        let width = terminal.flatten().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        let (out, terminal_width) = (BufWriter::new(stdout.lock()), width.max(20));
        Self { out, palette, terminal_width, is_terminal }
    }

    /// The width that lines are cut to: what the user asked for, or the terminal's.
    pub(crate) fn width(&self, asked: Option<usize>) -> usize {
        asked.unwrap_or(self.terminal_width)
    }

    /// One line.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        self.text(&format!("{text}\n"))
    }

    /// Lines for people. What somebody put into them does nothing to the screen.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(screened(text).as_bytes())
    }

    /// A line about the messages, not of them. It starts with `#`, which whoever
    /// reads the notation passes over.
    pub(crate) fn remark(&mut self, text: impl fmt::Display) -> io::Result<()> {
        let heading = self.palette.heading;
        self.line(format_args!("{heading}# {text}{heading:#}"))
    }

    /// Shows what was said so far, before a wait.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Bytes as they are, for programs.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// What somebody says, in a style, for a person.
    pub(crate) fn speech(&mut self, ink: Ink, text: &str) -> io::Result<()> {
        self.text(&ink.to_string())?;
        self.out.write_all(shown_speech(text).as_bytes())?;
        self.text(&format!("{ink:#}"))
    }

    /// An answer, as it comes: as it was said, unless a terminal shows it.
    pub(crate) fn answer(&mut self, text: &str) -> io::Result<()> {
        match self.is_terminal {
            true => self.speech(Ink::default(), text)?,
            false => self.bytes(text.as_bytes())?,
        }
        self.out.flush()
    }

    /// A JSON array, one element a line.
    pub(crate) fn json_list<T: Serialize>(
        &mut self,
        items: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        self.write_list(items, "")?;
        writeln!(self.out)
    }

    /// Begins a JSON object.
    pub(crate) fn json_object(&mut self) -> JsonObject<'_> {
        JsonObject { output: self, empty: true }
    }

    /// A JSON value on one line, handed on at once to a reader who waits for it.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        writeln!(self.out)?;
        self.out.flush()
    }

    /// Hands everything to the reader.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn write_list<T: Serialize>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        indent: &str,
    ) -> io::Result<()> {
        let mut before = "[\n";
        for item in items {
            write!(self.out, "{before}{indent}  ")?;
            serde_json::to_writer(&mut self.out, &item)?;
            before = ",\n";
        }
        if before == "[\n" { write!(self.out, "[]") } else { write!(self.out, "\n{indent}]") }
    }
}

/// A JSON object on its way out, one field a line.
pub(crate) struct JsonObject<'a> {
    output: &'a mut Output,
    empty: bool,
}

impl JsonObject<'_> {
    /// A field on its line.
    pub(crate) fn field(&mut self, name: &str, value: impl Serialize) -> io::Result<()> {
        self.name(name)?;
        Ok(serde_json::to_writer(&mut self.output.out, &value)?)
    }

    /// A field with a list, each element on its line.
    pub(crate) fn list<T: Serialize>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        self.name(name)?;
        self.output.write_list(items, "  ")
    }

    /// The end of the object.
    pub(crate) fn end(self) -> io::Result<()> {
        writeln!(self.output.out, "{}", if self.empty { "{}" } else { "\n}" })
    }

    fn name(&mut self, name: &str) -> io::Result<()> {
        let before = if self.empty { "{" } else { "," };
        self.empty = false;
        write!(self.output.out, "{before}\n  \"{name}\": ")
    }
}

/// Tells the user something beside the output.
pub(crate) fn say(text: impl fmt::Display) {
    // A closed standard error is no reason to stop.
    let _ = writeln!(io::stderr(), "{}", screened(&text.to_string()));
}

/// Tells what somebody says beside the output.
pub(crate) fn say_speech(text: &str) {
    let _ = writeln!(io::stderr(), "{}", shown_speech(text));
}

/// Shows how far something is, where a person looks on.
pub(crate) fn bar(n: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(n), ProgressDrawTarget::stderr());
    let style =
        format!("{{bar:40}} {{human_pos}} of {{human_len}} {what}, {{per_sec}}, {{eta}} left");
    match ProgressStyle::with_template(&style) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
