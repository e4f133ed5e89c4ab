//! From try to try: what is tried again, when, and how often.
//!
//! | what failed | what is done |
//! |---|---|
//! | no connection, it broke, it fell silent | again, after a wait |
//! | the API is busy, broken, or asks to slow down | again, after the wait that it asks for |
//! | it asks for a longer wait than is allowed | an error with that figure |
//! | the key is refused, and its source may give another | again, at once, one time |
//! | anything else | an error |
//!
//! Nothing is tried again once a piece of an answer was handed on.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use interleaf::wire::ApiErrorKind;
use interleaf::{Impact, Target};
use tokio::time::Instant;

use crate::attempt::{Attempt, Because};
use crate::exchange::{Begun, Missed};
use crate::failed::{Failed, seconds};
use crate::incoming::Deadline;
use crate::{Attempts, Call, Error, ErrorKind, Transport};

/// A call on its way through its tries.
pub(crate) struct Course {
    pub(crate) transport: Transport,
    /// When all of it must be done, a compaction before it included.
    pub(crate) total: Option<Deadline>,
    /// Whether pieces are handed on while they come.
    pub(crate) streams: bool,
    pub(crate) attempts: Attempts,
    /// Whether no model saw the last call, in none of its tries, if it failed.
    pub(crate) is_unseen: bool,
    /// Whether each try that was paid for is noted as a request of its own.
    notes_paid: bool,
    /// How far the retries of the last call are, if it goes on as another request.
    goes_on: Option<Retrying>,
}

/// How far the retries of a call are.
#[derive(Clone, Copy, Default)]
struct Retrying {
    n_retries: u32,
    waited: Duration,
    is_new_key: bool,
    first_failed: Option<Instant>,
}

impl Course {
    pub(crate) fn new(transport: &Transport, streams: bool) -> Self {
        Self::until(transport.total(), transport, streams)
    }

    /// A call that must be done by then.
    pub(crate) fn until(total: Option<Deadline>, transport: &Transport, streams: bool) -> Self {
        let (transport, attempts) = (transport.clone(), Attempts::default());
        let (is_unseen, notes_paid, goes_on) = (true, false, None);
        Self { transport, total, streams, attempts, is_unseen, notes_paid, goes_on }
    }

    /// The same, of which each try that was paid for is noted as a request of its own.
    pub(crate) fn noting_paid(mut self) -> Self {
        self.notes_paid = true;
        self
    }

