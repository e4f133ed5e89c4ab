//! A streamed answer.
//!
//! | what comes | what is done |
//! |---|---|
//! | a chunk with `choices` | its delta is added; `obfuscation` and the like are passed over |
//! | a chunk with no choice and `usage` | the usage is taken |
//! | an object with `error` | an error with the API's words |
//! | `[DONE]`, or the end of the connection after a `finish_reason` | the message is whole |
//! | the end of the connection inside an event after that | the same, unless every piece had a reason: then the answer is cut off |
//! | a choice that speaks under another `id` after a `finish_reason` | an error: another answer begins |
//! | any other object | it is handed on as it is |

use super::answer::{Answer, Piece, Read};
use crate::raw::is_object;
use crate::reply_builder::ReplyBuilder;
use crate::sse::Event;
use crate::stream::Machine;
use crate::{Delta, Error};

/// Reads the events of a stream.
pub(crate) fn machine() -> Box<dyn Machine> {
    Box::new(Chunks::default())
}

#[derive(Default)]
struct Chunks {
    answer: Answer,
    /// `[DONE]` has come.
    is_done: bool,
    /// The model has said why it stops. Some servers send nothing more.
    has_finished: bool,
    /// A piece came without a reason to stop, so that not every piece has one.
    has_open_piece: bool,
}

impl Machine for Chunks {
    fn event(
        &mut self,
        event: &Event,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        if event.data.trim().is_empty() {
            return Ok(());
        }
        let raw = event.json()?;
        let n_before = deltas.len();
        let read = if is_object(raw) {
            let read = self.answer.read(raw, Piece::Chunk, reply, deltas);
            read.map_err(|fault| event.faulty(fault))?
        } else {
            Read::Unknown
        };
        match read {
            Read::Answer => {
                self.has_finished = reply.finish.is_some();
                let is_usage = |delta: &Delta| matches!(delta, Delta::Usage(_));
                let is_said = !deltas[n_before..].iter().all(is_usage);
                self.has_open_piece |= !self.has_finished && is_said;
            }
            Read::Error(error) => return Err(error),
            Read::Unknown => {
                let Event { name, data } = event.clone();
                deltas.push(Delta::Unknown { event: name, data });
            }
        }
        Ok(())
    }

    fn done(&mut self) {
        self.is_done = true;
    }

    fn is_complete(&self) -> bool {
        self.is_done || self.has_finished
    }

    fn has_said_all(&self) -> bool {
        self.is_done
    }

    /// Some servers repeat the reason in every piece.
    fn may_say_more(&self) -> bool {
        !self.is_done && !self.has_open_piece
    }
}
