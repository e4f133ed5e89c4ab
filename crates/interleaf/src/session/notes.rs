//! Notes on folders, shown to whoever reads a file below (C14).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use interleaf_assemble::{Agent, ContextText};
use interleaf_model::{AgentName, ContextKind, Timestamp};
use interleaf_store::{RecordChange, RecordKind};
use serde::{Deserialize, Serialize};

use super::Session;
use super::one_line::one_line;
use super::records::{Records, expired_only, put, text_of};
use crate::Error;

/// This many of the newest notes of each folder are shown.
const SHOWN: usize = 5;

/// A note on a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
#[non_exhaustive]
pub struct FolderNote {
    /// The folder.
    pub folder: PathBuf,
    /// What is to be known in it.
    pub text: String,
    /// From then on it is not shown any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// A file that an agent has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub(super) struct FileRead {
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentName>,
}

interleaf_model::only_objects!(FolderNote, FileRead);

/// The notes of a session on folders. Those of every folder above a file that an agent
/// has read stand in its requests, if their recipe has none.
///
/// ```
/// use interleaf::{Session, store};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut session = Session::create(store::open("memory:").await?, "").await?;
/// let mut notes = session.notes();
/// notes.add("src/wire", "one folder for each API").await?;
/// notes.read_file("src/wire/encode.rs", None).await?;
/// assert_eq!(notes.all().await?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Notes<'s>(&'s mut Session);

impl Session {
    /// The notes on folders.
    pub fn notes(&mut self) -> Notes<'_> {
        Notes(self)
    }
}

impl Notes<'_> {
    /// Every note with its key.
    ///
    /// # Errors
    /// If the store refuses. A note that cannot be read is left out; see
    /// [`Session::damaged_records`].
    pub async fn all(&mut self) -> Result<Vec<(String, FolderNote)>, Error> {
        let kept = self.0.kept().await?.notes.iter();
        Ok(kept.map(|(key, (_, note))| (key.clone(), note.clone())).collect())
    }

    /// Adds a note on a folder, and gives its key.
    ///
    /// # Errors
    /// If the text is blank, or another writer was first.
    pub async fn add(&mut self, folder: impl Into<PathBuf>, text: &str) -> Result<String, Error> {
        self.add_until(folder, text, None).await
    }

    /// As [`add`](Self::add), for a note that holds until then.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub async fn add_until(
        &mut self,
        folder: impl Into<PathBuf>,
        text: &str,
        until: Option<Timestamp>,
    ) -> Result<String, Error> {
        if text.trim().is_empty() {
            return Err(Error::rule("a note must say something: its text is blank"));
        }
        let kept = self.0.kept().await?;
        let is_free = |key: &String| {
            let damaged = (RecordKind::Note, key.clone());
            !kept.notes.contains_key(key) && !kept.damaged.contains_key(&damaged)
        };
        let mut keys = (kept.notes.len()..).map(|number| number.to_string());
        let key = keys.find(is_free).ok_or_else(|| Error::rule("there are too many notes"))?;
        let note = FolderNote { folder: folder.into(), text: text.to_owned(), until };
        self.0.change_records(vec![put(RecordKind::Note, &key, &note)?]).await?;
        Ok(key)
    }

    /// Removes a note.
    ///
    /// # Errors
    /// If there is none of this key, or another writer was first.
    pub async fn remove(&mut self, key: &str) -> Result<(), Error> {
        let kept = self.0.kept().await?;
        let damaged = (RecordKind::Note, key.to_owned());
        if !kept.notes.contains_key(key) && !kept.damaged.contains_key(&damaged) {
            return Err(Error::rule(format!("there is no note {key:?}")));
        }
        self.0.change_records(vec![RecordChange::remove(RecordKind::Note, key)]).await
    }

    /// Says that the main agent, or a sub-agent, has read a file.
    ///
    /// # Errors
    /// If another writer was first.
    pub async fn read_file(
        &mut self,
        path: impl Into<PathBuf>,
        agent: Option<&AgentName>,
    ) -> Result<(), Error> {
        let read = FileRead { path: path.into(), agent: agent.cloned() };
        let files = &self.0.kept().await?.files;
        let key = text_of(&(&read.agent, &read.path))?;
        // An old session may have the file under this key, which two different files can
        // share.
        let by = agent.map_or("", AgentName::as_str);
        let old = format!("{by}:{}", read.path.display());
        if [&key, &old].into_iter().any(|key| files.get(key) == Some(&read)) {
            return Ok(());
        }
        self.0.change_records(vec![put(RecordKind::FileRead, &key, &read)?]).await
    }
}

/// The notes that hold at a time for what an agent has read, shallow to deep; none if there
/// are none.
pub(super) fn render(kept: &Records, agent: &Agent, at: Timestamp) -> Option<ContextText> {
    let read = kept.files.values().filter(|file| file.agent.as_ref() == agent.name());
    let folders: BTreeSet<&Path> = read.flat_map(|file| file.path.ancestors().skip(1)).collect();
    let mut shown: BTreeMap<(usize, &Path), Vec<(u64, &str)>> = BTreeMap::new();
    let mut expired: Vec<&str> = Vec::new();
    for (key, (number, note)) in &kept.notes {
        if !folders.contains(note.folder.as_path()) {
            continue;
        }
        if note.until.is_some_and(|until| until <= at) {
            expired.push(key);
            continue;
        }
        let depth = note.folder.components().count();
        let folder = shown.entry((depth, &note.folder)).or_default();
        folder.push((*number, &note.text));
    }
    let damaged = kept.damaged_lines(&[RecordKind::Note, RecordKind::FileRead]);
    if shown.is_empty() && damaged.is_empty() {
        return expired_only(ContextKind::Notes, expired);
    }
    let mut out = String::new();
    for ((_, folder), mut texts) in shown {
        texts.sort_unstable();
        // Writing into a String cannot fail.
        let _ = writeln!(out, "### {}", one_line(&folder.to_string_lossy()));
        for (_, text) in texts.iter().skip(texts.len().saturating_sub(SHOWN)) {
            let _ = writeln!(out, "- {}", one_line(text));
        }
    }
    out.push_str(&damaged);
    Some(ContextText::new(ContextKind::Notes, out).without(expired))
}
