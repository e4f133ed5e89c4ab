//! Appending what comes from outside: ids that are taken give way, and so does a writer
//! who is second.

mod fitting;

use std::ops::Range;
use std::sync::Arc;

use interleaf_model::{Message, Reply, Role};

use self::fitting::Fitting;
use crate::read::{Renamed, Said};
use crate::session::{RETRIES, now};
use crate::{Error, InputFault, Session};

/// What happens if another writer was first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// The messages come after those of the other.
    Retry,
    /// Nothing is written.
    Refuse,
}

/// What was appended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendedSaid {
    /// Where the messages are in the log.
    pub indices: Range<u32>,
    /// Those of them that had the id of another message.
    pub renamed: Vec<Renamed>,
}

/// Appends what was said in one transaction. Of several messages, those whose id the session
/// has already get another; a single one is refused.
///
/// ```
/// use interleaf::{OnConflict, Session, append_said, read, store};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut session = Session::create(store::open("memory:").await?, "a title").await?;
/// let said = read::said(r#"[{"role": "user", "content": "hello"}]"#)?;
/// assert_eq!(append_said(&mut session, said, OnConflict::Retry).await?.indices, 0..1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// If a message may not be appended, or another writer was first and `on_conflict` says
/// to refuse.
pub async fn append_said(
    session: &mut Session,
    said: Said,
    on_conflict: OnConflict,
) -> Result<AppendedSaid, Error> {
    let times = match on_conflict {
        OnConflict::Retry => RETRIES,
        OnConflict::Refuse => 0,
    };
    match said {
        Said::Messages(messages) => {
            let mut messages = Fitting::of(messages);
            session.retrying(times, async |session| append(session, &mut messages).await).await
        }
        Said::Reply(reply) => {
            let take = async |session: &mut Session| {
                let first = session.conversation().log_len() as u32;
                session.take(Reply::clone(&reply)).await?;
                Ok(AppendedSaid { indices: indices(first, session), renamed: Vec::new() })
            };
            session.retrying(times, take).await
        }
    }
}

async fn append(session: &mut Session, said: &mut Fitting) -> Result<AppendedSaid, Error> {
    let first = session.conversation().log_len() as u32;
    let messages = said.fit(session.conversation(), now()?);
    let is_refused = |message: &Arc<Message>| message.role() == Role::User && message.is_blank();
    if let (Some(i), true) = (messages.iter().position(is_refused), messages.len() > 1) {
        let rule = "a user message must say something: its text is blank";
        let hint = "leave it out, or import all of it into a session of its own";
        let fault = InputFault::new(rule).at(format!("messages[{i}]")).with_hint(hint);
        return Err(fault.into());
    }
    session.append_all(messages.iter().cloned()).await?;
    let now = |index: u32| {
        let message = session.conversation().message(index);
        message.map(|message| message.id.clone()).unwrap_or_default()
    };
    let renamed = said.renamed().map(|(i, was)| {
        let index = first + i;
        Renamed { index, was: was.clone(), now: now(index) }
    });
    Ok(AppendedSaid { renamed: renamed.collect(), indices: indices(first, session) })
}

fn indices(first: u32, session: &Session) -> Range<u32> {
    first..session.conversation().log_len() as u32
}
