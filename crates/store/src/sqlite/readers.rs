//! The connections that read, off the async threads.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::{schema, shut};
use crate::error::Failure;
use crate::{Error, ErrorKind, OpenOptions};

pub(crate) struct Readers {
    path: PathBuf,
    options: OpenOptions,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Semaphore,
    /// Whether the file may only be read.
    is_shut: bool,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, options: OpenOptions, is_shut: bool) -> Self {
        let permits = Semaphore::new(options.connections.max(1));
        Self { path, options, idle: Arc::default(), permits, is_shut }
    }

    /// Reads one state of the database, however many statements it takes.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Error> {
        let _permit = self.permits.acquire().await.map_err(|_| Error::stopped())?;
        let (path, patience, idle) = (self.path.clone(), self.options.patience, self.idle.clone());
        let is_shut = self.is_shut;
        let read = move || {
            if is_shut {
                return read_shut(&path, patience, work);
            }
            let spare = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut connection = match spare {
                Some(connection) => connection,
                None => schema::open_reader(&path, patience)?,
            };
            let transaction = connection.transaction().map_err(Failure::from)?;
            let result = work(&transaction).map_err(Error::from);
            drop(transaction);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            result
        };
        tokio::task::spawn_blocking(read).await.map_err(|_| Error::stopped())?
    }
}

/// Reads a file that may only be read. Each time it is opened anew: whoever may write to it may have
/// done so.
fn read_shut<T>(
    path: &Path,
    patience: Duration,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Error> {
    let was_alone = shut::is_alone(path);
    let mut connection = schema::open_shut(path, patience)?;
    let transaction = connection.transaction().map_err(Failure::from)?;
    let result = work(&transaction).map_err(Error::from);
    if was_alone && !shut::is_alone(path) {
        let message = "another program began to write to the database while it was read";
        return Err(Error::new(ErrorKind::Busy, message));
    }
    result
}
