//! Reading files and standard input, up to a limit.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use interleaf::conversation::Conversation;
use interleaf::model::{Message, Tool};
use interleaf::read::{self, Reading, Renamed, Tools};
use interleaf::wire::{Family, Options};

use crate::arguments::ByteCount;
use crate::failure::{Failure, printable};
use crate::output::say;
use crate::until;

/// What stands for standard input in place of a file.
const STANDARD_INPUT: &str = "-";
/// This many messages are told by name.
const NAMED: usize = 5;

/// A text that was read, and its name for messages to the user.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A conversation that was read.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) conversation: Conversation,
    /// The tools of a request body.
    pub(crate) tools: Arc<[Tool]>,
    /// The settings of a request body.
    pub(crate) options: Options,
    /// The API whose body it was.
    pub(crate) family: Option<Family>,
    /// The names of a request body's fields that are no part of the conversation.
    pub(crate) rest: Vec<String>,
}

/// The conversation that begins with a question.
pub(crate) fn question(text: &str) -> Result<Loaded, Failure> {
    let mut conversation = Conversation::new();
    let name = "--user".to_owned();
    let asked = conversation.append(Message::user(text));
    asked.map_err(|e| Failure::conversation(&name, &e))?;
    Ok(Loaded {
        name,
        conversation,
        tools: [].into(),
        options: Options::default(),
        family: None,
        rest: Vec::new(),
    })
}

/// Reads a conversation from a file or from standard input.
pub(crate) fn load(path: &Path, limit: ByteCount) -> Result<Loaded, Failure> {
    Input::read(path, limit)?.load()
}

impl Input {
    /// Reads a file, or standard input if `path` is `-`, up to a limit.
    pub(crate) fn read(path: &Path, limit: ByteCount) -> Result<Self, Failure> {
        let (name, bytes) = read_bytes(path, limit)?;
        let text =
            String::from_utf8(bytes).map_err(|e| not_utf8(&name, e.as_bytes(), &e.utf8_error()))?;
        Ok(Self { name, text: unmarked(text) })
    }

    /// The conversation in it.
    pub(crate) fn load(self) -> Result<Loaded, Failure> {
        let reading = read::conversation(&self.text);
        reading.map(|reading| Loaded::of(self.name.clone(), reading)).map_err(|e| self.fault(&e))
    }

    /// The conversation of a body of this family.
    pub(crate) fn load_request(self, family: Family) -> Result<Loaded, Failure> {
        let reading = read::request(family, &self.text);
        reading.map(|reading| Loaded::of(self.name.clone(), reading)).map_err(|e| self.fault(&e))
    }

    /// What the library finds wrong with it.
    pub(crate) fn fault(&self, error: &interleaf::Error) -> Failure {
        Failure::session(&self.name, error)
    }
}

impl Loaded {
    fn of(name: String, reading: Reading) -> Self {
        let Reading { conversation, tools, options, family, left_out, renamed, .. } = reading;
        say_renamed(&renamed);
        Self { name, conversation, tools, options, family, rest: left_out }
    }

    /// Gives it these tools in place of its own, if there are any.
    pub(crate) fn equip(&mut self, given: Option<&Tools>) {
        if let Some(given) = given {
            self.tools = given.tools.clone();
            self.options.hosted_tools = given.hosted.clone();
        }
    }
}

/// Tells which messages had the id of another.
pub(crate) fn say_renamed(renamed: &[Renamed]) {
    for one in renamed.iter().take(NAMED) {
        say(format_args!("note: {}", printable(&one.to_string())));
    }
    if renamed.len() > NAMED {
        say(format_args!("note: and {} more like it", renamed.len() - NAMED));
    }
}

/// Tells which fields of a request body a session does not keep.
pub(crate) fn say_left_out(fields: &[String]) {
    if !fields.is_empty() {
        let fields = fields.join(", ");
        let fields = printable(&fields);
        say(format_args!("note: a session keeps what was said; left out: {fields}"));
    }
}

/// A file with a JSON value on each line, read line by line.
pub(crate) struct InputLines {
    name: String,
    source: Box<dyn BufRead>,
    line: usize,
    limit: ByteCount,
}

