//! The events of a stream: each is an answer in form, with the pieces that are new.

use super::answer::{Answer, Taken};
use crate::reply_builder::ReplyBuilder;
use crate::sse::Event;
use crate::stream::Machine;
use crate::{Delta, Error};

/// Reads the events of a stream.
pub(crate) fn machine() -> Box<dyn Machine> {
    Box::new(Answer::default())
}

impl Machine for Answer {
    fn event(
        &mut self,
        event: &Event,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let taken = self.take(event.json()?, reply, deltas);
        match taken.map_err(|fault| event.faulty(fault))? {
            Taken::Known => Ok(()),
            Taken::Unknown => {
                deltas.push(event.unknown());
                Ok(())
            }
            Taken::Refused(error) => Err(error),
        }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Some models and proxies give a reason to stop with every piece.
    fn has_said_all(&self) -> bool {
        false
    }

    fn may_say_more(&self) -> bool {
        true
    }

    fn has_end_mark(&self) -> bool {
        false
    }
}
