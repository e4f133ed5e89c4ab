//! A task that ends with whoever waits for it.

use tokio::task::{JoinError, JoinHandle};

/// A task of its own. It is ended when this is dropped.
pub(crate) struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T: Send + 'static> Task<T> {
    pub(crate) fn of(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }

    /// Waits for its end. An error says that it panicked.
    pub(crate) async fn end(&mut self) -> Result<T, JoinError> {
        (&mut self.0).await
    }
}
