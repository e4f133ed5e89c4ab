//! Writing a file: all of it, or nothing.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::ToolError;

/// Puts a text in the place of a file's, or of nothing. Links to it are followed already.
pub(super) async fn save(path: &Path, text: String) -> Result<(), ToolError> {
    let path = path.to_owned();
    Ok(tokio::task::spawn_blocking(move || replace(&path, &text)).await??)
}

/// A disk that is full, or a kill, leaves the old file as it is.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let above = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let old = match fs::metadata(path) {
        Ok(found) => Some(found.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if old.is_some() {
        // A file that may not be written is not replaced either.
        OpenOptions::new().write(true).open(path)?;
    }
    let mut beside = tempfile::Builder::new();
    let beside = beside.prefix(".interleaf-").suffix(".tmp");
    // What the system takes away from these is not known before; a secret needs less meanwhile.
    let begun = if old.is_some() { 0o600 } else { 0o666 };
    let mut file = beside.permissions(Permissions::from_mode(begun)).tempfile_in(above)?;
    file.write_all(text.as_bytes())?;
    if let Some(old) = old {
        file.as_file().set_permissions(old)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}
