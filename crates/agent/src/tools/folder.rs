//! The folder that an agent works in, which its tools do not leave.

use std::path::{Component, Path, PathBuf};

use interleaf::model::shown;

use crate::{Scene, ToolError};

/// The most bytes of a file that is edited or written.
const MOST: u64 = 32 * 1024 * 1024;

/// Refuses what would make a file too large.
pub(super) fn not_too_large(path: &str, size: u64) -> Result<(), ToolError> {
    match size > MOST {
        true => Err(ToolError::new(format!(
            "{path:?} would have {size} bytes, and {MOST} may be: nothing is written"
        ))),
        false => Ok(()),
    }
}

/// The file or folder that a path of the model's names. It must lie in the agent's folder, also
/// when links are followed; it need not exist.
pub(super) fn inside(scene: &Scene, path: &str) -> Result<PathBuf, ToolError> {
    let outside = || ToolError::new(format!("{path:?} is outside of the folder"));
    let root = scene.folder().canonicalize()?;
    let mut place = root.clone();
    for component in root.join(path).components() {
        match component {
            Component::ParentDir => {
                place.pop();
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => place = component.as_os_str().into(),
            Component::Normal(name) => {
                place.push(name);
                // A link may lead elsewhere, and `..` after it to where that is.
                if place.symlink_metadata().is_ok_and(|data| data.is_symlink()) {
                    place = place.canonicalize().map_err(|_| outside())?;
                }
            }
        }
    }
    if place.starts_with(&root) { Ok(place) } else { Err(outside()) }
}

/// Why a file cannot be read.
pub(super) fn unread(path: &str, error: &std::io::Error) -> ToolError {
    ToolError::new(format!("{path:?} cannot be read: {error}"))
}

/// Refuses what is no file: to open a pipe would wait for whoever is at its other end.
pub(super) async fn regular(path: &Path, name: &str) -> Result<std::fs::Metadata, ToolError> {
    let data = tokio::fs::metadata(path).await.map_err(|e| unread(name, &e))?;
    match data.is_file() {
        true => Ok(data),
        false => Err(ToolError::new(format!("{name:?} is no file"))),
    }
}

/// A path as the model is told it, on one line.
pub(super) fn told(scene: &Scene, path: &Path) -> String {
    let root = scene.folder().canonicalize().unwrap_or_else(|_| scene.folder().to_owned());
    let short = path.strip_prefix(&root).unwrap_or(path);
    match short.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => shown(&short.display().to_string()).into_owned(),
    }
}
