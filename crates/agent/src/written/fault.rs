//! What is wrong in a file, and where.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::Source;

/// A rule that a file breaks, and where. Shown, it is one line:
/// `FILE: line 3 column 1: the rule`.
#[derive(Debug, Clone)]
pub struct Fault {
    source: Source,
    at: Option<Range<usize>>,
    rule: String,
    hint: Option<String>,
}

/// Something that is worth knowing of a file, and no fault.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// The file.
    pub path: PathBuf,
    /// The line, if it is about one.
    pub line: Option<usize>,
    /// What it is.
    pub text: String,
    /// Whether something that was asked for is missing: the file, or a setting of it, is not in
    /// force.
    pub is_wrong: bool,
}

impl Fault {
    pub(crate) fn new(source: &Source, at: Range<usize>, rule: impl Into<String>) -> Self {
        Self { source: source.clone(), at: Some(at), rule: rule.into(), hint: None }
    }

    /// Of a file as a whole.
    pub(crate) fn of_file(source: &Source, rule: impl Into<String>) -> Self {
        Self { source: source.clone(), at: None, rule: rule.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// The line and the column, counted from 1, if it has a place.
    pub fn place(&self) -> Option<(usize, usize)> {
        self.at.as_ref().map(|at| self.source.line_column(at.start))
    }

    /// Where it begins in the text.
    pub(crate) fn start(&self) -> Option<usize> {
        self.at.as_ref().map(|at| at.start)
    }

    /// The rule.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// What was perhaps meant.
    pub fn suggestion(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The line that breaks the rule, as a compiler shows it; empty for a file as a whole.
    pub fn snippet(&self) -> String {
        let Some(at) = &self.at else { return String::new() };
        let text = &*masked(self.source.text());
        let start = floor(text, at.start);
        let end = floor(text, at.end.max(start));
        // A long value is shown by its first line.
        let end = text[start..end].find('\n').map_or(end, |line| start + line);
        let mark = AnnotationKind::Primary.span(start..end);
        let path = self.path().display().to_string();
        let snippet = Snippet::source(text).path(path).annotation(mark);
        let report = Level::ERROR.primary_title(self.rule.as_str()).element(snippet);
        let mut groups = vec![report];
        groups.extend(self.hint.as_ref().map(|hint| {
            annotate_snippets::Group::with_title(Level::HELP.secondary_title(hint.as_str()))
        }));
        Renderer::plain().render(&groups)
    }

    /// The same, as something worth knowing.
    pub(crate) fn as_notice(&self) -> Notice {
        Notice {
            path: self.path().to_owned(),
            line: self.place().map(|(line, _)| line),
            text: self.rule.clone(),
            is_wrong: true,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path().display())?;
        if let Some((line, column)) = self.place() {
            write!(f, "line {line} column {column}: ")?;
        }
        f.write_str(&self.rule)
    }
}

impl std::error::Error for Fault {}

impl Notice {
    pub(crate) fn new(source: &Source, at: usize, text: impl Into<String>) -> Self {
        let (line, _) = source.line_column(at);
        Self {
            path: source.path().to_owned(),
            line: Some(line),
            text: text.into(),
            is_wrong: false,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// What holds no secret, by its name in a file.
const PLAIN: [&str; 14] = [
    "vendor", "model", "fallback", "agent", "agents", "tools", "place", "carrier", "money", "time",
    "writer", "context", "history", "allow",
];

/// The same text with stars in its quoted values, byte for byte: any of them may be a key or a
/// password, also under a misspelt name. Those under a name that holds none stay.
fn masked(text: &str) -> String {
    let is_plain = |line: &str| {
        line.split_once(['=', ':']).is_some_and(|(name, _)| PLAIN.contains(&name.trim()))
    };
    let lines = text.split_inclusive('\n');
    lines.map(|line| if is_plain(line) { line.to_owned() } else { starred(line) }).collect()
}

fn starred(line: &str) -> String {
    let mut quote = None;
    let mut starred = String::with_capacity(line.len());
    for c in line.chars() {
        match quote {
            Some(end) if c == end || c == '\n' => quote = None,
            Some(_) => {
                starred.extend(std::iter::repeat_n('*', c.len_utf8()));
                continue;
            }
            None if c == '"' || c == '\'' => quote = Some(c),
            None => {}
        }
        starred.push(c);
    }
    starred
}

/// The name that was perhaps meant, if one is near.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|name| (strsim::jaro_winkler(written, name), name));
    let best = near.filter(|(near, _)| *near > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, name)| name)
}

/// The beginning of the character at a place.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}
