//! Notes on folders, shown to whoever reads a file below (C14).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use interleaf_assemble::Agent;
use interleaf_model::AgentName;
use interleaf_store::{Record, RecordChange, RecordKind};
use serde::{Deserialize, Serialize};

use super::Session;
use super::records::put;
use crate::Error;

/// This many of the newest notes of each folder are shown.
const SHOWN: usize = 5;

/// A note on a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FolderNote {
    /// The folder.
    pub folder: PathBuf,
    /// What is to be known in it.
    pub text: String,
}

/// A file that an agent has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRead {
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentName>,
}

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
    /// If the store refuses, or one is damaged.
    pub async fn all(&mut self) -> Result<Vec<(String, FolderNote)>, Error> {
        let kept = self.0.kept().await?.notes.iter();
        Ok(kept.map(|(record, note)| (record.key.clone(), note.clone())).collect())
    }

    /// Adds a note on a folder, and gives its key.
    ///
    /// # Errors
    /// If the text is blank, or another writer was first.
    pub async fn add(&mut self, folder: impl Into<PathBuf>, text: &str) -> Result<String, Error> {
        if text.trim().is_empty() {
            return Err(Error::rule("a note must say something: its text is blank"));
        }
        let keys = self.0.kept().await?.notes.iter();
        let numbers = keys.filter_map(|(record, _)| record.key.parse::<u32>().ok());
        let key = numbers.max().map_or(0, |last| last.saturating_add(1)).to_string();
        let note = FolderNote { folder: folder.into(), text: text.to_owned() };
        self.0.change_records(vec![put(RecordKind::Note, &key, &note)?]).await?;
        Ok(key)
    }

    /// Removes a note.
    ///
    /// # Errors
    /// If another writer was first.
    pub async fn remove(&mut self, key: &str) -> Result<(), Error> {
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
        if self.0.kept().await?.files.contains(&read) {
            return Ok(());
        }
        let by = agent.map_or("", AgentName::as_str);
        let key = format!("{by}:{}", read.path.display());
        self.0.change_records(vec![put(RecordKind::FileRead, &key, &read)?]).await
    }
}

/// The notes for what an agent has read, shallow to deep; none if there are none.
pub(super) fn render(
    notes: &[(Record, FolderNote)],
    files: &[FileRead],
    agent: &Agent,
) -> Option<String> {
    let by = match agent {
        Agent::Main => None,
        Agent::Sub(name) => Some(name),
    };
    let read = files.iter().filter(|file| file.agent.as_ref() == by);
    let folders: BTreeSet<&Path> = read.flat_map(|file| file.path.ancestors().skip(1)).collect();
    let mut shown: BTreeMap<(usize, &Path), Vec<(u64, &str)>> = BTreeMap::new();
    for (record, note) in notes.iter().filter(|(_, note)| folders.contains(note.folder.as_path())) {
        let depth = note.folder.components().count();
        let folder = shown.entry((depth, &note.folder)).or_default();
        folder.push((record.no, &note.text));
    }
    if shown.is_empty() {
        return None;
    }
    let mut out = String::from("## Folder notes\n");
    for ((_, folder), mut texts) in shown {
        texts.sort_unstable();
        // Writing into a String cannot fail.
        let _ = writeln!(out, "### {}", folder.display());
        for (_, text) in texts.iter().skip(texts.len().saturating_sub(SHOWN)) {
            let _ = writeln!(out, "- {}", text.replace('\n', " "));
        }
    }
    Some(out)
}
