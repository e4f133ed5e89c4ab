//! Listing a folder.

use schemars::JsonSchema;
use serde::Deserialize;

use super::folder::{inside, told};
use super::walk::Walking;
use crate::{Output, Scene, ToolError};

pub(super) const WHAT: &str = "Lists a folder, without what its .gitignore names.";

/// The most names that are told.
const MOST: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
pub(super) struct List {
    /// The folder, from the agent's; `.` is that itself.
    #[serde(default)]
    path: Option<String>,
    /// How deep to look: 1 is only the folder itself.
    #[serde(default)]
    depth: Option<usize>,
}

pub(super) async fn list(list: List, scene: Scene) -> Result<Output, ToolError> {
    let path = inside(&scene, list.path.as_deref().unwrap_or("."))?;
    if !path.is_dir() {
        return Err(ToolError::new(format!("{} is no folder", told(&scene, &path))));
    }
    let depth = list.depth.unwrap_or(1).max(1);
    let mut walking = Walking::new(&path, &scene, |walk| walk.max_depth(Some(depth)));
    let (found, walking) = tokio::task::spawn_blocking(move || {
        let mut found: Vec<_> = walking
            .by_ref()
            .filter(|entry| entry.depth() > 0)
            .take(MOST + 1)
            .map(|entry| {
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                (entry.into_path(), if is_folder { "/" } else { "" })
            })
            .collect();
        found.sort();
        (found, walking)
    })
    .await?;
    let mut said: Vec<String> =
        found.iter().take(MOST).map(|(path, end)| told(&scene, path) + end).collect();
    if found.len() > MOST {
        said.push(format!("[… there are more than {MOST}: name a folder below …]"));
    }
    said.extend(walking.told(|path| told(&scene, path)));
    Ok(if said.is_empty() { "(It is empty.)".into() } else { said.join("\n").into() })
}
