//! A session's next request, sent, and its answer, taken in.
//!
//! | what happens | what the session has then |
//! |---|---|
//! | an answer comes whole | the message, its usage and its finish, in one commit |
//! | a stream breaks off, or is cancelled | the text and the whole calls that came, marked as cut |
//! | it breaks off before anything was said | the request, and its usage if that was told |
//! | it is not sent, or refused by its status | the request, as one that no model saw |
//! | the call is dropped | the request, of unknown usage |
//! | it breaks off before anything was said, and is tried again | a request for each try whose usage was told, and one answer |
//! | the target gives way to the next | a request for each, its usage if that was told, and one answer |
//! | what came cannot be kept | the request; the error has what came, and all else that is known |

use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use interleaf::assemble::Recipe;
use interleaf::model::{MessageId, PartRef};
use interleaf::wire::Delta;
use interleaf::{GoesOn, Impact, Next, Request, Session, StoredAnswers, Target, waiting_for};

use crate::answer::Answer;
use crate::attempt::Because;
use crate::compact::{Overflows, Room};
use crate::exchange::Begun;
use crate::failed::Failed;
use crate::keep::{keep_answer, keep_part, note_usage};
use crate::tries::Course;
use crate::{Attempts, Call, CompactionDone, Error, ErrorKind, Streaming, Transport};

impl Transport {
    /// Makes a session's next request, sends it and takes in the answer.
    ///
    /// # Errors
    /// If no request can be made, there is no answer after all tries, or the session cannot
    /// keep it.
    pub async fn ask(
        &self,
        session: &mut Session,
        recipe: &Recipe,
        target: &Target,
    ) -> Result<Answer, Error> {
        self.ask_any(session, recipe, std::slice::from_ref(target)).await
    }

    /// As [`ask`](Self::ask), of the first of these targets that gives an answer.
    ///
    /// The next one is asked if what is wrong is the vendor and not the request. What that
    /// costs on its cache stands in the [`Attempts`].
    ///
    /// # Errors
    /// As [`ask`](Self::ask); with the last target's failure.
    pub async fn ask_any(
        &self,
        session: &mut Session,
        recipe: &Recipe,
        targets: &[Target],
    ) -> Result<Answer, Error> {
        self.ask_in_pieces(session, recipe, targets).await?.finish().await
    }

