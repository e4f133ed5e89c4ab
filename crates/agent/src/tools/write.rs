//! Writing a file.

use interleaf::model::plural;
use schemars::JsonSchema;
use serde::Deserialize;

use super::folder::{not_too_large, regular, to_write, told};
use super::save::save;
use crate::{Output, Scene, ToolError};

pub(super) const WHAT: &str = "Writes a file of the folder, whole. It may be new.";

#[derive(Deserialize, JsonSchema)]
pub(super) struct Write {
    /// The file, from the folder.
    path: String,
    /// All that it is to say.
    text: String,
}

pub(super) async fn write(write: Write, scene: Scene) -> Result<Output, ToolError> {
    let path = to_write(&scene, &write.path)?;
    not_too_large(&write.path, write.text.len() as u64)?;
    if path.exists() {
        regular(&path, &write.path).await?;
    }
    if let Some(above) = path.parent() {
        tokio::fs::create_dir_all(above).await?;
    }
    let size = write.text.len();
    save(&path, write.text).await?;
    Ok(format!("{}: {} written", told(&scene, &path), plural(size, "byte")).into())
}
