//! A call to the server: it ends by its deadline, it is made again when the connection
//! breaks, and no query runs on that nobody waits for.
//!
//! ```text
//!   call ──▶ attempt: lease a connection, work ──▶ done
//!             ▲                 └─ the connection broke: what became of it is not known
//!             └──── pause ◀─────┘
//! ```
//!
//! What is written is written on a condition that holds only once, so that a second
//! attempt either does what the first one did not, or finds what it did.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{Client, Object, Pool};
use tokio::runtime::Handle;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::is_read_only;
use crate::error::Failure;
use crate::{Error, ErrorKind, OpenOptions};

/// A longer wait is for ever; the clock has no instant for the longest.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The pauses between attempts; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How a call may be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It only reads.
    Reads,
    /// It writes, and a second attempt finds what the first one wrote.
    Finds,
    /// It writes, and a second attempt might write twice.
    Doubles,
}

pub(crate) struct Calls {
    pub(crate) pool: Pool,
    tls: MakeRustlsConnect,
    deadline: Duration,
    /// Whether another host may be the one to write to.
    chooses: bool,
}

/// One call.
pub(crate) struct Call<'a> {
    of: &'a Calls,
    again: Again,
    pub(crate) until: Instant,
    pause: Duration,
    /// Whether this attempt has a connection.
    leased: AtomicBool,
    /// Whether an attempt was lost, so that nobody knows what became of it.
    lost: bool,
}

impl Calls {
    pub(crate) fn new(
        pool: Pool,
        tls: MakeRustlsConnect,
        options: &OpenOptions,
        chooses: bool,
    ) -> Self {
        Self { pool, tls, deadline: options.deadline, chooses }
    }

    pub(crate) fn begin(&self, again: Again) -> Call<'_> {
        Call {
            of: self,
            again,
            until: Instant::now() + self.deadline.min(A_YEAR),
            pause: FIRST_PAUSE,
            leased: AtomicBool::new(false),
            lost: false,
        }
    }
}

impl Call<'_> {
    /// A connection for one attempt.
    pub(crate) async fn lease(&self) -> Result<Lease, Failure> {
        let client = self.of.pool.get().await?;
        self.leased.store(true, Ordering::Relaxed);
        Ok(Lease { client: Some(client), tls: self.of.tls.clone() })
    }

    /// Whether what this call writes may be there already.
    pub(crate) fn is_second(&self) -> bool {
        self.lost
    }

    /// The end of the call, or none if it is to be attempted again.
    pub(crate) async fn judge<T>(
        &mut self,
        outcome: Result<Result<T, Failure>, Elapsed>,
    ) -> Option<Result<T, Error>> {
        let leased = std::mem::take(self.leased.get_mut());
        let error = match outcome {
            Ok(Ok(done)) => return Some(Ok(done)),
            Ok(Err(Failure(error))) => error,
            Err(_) => {
                let within = self.of.deadline;
                let message = format!("the server did not answer within {within:?}");
                Error::new(ErrorKind::Unavailable, message)
            }
        };
        // The host that could be written to has become one that may only be read.
        let moved = is_read_only(&error) && self.of.chooses;
        let broke = error.kind() == ErrorKind::Unavailable || moved;
        self.lost |= broke && leased && !moved;
        let resume = Instant::now() + self.pause;
        if broke && resume < self.until && !(self.lost && self.again == Again::Doubles) {
            sleep(self.pause).await;
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            return None;
        }
        let unknown = self.lost && self.again != Again::Reads && !error.is_final();
        Some(Err(if unknown { error.of_unknown_outcome() } else { error }))
    }
}

/// A connection in use. If it is dropped in the middle of its work, because the caller does
/// not wait any longer, the server is told to stop, and nobody else gets the connection.
pub(crate) struct Lease {
    client: Option<Client>,
    tls: MakeRustlsConnect,
}

impl Lease {
    /// The connection.
    pub(crate) fn client(&mut self) -> Result<&mut Client, Failure> {
        Ok(self.client.as_mut().ok_or_else(Error::stopped)?)
    }

    /// The work is done, or has failed.
    pub(crate) fn give_back<T>(mut self, done: &Result<T, Failure>) {
        let client = self.client.take();
        // Whoever asks for a connection next is to find a host that can be written to.
        if matches!(done, Err(Failure(error)) if is_read_only(error)) {
            let _ = client.map(Object::take);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (Some(client), Ok(runtime)) = (self.client.take(), Handle::try_current()) else {
            return;
        };
        let client = Object::take(client);
        let (cancel, tls) = (client.cancel_token(), self.tls.clone());
        runtime.spawn(async move {
            // A server that does not even hear this has other troubles.
            let _ = timeout(LEAVING, cancel.cancel_query(tls)).await;
            drop(client);
        });
    }
}

/// How long to try to tell a server that nobody waits any longer.
const LEAVING: Duration = Duration::from_secs(5);

/// Makes a call: attempts the work with a connection until it is done, refused, or late.
macro_rules! attempts {
    ($calls:expr, $again:expr, |$client:ident, $second:ident| $work:expr) => {{
        let mut call = $calls.begin($again);
        loop {
            let attempt = async {
                let mut lease = call.lease().await?;
                let ($client, $second) = (lease.client()?, call.is_second());
                let done = $work.await;
                lease.give_back(&done);
                done
            };
            let outcome = ::tokio::time::timeout_at(call.until, attempt).await;
            if let Some(end) = call.judge(outcome).await {
                break end;
            }
        }
    }};
}
pub(super) use attempts;
