//! What a person wrote in a file: TOML, or Markdown with YAML before it, as a tree in which
//! everything knows its place.
//!
//! ```text
//!   text ──toml, yaml──▶ Node ──read──▶ any type that serde reads, or a Fault with its place
//! ```

mod fault;
mod parsed;
mod read;
mod toml;
mod yaml;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;

pub use self::fault::{Fault, Notice, nearest};
pub(crate) use self::parsed::{Length, Parsed};
pub(crate) use self::read::Placed;

/// Longer files are no settings.
const LONGEST: u64 = 1024 * 1024;

/// A file, as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Source(Arc<Whole>);

#[derive(Debug)]
struct Whole {
    path: PathBuf,
    text: String,
    /// Where lines begin.
    lines: OnceLock<Vec<usize>>,
}

/// A value in a file, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) at: Range<usize>,
    pub(crate) value: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Nothing,
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    /// In the order of the file; no name comes twice.
    Table(Vec<(Name, Node)>),
}

/// The name of a value in a table.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) at: Range<usize>,
    pub(crate) text: String,
}

/// A value that is read later, by somebody who knows its type.
#[derive(Debug, Clone)]
pub struct Table {
    source: Source,
    node: Node,
}

impl Source {
    /// Reads a file; none, if there is none. One of a project must not lead out of it: a project
    /// may come from anybody, and a link in it may name any file of the user's.
    pub(crate) fn open(path: &Path, project: Option<&Path>) -> Result<Option<Self>, Fault> {
        use std::io::Read as _;
        let refused = |rule: String| Fault::of_file(&Self::new(path, String::new()), rule);
        match std::fs::metadata(path) {
            // To open a pipe would wait for whoever is at its other end.
            Ok(known) if !known.is_file() => return Err(refused("this is not a file".to_owned())),
            Ok(_) => {}
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(refused(error.to_string())),
        }
        if let Some(project) = project {
            let inside = path.canonicalize().and_then(|path| Ok((path, project.canonicalize()?)));
            let (file, project) = inside.map_err(|error| refused(error.to_string()))?;
            if !file.starts_with(project) {
                return Err(refused("it leads out of the project, and is not read".to_owned()));
            }
        }
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(refused(error.to_string())),
        };
        let mut bytes = Vec::new();
        match file.take(LONGEST + 1).read_to_end(&mut bytes) {
            Err(error) => return Err(refused(error.to_string())),
            Ok(length) if length as u64 > LONGEST => {
                return Err(refused(format!("it is longer than {LONGEST} bytes")));
            }
            Ok(_) => {}
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(Self::new(path, text))),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Err(Fault::new(&Self::new(path, text), valid..valid, "this is not UTF-8"))
            }
        }
    }

    pub(crate) fn new(path: &Path, text: String) -> Self {
        Self(Arc::new(Whole { path: path.to_owned(), text, lines: OnceLock::new() }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    /// The line and column of a place, counted from 1.
    pub(crate) fn line_column(&self, at: usize) -> (usize, usize) {
        let before = self.text().get(..at).unwrap_or(self.text());
        let lines = self.0.lines.get_or_init(|| {
            let ends = self.text().match_indices('\n').map(|(end, _)| end + 1);
            std::iter::once(0).chain(ends).collect()
        });
        let line = lines.partition_point(|start| *start <= before.len());
        let start = lines[..line].last().copied().unwrap_or(0);
        (line, before[start..].chars().count() + 1)
    }

    /// The file as TOML.
    pub(crate) fn toml(&self) -> Result<Node, Fault> {
        toml::parse(self)
    }

    /// A part of the file as YAML.
    pub(crate) fn yaml(&self, part: Range<usize>) -> Result<Node, Fault> {
        yaml::parse(self, part)
    }

    /// A value as a type.
    pub(crate) fn read<T: DeserializeOwned>(&self, node: &Node) -> Result<T, Fault> {
        read::read(self, node)
    }

    /// A value, to be read later.
    pub(crate) fn table(&self, node: Node) -> Table {
        Table { source: self.clone(), node }
    }
}

impl Table {
    /// The value as a type. What does not fit is told with its place in the file.
    ///
    /// # Errors
    /// If it does not fit.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        self.source.read(&self.node)
    }

    /// That it breaks a rule which its type does not know.
    pub fn fault(&self, rule: impl Into<String>) -> Fault {
        Fault::new(&self.source, self.node.at.clone(), rule)
    }
}

impl Node {
    /// What it is, in a word.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Nothing => "nothing",
            Value::Flag(_) => "true or false",
            Value::Whole(_) | Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Its entries, if it is a table.
    pub(crate) fn entries(&self) -> &[(Name, Self)] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}