impl InputLines {
    /// Opens a file, or standard input if `path` is `-`.
    pub(crate) fn open(path: &Path, limit: ByteCount) -> Result<Self, Failure> {
        let (name, source): (String, Box<dyn BufRead>) = if path.as_os_str() == STANDARD_INPUT {
            take_standard_input()?;
            ("<stdin>".to_owned(), Box::new(io::stdin().lock()))
        } else {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|e| Failure::io(&name, &e))?;
            (name, Box::new(BufReader::new(file)))
        };
        Ok(Self { name, source, line: 0, limit })
    }

    fn read_line(&mut self, name: &str) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let mut source = self.source.by_ref().take(self.limit.0.saturating_add(1));
        source.read_until(b'\n', &mut bytes).map_err(|e| Failure::io(name, &e))?;
        if bytes.len() as u64 > self.limit.0 {
            // The rest of the line is no record of its own.
            self.source.skip_until(b'\n').map_err(|e| Failure::io(name, &e))?;
            return Err(too_large(name, "this is", self.limit));
        }
        Ok(bytes)
    }
}

/// The lines, each by its number; one that is blank is refused.
impl Iterator for InputLines {
    type Item = Result<Input, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line += 1;
        let name = format!("{}: line {}", self.name, self.line);
        let text = self.read_line(&name).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|e| not_utf8(&name, e.as_bytes(), &e.utf8_error()))
        });
        match text {
            Ok(text) if text.is_empty() => None,
            Ok(text) if text.trim().is_empty() => Some(Err(Failure::new(name, "it is empty"))),
            text => Some(text.map(|text| Input { name, text: unmarked(text) })),
        }
    }
}

/// Reads a file, or standard input if `path` is `-`, whatever is in it.
pub(crate) fn read_bytes(path: &Path, limit: ByteCount) -> Result<(String, Vec<u8>), Failure> {
    let is_input = path.as_os_str() == STANDARD_INPUT;
    let name = if is_input { "<stdin>".to_owned() } else { path.display().to_string() };
    if is_input {
        take_standard_input()?;
    }
    let (path, file) = (path.to_owned(), name.clone());
    let bytes = until::read(&name, move || match is_input {
        true => read_up_to(io::stdin().lock(), &file, limit),
        false => read_file(&path, &file, limit),
    })?;
    Ok((name, bytes))
}

/// A text without the byte order mark at its start.
fn unmarked(text: String) -> String {
    text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
}

/// Standard input can be read once only.
fn take_standard_input() -> Result<(), Failure> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(Failure::new("-", "standard input can be read only once"));
    }
    Ok(())
}

fn read_file(path: &Path, name: &str, limit: ByteCount) -> Result<Vec<u8>, Failure> {
    let fail = |e: &io::Error| Failure::io(name, e);
    let found = fs::metadata(path).map_err(|e| fail(&e))?;
    if found.is_dir() {
        return Err(fail(&io::ErrorKind::IsADirectory.into()));
    }
    if found.len() > limit.0 {
        return Err(too_large(name, &format!("{} bytes are", found.len()), limit));
    }
    read_up_to(File::open(path).map_err(|e| fail(&e))?, name, limit)
}

/// Pipes do not say how long they are: reading stops one byte after the limit.
fn read_up_to(source: impl Read, name: &str, limit: ByteCount) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = source.take(limit.0.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|e| Failure::io(name, &e))?;
    if bytes.len() as u64 > limit.0 {
        return Err(too_large(name, "this is", limit));
    }
    Ok(bytes)
}

fn too_large(name: &str, found: &str, limit: ByteCount) -> Failure {
    let rule = format!("{found} more than the limit of {} bytes", limit.0);
    Failure::new(name, rule).hint("--max-input raises the limit, for example --max-input 1G")
}

fn not_utf8(name: &str, bytes: &[u8], error: &std::str::Utf8Error) -> Failure {
    let offset = error.valid_up_to();
    let line = 1 + bytes[..offset].iter().filter(|&&byte| byte == b'\n').count();
    let failure = Failure::new(name, "this is not UTF-8").at(format!("byte {offset}, line {line}"));
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            failure.hint("it begins like UTF-16; convert it first")
        }
        [0x1f, 0x8b, ..] => failure.hint("it begins like a gzip file; unpack it first"),
        _ => failure,
    }
}
