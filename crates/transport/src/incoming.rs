//! The bytes of an answer, with the time and the size that they may take.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::Body as _;
use tokio::time::{Instant, Sleep};

use crate::failed::{Failed, seconds};
use crate::{ErrorKind, Limit};

/// When waiting for a thing ends, and by which limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    pub(crate) limit: Limit,
    /// How long will have been waited then.
    pub(crate) after: Duration,
}

impl Deadline {
    pub(crate) fn from_now(limit: Limit, after: Option<Duration>) -> Option<Self> {
        Self::since(Instant::now(), limit, after)
    }

    pub(crate) fn since(began: Instant, limit: Limit, after: Option<Duration>) -> Option<Self> {
        let after = after?;
        Some(Self { at: began.checked_add(after)?, limit, after })
    }

    /// The one that comes first.
    pub(crate) fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(if other.at < one.at { other } else { one }),
            (one, other) => one.or(other),
        }
    }

    pub(crate) fn failed(self) -> Failed {
        Failed::timeout(self.limit, self.after)
    }

    /// As [`wait`](Self::wait), and names what was waited for.
    pub(crate) async fn wait_for<T>(
        deadline: Option<Self>,
        what: &str,
        thing: impl Future<Output = T>,
    ) -> Result<T, Failed> {
        Self::wait(deadline, thing).await.map_err(|failed| Self::late(deadline, what, failed))
    }

    /// Names what was too late.
    pub(crate) fn late(deadline: Option<Self>, what: &str, failed: Failed) -> Failed {
        let after = deadline.map_or_else(String::new, |deadline| seconds(deadline.after));
        let text = format!("{what} within {after} (the total time-out)");
        Failed { text, ..failed }
    }

    /// Fails if it is over.
    pub(crate) fn check(deadline: Option<Self>) -> Result<(), Failed> {
        match deadline {
            Some(deadline) if Instant::now() >= deadline.at => Err(deadline.failed()),
            _ => Ok(()),
        }
    }

    /// Waits for a thing until then.
    pub(crate) async fn wait<T>(
        deadline: Option<Self>,
        thing: impl Future<Output = T>,
    ) -> Result<T, Failed> {
        match deadline {
            Some(deadline) => {
                tokio::time::timeout_at(deadline.at, thing).await.map_err(|_| deadline.failed())
            }
            None => Ok(thing.await),
        }
    }
}

/// The body of an answer. Dropping it closes the connection, unless all of it was read.
pub(crate) struct Incoming {
    body: reqwest::Body,
    sleep: Option<Pin<Box<Sleep>>>,
    /// What ends the wait for the next piece.
    deadline: Option<Deadline>,
    idle: Option<Duration>,
    total: Option<Deadline>,
    /// All was said.
    lingers: bool,
    /// How many more bytes are taken.
    left: u64,
    most: u64,
}

impl Incoming {
    pub(crate) fn new(
        body: reqwest::Body,
        first: Option<Deadline>,
        idle: Option<Duration>,
        total: Option<Deadline>,
        most: u64,
    ) -> Self {
        let deadline = Deadline::first(first, total);
        let sleep = deadline.map(|deadline| Box::pin(tokio::time::sleep_until(deadline.at)));
        Self { body, sleep, deadline, idle, total, lingers: false, left: most, most }
    }

    /// The next piece; none at the end.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failed>>> {
        loop {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(e))) => {
                    return Poll::Ready(Some(Err(Failed::http(e, None))));
                }
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(piece) = frame.into_data() else { continue };
                    if piece.is_empty() {
                        continue;
                    }
                    return Poll::Ready(Some(self.take(piece)));
                }
                Poll::Pending => {
                    let (Some(sleep), Some(deadline)) = (&mut self.sleep, self.deadline) else {
                        return Poll::Pending;
                    };
                    ready!(sleep.as_mut().poll(cx));
                    return Poll::Ready(Some(Err(deadline.failed())));
                }
            }
        }
    }

    fn take(&mut self, piece: Bytes) -> Result<Bytes, Failed> {
        // Whoever always has more to say is never waited for.
        Deadline::check(self.total)?;
        let Some(left) = self.left.checked_sub(piece.len() as u64) else {
            let text = format!("the answer has more than {} bytes", self.most);
            return Err(Failed::new(ErrorKind::TooLarge, text));
        };
        self.left = left;
        self.wait_anew();
        Ok(piece)
    }

    /// All was said: the end is waited for, so that the connection can be used again, but not for
    /// long, whatever still comes.
    pub(crate) fn linger(&mut self) {
        const LONGEST: Duration = Duration::from_secs(2);
        if !std::mem::replace(&mut self.lingers, true) {
            let end = Deadline::from_now(Limit::Idle, Some(LONGEST));
            self.total = Deadline::first(end, self.total);
            self.wait_anew();
        }
    }

    /// The next piece is waited for from now on.
    fn wait_anew(&mut self) {
        let idle = Deadline::from_now(Limit::Idle, self.idle);
        self.deadline = Deadline::first(idle, self.total);
        match (&mut self.sleep, self.deadline) {
            (Some(sleep), Some(deadline)) => sleep.as_mut().reset(deadline.at),
            (_, deadline) => {
                self.sleep = deadline.map(|d| Box::pin(tokio::time::sleep_until(d.at)));
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, Failed>> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// All that is left, after what came before, and why no more came than this.
    pub(crate) async fn rest(&mut self, mut before: Vec<u8>) -> (Vec<u8>, Option<Failed>) {
        while let Some(piece) = self.next().await {
            match piece {
                Ok(piece) => before.extend_from_slice(&piece),
                Err(failed) => return (before, Some(failed)),
            }
        }
        (before, None)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body::Frame;

    use super::*;

    /// A server that always has more to say.
    struct Endless;

    impl http_body::Body for Endless {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b": still here\n")))))
        }
    }

    #[tokio::test]
    async fn the_limit_in_all_holds_for_an_answer_that_never_lets_us_wait() {
        let total = Deadline::from_now(Limit::Total, Some(Duration::from_millis(5)));
        let idle = Some(Duration::from_secs(60));
        let mut incoming = Incoming::new(reqwest::Body::wrap(Endless), None, idle, total, u64::MAX);
        let (_, failed) = incoming.rest(Vec::new()).await;
        let failed = failed.unwrap();
        assert_eq!(failed.kind, ErrorKind::Timeout(Limit::Total));
    }
}
