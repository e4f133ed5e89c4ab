//! Useful information: file ranges with a note, read anew for every request (C13).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use interleaf_store::{RecordChange, RecordKind};
use serde::{Deserialize, Serialize};

use super::Session;
use super::records::put;
use crate::Error;

/// This many of the newest ranges are shown.
const SHOWN: usize = 100;

/// A range of a file that is useful, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InfoRange {
    /// The file.
    pub path: PathBuf,
    /// The first and the last line, counted from 1; the whole file if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(usize, usize)>,
    /// Why it is useful.
    pub note: String,
}

/// The useful information of a session. It stands in every request whose recipe has
/// none, as the files are then.
#[derive(Debug)]
pub struct Information<'s>(&'s mut Session);

impl Session {
    /// The useful information.
    pub fn information(&mut self) -> Information<'_> {
        Information(self)
    }
}

impl Information<'_> {
    /// Every range with its key, by key.
    ///
    /// # Errors
    /// If the store refuses, or one is damaged.
    pub async fn ranges(&mut self) -> Result<Vec<(String, InfoRange)>, Error> {
        let kept = self.0.kept().await?.information.iter();
        Ok(kept.map(|(record, range)| (record.key.clone(), range.clone())).collect())
    }

    /// Adds a range of a file, or says anew why it is useful.
    ///
    /// # Errors
    /// If the range ends before it starts, or another writer was first.
    pub async fn add(
        &mut self,
        path: impl Into<PathBuf>,
        lines: Option<(usize, usize)>,
        note: &str,
    ) -> Result<String, Error> {
        if let Some((first, last)) = lines
            && (first == 0 || last < first)
        {
            let rule = format!("lines {first} to {last} are no range: they count from 1");
            return Err(Error::rule(rule));
        }
        let range = InfoRange { path: path.into(), lines, note: note.to_owned() };
        let key = range.title();
        self.0.change_records(vec![put(RecordKind::Info, &key, &range)?]).await?;
        Ok(key)
    }

    /// Removes a range.
    ///
    /// # Errors
    /// If another writer was first.
    pub async fn remove(&mut self, key: &str) -> Result<(), Error> {
        self.0.change_records(vec![RecordChange::remove(RecordKind::Info, key)]).await
    }
}

impl InfoRange {
    fn title(&self) -> String {
        let path = self.path.display();
        match self.lines {
            Some((first, last)) => format!("{path}:{first}-{last}"),
            None => path.to_string(),
        }
    }
}

/// Files that were read, for as long as they do not change.
#[derive(Debug, Default)]
pub(super) struct FileCache(HashMap<PathBuf, (SystemTime, u64, Arc<str>)>);

impl FileCache {
    fn read(&mut self, path: &Path) -> Result<Arc<str>, std::io::Error> {
        let known = fs::metadata(path)?;
        let (changed, len) = (known.modified()?, known.len());
        if let Some((then, n, text)) = self.0.get(path)
            && (*then, *n) == (changed, len)
        {
            return Ok(text.clone());
        }
        let text: Arc<str> = fs::read_to_string(path)?.into();
        self.0.insert(path.to_owned(), (changed, len, text.clone()));
        Ok(text)
    }
}

/// The newest ranges, as the files are now. Each comes with the number of its last change.
pub(super) fn render<'a>(
    ranges: impl Iterator<Item = (u64, &'a InfoRange)>,
    cache: &mut FileCache,
) -> String {
    let mut ranges: Vec<(u64, &InfoRange)> = ranges.collect();
    ranges.sort_by_key(|(number, _)| *number);
    let mut out = String::from("## Useful information\n");
    for (_, range) in ranges.iter().skip(ranges.len().saturating_sub(SHOWN)) {
        // Writing into a String cannot fail.
        let _ = writeln!(out, "### {}: {}", range.title(), range.note.replace('\n', " "));
        match cache.read(&range.path) {
            Ok(text) => {
                let (first, last) = range.lines.unwrap_or((1, usize::MAX));
                let lines = text.lines().skip(first - 1).take(last - first + 1);
                let lines: Vec<&str> = lines.collect();
                let fence = fence(&lines);
                let _ = writeln!(out, "{fence}\n{}\n{fence}", lines.join("\n"));
            }
            Err(error) => {
                let _ = writeln!(out, "(cannot be read: {error})");
            }
        }
    }
    out
}

/// A fence that no line of the text can close.
fn fence(lines: &[&str]) -> String {
    let ticks = |line: &&str| line.trim_start().chars().take_while(|&c| c == '`').count();
    let longest = lines.iter().map(ticks).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
