//! From the pieces of a reply to the events of a message.

use interleaf_model::{Json, Seal, Usage};
use serde_json::value::RawValue;

use super::answer_writer::{UNNAMED, VOICE, block, counts, signature};
use super::error;
use crate::api_error::Wording;
use crate::arguments;
use crate::raw::list;
use crate::stream_writer::{Ending, Form, Frames, Grammar};
use crate::write_answer::{AnswerHead, OneLine, Own, Quoted, Said, Voice};

/// The grammar of this family's streams.
pub(crate) fn grammar() -> Box<dyn Grammar> {
    Box::new(Blocks { index: 0, delta: ("", ""), arguments: Pieces::GoOut })
}

/// Arguments that begin as an object are handed on as they come, even if they end as
/// none: the API does so too.
static STREAM_VOICE: Voice = Voice { wraps: |text| !begins_object(text), ..VOICE };

fn begins_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

struct Blocks {
    /// Of the block that is open or comes next.
    index: u64,
    /// The type of the block's deltas, and the field that holds the text.
    delta: (&'static str, &'static str),
    arguments: Pieces,
}

/// What is done with the pieces of a call's arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pieces {
    /// The first one tells.
    AreAwaited,
    GoOut,
    /// They are no object, and wait until they are whole and can be wrapped.
    Wait,
}

impl Blocks {
    fn start_block(&mut self, block: std::fmt::Arguments<'_>, out: &mut Frames<'_>) {
        let index = self.index;
        out.event(
            "content_block_start",
            format_args!(
                r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#
            ),
        );
    }

    fn delta(&self, kind: &str, field: &str, value: impl std::fmt::Display, out: &mut Frames<'_>) {
        let index = self.index;
        out.event(
            "content_block_delta",
            format_args!(
                r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{field}":{value}}}}}"#
            ),
        );
    }

    fn stop_block(&mut self, out: &mut Frames<'_>) {
        let index = self.index;
        out.event(
            "content_block_stop",
            format_args!(r#"{{"type":"content_block_stop","index":{index}}}"#),
        );
        self.index += 1;
    }
}

impl Grammar for Blocks {
    fn voice(&self) -> &'static Voice {
        &STREAM_VOICE
    }

    fn start(&mut self, head: &AnswerHead, usage: Option<Usage>, out: &mut Frames<'_>) {
        let (id, model) = (Quoted(head.id_or(UNNAMED)), Quoted(head.model_name()));
        // Nothing has been made yet.
        let usage = Usage { completion: 0, reasoning: 0, ..usage.unwrap_or_default() };
        let mut told = String::new();
        counts(usage, &mut told);
        out.event(
            "message_start",
            format_args!(
                r#"{{"type":"message_start","message":{{"id":{id},"type":"message","role":"assistant","model":{model},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{told}}}}}"#
            ),
        );
    }

    fn begin(&mut self, form: Form<'_>, own: Option<&Json>, out: &mut Frames<'_>) {
        let own = Own::of(own).without("citations");
        self.arguments = Pieces::GoOut;
        match form {
            Form::Text => {
                self.delta = ("text_delta", "text");
                self.start_block(format_args!(r#"{{"type":"text","text":""{own}}}"#), out);
            }
            Form::Thinking => {
                self.delta = ("thinking_delta", "thinking");
                let block =
                    format_args!(r#"{{"type":"thinking","thinking":"","signature":""{own}}}"#);
                self.start_block(block, out);
            }
            Form::Call { id, name } => {
                self.delta = ("input_json_delta", "partial_json");
                self.arguments = Pieces::AreAwaited;
                let (id, name) = (Quoted(id), Quoted(name));
                self.start_block(
                    format_args!(
                        r#"{{"type":"tool_use","id":{id},"name":{name},"input":{{}}{own}}}"#
                    ),
                    out,
                );
            }
        }
    }

    fn more(&mut self, text: &str, out: &mut Frames<'_>) {
        if self.arguments == Pieces::AreAwaited {
            let goes_out = begins_object(text);
            self.arguments = if goes_out { Pieces::GoOut } else { Pieces::Wait };
        }
        if self.arguments == Pieces::GoOut {
            let (kind, field) = self.delta;
            self.delta(kind, field, Quoted(text), out);
        }
    }

    fn end(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        match said {
            Said::Text { own, .. } => {
                let citations = Own::of(*own).take("citations").and_then(|raw| list(raw).ok());
                for citation in citations.unwrap_or_default() {
                    self.delta(
                        "citations_delta",
                        "citation",
                        OneLine(RawValue::get(citation)),
                        out,
                    );
                }
            }
            Said::Thinking { seal: Some(seal @ Seal::Signature(_)), .. } => {
                self.delta("signature_delta", "signature", Quoted(signature(Some(seal))), out);
            }
            Said::Call { call, .. } if self.arguments == Pieces::Wait => {
                let wrapped = arguments::as_object(&call.arguments);
                self.delta("input_json_delta", "partial_json", Quoted(&wrapped), out);
            }
            _ => {}
        }
        self.stop_block(out);
    }

    fn whole(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        if let Said::Thinking { seal: Some(Seal::Signature(_)) | None, own, .. } = said {
            self.begin(Form::Thinking, *own, out);
            self.end(said, out);
            return;
        }
        let mut text = String::new();
        block(said, &mut text);
        self.start_block(format_args!("{text}"), out);
        self.stop_block(out);
    }

    fn finish(&mut self, _: &AnswerHead, ending: &Ending<'_>, out: &mut Frames<'_>) {
        let mut told = String::new();
        counts(ending.usage.unwrap_or_default(), &mut told);
        let reason = Quoted(ending.finish);
        out.event(
            "message_delta",
            format_args!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":{reason},"stop_sequence":null}},"usage":{told}}}"#
            ),
        );
        out.event("message_stop", format_args!(r#"{{"type":"message_stop"}}"#));
    }

    fn fail(&mut self, _: &AnswerHead, error: &Wording<'_>, out: &mut Frames<'_>) {
        out.event("error", format_args!("{}", error::write(error)));
    }

    /// Citations come at the end of a text.
    fn takes_late(&self, own: &Json) -> bool {
        Own::of(Some(own)).without("citations").is_empty()
    }
}
