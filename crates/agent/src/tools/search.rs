//! Searching the files of a folder.

use std::io::{BufRead as _, BufReader};

use regex::RegexBuilder;
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
    let mut walking = Walking::new(&place, &scene, |walk| walk.hidden(true));
    let (found, cut) = tokio::task::spawn_blocking(move || {
        let mut found = Vec::new();
        while found.len() <= MOST
            && let Some(entry) = walking.next()
        {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let Ok(file) = std::fs::File::open(entry.path()) else { continue };
            let lines = BufReader::new(std::io::Read::take(file, MOST_READ)).split(b'\n');
            for (n, line) in lines.map_while(Result::ok).enumerate() {
                if line.contains(&0) || walking.is_over() || found.len() > MOST {
                    break;
                }
                let line = String::from_utf8_lossy(&line);
                if pattern.is_match(&line) {
                    let line = shortened(line.trim_end(), LONGEST, "");
                    found.push(format!("{}:{}: {line}", told(&scene, entry.path()), n + 1));
                }
            }
        }
        (found, walking.told())
    })
    .await?;
    let mut said = found;
    if said.len() > MOST {
        said.truncate(MOST);
        said.push(format!("[… there are more than {MOST} lines: search for less …]"));
    }
    said.extend(cut);
    Ok(if said.is_empty() { "(Nothing was found.)".into() } else { said.join("\n").into() })
}
