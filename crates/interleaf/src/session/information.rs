//! Useful information: file ranges with a note, read anew for every request (C13).
//!
//! The paths of a session that was imported are somebody else's: what they name on this
//! machine goes to the model. Look at [`Information::ranges`] before the first request.

mod files;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;

use interleaf_assemble::ContextText;
use interleaf_model::{ContextKind, Timestamp};
use interleaf_store::{RecordChange, RecordKind};
use serde::{Deserialize, Serialize};

pub(super) use self::files::FileCache;
use self::files::{Excerpt, MOST, Wanted};
use super::Session;
use super::one_line::one_line;
use super::records::{Records, expired_only, put, text_of};
use crate::Error;

/// This many of the newest ranges are shown.
const SHOWN: usize = 100;

/// The most bytes of one range that are shown, and of all of them together.
const MOST_OF_ONE: usize = 32 * 1024;
const MOST_OF_ALL: usize = 256 * 1024;

/// A range of a file that is useful, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
#[non_exhaustive]
pub struct InfoRange {
    /// The file.
    pub path: PathBuf,
    /// The first and the last line, counted from 1; the whole file if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(usize, usize)>,
    /// Why it is useful.
    pub note: String,
    /// From then on it is not shown any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The folder that the file must lie in, also when links are followed; any, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<PathBuf>,
}

interleaf_model::only_objects!(InfoRange);

/// The useful information of a session. It stands in every request whose recipe has
/// none, as the files are then. Of a range of more than 32 KiB the beginning and the end are shown
/// (less, if there are more than eight), with a note of the lines between. Of a file that is long,
/// the first 8 MB are read.
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
    /// If the store refuses. A range that cannot be read is left out; see
    /// [`Session::damaged_records`].
    pub async fn ranges(&mut self) -> Result<Vec<(String, InfoRange)>, Error> {
        let kept = self.0.kept().await?.information.iter();
        Ok(kept.map(|(key, (_, range))| (key.clone(), range.clone())).collect())
    }

    /// Adds a range of a file, or says anew why it is useful, and gives its key.
    ///
    /// # Errors
    /// If the range ends before it starts, or another writer was first.
    pub async fn add(
        &mut self,
        path: impl Into<PathBuf>,
        lines: Option<(usize, usize)>,
        note: &str,
    ) -> Result<String, Error> {
        self.add_until(path, lines, note, None).await
    }

    /// As [`add`](Self::add), for a range that is of use until then.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub async fn add_until(
        &mut self,
        path: impl Into<PathBuf>,
        lines: Option<(usize, usize)>,
        note: &str,
        until: Option<Timestamp>,
    ) -> Result<String, Error> {
        let (path, note) = (path.into(), note.to_owned());
        self.put(InfoRange { path, lines, note, until, within: None }).await
    }

    /// As [`add`](Self::add), for a file that is read only for as long as it lies in a folder:
    /// it may become a link that leads elsewhere. The folder is one without links in its path.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub async fn add_within(
        &mut self,
        folder: impl Into<PathBuf>,
        path: impl Into<PathBuf>,
        lines: Option<(usize, usize)>,
        note: &str,
    ) -> Result<String, Error> {
        let (path, note, within) = (path.into(), note.to_owned(), Some(folder.into()));
        self.put(InfoRange { path, lines, note, until: None, within }).await
    }

    async fn put(&mut self, range: InfoRange) -> Result<String, Error> {
        range.check().map_err(Error::rule)?;
        // An old session may have the range under its title. New keys are JSON, for two
        // different ranges can have the same title.
        let titled = range.title();
        let is_same = |(_, known): &&(u64, InfoRange)| {
            (&known.path, known.lines) == (&range.path, range.lines)
        };
        let key = match self.0.kept().await?.information.get(&titled).filter(is_same) {
            Some(_) => titled,
            None => text_of(&(&range.path, range.lines))?,
        };
        self.0.change_records(vec![put(RecordKind::Info, &key, &range)?]).await?;
        Ok(key)
    }

    /// Removes a range.
    ///
    /// # Errors
    /// If there is none of this key, or another writer was first.
    pub async fn remove(&mut self, key: &str) -> Result<(), Error> {
        let kept = self.0.kept().await?;
        let damaged = (RecordKind::Info, key.to_owned());
        if !kept.information.contains_key(key) && !kept.damaged.contains_key(&damaged) {
            return Err(Error::rule(format!("there is no information {key:?}")));
        }
        self.0.change_records(vec![RecordChange::remove(RecordKind::Info, key)]).await
    }
}

impl InfoRange {
    pub(super) fn check(&self) -> Result<(), String> {
        match self.lines {
            Some((first, last)) if first == 0 || last < first => {
                Err(format!("lines {first} to {last} are not a range: lines count from 1"))
            }
            _ => Ok(()),
        }
    }

