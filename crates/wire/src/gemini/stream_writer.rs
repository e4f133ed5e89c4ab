//! From the pieces of a reply to pieces of a `GenerateContentResponse`.
//!
//! Texts and thoughts go out as they come. A call goes out whole, and so does a text to
//! which something is attached: the API attaches it to these words alone.

use interleaf_model::{Json, Seal, Usage};

use super::answer_writer::{VOICE, end, part};
use super::error;
use crate::api_error::Wording;
use crate::stream_writer::{Ending, Form, Frames, Grammar};
use crate::write_answer::{AnswerHead, Own, Quoted, Said, Voice};

/// The grammar of this family's streams.
pub(crate) fn grammar() -> Box<dyn Grammar> {
    Box::new(Pieces::default())
}

#[derive(Default)]
struct Pieces {
    /// What every piece ends with.
    tail: String,
    open: Open,
}

/// What is done with the pieces of the open part.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// They wait for its end.
    #[default]
    Waits,
    Text,
    Thought,
}

impl Pieces {
    fn piece(&self, part: std::fmt::Arguments<'_>, out: &mut Frames<'_>) {
        let tail = &self.tail;
        out.event(
            "",
            format_args!(
                r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}},"index":0}}]{tail}"#
            ),
        );
    }
}

impl Grammar for Pieces {
    fn voice(&self) -> &'static Voice {
        &VOICE
    }

    fn start(&mut self, head: &AnswerHead, _: Option<Usage>, _: &mut Frames<'_>) {
        end(None, head, &mut self.tail);
    }

    fn begin(&mut self, form: Form<'_>, own: Option<&Json>, _: &mut Frames<'_>) {
        self.open = match form {
            Form::Text if own.is_none() => Open::Text,
            Form::Thinking if own.is_none() => Open::Thought,
            Form::Text | Form::Thinking | Form::Call { .. } => Open::Waits,
        };
    }

    fn more(&mut self, text: &str, out: &mut Frames<'_>) {
        let text = Quoted(text);
        match self.open {
            Open::Waits => {}
            Open::Text => self.piece(format_args!(r#"{{"text":{text}}}"#), out),
            Open::Thought => self.piece(format_args!(r#"{{"text":{text},"thought":true}}"#), out),
        }
    }

    fn end(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        match (self.open, said) {
            (Open::Waits, _) => self.whole(said, out),
            (Open::Thought, Said::Thinking { seal: Some(Seal::Signature(signature)), .. }) => {
                let signature = Quoted(signature);
                self.piece(
                    format_args!(r#"{{"text":"","thought":true,"thoughtSignature":{signature}}}"#),
                    out,
                );
            }
            (Open::Text | Open::Thought, _) => {}
        }
        self.open = Open::Waits;
    }

    fn whole(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        let mut text = String::new();
        part(said, &mut text);
        self.piece(format_args!("{text}"), out);
    }

    fn finish(&mut self, head: &AnswerHead, ending: &Ending<'_>, out: &mut Frames<'_>) {
        let mut tail = String::new();
        end(ending.usage, head, &mut tail);
        let (own, reason) = (Own::of(ending.own), Quoted(ending.finish));
        out.event(
            "",
            format_args!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":""}}],"role":"model"{own}}},"finishReason":{reason},"index":0}}]{tail}"#
            ),
        );
    }

    fn fail(&mut self, _: &AnswerHead, error: &Wording<'_>, out: &mut Frames<'_>) {
        out.event("", format_args!("{}", error::write(error)));
    }
}
