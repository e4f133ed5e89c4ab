//! Searching the files of a folder.

use std::io::{BufRead as _, BufReader};

use ignore::WalkBuilder;
use regex::RegexBuilder;
use schemars::JsonSchema;
use serde::Deserialize;

use super::folder::{inside, told};
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
    let teller = scene.clone();
    let found = tokio::task::spawn_blocking(move || {
        let mut found = Vec::new();
        for entry in WalkBuilder::new(&place).build().flatten() {
            // Nobody waits for it any more.
            if teller.is_stopped() || found.len() > MOST {
                break;
            }
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let Ok(file) = std::fs::File::open(entry.path()) else { continue };
            let lines = BufReader::new(std::io::Read::take(file, MOST_READ)).split(b'\n');
            for (n, line) in lines.map_while(Result::ok).enumerate() {
                if line.contains(&0) || teller.is_stopped() || found.len() > MOST {
                    break;
                }
                let line = String::from_utf8_lossy(&line);
                if pattern.is_match(&line) {
                    let line = shortened(line.trim_end(), LONGEST, "");
                    found.push(format!("{}:{}: {line}", told(&teller, entry.path()), n + 1));
                }
            }
        }
        found
    })
    .await?;
    let mut said = found[..found.len().min(MOST)].join("\n");
    if found.len() > MOST {
        said.push_str(&format!("\n[… there are more than {MOST} lines: search for less …]"));
    }
    Ok(if said.is_empty() { "(Nothing was found.)".into() } else { said.into() })
}
