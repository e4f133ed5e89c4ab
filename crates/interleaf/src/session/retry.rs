//! Writing again after another writer was first.

use super::Session;
use crate::{Error, ErrorKind};

impl Session {
    /// Makes a change, and if another writer was first, takes in what that one wrote and
    /// makes it again, up to this many times.
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
        for _ in 0..times {
            match change(self).await {
                Err(error) if error.kind() == ErrorKind::Conflict => self.refresh().await?,
                done => return done,
            };
        }
        change(self).await
    }
}