    /// As [`ask_any`](Self::ask_any), and as [`ask_streaming`](Self::ask_streaming) hands on what
    /// came, all at once, without asking for a stream.
    ///
    /// # Errors
    /// As [`ask_any`](Self::ask_any).
    pub async fn ask_in_pieces<'s>(
        &self,
        session: &'s mut Session,
        recipe: &Recipe,
        targets: &[Target],
    ) -> Result<Asking<'s>, Error> {
        let asked = self.begin(session, recipe, targets, false).await?;
        Ok(asked.into_session(self, session))
    }

    /// As [`ask_any`](Self::ask_any), and hands on the pieces while they come. The session
    /// takes the answer in with [`Asking::finish`] or [`Asking::cancel`].
    ///
    /// # Errors
    /// As [`ask_any`](Self::ask_any), up to the first piece.
    pub async fn ask_streaming<'s>(
        &self,
        session: &'s mut Session,
        recipe: &Recipe,
        targets: &[Target],
    ) -> Result<Asking<'s>, Error> {
        let asked = self.begin(session, recipe, targets, true).await?;
        Ok(asked.into_session(self, session))
    }

    /// Makes requests and sends them until an answer begins.
    async fn begin(
        &self,
        session: &mut Session,
        recipe: &Recipe,
        targets: &[Target],
        streams: bool,
    ) -> Result<Asked, Error> {
        let mut course = Course::new(self, streams).noting_paid();
        let mut room = Room::default();
        let begun = self.begin_any(session, recipe, targets, (&mut course, &mut room)).await;
        match begun {
            Ok(asked) => Ok(Asked { room, ..asked }),
            Err(error) => Err(keep_part(session, error, room).await),
        }
    }

    /// Begins at the first target that gives an answer.
    async fn begin_any(
        &self,
        session: &mut Session,
        recipe: &Recipe,
        targets: &[Target],
        (course, room): (&mut Course, &mut Room),
    ) -> Result<Asked, Error> {
        Error::unless_model(targets)?;
        if let Some(target) = targets.first() {
            let own = (recipe, target);
            self.compact_before(session, own, course.total, room).await?;
        }
        for (n, target) in targets.iter().enumerate() {
            let because = if n == 0 { Because::First } else { Because::FallBack };
            let is_last = n + 1 == targets.len();
            let mut target = target.clone();
            target.options.stream |= course.streams;
            match self.begin_in_room(session, recipe, &mut target, (because, course), room).await {
                Err(error) if error.is_vendors() && !is_last => {
                    self.tell_fall_back(&error, &targets[n + 1]);
                    if let Some(reply) = error.partial() {
                        // A store that does not take this takes no other request either.
                        let _ = note_usage(session, reply).await;
                    }
                }
                done => return done,
            }
        }
        Err(Error::of_nobody())
    }

    /// Begins at a target, and makes room if the request is too long for it.
    async fn begin_in_room(
        &self,
        session: &mut Session,
        recipe: &Recipe,
        target: &mut Target,
        (mut because, course): (Because, &mut Course),
        room: &mut Room,
    ) -> Result<Asked, Error> {
        let mut recipe = Cow::Borrowed(recipe);
        // Each target has its own: what was too long for another says nothing of this one.
        let mut overflows = Overflows::default();
        loop {
            let error = match self.begin_at(session, &recipe, target, because, course).await {
                Ok(asked) => return Ok(asked),
                Err(error) => error,
            };
            overflows.made_as(because);
            let own = (&*recipe, &*target);
            let made = self.make_room(session, own, &error, course.total, (&mut overflows, room));
            match made.await {
                Ok(Some((smaller, why))) => (recipe, because) = (Cow::Owned(smaller), why),
                Ok(None) => return Err(overflows.told(error)),
                Err(error) => {
                    return Err(overflows.told(error.with_attempts(course.attempts.clone())));
                }
            }
        }
    }

    async fn begin_at(
        &self,
        session: &mut Session,
        recipe: &Recipe,
        target: &mut Target,
        mut because: Because,
        course: &mut Course,
    ) -> Result<Asked, Error> {
        let is_fall_back = because == Because::FallBack;
        loop {
            course.check(target, because).await?;
            // On the heap: what makes a request is large, and stands deep in what sends it.
            let recorded = Box::pin(record(session, recipe, target, &course.attempts));
            let request = course.in_time(target, recorded).await??;
            let call = Call::of(&request, target);
            let begun = course.run(&call, because).await;
            if is_fall_back && because == Because::FallBack {
                course.note_impact(&request.impact);
            }
            if let (Err(_), true, Some(number)) = (&begun, course.is_unseen, request.number) {
                // Why there is no answer says more than why that cannot be noted.
                let _ = session.note_unseen(number).await;
            }
            match begun {
                Err(error) if course.goes_on() => {
                    if let Some(reply) = error.partial() {
                        // A store that does not take this takes no other request either.
                        let _ = note_usage(session, reply).await;
                    }
                    because = Because::Retry;
                }
                Ok(begun) => {
                    let attempts = std::mem::take(&mut course.attempts);
                    let (changed, room) = (request.changes_line(), Room::default());
                    let impact = request.impact;
                    return Ok(Asked { begun, call, impact, changed, attempts, room });
                }
                Err(error)
                    if error.failed().is_signature() && because != Because::WithoutThinking =>
                {
                    let thinking = thoughtful(session);
                    if thinking.is_empty() {
                        return Err(error);
                    }
                    target.options.unbound_thinking.extend(thinking);
                    because = Because::WithoutThinking;
                }
                Err(error)
                    if error.failed().is_unknown_answer()
                        && matches!(request.impact.goes_on, Some(GoesOn::From { .. })) =>
                {
                    // All is said once, which goes on from nothing.
                    target.stored = StoredAnswers::Anew;
                    because = Because::WholeHistory;
                }
                Err(error) => return Err(error.with_attempts(course.attempts.clone())),
            }
        }
    }
}

