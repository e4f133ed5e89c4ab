//! Messages whose id was another's.

use std::fmt;
use std::sync::Arc;

use interleaf_conversation::Conversation;
use interleaf_model::{Message, MessageId};

/// A message that came with the id of another, and got one of its own.
///
/// ```
/// let doubles = r#"{"interleaf": 1, "messages": [
///     {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "one"}]},
///     {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "two"}]}]}"#;
/// let reading = interleaf::read::conversation(doubles)?;
/// let told = "message 1 is now \"m1_2\": another message has its id \"m1\"";
/// assert_eq!(reading.renamed[0].to_string(), told);
/// # Ok::<(), interleaf::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renamed {
    /// Where it is in the log.
    pub index: u32,
    /// The id that it came with.
    pub was: MessageId,
    /// The id that it has.
    pub now: MessageId,
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, was, now } = self;
        write!(f, "message {index} is now {now:?}: another message has its id {was:?}")
    }
}

/// Which of these messages have another id in the conversation that they became.
pub(super) fn between(messages: &[Arc<Message>], conversation: &Conversation) -> Vec<Renamed> {
    let pairs = (0_u32..).zip(messages.iter().zip(conversation.log()));
    let changed = pairs.filter(|(_, (was, now))| was.id != now.id && !was.id.is_unassigned());
    let renamed = |(index, (was, now)): (u32, (&Arc<Message>, &Arc<Message>))| {
        let (was, now) = (was.id.clone(), now.id.clone());
        Renamed { index, was, now }
    };
    changed.map(renamed).collect()
}
