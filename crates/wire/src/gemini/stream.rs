//! The events of a stream: each is an answer in form, with the pieces that are new.

use serde_json::value::RawValue;

use super::answer::{Answer, Taken};
use crate::reply_builder::ReplyBuilder;
use crate::sse::Event;
use crate::stream::Machine;
use crate::{Delta, Error, ErrorKind};

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
        let data = event.data.as_str();
        let unknown = || Delta::Unknown { event: event.name.clone(), data: data.to_owned() };
        let corrupt = |what: &str| {
            Error::new(ErrorKind::Corrupt, format!("an event cannot be read: {what}: {data:?}"))
        };
        let raw: &RawValue = serde_json::from_str(data).map_err(|e| corrupt(&e.to_string()))?;
        let taken = self.take(raw, reply, deltas);
        match taken.map_err(|fault| corrupt(&fault.locate(data).to_string()))? {
            Taken::Known => Ok(()),
            Taken::Unknown => {
                deltas.push(unknown());
                Ok(())
            }
            Taken::Refused(error) => Err(error),
        }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}
