//! The time that a command may take (`--timeout`), of which reading and waiting are a part.
//!
//! It is that of the whole program, as standard input is: whoever reads a file or asks a store
//! looks here. What sends a request has the same limit of its own.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Fault};

static UNTIL: OnceLock<Until> = OnceLock::new();

/// When all must be done, and how long that is after the beginning.
#[derive(Debug, Clone, Copy)]
struct Until {
    at: Instant,
    after: Duration,
}

/// Bounds all that is read and waited for from here on.
pub(crate) fn set(began: Instant, after: Option<Duration>) {
    if let Some((at, after)) = after.and_then(|after| Some((began.checked_add(after)?, after))) {
        // A program runs one command.
        let _ = UNTIL.set(Until { at, after });
    }
}

/// What is read, which may never come to its end: standard input and pipes are like that.
pub(crate) fn read<T: Send + 'static>(
    name: &str,
    reading: impl FnOnce() -> T + Send + 'static,
) -> T {
    let Some(until) = UNTIL.get() else { return reading() };
    let (sender, receiver) = channel();
    // Nobody may be left to take it.
    let read = thread::Builder::new().spawn(move || drop(sender.send(reading())));
    let left = until.at.saturating_duration_since(Instant::now());
    match read.map(|_| receiver.recv_timeout(left)) {
        Ok(Ok(read)) => read,
        Ok(Err(RecvTimeoutError::Timeout)) => until.give_up(name, "it was not read to its end", ""),
        // It has panicked, and said so.
        Ok(Err(RecvTimeoutError::Disconnected)) => std::process::exit(i32::from(crate::BUG)),
        Err(e) => Failure::io(name, &e).end(),
    }
}

/// What is worked out before anything is sent or written: however much there is to count.
pub(crate) fn work<T>(name: &str, working: impl FnOnce() -> T) -> T {
    let Some(until) = UNTIL.get().copied() else { return working() };
    let (working_on, ended) = channel::<()>();
    let name = name.to_owned();
    let watch = thread::Builder::new().spawn(move || {
        let left = until.at.saturating_duration_since(Instant::now());
        if ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
            until.give_up(&name, "the request was not made", "it is long to count and to fit; ");
        }
    });
    let done = working();
    // Nothing watches without a thread: what is late is then found when it is to be sent.
    drop((working_on, watch));
    done
}

/// What a store answers, which another program may hold.
pub(crate) async fn wait<T>(name: &str, answer: impl Future<Output = T>) -> T {
    let Some(until) = UNTIL.get() else { return answer.await };
    match tokio::time::timeout_at(until.at.into(), answer).await {
        Ok(answer) => answer,
        Err(_) => until.give_up(name, "the store did not answer", "another program may hold it; "),
    }
}

impl Until {
    /// Ends the program. Whoever drops a store waits for its writer, who waits for the lock of
    /// another program: there is no time left for that.
    fn give_up(self, name: &str, what: &str, why: &str) -> ! {
        let after = self.after.as_secs_f64();
        let rule = format!("{what} within {after} s (the total time-out); nothing was sent");
        let hint = format!("{why}--timeout allows more time");
        Failure::new(name, rule).of(Fault::Api).hint(hint).end()
    }
}
