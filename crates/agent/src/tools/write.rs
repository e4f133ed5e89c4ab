//! Writing a file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::folder::{inside, not_too_large, regular, told};
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
    let path = inside(&scene, &write.path)?;
    not_too_large(&write.path, write.text.len() as u64)?;
    if path.exists() {
        regular(&path, &write.path).await?;
    }
    if let Some(above) = path.parent() {
        tokio::fs::create_dir_all(above).await?;
    }
    tokio::fs::write(&path, &write.text).await?;
    Ok(format!("{}: {} bytes are written", told(&scene, &path), write.text.len()).into())
}
