//! From a reply to the answer that an API would have given.
//!
//! ```text
//!   Reply ──▶ Tally ──▶ Said ──▶ <family>::answer_writer ──▶ body
//!               │         the parts that the API has a place for
//!               └──▶ what it has no place for
//! ```

mod json_text;
mod tally;
mod voice;

use interleaf_model::{AssistantPart, Body, Reply};
use smol_str::SmolStr;

pub(crate) use self::json_text::{OneLine, Own, Put, Quoted, QuotedOrNull};
pub(crate) use self::tally::{Kind, Said, Tally, refusal};
pub(crate) use self::voice::{Counts, FinishWords, Merges, Voice};
use crate::{Adjustment, Family};

/// What stands at the head of an answer beside what the model said.
///
/// ```
/// use interleaf_wire::AnswerHead;
///
/// let head = AnswerHead::default().id("msg_1").model("claude-sonnet-4-5").created(1_767_225_600);
/// # let _ = head;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AnswerHead {
    /// The answer's name; else the reply's own.
    pub id: Option<SmolStr>,
    /// The model's name; else the reply's own.
    pub model: Option<SmolStr>,
    /// When the answer was made, in seconds since 1970.
    pub created: u64,
    /// Whether a stream of OpenAI's chat ends with what it cost: the client asks for
    /// it with `stream_options.include_usage`.
    pub include_usage: bool,
}

impl AnswerHead {
    /// Sets the answer's name.
    pub fn id(mut self, id: impl Into<SmolStr>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the model's name.
    pub fn model(mut self, model: impl Into<SmolStr>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets when the answer was made, in seconds since 1970.
    pub fn created(mut self, seconds: u64) -> Self {
        self.created = seconds;
        self
    }

    /// Sets whether a stream of OpenAI's chat tells what it cost.
    pub fn include_usage(mut self, include: bool) -> Self {
        self.include_usage = include;
        self
    }

    /// The same head, with the reply's names where it has none.
    pub(crate) fn of(&self, reply: &Reply) -> Self {
        let mut head = self.clone();
        head.id = head.id.or_else(|| reply.id.clone());
        head.model = head.model.or_else(|| reply.model.clone());
        head
    }

    pub(crate) fn id_or(&self, unnamed: &'static str) -> &str {
        self.id.as_deref().unwrap_or(unnamed)
    }

    pub(crate) fn model_name(&self) -> &str {
        self.model.as_deref().unwrap_or("unknown")
    }
}

/// An answer, as an API would have given it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenAnswer {
    /// The body.
    pub body: String,
    /// What of the reply the API has no place for.
    pub adjustments: Vec<Adjustment>,
}

/// Writes a reply as the body of an answer.
///
/// What is read from the body is the reply, but for what `adjustments` tells.
///
/// ```
/// use interleaf_wire::{AnswerHead, Decoder, Family, NameMap, write_answer};
///
/// let chat = r#"{"id":"c1","model":"m","choices":[{"index":0,"finish_reason":"stop",
///     "message":{"role":"assistant","content":"Hello"}}]}"#;
/// let reply = Decoder::new(Family::OpenaiChat, NameMap::default()).whole(200, [], chat.as_bytes())?;
/// let written = write_answer(Family::Gemini, &reply, &AnswerHead::default());
/// let gemini = Decoder::new(Family::Gemini, NameMap::default());
/// let read = gemini.whole(200, [], written.body.as_bytes())?;
/// assert_eq!(read, reply);
/// # Ok::<(), interleaf_wire::Error>(())
/// ```
pub fn write_answer(family: Family, reply: &Reply, head: &AnswerHead) -> WrittenAnswer {
    let AnswerWriter { voice, write } = family.codec().answer_writer;
    let mut tally = Tally::new(voice);
    tally.names(reply);
    let body = write(reply, &head.of(reply), &mut tally);
    WrittenAnswer { body, adjustments: tally.adjustments.0 }
}

/// How a family's answers are written.
#[derive(Clone, Copy)]
pub(crate) struct AnswerWriter {
    /// What they can say.
    pub(crate) voice: &'static Voice,
    /// Writes the body of one.
    pub(crate) write: fn(&Reply, &AnswerHead, &mut Tally) -> String,
}

/// The parts of a reply.
pub(crate) fn parts(reply: &Reply) -> &[AssistantPart] {
    match &reply.message.body {
        Body::Assistant(parts) => parts,
        // A reply is the assistant's.
        Body::System(_) | Body::User(_) | Body::Tool(_) => &[],
    }
}
