//! Opening a file, and bringing it to the newest form.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{file, left_log, shut};
use crate::error::Failure;
use crate::migrations::Migrations;
use crate::{Error, ErrorKind};

pub(crate) const MIGRATIONS: Migrations = Migrations(&[
    include_str!("../../migrations/sqlite/V1__sessions.sql"),
    include_str!("../../migrations/sqlite/V2__records_and_requests.sql"),
    include_str!("../../migrations/sqlite/V3__words_on_demand.sql"),
    include_str!("../../migrations/sqlite/V4__checksums.sql"),
    include_str!("../../migrations/sqlite/V5__more_checksums.sql"),
    include_str!("../../migrations/sqlite/V6__rows_without_checksum.sql"),
]);

/// What tells our files from those of other programs: `ILEF`.
const APPLICATION: i64 = 0x494c_4546;

/// A file up to this size is looked through when it is opened; of a larger one, damage
/// is reported when it is come across.
const CHECKED_BYTES: u64 = 16 << 20;

/// A file that is open.
pub(crate) enum Opened {
    /// With a connection that writes.
    ToWrite(Connection),
    /// To be read alone, and why nothing can be written.
    ToRead(Error),
}

/// Opens a file for writing, and makes it if there is none. One that may only be read is opened for
/// that.
pub(crate) fn open(path: &Path, patience: Duration) -> Result<Opened, Error> {
    let attempt = || {
        refuse_folder(path)?;
        left_log::check(path)?;
        file::make(path)?;
        let mut connection = connect(path, patience, OpenFlags::SQLITE_OPEN_CREATE)?;
        MIGRATIONS.check(version(&connection)?)?;
        if connection.is_readonly("main")? {
            return Err(Error::new(ErrorKind::Denied, "the database may only be read").into());
        }
        check_whole(&connection, path)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        migrate(&mut connection)?;
        Ok(connection)
    };
    let failure = match attempt().map_err(|failure: Failure| file::told(path, failure)) {
        Ok(connection) => return Ok(Opened::ToWrite(connection)),
        Err(failure) => failure,
    };
    let kind = failure.0.kind();
    let is_readable = path.is_file() && fs::File::open(path).is_ok();
    if !matches!(kind, ErrorKind::Denied | ErrorKind::NotFound) || !is_readable {
        return Err(opening(path, failure));
    }
    match (shut::open(path, patience), kind) {
        (Ok(_), ErrorKind::NotFound) => Ok(Opened::ToRead(writing(path, file::shut_folder()))),
        (Ok(_), _) => Ok(Opened::ToRead(writing(path, failure))),
        (Err(failure), _) => Err(opening(path, failure)),
    }
}

/// Opens a file that is there, for reading.
pub(crate) fn open_reader(path: &Path, patience: Duration) -> Result<Connection, Error> {
    let connection = connect(path, patience, OpenFlags::empty());
    connection.map_err(|failure| opening(path, failure))
}

/// Opens a file that is there and may only be read.
pub(crate) fn open_shut(path: &Path, patience: Duration) -> Result<Connection, Error> {
    shut::open(path, patience).map_err(|failure| opening(path, failure))
}

fn writing(path: &Path, failure: Failure) -> Error {
    failure.0.while_doing(format_args!("cannot write to the database {}", path.display()))
}

fn opening(path: &Path, failure: Failure) -> Error {
    failure.0.while_doing(format_args!("cannot open the database {}", path.display()))
}

fn refuse_folder(path: &Path) -> Result<(), Failure> {
    match path.is_dir() {
        true => Err(Error::new(ErrorKind::NotFound, "it is a folder").into()),
        false => Ok(()),
    }
}

fn connect(path: &Path, patience: Duration, more: OpenFlags) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    // An answered commit is on the disk, whatever happens to the machine.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// The version of the form of our file; 0 for an empty one.
pub(super) fn version(connection: &Connection) -> Result<i64, Failure> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let version = number("user_version")?;
    match number("application_id")? {
        APPLICATION if version != 0 => Ok(version),
        APPLICATION | 0 if version == 0 && is_empty(connection)? => Ok(0),
        APPLICATION => Err(Error::corrupt("the database has tables, but no version").into()),
        _ => Err(Error::corrupt("the file is a database of another program").into()),
    }
}

fn is_empty(connection: &Connection) -> Result<bool, Failure> {
    Ok(connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?)
}

pub(super) fn check_whole(connection: &Connection, path: &Path) -> Result<(), Failure> {
    if std::fs::metadata(path).is_ok_and(|file| file.len() > CHECKED_BYTES) {
        return Ok(());
    }
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match found.as_str() {
        "ok" => Ok(()),
        found => Err(Error::corrupt(format!("the database is damaged: {found}")).into()),
    }
}

fn migrate(connection: &mut Connection) -> Result<(), Failure> {
    if version(connection)? as usize == MIGRATIONS.newest() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    for (version, sql) in MIGRATIONS.missing(version(&transaction)?)? {
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
    }
    transaction.commit()?;
    Ok(())
}
