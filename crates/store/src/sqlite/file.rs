//! The file and its folder, made for their owner alone: what was said is nobody else's
//! business.
//!
//! SQLite gives the files that it puts beside the database the same rights. A file that
//! is there already keeps its own: whoever shares it does so on purpose.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
use std::path::Path;

use crate::error::Failure;
use crate::url::default_path;
use crate::{Error, ErrorKind};

const READ_ONLY: &str = "its file system may only be read: copy the file to another one";

/// A database writes beside its file.
pub(crate) fn shut_folder() -> Failure {
    let message = "its folder may only be read: copy the file to another one";
    Error::new(ErrorKind::Denied, message).into()
}

/// Says that a file which is there cannot be opened for its file system, if that is so.
pub(crate) fn told(path: &Path, failure: Failure) -> Failure {
    let kind = failure.0.kind();
    let is_shut = matches!(kind, ErrorKind::NotFound | ErrorKind::Denied) && path.is_file();
    let opened = is_shut.then(|| OpenOptions::new().write(true).open(path));
    match opened {
        Some(Err(e)) if e.kind() == ReadOnlyFilesystem => {
            Error::new(ErrorKind::Denied, READ_ONLY).into()
        }
        Some(_) | None => failure,
    }
}

/// Makes the file if there is none, and the folder if it is the default one.
pub(crate) fn make(path: &Path) -> Result<(), Failure> {
    if let (Ok(default), Some(folder)) = (default_path(), path.parent())
        && default == path
    {
        let denied = |e| Error::new(ErrorKind::Denied, "cannot make its folder").caused_by(e);
        make_folder(folder).map_err(denied)?;
    }
    let (kind, message) = match make_file(path).map_err(|e| e.kind()) {
        Err(ReadOnlyFilesystem) => (ErrorKind::Denied, READ_ONLY),
        Err(PermissionDenied) => (ErrorKind::Denied, "the file may not be made"),
        Err(StorageFull) => (ErrorKind::Full, "there is no room left for the database"),
        // Whatever else is wrong, SQLite comes across it too.
        Ok(()) | Err(_) => return Ok(()),
    };
    Err(Error::new(kind, message).into())
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt};

    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let rights = std::fs::metadata(folder)?.permissions();
    match rights.mode() & 0o077 {
        0 => Ok(()),
        // It is ours alone: nobody else puts anything into it.
        _ => std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)),
    }
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

fn make_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}
