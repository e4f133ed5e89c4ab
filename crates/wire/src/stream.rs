//! One driver for all streams.
//!
//! | what comes | what is done |
//! |---|---|
//! | bytes cut anywhere | they are put together until a frame is whole |
//! | an event that the family knows | it becomes deltas, and part of the reply |
//! | an event that it does not know | it is handed on as it is, and changes nothing |
//! | an event that cannot be read | an error with its bytes |
//! | an error event of the API | an error with the API's words |
//! | the end of the connection before the end of the message | an error: a cut answer is never taken for a whole one |

use interleaf_model::{Finish, Reply, Usage};

use crate::event_stream::EventStream;
use crate::reply_builder::ReplyBuilder;
use crate::sse::{Event, Sse};
use crate::{Error, ErrorKind, Family, NameMap};

/// A piece of an answer, as it arrives. Parts are told apart by their index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// More text.
    Text {
        /// Of which part.
        part: u64,
        /// The text.
        text: String,
    },
    /// More of a thought.
    Thinking {
        /// Of which part.
        part: u64,
        /// The text.
        text: String,
    },
    /// A call begins.
    Call {
        /// Which part.
        part: u64,
        /// Its id; may be empty if the API gives none.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of a call's arguments.
    Arguments {
        /// Of which part.
        part: u64,
        /// The text.
        text: String,
    },
    /// What the request has cost so far; replaces what was reported before.
    Usage(Usage),
    /// Why the model stops.
    Finish(Finish),
    /// An event that we have no word for, as it came.
    Unknown {
        /// Its name; may be empty.
        event: String,
        /// Its data.
        data: String,
    },
}

/// Reads a streamed answer.
pub struct StreamDecoder {
    family: Family,
    frames: Frames,
    machine: Box<dyn Machine>,
    reply: ReplyBuilder,
    names: NameMap,
}

/// How a family's events are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Sse,
    /// AWS's binary frames.
    EventStream,
}

/// Frames that arrive.
enum Frames {
    Sse(Sse),
    EventStream(EventStream),
}

/// What a family makes of its events.
pub(crate) trait Machine: Send {
    /// Takes an event: adds to the reply, and says what came.
    fn event(
        &mut self,
        event: &Event,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Error>;

    /// Whether the API has said that the message is whole.
    fn is_complete(&self) -> bool;
}

impl StreamDecoder {
    /// A decoder for an answer to a request whose tool names were rewritten so.
    pub fn new(family: Family, names: NameMap) -> Self {
        let codec = family.codec();
        let frames = match codec.framing {
            Framing::Sse => Frames::Sse(Sse::default()),
            Framing::EventStream => Frames::EventStream(EventStream::default()),
        };
        let machine = (codec.machine)();
        Self { family, frames, machine, reply: ReplyBuilder::default(), names }
    }

    /// Takes the next bytes and gives what they complete.
    ///
    /// # Errors
    /// If an event cannot be read, or is an error of the API's.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Delta>, Error> {
        let mut deltas = Vec::new();
        let Self { frames, machine, reply, .. } = self;
        let mut each = |event: Event| machine.event(&event, reply, &mut deltas);
        match frames {
            Frames::Sse(sse) => sse.push(bytes, &mut each)?,
            Frames::EventStream(frames) => frames.push(bytes, &mut each)?,
        }
        Ok(deltas)
    }

    /// Takes the end of the connection and gives the whole reply.
    ///
    /// # Errors
    /// If the message was not whole.
    pub fn finish(mut self) -> Result<Reply, Error> {
        let mut deltas = Vec::new();
        let Self { frames, machine, reply, .. } = &mut self;
        let mut each = |event: Event| machine.event(&event, reply, &mut deltas);
        match frames {
            Frames::Sse(sse) => sse.finish(&mut each)?,
            Frames::EventStream(frames) => frames.finish()?,
        }
        if !self.machine.is_complete() {
            let rule = "the connection ended before the message did: the answer is cut";
            return Err(Error::new(ErrorKind::Cut, rule));
        }
        Ok(self.reply.build(&self.names, self.family.owner()))
    }
}
