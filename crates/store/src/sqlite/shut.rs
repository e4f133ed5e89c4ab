//! A file that may only be read: the file itself, its folder, or its file system.
//!
//! | beside the file is | it is read |
//! |---|---|
//! | no log, or an empty one, and no index | alone, as nobody has it open |
//! | a log with its index | with both, as SQLite does |
//! | a log that cannot be read | not at all: what the log has would be missing in silence |

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::left_log::{beside, linked};
use super::schema::{MIGRATIONS, check_whole, version};
use crate::error::Failure;
use crate::{Error, ErrorKind};

/// Whether the file is the whole store: nobody has it open, and no log is left.
pub(crate) fn is_alone(path: &Path) -> bool {
    let path = linked(path);
    let is_empty = |end| fs::metadata(beside(&path, end)).map_or(true, |file| file.len() == 0);
    is_empty("-wal") && !beside(&path, "-shm").exists()
}

/// Opens a file that is there, and writes nothing.
pub(crate) fn open(path: &Path, patience: Duration) -> Result<Connection, Failure> {
    let is_alone = is_alone(path);
    read(path, patience, is_alone).map_err(|failure| match failure.0.kind() {
        // It would have been opened without its log.
        ErrorKind::NotFound | ErrorKind::Denied | ErrorKind::Unavailable if !is_alone => {
            let log = beside(&linked(path), "-wal");
            let message = format!(
                "the log beside it, {}, may have what is not in the file yet, and cannot be read \
                 where nothing may be written: copy the file and its log to another folder",
                log.display()
            );
            Error::new(ErrorKind::Denied, message).caused_by(failure.0).into()
        }
        _ => failure,
    })
}

fn read(path: &Path, patience: Duration, is_alone: bool) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match is_alone {
        // Without this SQLite looks for a log, and makes an index beside the file.
        true => Connection::open_with_flags(uri(path), flags | OpenFlags::SQLITE_OPEN_URI)?,
        false => Connection::open_with_flags(path, flags)?,
    };
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(64);
    let version = version(&connection)?;
    MIGRATIONS.check(version)?;
    if version as usize != MIGRATIONS.newest() {
        let message = "it has the form of an earlier version, which must be written anew, and it \
                       may only be read: copy the file to another folder";
        return Err(Error::new(ErrorKind::Denied, message).into());
    }
    check_whole(&connection, path)?;
    Ok(connection)
}

/// The file by an address that says that nobody changes it.
fn uri(path: &Path) -> String {
    let path = linked(path);
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte));
            }
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri + "?immutable=1"
}
