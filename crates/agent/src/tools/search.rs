//! Searching the files of a folder.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

use ignore::DirEntry;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use super::folder::{inside, told};
use super::walk::Walking;
use crate::result::shortened;
use crate::{Output, Scene, ToolError};

pub(super) const WHAT: &str =
    "Searches the text files of a folder for a regular expression, line by line.";

/// The most lines that are told.
const MOST: usize = 200;

/// The most bytes of a line that are told.
const LONGEST: usize = 400;

/// The most bytes of a file that are searched.
const MOST_READ: u64 = 8 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Search {
    /// A regular expression.
    pattern: String,
    /// The folder or file to search, from the agent's folder.
    #[serde(default)]
    path: Option<String>,
}

pub(super) async fn search(search: Search, scene: Scene) -> Result<Output, ToolError> {
    let place = inside(&scene, search.path.as_deref().unwrap_or("."))?;
    let pattern = RegexBuilder::new(&search.pattern).size_limit(1 << 20).build()?;
    let mut walking = Walking::new(&place, &scene, |walk| {
        walk.hidden(true);
    });
    let (mut said, walking, scene) = tokio::task::spawn_blocking(move || {
        let mut found = Vec::new();
        while found.len() <= MOST
            && let Some(entry) = walking.next()
        {
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                let name = told(&scene, entry.path());
                match search_file(&pattern, (&entry, &name), &walking, &mut found) {
                    Ok(Searched::All) => {}
                    Ok(Searched::Beginning) => walking.leave_out(entry.path(), too_long()),
                    Err(error) => walking.unread(entry.path(), &error),
                }
            }
        }
        (found, walking, scene)
    })
    .await?;
    if said.len() > MOST {
        said.truncate(MOST);
        said.push(format!("[… there are more than {MOST} lines: search for less …]"));
    }
    said.extend(walking.told(|path| told(&scene, path)));
    Ok(if said.is_empty() { "(Nothing was found.)".into() } else { said.join("\n").into() })
}

/// How much of a file was searched.
enum Searched {
    All,
    Beginning,
}

fn too_long() -> String {
    format!("only its first {} MiB are searched", MOST_READ / 1024 / 1024)
}

/// Searches a file, up to its first byte that no text has.
fn search_file(
    pattern: &Regex,
    (entry, name): (&DirEntry, &str),
    walking: &Walking,
    found: &mut Vec<String>,
) -> std::io::Result<Searched> {
    let file = File::open(entry.path())?;
    let is_long = file.metadata()?.len() > MOST_READ;
    let lines = BufReader::new(file.take(MOST_READ)).split(b'\n');
    for (n, line) in lines.enumerate() {
        let line = line?;
        if line.contains(&0) || walking.is_over() || found.len() > MOST {
            return Ok(Searched::All);
        }
        let line = String::from_utf8_lossy(&line);
        if pattern.is_match(&line) {
            let line = shortened(line.trim_end(), LONGEST, "");
            found.push(format!("{name}:{}: {line}", n + 1));
        }
    }
    Ok(if is_long { Searched::Beginning } else { Searched::All })
}
