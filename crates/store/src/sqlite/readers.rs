//! The connections that read, off the async threads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::schema;
use crate::error::Failure;
use crate::{Error, OpenOptions};

pub(crate) struct Readers {
    path: PathBuf,
    options: OpenOptions,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Semaphore,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, options: OpenOptions) -> Self {
        let permits = Semaphore::new(options.connections.max(1));
        Self { path, options, idle: Arc::default(), permits }
    }

    /// Reads one state of the database, however many statements it takes.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Error> {
        let _permit = self.permits.acquire().await.map_err(|_| Error::stopped())?;
        let (path, patience, idle) = (self.path.clone(), self.options.patience, self.idle.clone());
        let read = move || {
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
