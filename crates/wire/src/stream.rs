//! One driver for all streams.
//!
//! | what comes | what is done |
//! |---|---|
//! | bytes cut anywhere | they are put together until a frame is whole |
//! | an event that the family knows | it becomes deltas, and part of the reply |
//! | a text or a call of which no pieces came, only the whole | its pieces are told when the message is whole |
//! | an event that it does not know | it is handed on as it is, and changes nothing |
//! | an event that cannot be read | an error with its bytes |
//! | an error event of the API | an error with the API's words |
//! | `[DONE]` of a server whose API has no such event | nothing |
//! | anything after the event that ends the answer | it is not read: the answer has ended |
//! | the beginning of another answer before that | an error: two answers are never taken for one |
//! | the end of the connection before the end of the message, also inside an event | an error of kind `Cut`: a cut answer is never taken for a whole one |
//! | the end of the connection inside an event after the end of the message | the message; a usage that was in the event is unknown |
//! | bytes that are no events at all | an error with the first of them |
//! | a message that the API declares whole, and that says nothing | an empty reply: an answer may be empty, a stream may not |
//!
//! What came before an error or a cut is [`StreamDecoder::partial`]. The first error is the
//! last word: whatever comes after it, the same error is given again, so that the outcome
//! does not depend on how the bytes were cut.

use interleaf_model::{AssistantPart, Extra, Finish, Reply, Usage};

use crate::call_reader::Heard;
use crate::event_stream::EventStream;
use crate::pieces::Pieces;
use crate::reply_builder::ReplyBuilder;
use crate::sse::{Event, Sse};
use crate::{Decoder, Error, ErrorKind, Family, NameMap};

/// A piece of an answer, as it arrives. Parts are told apart by their index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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
        /// Its id. Empty if the API gives none, and neither the answer's id nor the number
        /// of the request tells this answer from others.
        id: String,
        /// The tool, by the name that the caller gave it.
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
    /// What a vendor attached to a part that begins now. Told only if it is
    /// [asked for](StreamDecoder::tell_parts).
    Begin {
        /// Which part.
        part: u64,
        /// What was attached.
        extra: Extra,
    },
    /// A part is whole: what was said of it before, and what no piece can say. Told only
    /// if it is [asked for](StreamDecoder::tell_parts).
    Part {
        /// Which part.
        part: u64,
        /// All of it.
        whole: AssistantPart,
    },
    /// What a vendor attached to the message as a whole. Told only if it is
    /// [asked for](StreamDecoder::tell_parts).
    Extra(Extra),
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
    decoder: Decoder,
    frames: Frames,
    machine: Box<dyn Machine>,
    reply: ReplyBuilder,
    /// The first error. An answer with a hole must not look like a whole one.
    failed: Option<Error>,
    pieces: Pieces,
    /// The texts in which calls are looked for.
    heard: Option<Heard>,
}

/// What is wrong with two answers in one stream.
pub(crate) const ANOTHER: &str = "another answer begins here, and a stream holds one";

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

    /// Takes `[DONE]`, which ends the streams of one family.
    fn done(&mut self) {}

    /// Whether the API has said that the message is whole.
    fn is_complete(&self) -> bool;

    /// Whether nothing more can be said in the message. What it cost may follow.
    fn has_said_all(&self) -> bool {
        self.is_complete()
    }

    /// Whether an event that follows a whole message may still be a part of it.
    fn may_say_more(&self) -> bool {
        false
    }

    /// Whether nothing that counts can follow.
    fn is_over(&self) -> bool {
        self.has_said_all()
    }

    /// Whether streams of this family say that nothing follows.
    fn has_end_mark(&self) -> bool {
        true
    }

    /// Adds the texts and thoughts that have begun and are not in the reply yet. Half of
    /// anything else is of no use.
    fn put_open(&self, _reply: &mut ReplyBuilder) {}
}

impl StreamDecoder {
    /// A decoder for an answer to a request whose tool names were rewritten so.
    pub fn new(family: Family, names: NameMap) -> Self {
        Self::of(Decoder::new(family, names))
    }

    pub(crate) fn of(decoder: Decoder) -> Self {
        let codec = decoder.family().codec();
        let frames = match codec.framing {
            Framing::Sse => Frames::Sse(Sse::default()),
            Framing::EventStream => Frames::EventStream(EventStream::default()),
        };
        let (machine, reply) = ((codec.machine)(), ReplyBuilder::default());
        let heard = decoder.reader().cloned().map(Heard::new);
        let pieces = Pieces::default();
        Self { decoder, frames, machine, reply, failed: None, pieces, heard }
    }

    /// Makes the deltas tell also what pieces cannot say: what is attached to a part,
    /// and each part once more when it is whole. Who writes the answer as another
    /// stream needs that.
    pub fn tell_parts(mut self) -> Self {
        self.reply.tell_parts(&self.decoder);
        self
    }

    /// Takes the next bytes and gives what they complete.
    ///
    /// # Errors
    /// If an event cannot be read, or is an error of the API's; from then on always. What
    /// came before it is [`partial`](Self::partial).
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Delta>, Error> {
        let mut deltas = Vec::new();
        self.push_into(bytes, &mut deltas).map(|()| deltas)
    }

