//! Writing a file: all of it, or nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Writes `text` into a new file beside `path` and puts it in its place, so that
/// nobody ever sees half of it.
///
/// A device or a pipe has no place to be put into and is written directly. Of
/// a link, the file that it leads to is replaced.
pub(crate) fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let fail = |error: io::Error| {
        let name = path.display().to_string();
        let failure = match error.kind() {
            io::ErrorKind::NotFound => Failure::new(name, "there is no such directory"),
            _ => Failure::io(name, &error),
        };
        failure.at("cannot be written")
    };
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => Err(fail(io::ErrorKind::IsADirectory.into())),
        Ok(found) if !found.is_file() => fs::write(&target, text).map_err(fail),
        Ok(found) => replace(&target, text, Some(found.permissions())).map_err(fail),
        Err(_) => replace(&target, text, None).map_err(fail),
    }
}

fn replace(target: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    let (file, temporary) = create_beside(target)?;
    let written = fill(file, text, permissions).and_then(|()| fs::rename(&temporary, target));
    if written.is_err() {
        // The error that counts is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let name = target.file_name().ok_or(io::ErrorKind::NotFound)?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = target.with_file_name(temporary);
    let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    Ok((file, temporary))
}

fn fill(mut file: File, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}
