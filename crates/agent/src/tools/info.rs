//! Useful information, kept by the model.

use schemars::JsonSchema;
use serde::Deserialize;

use super::folder::inside;
use crate::{Output, Scene, ToolError};

pub(super) const ADD: &str =
    "Keeps a part of a file in view: it stands in every request, as the file is then.";
pub(super) const REMOVE: &str = "Takes a part of a file out of view.";

#[derive(Deserialize, JsonSchema)]
pub(super) struct Add {
    /// The file, from the folder.
    path: String,
    /// The first line, counted from 1; without it, the whole file.
    #[serde(default)]
    first: Option<usize>,
    /// The last line.
    #[serde(default)]
    last: Option<usize>,
    /// Why it is useful.
    note: String,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Remove {
    /// The key that `info_add` gave.
    key: String,
}

pub(super) async fn add(add: Add, scene: Scene) -> Result<Output, ToolError> {
    let path = inside(&scene, &add.path)?;
    let lines = match (add.first, add.last) {
        (None, None) => None,
        (first, last) => Some((first.unwrap_or(1), last.unwrap_or(usize::MAX))),
    };
    let folder = scene.folder().canonicalize()?;
    let note = add.note.as_str();
    let key =
        changed!(scene, |session| session.information().add_within(&folder, &path, lines, note));
    Ok(format!("kept in view; its key for info_remove is {key}").into())
}

pub(super) async fn remove(remove: Remove, scene: Scene) -> Result<Output, ToolError> {
    changed!(scene, |session| session.information().remove(&remove.key));
    Ok("removed".into())
}
