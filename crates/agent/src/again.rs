//! Writing again, where a store did not take a write: what is in hand was paid for, or took effect.

use std::time::{Duration, Instant};

use interleaf::Session;
use interleaf::store;

/// How long a write waits for a store that another program holds.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How long it is until the next try.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes it possible to write again.
#[derive(Default)]
pub(crate) struct Again {
    /// When the store was found to be held.
    since: Option<Instant>,
}

impl Again {
    /// Takes in what another writer wrote, or waits while another program holds the store. Any
    /// other error is given back.
    pub(crate) async fn after(
        &mut self,
        error: interleaf::Error,
        session: &mut Session,
    ) -> Result<(), interleaf::Error> {
        if !is_busy(&error) {
            return session.recover(error).await;
        }
        if self.since.get_or_insert_with(Instant::now).elapsed() >= LONGEST_WAIT {
            return Err(error);
        }
        tokio::time::sleep(PAUSE).await;
        // Whether what failed was written is not known.
        match session.refresh().await {
            Err(error) if !is_busy(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Whether another program holds the store.
pub(crate) fn is_busy(error: &interleaf::Error) -> bool {
    error.as_store().map(store::Error::kind) == Some(store::ErrorKind::Busy)
}

/// Writes, again and again if need be. It is no function: a closure that borrows may not move
/// between threads.
macro_rules! written {
    ($session:expr, $write:expr) => {{
        let mut again = $crate::again::Again::default();
        loop {
            match $write.await {
                Err(error) => again.after(error, &mut $session).await?,
                Ok(done) => break done,
            }
        }
    }};
}

pub(crate) use written;
