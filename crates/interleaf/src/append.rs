//! Appending what comes from outside: ids that are taken give way, and so does a writer
//! who is second.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use interleaf_conversation::Conversation;
use interleaf_model::{Message, MessageId, Reply};

use crate::read::Said;
use crate::{Error, Session};

/// Number of further attempts when others write at the same time.
const RETRIES: usize = 63;

/// What happens if another writer was first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// The messages come after those of the other.
    Retry,
    /// Nothing is written.
    Refuse,
}

/// Appends what was said in one transaction, and gives the log indices of the messages.
/// A message whose id the session has already gets another.
///
/// ```
/// use interleaf::{OnConflict, Session, append_said, read, store};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut session = Session::create(store::open("memory:").await?, "a title").await?;
/// let said = read::said(r#"[{"role": "user", "content": "hello"}]"#)?;
/// assert_eq!(append_said(&mut session, &said, OnConflict::Retry).await?, 0..1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// If a message may not be appended, or another writer was first and `on_conflict` says
/// to refuse.
pub async fn append_said(
    session: &mut Session,
    said: &Said,
    on_conflict: OnConflict,
) -> Result<Range<u32>, Error> {
    let times = match on_conflict {
        OnConflict::Retry => RETRIES,
        OnConflict::Refuse => 0,
    };
    session.retrying(times, async |session| append(session, said).await).await
}

async fn append(session: &mut Session, said: &Said) -> Result<Range<u32>, Error> {
    let first = session.conversation().log_len() as u32;
    match said {
        Said::Messages(messages) => {
            let messages = fitting(messages.clone(), session.conversation());
            session.append_all(messages).await?;
        }
        Said::Reply(reply) => {
            session.take(Reply::clone(reply)).await?;
        }
    }
    Ok(first..session.conversation().log_len() as u32)
}

/// The messages. One whose id is only its place in the file, or is taken, loses it; the
/// conversation then gives it another.
fn fitting(mut messages: Vec<Arc<Message>>, conversation: &Conversation) -> Vec<Arc<Message>> {
    let taken = conversation.log().map(|message| message.id.clone());
    let mut taken: HashSet<MessageId> = taken.collect();
    for (i, message) in messages.iter_mut().enumerate() {
        // A reader names messages by their place in the file, which is not this one.
        if message.id == MessageId::of_index(i) || taken.contains(&message.id) {
            Arc::make_mut(message).id = MessageId::default();
        }
        let id = match message.id.is_unassigned() {
            true => MessageId::of_index(conversation.log_len() + i),
            false => message.id.clone(),
        };
        taken.insert(id);
    }
    messages
}