    fn title(&self) -> String {
        let path = self.path.display();
        match self.lines {
            Some((first, last)) => format!("{path}:{first}-{last}"),
            None => path.to_string(),
        }
    }
}

/// The newest ranges that hold at a time, as the files are now; none if there are none.
pub(super) async fn render(
    kept: &mut Records,
    at: Timestamp,
) -> Result<Option<ContextText>, Error> {
    let damaged = kept.damaged_lines(&[RecordKind::Info]);
    let is_expired = |(_, range): &&(u64, InfoRange)| range.until.is_some_and(|until| until <= at);
    let (expired, mut ranges): (Vec<_>, Vec<_>) = kept.information.values().partition(is_expired);
    let expired: Vec<String> = expired.iter().map(|(_, range)| range.title()).collect();
    if ranges.is_empty() && damaged.is_empty() {
        return Ok(expired_only(ContextKind::Info, expired));
    }
    ranges.sort_by_key(|(number, _)| *number);
    let newest = &ranges[ranges.len().saturating_sub(SHOWN)..];
    let wanted = newest.iter().map(|(_, range)| Wanted::from(range)).collect();
    let excerpts = kept.cache.read(wanted).await?;
    let most = MOST_OF_ONE.min(MOST_OF_ALL / newest.len().max(1));
    let mut out = String::new();
    for ((_, range), excerpt) in newest.iter().zip(excerpts) {
        // Writing into a String cannot fail.
        let _ = writeln!(out, "### {}: {}", one_line(&range.title()), one_line(&range.note));
        match excerpt {
            Ok(excerpt) => {
                let first = range.lines.map_or(1, |(first, _)| first);
                write_excerpt(&mut out, &excerpt, (first, most));
            }
            Err(reason) => {
                let _ = writeln!(out, "(cannot be read: {})", one_line(&reason));
            }
        }
    }
    out.push_str(&damaged);
    Ok(Some(ContextText::new(ContextKind::Info, out).without(expired)))
}

/// Writes lines of a file, of which the first has this number, as far as there is room.
fn write_excerpt(out: &mut String, excerpt: &Excerpt, (first, most): (usize, usize)) {
    if excerpt.text.is_empty() && first > 1 && !excerpt.is_cut {
        let _ = writeln!(out, "(the file ends before line {first})");
        return;
    }
    let text = shortened(&excerpt.text, first, most);
    let fence = fence(&text);
    let lines: Vec<&str> = text.lines().collect();
    let _ = writeln!(out, "{fence}\n{}\n{fence}", lines.join("\n"));
    if excerpt.is_cut {
        let _ = writeln!(out, "(the rest is left out: {} MB of a file are read)", MOST >> 20);
    }
}

/// The beginning and the end of a text that is longer than `most` bytes, cut where lines end if
/// that is near enough, with the lines between by their numbers.
fn shortened(text: &str, first: usize, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let (head, rest) = text.split_at(text.floor_char_boundary(most / 2));
    let head = head.rfind('\n').map_or(head, |at| &head[..=at]);
    let tail = &rest[rest.ceil_char_boundary(rest.len().saturating_sub(most / 2))..];
    let tail = tail.find('\n').map_or(tail, |at| &tail[at + 1..]);
    let left_out = &text[head.len()..text.len() - tail.len()];
    let from = first + head.matches('\n').count();
    let upto = from + left_out.trim_end_matches('\n').matches('\n').count();
    let (n_bytes, end) = (left_out.len(), if head.ends_with('\n') { "" } else { "\n" });
    Cow::Owned(format!(
        "{head}{end}[… {n_bytes} bytes are left out here, in the lines {from} to {upto} of the file: \
         read them by their numbers …]\n{tail}"
    ))
}

/// A fence that nothing in the text can close, whatever ends a line.
fn fence(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn of_a_long_text_the_beginning_and_the_end_are_shown_with_the_lines_between() {
        assert_eq!(shortened("a\nb\n", 1, 4), "a\nb\n");
        let lines: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        let note = "[… 35 bytes are left out here, in the lines 12 to 16 of the file: \
                    read them by their numbers …]";
        let expected = format!("line 1\nline 2\n{note}\nline 8\nline 9\n");
        assert_eq!(shortened(&lines, 10, 40), expected);
        // One line has no place to be cut at.
        let told = shortened("äääääääääääääääääää", 1, 9).into_owned();
        assert!(
            told.starts_with("ää\n[… 30 bytes are left out here, in the lines 1 to 1"),
            "{told}"
        );
        assert!(told.ends_with("\nää"), "{told}");
    }
}
