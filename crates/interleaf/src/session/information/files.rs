//! Lines of files, as they are now.
//!
//! A path may come from anywhere, such as a session that was imported. So only regular
//! files are read, no further than the last line that is wanted, and never more than
//! [`MOST`] bytes.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Handle;

use super::InfoRange;
use crate::Error;

/// This much of a file is read.
pub(super) const MOST: u64 = 8 << 20;

/// A file, and the first and the last line that are wanted of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    path: PathBuf,
    lines: Option<(usize, usize)>,
    /// The folder that it must lie in.
    within: Option<PathBuf>,
}

impl From<&InfoRange> for Wanted {
    fn from(range: &InfoRange) -> Self {
        let InfoRange { path, lines, within, .. } = range.clone();
        Self { path, lines, within }
    }
}

/// Lines of a file.
#[derive(Debug, Clone)]
pub(super) struct Excerpt {
    pub(super) text: Arc<str>,
    /// Whether there is more, further on than is read.
    pub(super) is_cut: bool,
}

/// Lines that were read, for as long as their files do not change.
#[derive(Debug, Default)]
pub(in crate::session) struct FileCache(HashMap<Wanted, (SystemTime, u64, Excerpt)>);

/// The lines, or why there are none.
pub(super) type Excerpts = Vec<Result<Excerpt, String>>;

impl FileCache {
    /// Reads all of these, on a thread that may wait. What is not among them is forgotten.
    pub(super) async fn read(&mut self, wanted: Vec<Wanted>) -> Result<Excerpts, Error> {
        let before = std::mem::take(self);
        let work = move || read_all(before, wanted);
        let (cache, excerpts) = match Handle::try_current() {
            Ok(runtime) => {
                let cut_off = |e| Error::rule(format!("reading files was cut off: {e}"));
                runtime.spawn_blocking(work).await.map_err(cut_off)?
            }
            Err(_) => work(),
        };
        *self = cache;
        Ok(excerpts)
    }
}

fn read_all(mut before: FileCache, wanted: Vec<Wanted>) -> (FileCache, Excerpts) {
    let mut cache = FileCache::default();
    let mut excerpts = Vec::new();
    for range in wanted {
        let known = before.0.remove(&range).or_else(|| cache.0.get(&range).cloned());
        let read = current(&range, known).map_err(|e| e.to_string());
        excerpts.push(read.as_ref().map(|(.., excerpt)| excerpt.clone()).map_err(String::clone));
        if let Ok(read) = read {
            cache.0.insert(range, read);
        }
    }
    (cache, excerpts)
}

fn current(
    Wanted { path, lines, within }: &Wanted,
    known: Option<(SystemTime, u64, Excerpt)>,
) -> io::Result<(SystemTime, u64, Excerpt)> {
    let path = &match within {
        Some(folder) => {
            let leads_to = path.canonicalize()?;
            if !leads_to.starts_with(folder) {
                return Err(io::Error::other("it leads out of the folder that it was added from"));
            }
            leads_to
        }
        None => path.clone(),
    };
    // Opening a pipe would wait for somebody who writes to it.
    let found = regular(fs::metadata(path)?)?;
    let (changed, len) = (found.modified()?, found.len());
    match known {
        Some((then, n, excerpt)) if (then, n) == (changed, len) => Ok((then, n, excerpt)),
        _ => {
            let file = File::open(path)?;
            let len = regular(file.metadata()?)?.len();
            Ok((changed, len, excerpt(file, len, lines.unwrap_or((1, usize::MAX)))?))
        }
    }
}

fn regular(found: Metadata) -> io::Result<Metadata> {
    match found.is_file() {
        true => Ok(found),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

fn excerpt(file: impl Read, len: u64, (first, last): (usize, usize)) -> io::Result<Excerpt> {
    let mut reader = BufReader::new(file.take(len.min(MOST)));
    let mut bytes = Vec::new();
    let mut is_cut = false;
    for number in 1..=last {
        let n = reader.read_until(b'\n', &mut bytes)?;
        // The last line of what may be read may go on.
        if len > MOST && (n == 0 || !bytes.ends_with(b"\n")) {
            is_cut = true;
            let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            bytes.truncate(end);
        }
        if n == 0 || is_cut {
            break;
        }
        if number < first {
            bytes.clear();
        }
    }
    let wrong = |_| io::Error::other("it is not UTF-8 text");
    let text = String::from_utf8(bytes).map_err(wrong)?;
    Ok(Excerpt { text: text.into(), is_cut })
}

#[cfg(test)]
mod tests {
    use super::{MOST, excerpt};

    #[test]
    fn a_file_is_read_up_to_the_last_line_that_is_wanted_and_no_further_than_the_limit() {
        let read = |text: &str, lines| {
            let read = excerpt(text.as_bytes(), text.len() as u64, lines).unwrap();
            (read.text.to_string(), read.is_cut)
        };
        let said = |text: &str| (text.to_owned(), false);
        assert_eq!(read("a\nb\nc", (1, usize::MAX)), said("a\nb\nc"));
        assert_eq!(read("a\nb\nc", (2, 2)), said("b\n"));
        assert_eq!(read("a\nb\nc", (3, 9)), said("c"));
        assert_eq!(read("a\nb\nc", (4, 9)), said(""));
        assert_eq!(read("", (1, 1)), said(""));
        let long = format!("a\nb\n{}\nz\n", "x".repeat(MOST as usize));
        assert_eq!(read(&long, (2, 2)), said("b\n"));
        assert_eq!(read(&long, (2, 4)), ("b\n".to_owned(), true));
        assert_eq!(read(&long, (4, 4)), (String::new(), true));
    }
}
