//! Appending what comes from outside: ids that are taken give way, and so does a writer
//! who is second.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use interleaf_conversation::Conversation;
use interleaf_model::{Message, MessageId};

use crate::read::Said;
use crate::{Error, ErrorKind, Session};

/// Number of attempts when others write at the same time.
const TRIES: usize = 64;

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
    let mut tries = 1;
    loop {
        match append(session, said).await {
            Err(e) if e.kind() == ErrorKind::Conflict && on_conflict == OnConflict::Retry => {
                if tries == TRIES {
                    return Err(e);
                }
                tries += 1;
                session.refresh().await?;
            }
            written => return written,
        }
    }
}

async fn append(session: &mut Session, said: &Said) -> Result<Range<u32>, Error> {
    let messages = match said {
        Said::Messages(messages) => messages.clone(),
        Said::Reply(reply) => vec![Arc::new(reply.message.clone())],
    };
    let n_messages = messages.len() as u32;
    let first = session.append_all(fitting(messages, session.conversation())).await?;
    if let Said::Reply(reply) = said
        && let Some(usage) = reply.usage
        && let Some(last) = session.head().next_request.checked_sub(1)
    {
        session.note_usage(last, usage).await?;
    }
    Ok(first..first + n_messages)
}

/// The messages, those without an id that is theirs alone to be named by their place.
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
