//! A streamed answer: pieces while they come, and the whole reply at the end.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use interleaf::model::{PartRef, Reply};
use interleaf::wire::{Decoder, Delta, StreamDecoder};

use crate::answer::Answer;
use crate::failed::Failed;
use crate::incoming::Incoming;
use crate::{Attempts, Error, ErrorKind, Transport};

/// Reads a stream, piece by piece.
pub(crate) struct Pump {
    /// None once all is read, or something failed: the connection is closed then.
    incoming: Option<Incoming>,
    decoder: StreamDecoder,
    waiting: VecDeque<Delta>,
    /// A piece of content has come.
    has_content: bool,
    reply: Option<Reply>,
    failed: Option<Failed>,
    /// Whether the failure was handed on: it comes once, after all pieces.
    is_told: bool,
    /// How the stream ended, if that was before its end mark.
    pub(crate) ended_early: Option<String>,
}

impl Pump {
    pub(crate) fn new(incoming: Incoming, decoder: &Decoder) -> Self {
        let (waiting, decoder) = (VecDeque::new(), decoder.stream());
        let (incoming, ended_early) = (Some(incoming), None);
        let (reply, failed, is_told) = (None, None, false);
        let has_content = false;
        Self { incoming, decoder, waiting, has_content, reply, failed, is_told, ended_early }
    }

    /// An answer that came whole where a stream was asked for.
    pub(crate) fn of_whole(reply: Reply, ended_early: Option<String>, decoder: &Decoder) -> Self {
        let waiting = deltas(&reply);
        let (decoder, reply) = (decoder.stream(), Some(reply));
        let (incoming, failed, is_told) = (None, None, false);
        let has_content = true;
        Self { incoming, decoder, waiting, has_content, reply, failed, is_told, ended_early }
    }

    /// Reads up to the first piece of content: what fails before it was never handed on, so
    /// that the call may be tried again. What fails in the same bytes comes after the piece.
    pub(crate) async fn begin(&mut self, first: &[u8]) -> Result<(), Failed> {
        let mut read = self.push(first);
        while read.is_ok() && !self.has_content && self.reply.is_none() {
            read = self.advance().await;
        }
        // A text in which calls are looked for may be held back when it fails.
        let has_begun = || {
            let partial = self.decoder.partial();
            self.has_content || partial.is_some_and(|partial| !is_empty(&partial))
        };
        if read.is_err() && has_begun() { Ok(()) } else { read }
    }

    /// Reads all of it.
    pub(crate) async fn whole(&mut self) -> Result<Reply, Failed> {
        loop {
            self.waiting.clear();
            if let Some(reply) = self.reply.take() {
                return Ok(reply);
            }
            self.advance().await?;
        }
    }

    async fn advance(&mut self) -> Result<(), Failed> {
        std::future::poll_fn(|cx| self.poll_more(cx)).await
    }

