//! Reading a file.

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncReadExt as _;

use super::folder::{inside, regular, unread};
use crate::{Output, Scene, ToolError};

pub(super) const WHAT: &str = "Reads a text file of the folder. Long files: name the lines.";

/// The most bytes of a file that are looked at.
const MOST_READ: u64 = 32 * 1024 * 1024;

/// The most bytes of it that are shown.
const MOST_TOLD: usize = 128 * 1024;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Read {
    /// The file, from the folder.
    path: String,
    /// The first line to read, counted from 1.
    #[serde(default)]
    first: Option<usize>,
    /// The last line to read.
    #[serde(default)]
    last: Option<usize>,
}

pub(super) async fn read(read: Read, scene: Scene) -> Result<Output, ToolError> {
    let path = inside(&scene, &read.path)?;
    let data = regular(&path, &read.path).await?;
    let file = tokio::fs::File::open(&path).await.map_err(|e| unread(&read.path, &e))?;
    let mut bytes = Vec::new();
    file.take(MOST_READ).read_to_end(&mut bytes).await?;
    if bytes.contains(&0) {
        let size = data.len();
        return Err(ToolError::new(format!("{:?} is no text: {size} bytes", read.path)));
    }
    let text = String::from_utf8_lossy(&bytes);
    let n_lines = text.lines().count();
    let (first, last) = (read.first.unwrap_or(1).max(1), read.last.unwrap_or(usize::MAX));
    if last < first || first > n_lines.max(1) {
        let upto = read.last.map_or_else(|| "the end".to_owned(), |last| last.to_string());
        let rule = format!("there are no lines {first} to {upto}: the file has {n_lines}");
        return Err(ToolError::new(rule));
    }
    let lines = text.split_inclusive('\n').skip(first - 1).take(last - first + 1);
    let mut said = lines.collect::<String>();
    if data.len() > MOST_READ {
        said.push_str(&format!("\n[… the file goes on: it has {} bytes …]", data.len()));
    }
    // Notes on the folders above it are shown from now on.
    let agent = scene.who().name().cloned();
    changed!(scene, |session| session.notes().read_file(&path, agent.as_ref()));
    Ok(Output::from(said).showing(MOST_TOLD))
}