    /// As [`push`](Self::push), and also gives what came before an error in the same bytes:
    /// who hands on the pieces does so whichever way the bytes were cut.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_into(&mut self, bytes: &[u8], deltas: &mut Vec<Delta>) -> Result<(), Error> {
        self.unless_failed(|stream| stream.take(Some(bytes), deltas))
    }

    /// Takes the end of the connection and gives the whole reply.
    ///
    /// # Errors
    /// If the message was not whole, or an error came before. What came of it is
    /// [`partial`](Self::partial).
    pub fn finish(&mut self) -> Result<Reply, Error> {
        self.unless_failed(Self::end)
    }

    /// Whether the API has said that nothing follows. A whole message may lack that: some servers
    /// never send the `[DONE]` of OpenAI Chat, and some connections break before it. A stream of
    /// Gemini's never says so.
    pub fn is_over(&self) -> bool {
        self.machine.is_over()
    }

    /// Whether the event by which streams of this API end has not come.
    pub fn lacks_end(&self) -> bool {
        self.machine.has_end_mark() && !self.machine.is_over()
    }

    /// Does a thing unless there was an error, and remembers the error if it is the first.
    fn unless_failed<T>(
        &mut self,
        todo: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let outcome = todo(self).map_err(|error| error.sealed(self.decoder.mask()));
        self.failed = outcome.as_ref().err().cloned();
        outcome
    }

    fn end(&mut self) -> Result<Reply, Error> {
        let taken = self.take(None, &mut Vec::new());
        if let Frames::Sse(sse) = &self.frames
            && let Some(strange) = sse.strange()
        {
            let rule =
                format!("the response contains no server-sent events; it begins with {strange}");
            return Err(Error::new(ErrorKind::Corrupt, rule));
        }
        // After the last whole event stands the beginning of another.
        let is_inside = match taken {
            Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Cut) => true,
            taken => taken.map(|()| false)?,
        };
        if is_inside && self.machine.is_complete() && self.machine.may_say_more() {
            let rule = "the connection ended inside an event: the answer is cut off";
            return Err(Error::new(ErrorKind::Cut, rule));
        }
        if self.partial().is_none() {
            let rule = match is_inside {
                true => "the connection ended inside the first event: there is no answer",
                false => "the stream is empty: there is no answer in it",
            };
            return Err(Error::new(ErrorKind::Cut, rule));
        }
        if !self.machine.is_complete() {
            let rule = "the connection ended before the message did: the answer is cut off";
            return Err(Error::new(ErrorKind::Cut, rule));
        }
        Ok(self.reply.clone().build(&self.decoder))
    }

    /// What has come so far, if anything has: after a cut or an error, what is left of the
    /// answer. Its finish is [`Finish::Cut`] unless the message is whole and no error came.
    ///
    /// A call stands in it only if it came whole; half a call is left out, and so is half
    /// of anything else but text and thinking.
    pub fn partial(&self) -> Option<Reply> {
        let mut reply = self.reply.clone();
        self.machine.put_open(&mut reply);
        if reply.is_untouched() {
            return None;
        }
        if self.failed.is_some() || !self.machine.is_complete() {
            reply.cut();
        }
        Some(reply.build(&self.decoder))
    }

    /// Takes bytes, or the end.
    fn take(&mut self, bytes: Option<&[u8]>, out: &mut Vec<Delta>) -> Result<(), Error> {
        if self.machine.is_over() {
            return Ok(());
        }
        let mut deltas = Vec::new();
        let Self { frames, machine, reply, decoder, failed: _, pieces, heard } = self;
        let mut each = |event: Event| {
            if machine.is_over() {
                return Ok(());
            }
            // Servers in front of an API send it whoever the API is.
            if event.data.trim() == "[DONE]" {
                machine.done();
                return Ok(());
            }
            let n_before = deltas.len();
            let taken = machine.event(&event, reply, &mut deltas);
            deltas.iter_mut().skip(n_before).for_each(|delta| delta.name_call(reply, decoder));
            taken
        };
        let taken = match (frames, bytes) {
            (Frames::Sse(sse), Some(bytes)) => sse.push(bytes, decoder.mask(), &mut each),
            (Frames::Sse(sse), None) => sse.finish(decoder.mask(), &mut each),
            (Frames::EventStream(frames), Some(bytes)) => frames.push(bytes, &mut each),
            (Frames::EventStream(frames), None) => frames.finish(),
        };
        // What cannot be read stands after the end.
        let taken = if machine.is_over() { Ok(()) } else { taken };
        let is_whole = taken.is_ok() && machine.is_complete();
        pieces.note(&deltas);
        if is_whole {
            let is_finish = |delta: &Delta| matches!(delta, Delta::Finish(_));
            let end = deltas.iter().position(is_finish).unwrap_or(deltas.len());
            let after = deltas.split_off(end);
            reply.complete(decoder, pieces, &mut deltas);
            deltas.extend(after);
            reply.all_whole(&mut deltas);
            reply.message_is_whole(&mut deltas);
        }
        if let Some(heard) = heard {
            let id = reply.spoken_id(decoder);
            deltas = heard.hear(deltas, &id);
            if is_whole {
                heard.end_all(&id, &mut deltas);
            }
        }
        out.append(&mut deltas);
        taken
    }
}

impl Delta {
    /// Gives a call the name that the caller knows, and an id if the API gave none and the
    /// reply will have one that no later piece changes.
    fn name_call(&mut self, reply: &ReplyBuilder, decoder: &Decoder) {
        let Self::Call { part, id, name } = self else { return };
        *name = decoder.names().original(name).to_string();
        if id.is_empty()
            && (reply.id.is_some() || decoder.request().is_some())
            && let Some(made) = reply.call_id(*part, decoder.request())
        {
            *id = made.to_string();
        }
    }
}
