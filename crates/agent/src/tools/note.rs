//! Notes on folders, kept by the model.

use schemars::JsonSchema;
use serde::Deserialize;

use super::folder::inside;
use crate::{Output, Scene, ToolError};

pub(super) const ADD: &str =
    "Leaves a note on a folder: it stands in the requests of whoever reads a file below it.";
pub(super) const REMOVE: &str = "Removes a note on a folder.";

#[derive(Deserialize, JsonSchema)]
pub(super) struct Add {
    /// The folder, from the agent's.
    folder: String,
    /// What is to be known there.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Remove {
    /// The key that `note_add` gave.
    key: String,
}

pub(super) async fn add(add: Add, scene: Scene) -> Result<Output, ToolError> {
    let folder = inside(&scene, &add.folder)?;
    let key = changed!(scene, |session| session.notes().add(&folder, &add.text));
    Ok(format!("noted, as {key}").into())
}

pub(super) async fn remove(remove: Remove, scene: Scene) -> Result<Output, ToolError> {
    changed!(scene, |session| session.notes().remove(&remove.key));
    Ok("removed".into())
}