    /// Takes the next bytes, or the end.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        let Some(incoming) = &mut self.incoming else {
            let over = || Failed::broken("there is no more");
            return Poll::Ready(Err(self.failed.clone().unwrap_or_else(over)));
        };
        Poll::Ready(match ready!(incoming.poll(cx)) {
            Some(Ok(piece)) => self.push(&piece),
            // A message that is whole may be followed by anything: a broken connection, one that
            // stays open, or more than is taken.
            end => self.end(end.and_then(Result::err)),
        })
    }

    /// Nothing more comes, for this reason if there is one.
    fn end(&mut self, why: Option<Failed>) -> Result<(), Failed> {
        match (self.decoder.finish(), why) {
            (Ok(reply), why) => {
                let is_over = self.decoder.is_over();
                let unmarked = || "the stream has no end mark".to_owned();
                self.ended_early = match why {
                    Some(why) => (!is_over).then_some(why.text),
                    None => self.decoder.lacks_end().then(unmarked),
                };
                self.reply = Some(reply);
                self.incoming = None;
                Ok(())
            }
            (Err(_), Some(why)) if why.kind != ErrorKind::Cut => Err(self.fail(why)),
            (Err(e), why) => {
                let mut failed = Failed::wire(&e, None);
                if let Some(why) = why {
                    failed.text = format!("{} ({})", failed.text, why.text);
                }
                Err(self.fail(failed))
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Failed> {
        let mut deltas = Vec::new();
        let pushed = self.decoder.push_into(bytes, &mut deltas);
        let is_content = |delta: &Delta| !matches!(delta, Delta::Usage(_) | Delta::Unknown { .. });
        self.has_content |= deltas.iter().any(is_content);
        self.waiting.extend(deltas);
        if let (true, Some(incoming)) = (self.decoder.is_over(), &mut self.incoming) {
            incoming.linger();
        }
        pushed.map_err(|e| self.fail(Failed::wire(&e, None)))
    }

    fn fail(&mut self, failed: Failed) -> Failed {
        self.incoming = None;
        self.failed = Some(failed.clone());
        failed
    }

    /// The next piece; none at the end.
    fn poll_delta(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Delta, Failed>>> {
        loop {
            if let Some(delta) = self.waiting.pop_front() {
                return Poll::Ready(Some(Ok(delta)));
            }
            if let Some(failed) = self.failed.clone().filter(|_| !self.is_told) {
                self.is_told = true;
                return Poll::Ready(Some(Err(failed)));
            }
            if self.reply.is_some() || self.incoming.is_none() {
                return Poll::Ready(None);
            }
            // A failure is told after what came before it.
            let _ = ready!(self.poll_more(cx));
        }
    }

    pub(crate) fn partial(&self) -> Option<Reply> {
        self.reply.clone().or_else(|| self.decoder.partial())
    }
}

/// Whether nothing was said, not even in thought.
pub(crate) fn is_empty(reply: &Reply) -> bool {
    let is_nothing = |part| matches!(part, PartRef::Text(text) if text.text.is_empty());
    reply.message.parts().all(is_nothing)
}

/// The pieces of a whole answer.
fn deltas(reply: &Reply) -> VecDeque<Delta> {
    let mut deltas = VecDeque::new();
    for (part, of) in (0..).zip(reply.message.parts()) {
        match of {
            PartRef::Text(text) => {
                deltas.push_back(Delta::Text { part, text: text.text.to_string() })
            }
            PartRef::Thinking(thinking) => {
                deltas.push_back(Delta::Thinking { part, text: thinking.text.to_string() });
            }
            PartRef::Call(call) => {
                let (id, name) = (call.id.to_string(), call.name.to_string());
                deltas.push_back(Delta::Call { part, id, name });
                deltas
                    .push_back(Delta::Arguments { part, text: call.arguments.as_str().to_owned() });
            }
            _ => {}
        }
    }
    deltas.extend(reply.usage.map(Delta::Usage));
    deltas.push_back(Delta::Finish(reply.finish.clone()));
    deltas
}

/// A streamed answer: a [`Stream`] of pieces. After the last one, [`finish`](Self::finish)
/// gives the whole answer. Dropping it closes the connection at once.
pub struct Streaming {
    pump: Pump,
    pub(crate) transport: Transport,
    pub(crate) vendor: interleaf::wire::Vendor,
    pub(crate) model: smol_str::SmolStr,
    pub(crate) attempts: Attempts,
}

impl Streaming {
    pub(crate) fn new(
        pump: Pump,
        transport: Transport,
        target: &interleaf::Target,
        attempts: Attempts,
    ) -> Self {
        let (vendor, model) = (target.vendor.clone(), target.options.model.clone());
        Self { pump, transport, vendor, model, attempts }
    }

    /// The next piece; none at the end. After an error there is nothing more.
    pub async fn next(&mut self) -> Option<Result<Delta, Error>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// What was tried until the first piece came.
    pub fn attempts(&self) -> &Attempts {
        &self.attempts
    }

    /// What has come so far: text and thinking, and only whole calls.
    pub fn partial(&self) -> Option<Reply> {
        self.pump.partial()
    }

    /// Closes the connection and gives what has come.
    pub fn cancel(mut self) -> Option<Reply> {
        self.stop()
    }

    pub(crate) fn stop(&mut self) -> Option<Reply> {
        self.pump.incoming = None;
        self.partial()
    }

    /// Reads what is left and gives the whole answer.
    ///
    /// # Errors
    /// If it is not whole. What came of it is [`Error::partial`].
    pub async fn finish(mut self) -> Result<Answer, Error> {
        self.drain().await
    }

    pub(crate) async fn drain(&mut self) -> Result<Answer, Error> {
        while let Some(piece) = self.next().await {
            piece?;
        }
        match (self.pump.reply.take(), self.pump.failed.clone()) {
            (Some(reply), _) => {
                let attempts = std::mem::take(&mut self.attempts);
                let answer = self.transport.answer(reply, &self.vendor.name, &self.model, attempts);
                Ok(Answer { ended_early: self.pump.ended_early.take(), ..answer })
            }
            (None, failed) => {
                Err(self.error(failed.unwrap_or_else(|| Failed::broken("it was closed"))))
            }
        }
    }

    fn error(&self, failed: Failed) -> Error {
        let name = (self.vendor.name.as_str(), self.model.as_str());
        let mut attempts = self.attempts.clone();
        if let Some(last) = attempts.last_mut() {
            last.failed_with(&failed);
        }
        Error::of(failed, name, attempts).with_partial(self.pump.partial())
    }
}

impl Stream for Streaming {
    type Item = Result<Delta, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.pump.poll_delta(cx));
        Poll::Ready(next.map(|piece| piece.map_err(|failed| self.error(failed))))
    }
}
