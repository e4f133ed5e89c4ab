//! Which store: a URL.

use std::path::PathBuf;

use crate::Error;
use crate::password::HIDDEN;

/// The address of a store, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Memory,
    Sqlite(PathBuf),
    Postgres(String),
}

/// The address of the store that is used when none is named: a file in the user's
/// data folder.
///
/// # Errors
/// If the environment names no home.
pub fn default_url() -> Result<String, Error> {
    Ok(format!("sqlite:{}", default_path()?.display()))
}

/// The file of the store at this address, if it is one in a file.
pub fn file_of(url: &str) -> Option<PathBuf> {
    match Address::parse(url) {
        Ok(Address::Sqlite(path)) => Some(path),
        Ok(Address::Memory | Address::Postgres(_)) | Err(_) => None,
    }
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let Some((scheme, rest)) = url.split_once(':') else { return Err(unknown(url)) };
        match scheme {
            "memory" if rest.is_empty() => Ok(Self::Memory),
            "memory" => Err(Error::invalid("a store in memory has no name: write `memory:`")),
            "sqlite" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                match path {
                    "" => default_path().map(Self::Sqlite),
                    path => Ok(Self::Sqlite(PathBuf::from(path))),
                }
            }
            "postgres" | "postgresql" if rest.starts_with("//") => {
                Ok(Self::Postgres(url.to_owned()))
            }
            "postgres" | "postgresql" => Err(Error::invalid(format!(
                "an address of PostgreSQL begins with {scheme}://, such as \
                 {scheme}://user:password@host/database"
            ))),
            _ => Err(unknown(url)),
        }
    }
}

fn unknown(url: &str) -> Error {
    // What stands after the scheme may hold a password, and so may what stands before a host.
    let shown = url.split_once(':').map_or(url, |(scheme, _)| scheme);
    let shown = match shown.rsplit_once('@') {
        Some((_, host)) => format!("{HIDDEN}@{host}"),
        None => shown.to_owned(),
    };
    Error::invalid(format!(
        "{shown:?} is not a store: memory:, sqlite:PATH and postgres://… are known"
    ))
}

pub(crate) fn default_path() -> Result<PathBuf, Error> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    match data {
        Some(data) => Ok(data.join("interleaf/sessions.db")),
        None => Err(Error::invalid("neither XDG_DATA_HOME nor HOME is set: name a store")),
    }
}
