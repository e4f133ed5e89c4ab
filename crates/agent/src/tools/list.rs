//! Listing a folder.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
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
        let name = told(&scene, &path);
        let why = if path.exists() { "is no folder" } else { "does not exist" };
        return Err(ToolError::new(format!("{name} {why}")));
    }
    let depth = list.depth.unwrap_or(1).max(1);
    let ends = Walking::ends(&scene);
    let (found, walking) = tokio::task::spawn_blocking(move || levels(&path, depth, ends)).await?;
    let is_all = found.len() <= MOST;
    let mut found: Vec<_> = found.into_iter().take(MOST).collect();
    if is_all {
        found.sort();
    }
    let mut said: Vec<String> = found.iter().map(|(path, end)| told(&scene, path) + end).collect();
    said.extend(walking.told(|path| told(&scene, path)));
    if !is_all {
        said.push(format!(
            "[… this is not all: there are more than {MOST}, of which the upper ones stand here, \
             level by level; name a folder below to see the rest …]"
        ));
    }
    Ok(if said.is_empty() { "(It is empty.)".into() } else { said.join("\n").into() })
}

/// What a folder holds, level by level and in the order of names, and one more than is told if
/// there are more: a walk that went down at once would tell of the first folder alone.
fn levels(
    folder: &Path,
    depth: usize,
    ends: impl Fn() -> bool + Clone + Send + 'static,
) -> (Vec<(PathBuf, &'static str)>, Walking) {
    let mut found = Vec::new();
    let mut level = 1;
    loop {
        let by_name = |walk: &mut WalkBuilder| {
            walk.max_depth(Some(level)).sort_by_file_name(Ord::cmp);
        };
        let mut walking = Walking::until(folder, by_name, ends.clone());
        let before = found.len();
        let here = walking.by_ref().filter(|entry| entry.depth() == level).map(|entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            (entry.into_path(), if is_folder { "/" } else { "" })
        });
        found.extend(here.take(MOST + 1 - before));
        if found.len() == before || found.len() > MOST || level >= depth {
            return (found, walking);
        }
        level += 1;
    }
}
