//! Writing again after another writer was first.

use super::Session;
use crate::{Error, ErrorKind};

/// How often what depends on nobody else is tried again when others write at the same time.
pub(crate) const RETRIES: usize = 63;

/// Makes a change, and if it fails and can be recovered from, makes it again, up to so many
/// times. A macro and no function: a closure that borrows may not move between threads.
macro_rules! retried {
    ($times:expr, $change:expr, $error:ident => $recovered:expr) => {{
        let mut tries = 0;
        loop {
            match $change {
                Err($error) if tries < $times => {
                    tries += 1;
                    $recovered?;
                }
                done => break done,
            }
        }
    }};
}

pub(super) use retried;

impl Session {
    /// Takes in what others have written, if that is why a change failed: it can be made
    /// again. Any other error is given back.
    ///
    /// ```
    /// use interleaf::model::Message;
    /// use interleaf::{Error, Session};
    ///
    /// async fn say(session: &mut Session, text: &str) -> Result<u32, Error> {
    ///     loop {
    ///         match session.append(Message::user(text)).await {
    ///             Err(error) => session.recover(error).await?,
    ///             said => return said,
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// The error, unless it is a conflict; or if the session cannot be read.
    pub async fn recover(&mut self, error: Error) -> Result<(), Error> {
        match error.kind() {
            ErrorKind::Conflict => self.refresh().await.map(drop),
            _ => Err(error),
        }
    }

    /// Makes a change, and if another writer was first, takes in what that one wrote and
    /// makes it again, up to this many times. A closure that borrows cannot be sent to
    /// another thread; in a spawned task, write the loop with [`recover`](Self::recover).
    ///
    /// ```
    /// use interleaf::model::Message;
    /// use interleaf::{Session, store};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let store = store::open("memory:").await?;
    /// let mut session = Session::create(store.clone(), "").await?;
    /// let mut elsewhere = Session::open(store, session.id()).await?;
    /// elsewhere.append(Message::user("one")).await?;
    ///
    /// let index = session.retrying(3, async |s| s.append(Message::user("two")).await).await?;
    /// assert_eq!(index, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As the change; a conflict, if another writer was first each time.
    pub async fn retrying<T>(
        &mut self,
        times: usize,
        mut change: impl AsyncFnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        retried!(times, change(self).await, error => self.recover(error).await)
    }
}
