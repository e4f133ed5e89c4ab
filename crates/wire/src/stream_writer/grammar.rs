//! What a family's stream is made of.

use interleaf_model::{Json, Usage};

use super::frames::Frames;
use crate::api_error::Wording;
use crate::write_answer::{AnswerHead, Said, Voice};

/// The order in which a family's events stand. The driver calls `start` once, then for
/// each part `begin`, any number of `more` and `end`, or `whole` alone, and last
/// `finish` or `fail` once.
pub(crate) trait Grammar: Send {
    /// What the stream can say.
    fn voice(&self) -> &'static Voice;

    /// Opens the stream. The usage is what is known so early.
    fn start(&mut self, head: &AnswerHead, usage: Option<Usage>, out: &mut Frames<'_>);

    /// A part begins. `own` is what its owner attached, as far as it is known.
    fn begin(&mut self, form: Form<'_>, own: Option<&Json>, out: &mut Frames<'_>);

    /// More of the part's text or arguments.
    fn more(&mut self, text: &str, out: &mut Frames<'_>);

    /// The part that began is whole.
    fn end(&mut self, said: &Said<'_>, out: &mut Frames<'_>);

    /// A part that comes at once: no text, thought or call.
    fn whole(&mut self, said: &Said<'_>, out: &mut Frames<'_>);

    /// Closes the stream.
    fn finish(&mut self, head: &AnswerHead, ending: &Ending<'_>, out: &mut Frames<'_>);

    /// Ends the stream with an error.
    fn fail(&mut self, head: &AnswerHead, error: &Wording<'_>, out: &mut Frames<'_>);

    /// Whether fields that were not known when a part began can still be written at
    /// its end.
    fn takes_late(&self, _own: &Json) -> bool {
        false
    }
}

/// What begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form<'a> {
    Text,
    Thinking,
    Call { id: &'a str, name: &'a str },
}

/// How an answer ends.
pub(crate) struct Ending<'a> {
    /// The API's word for why the model stopped.
    pub(crate) finish: &'a str,
    pub(crate) usage: Option<Usage>,
    /// What the owner attached to the message as a whole.
    pub(crate) own: Option<&'a Json>,
}