/// A request whose answer has begun.
struct Asked {
    begun: Begun,
    call: Call,
    impact: Impact,
    changed: Option<String>,
    attempts: Attempts,
    room: Room,
}

impl Asked {
    fn into_session<'s>(self, transport: &Transport, session: &'s mut Session) -> Asking<'s> {
        let Self { begun, call, impact, changed, attempts, room } = self;
        let streaming = transport.streaming(begun, &call, attempts);
        Asking { session, streaming, impact, changed, room }
    }
}

/// Makes and notes the session's next request.
async fn record(
    session: &mut Session,
    recipe: &Recipe,
    target: &Target,
    attempts: &Attempts,
) -> Result<Request, Error> {
    let name = (target.vendor.name.as_str(), target.options.model.as_str());
    let next = session.record(recipe, target).await;
    match next.map_err(|e| Error::in_session(e, name).with_attempts(attempts.clone()))? {
        Next::Send(request) => Ok(*request),
        Next::Wait(calls) => {
            let text = waiting_for(calls.iter().map(|open| &open.call));
            Err(Error::of(Failed::new(ErrorKind::Waiting, text), name, attempts.clone()))
        }
        _ => {
            let failed = Failed::new(ErrorKind::Request, "the session has no request to send");
            Err(Error::of(failed, name, attempts.clone()))
        }
    }
}

/// The messages of a session that hold thinking.
fn thoughtful(session: &Session) -> Vec<MessageId> {
    let is_thought = |part: PartRef<'_>| matches!(part, PartRef::Thinking(_));
    let messages = session.conversation().visible();
    let thoughtful = messages.filter(|message| message.parts().any(is_thought));
    thoughtful.map(|message| message.id.clone()).collect()
}

/// A streamed answer on its way into a session: a [`Stream`] of pieces.
///
/// [`finish`](Self::finish) reads the rest and takes the answer in, [`cancel`](Self::cancel)
/// ends it and takes in what came. Dropping it closes the connection at once; the session then
/// has the request without an answer, and goes on from there.
pub struct Asking<'s> {
    session: &'s mut Session,
    streaming: Streaming,
    impact: Impact,
    changed: Option<String>,
    room: Room,
}

impl Asking<'_> {
    /// The next piece; none at the end. After an error there is nothing more.
    pub async fn next(&mut self) -> Option<Result<Delta, Error>> {
        self.streaming.next().await
    }

    /// What was tried until the first piece came.
    pub fn attempts(&self) -> &Attempts {
        self.streaming.attempts()
    }

    /// What the request had in common with the one before.
    pub fn impact(&self) -> &Impact {
        &self.impact
    }

    /// What was changed to make the request, in one line, as [`Request::changes_line`] tells it.
    pub fn changed(&self) -> Option<&str> {
        self.changed.as_deref()
    }

    /// How the session was compacted before it.
    pub fn compactions(&self) -> &[CompactionDone] {
        &self.room.done
    }

    /// Reads what is left and takes in the answer.
    ///
    /// # Errors
    /// If it is not whole: what came of it is kept, as [`Error::kept`] shows. Or if the session
    /// cannot keep it, which hides nothing else that is known.
    pub async fn finish(mut self) -> Result<Answer, Error> {
        match self.streaming.drain().await {
            Ok(answer) => keep_answer(self.session, answer, self.impact, self.room).await,
            Err(error) => Err(keep_part(self.session, error, self.room).await),
        }
    }

    /// Closes the connection and takes in what came; `None`, if that was nothing.
    ///
    /// # Errors
    /// If the session cannot keep it.
    pub async fn cancel(mut self) -> Result<Option<Answer>, Error> {
        let Some(reply) = self.streaming.stop() else { return Ok(None) };
        let Streaming { transport, vendor, model, attempts, .. } = self.streaming;
        let answer = transport.answer(reply, &vendor.name, &model, attempts);
        keep_answer(self.session, answer, self.impact, self.room).await.map(Some)
    }
}

impl Stream for Asking<'_> {
    type Item = Result<Delta, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.streaming).poll_next(cx)
    }
}
