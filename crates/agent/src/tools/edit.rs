//! Changing a part of a file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::folder::{not_too_large, regular, to_write, told, unread};
use super::save::save;
use crate::{Output, Scene, ToolError};

pub(super) const WHAT: &str =
    "Replaces a text in a file. It must stand there exactly once, unless all are replaced.";

#[derive(Deserialize, JsonSchema)]
pub(super) struct Edit {
    /// The file, from the folder.
    path: String,
    /// The text that stands there now, to the letter.
    old: String,
    /// The text that is to stand there.
    new: String,
    /// Whether to replace it wherever it stands.
    #[serde(default)]
    all: bool,
}

pub(super) async fn edit(edit: Edit, scene: Scene) -> Result<Output, ToolError> {
    let path = to_write(&scene, &edit.path)?;
    if edit.old.is_empty() {
        return Err(ToolError::new("the old text is empty; `write` writes a new file"));
    }
    not_too_large(&edit.path, regular(&path, &edit.path).await?.len())?;
    let text = tokio::fs::read_to_string(&path).await.map_err(|e| unread(&edit.path, &e))?;
    let n = text.matches(&edit.old).count();
    if n == 0 {
        return Err(ToolError::new("the old text does not stand in the file: read it again"));
    }
    if n > 1 && !edit.all {
        let rule = format!("the old text stands there {n} times: give more of what is around it");
        return Err(ToolError::new(rule));
    }
    let size = (text.len() - n * edit.old.len()) as u64;
    not_too_large(
        &edit.path,
        size.saturating_add((n as u64).saturating_mul(edit.new.len() as u64)),
    )?;
    save(&path, text.replace(&edit.old, &edit.new)).await?;
    let times = if n == 1 { "once".to_owned() } else { format!("{n} times") };
    Ok(format!("{}: replaced {times}", told(&scene, &path)).into())
}
