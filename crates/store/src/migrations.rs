//! From the form of an older version to the newest, one step after the other.
//!
//! A step is an SQL file for each database, embedded here, and is never changed once
//! it was released. The version stands in the database; a newer one is refused.
//! `refinery` would do the same, but takes no lock on PostgreSQL, does not refuse
//! what is newer, ties us to the versions of two drivers, and saves thirty lines.

use crate::{Error, ErrorKind};

/// The SQL of every step for one database; the first brings it to version 1.
pub(crate) struct Migrations(pub(crate) &'static [&'static str]);

impl Migrations {
    /// The version that this program writes.
    pub(crate) fn newest(&self) -> usize {
        self.0.len()
    }

    /// Whether this program can use a database of this version.
    ///
    /// # Errors
    /// If a newer program wrote it.
    pub(crate) fn check(&self, version: i64) -> Result<(), Error> {
        self.missing(version).map(drop)
    }

    /// The steps that a database of this version lacks, each with the version that it
    /// leads to.
    ///
    /// # Errors
    /// If a newer program wrote it.
    pub(crate) fn missing(
        &self,
        version: i64,
    ) -> Result<impl Iterator<Item = (usize, &'static str)>, Error> {
        let newest = self.newest();
        match usize::try_from(version) {
            Ok(version) if version <= newest => {
                Ok(self.0.iter().enumerate().skip(version).map(|(i, sql)| (i + 1, *sql)))
            }
            Ok(_) => {
                let message = format!(
                    "the database has version {version}, and this program reads up to {newest}: \
                     a newer version wrote it"
                );
                Err(Error::new(ErrorKind::Newer, message))
            }
            Err(_) => Err(Error::corrupt(format!("the database gives its version as {version}"))),
        }
    }
}
