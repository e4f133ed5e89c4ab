//! What came of an answer, taken into its session.
//!
//! It is paid for: it waits longer than a request does for a store that another program holds.
//! If the session cannot keep it, the error says so beside all else that is known: how the answer
//! broke off, what was tried, and how the session was compacted before.

use std::sync::Arc;
use std::time::Duration;

use interleaf::model::{Finish, Message, Reply};
use interleaf::{Impact, Session};

use crate::compact::Room;
use crate::stream::is_empty;
use crate::{Answer, Error, Transport};

/// How long what is paid for waits for a store that another program holds.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Makes a change of a session, and again for as long as another program holds the store. A macro
/// and no function: a closure that borrows may not move between threads.
macro_rules! patiently {
    ($change:expr) => {{
        let began = tokio::time::Instant::now();
        loop {
            match $change {
                Err(error)
                    if $crate::keep::is_busy(&error)
                        && began.elapsed() < $crate::keep::LONGEST_WAIT =>
                {
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                }
                done => break done,
            }
        }
    }};
}

pub(crate) use patiently;

pub(crate) fn is_busy(error: &interleaf::Error) -> bool {
    error.as_store().is_some_and(|error| error.kind() == interleaf::store::ErrorKind::Busy)
}

impl Transport {
    /// Takes in an answer to a request that was noted and sent beside the session, while others
    /// used it. One that says nothing leaves what it cost. If another program holds the store,
    /// it waits for a while: the answer is paid for.
    ///
    /// # Errors
    /// If the session cannot keep it.
    pub async fn keep(
        session: &mut Session,
        reply: &Reply,
    ) -> Result<Option<Arc<Message>>, interleaf::Error> {
        keep(session, reply).await
    }
}

/// Takes in an answer, with what it took to get it.
pub(crate) async fn keep_answer(
    session: &mut Session,
    answer: Answer,
    impact: Impact,
    room: Room,
) -> Result<Answer, Error> {
    let (not_compacted, compactions) = (room.not_compacted(), room.done);
    match keep(session, &answer.reply).await {
        Ok(message) => {
            let impact = Some(impact);
            Ok(Answer { message, impact, compactions, not_compacted, ..answer })
        }
        Err(e) => Err(Error::not_kept(e, answer).with_compactions(compactions).losing(room.lost)),
    }
}

/// Takes in what came of an answer that broke off, if anything did.
pub(crate) async fn keep_part(session: &mut Session, error: Error, room: Room) -> Error {
    let kept = match error.partial() {
        Some(reply) => keep(session, reply).await,
        None => Ok(None),
    };
    let error = match kept {
        Ok(kept) => error.with_kept(kept),
        Err(e) => error.unkept(e),
    };
    error.with_compactions(room.done).losing(room.lost)
}

/// Takes in an answer. One that says nothing leaves what it cost.
async fn keep(
    session: &mut Session,
    reply: &Reply,
) -> Result<Option<Arc<Message>>, interleaf::Error> {
    if reply.finish == Finish::Cut && is_empty(reply) {
        return note_usage(session, reply).await.map(|()| None);
    }
    let taken = patiently!(session.take(reply.clone()).await);
    if taken.as_ref().is_err_and(|error| error.kind() == interleaf::ErrorKind::Overtaken) {
        // It was paid for all the same.
        note_usage(session, reply).await?;
    }
    taken.map(Some)
}

/// Notes what an answer cost of which nothing else is kept.
pub(crate) async fn note_usage(
    session: &mut Session,
    reply: &Reply,
) -> Result<(), interleaf::Error> {
    match (reply.request, reply.usage) {
        (Some(number), Some(usage)) => patiently!(session.note_usage(number, usage).await),
        _ => Ok(()),
    }
}