    /// Tries calls, one after the other, until an answer begins.
    pub(crate) async fn run_any(
        mut self,
        calls: &[Call],
    ) -> Result<(Begun, &Call, Attempts), Error> {
        Error::unless_model(calls.iter().map(|call| &call.target))?;
        let mut last = None;
        for call in calls {
            match self.run_next(call).await {
                Ok(begun) => return Ok((begun, call, self.attempts)),
                Err(error) if error.is_vendors() => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(Error::of_nobody))
    }

    /// Tries a call, as the first or in place of those that gave no answer.
    pub(crate) async fn run_next(&mut self, call: &Call) -> Result<Begun, Error> {
        Error::unless_model([&call.target])?;
        let because = match (self.attempts.is_empty(), self.goes_on()) {
            (true, _) => Because::First,
            (false, true) => Because::Retry,
            (false, false) => Because::FallBack,
        };
        self.run(call, because).await
    }

    /// Refuses what would not be sent anyway, before it is made and noted.
    pub(crate) async fn check(&mut self, target: &Target, because: Because) -> Result<(), Error> {
        let name = (target.vendor.name.as_str(), target.options.model.as_str());
        let in_time = Deadline::check(self.total);
        in_time.map_err(|failed| Error::of(failed, name, self.attempts.clone()))?;
        let mut attempt = Attempt::new(name, because);
        let began = Instant::now();
        let Err(failed) = self.transport.0.check(target, self.total).await else { return Ok(()) };
        attempt.took = began.elapsed();
        attempt.failed_with(&failed);
        self.attempts.push(attempt);
        Err(Error::of(failed, name, self.attempts.clone()))
    }

    /// Waits for a request that is made and noted, for as long as the call may take: another
    /// program may hold the store.
    pub(crate) async fn in_time<T>(
        &self,
        target: &Target,
        recorded: impl Future<Output = T>,
    ) -> Result<T, Error> {
        let (began, mut worked) = (Instant::now(), Duration::ZERO);
        let mut recorded = pin!(recorded);
        let noted = poll_fn(|context| {
            let began = Instant::now();
            let polled = recorded.as_mut().poll(context);
            worked += began.elapsed();
            polled
        });
        Deadline::wait(self.total, noted).await.map_err(|failed| {
            // A future that works cannot be interrupted, and is late when it comes to wait.
            let what = match worked * 2 > began.elapsed() {
                true => "the request was not made",
                false => "the store did not take the request",
            };
            let name = (target.vendor.name.as_str(), target.options.model.as_str());
            Error::of(Deadline::late(self.total, what, failed), name, self.attempts.clone())
        })
    }

    /// Tries a call until an answer begins.
    pub(crate) async fn run(&mut self, call: &Call, because: Because) -> Result<Begun, Error> {
        let inner = &*self.transport.0;
        self.is_unseen = true;
        // What is too late already is not sent: making the request takes time too.
        Deadline::check(self.total).map_err(|failed| self.failed(failed, call))?;
        let (mut because, mut own) = (because, self.goes_on.take().unwrap_or_default());
        pause(own.waited).await;
        loop {
            let mut attempt = Attempt { waited: own.waited, ..Attempt::new(call.name(), because) };
            let began = Instant::now();
            let begun = inner.once(call, self.streams, self.total).await;
            attempt.took = began.elapsed();
            let Missed { failed, key } = match begun {
                Ok(begun) => {
                    self.attempts.push(attempt);
                    return Ok(begun);
                }
                Err(missed) => missed,
            };
            attempt.failed_with(&failed);
            self.attempts.push(attempt);
            self.is_unseen &= failed.is_unseen();
            let is_refused = failed.kind == ErrorKind::Api(ApiErrorKind::Authentication);
            let is_first = is_refused && !own.is_new_key;
            if let (true, Some(key), None) = (is_first, &key, &call.target.key)
                && inner.keys.forget(&call.target.vendor, key).await
            {
                (because, own.waited, own.is_new_key) = (Because::NewKey, Duration::ZERO, true);
                continue;
            }
            own.n_retries += 1;
            let since = *own.first_failed.get_or_insert_with(Instant::now);
            own.waited = match self.wait(&failed, (own.n_retries, since)) {
                Ok(wait) => wait,
                Err(failed) => return Err(self.failed(failed, call)),
            };
            self.transport.tell_again(self.attempts.iter().next_back(), own.waited);
            if self.notes_paid && failed.partial.as_ref().is_some_and(|own| own.usage.is_some()) {
                self.goes_on = Some(own);
                return Err(self.failed(failed, call));
            }
            pause(own.waited).await;
            because = Because::Retry;
        }
    }

    /// Whether the call that failed last is to be tried again, as another request.
    pub(crate) fn goes_on(&self) -> bool {
        self.goes_on.is_some()
    }

    /// How long to wait before the next try, of this number after the first, which failed then;
    /// the failure, if there is none.
    fn wait(&self, failed: &Failed, (number, since): (u32, Instant)) -> Result<Duration, Failed> {
        let retries = &self.transport.0.retries;
        if !failed.is_retryable() || number > retries.most {
            return Err(failed.clone());
        }
        let own = retries.wait(number);
        let wait = match failed.asked_wait() {
            Some(asked) if asked > retries.longest_asked => {
                let (asked, most) = (seconds(asked), seconds(retries.longest_asked));
                let why = format!("it asks to wait {asked}, and at most {most} is allowed");
                return Err(failed.saying(&why));
            }
            // A little more than asked, so that not all come back at the same instant.
            Some(asked) => asked + own.min(retries.first_wait),
            None => own,
        };
        let over = self.total.filter(|total| Instant::now() + wait >= total.at);
        let bound = match over {
            Some(total) => format!("the total time-out of {}", seconds(total.after)),
            None if since.elapsed() + wait > retries.total => {
                let (past, most) = (seconds(since.elapsed()), seconds(retries.total));
                format!("the {most} for retries, {past} after the first failure")
            }
            None => return Ok(wait),
        };
        let wait = seconds(wait);
        Err(failed.saying(&format!("not tried again: a wait of {wait} goes past {bound}")))
    }

    /// What the last try costs on the cache.
    pub(crate) fn note_impact(&mut self, impact: &Impact) {
        if let Some(last) = self.attempts.last_mut() {
            last.impact = Some(Box::new(impact.clone()));
        }
    }

    fn failed(&self, failed: Failed, call: &Call) -> Error {
        Error::of(failed, call.name(), self.attempts.clone()).unseen(self.is_unseen)
    }
}

/// Waits before a try. Where there is nothing to wait for it does not: the shortest sleep lasts
/// until the clock's next tick, a millisecond later.
async fn pause(wait: Duration) {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::time::Duration;

    #[tokio::test]
    async fn a_first_try_does_not_wait_for_the_clock() {
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(super::pause(Duration::ZERO)).poll(&mut context).is_ready());
        assert!(pin!(super::pause(Duration::from_nanos(1))).poll(&mut context).is_pending());
    }
}
