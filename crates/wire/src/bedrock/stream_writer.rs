//! From the pieces of a reply to the events of `ConverseStream`.

use interleaf_model::{Json, Seal, Source, Usage};
use serde_json::value::RawValue;

use super::answer_writer::{VOICE, costs, image_format};
use crate::api_error::Wording;
use crate::raw::{Fields, list};
use crate::stream_writer::{Ending, Form, Frames, Grammar};
use crate::write_answer::{AnswerHead, OneLine, Own, Quoted, Said, Voice};

/// The grammar of this family's streams.
pub(crate) fn grammar() -> Box<dyn Grammar> {
    Box::new(Blocks { index: 0, open: Open::Text })
}

/// A stream has fewer kinds of blocks than a whole answer, and no fields beside them.
/// Arguments are text here.
static STREAM_VOICE: Voice = Voice {
    file: |_| false,
    opaque: |value| {
        let mut own = Own::of(Some(value));
        STREAMED.iter().any(|kind| own.take(kind).is_some())
    },
    wraps: |_| false,
    part_fields: |_| false,
    message_fields: false,
    ..VOICE
};

/// Blocks without a word of ours that a stream can hold.
const STREAMED: [&str; 3] = ["citationsContent", "toolUse", "toolResult"];

struct Blocks {
    /// Of the block that is open or comes next.
    index: u64,
    open: Open,
}

#[derive(Clone, Copy)]
enum Open {
    Text,
    Thinking,
    Call,
}

impl Blocks {
    fn start_block(&mut self, start: std::fmt::Arguments<'_>, out: &mut Frames<'_>) {
        let index = self.index;
        out.event(
            "contentBlockStart",
            format_args!(r#"{{"contentBlockIndex":{index},"start":{{{start}}}}}"#),
        );
    }

    fn delta(&self, delta: std::fmt::Arguments<'_>, out: &mut Frames<'_>) {
        let index = self.index;
        out.event(
            "contentBlockDelta",
            format_args!(r#"{{"contentBlockIndex":{index},"delta":{{{delta}}}}}"#),
        );
    }

    fn stop_block(&mut self, out: &mut Frames<'_>) {
        let index = self.index;
        out.event("contentBlockStop", format_args!(r#"{{"contentBlockIndex":{index}}}"#));
        self.index += 1;
    }

    fn seal(&self, seal: &Seal, out: &mut Frames<'_>) {
        let (field, value) = match seal {
            Seal::Signature(signature) => ("signature", signature),
            Seal::Encrypted(data) => ("redactedContent", data),
        };
        let value = Quoted(value);
        self.delta(format_args!(r#""reasoningContent":{{"{field}":{value}}}"#), out);
    }

    fn citations(&self, block: &mut Own<'_>, out: &mut Frames<'_>) {
        for citation in elements(block.take("citations")) {
            self.delta(format_args!(r#""citation":{}"#, OneLine(citation.get())), out);
        }
    }

    /// A block that has no word of ours.
    fn opaque(&mut self, value: &Json, out: &mut Frames<'_>) {
        let mut own = Own::of(Some(value));
        let mut cited = own.take_object("citationsContent");
        for piece in elements(cited.take("content")) {
            if let Some(text) = Fields::read(piece).ok().and_then(|mut piece| piece.take("text")) {
                self.delta(format_args!(r#""text":{}"#, text.get()), out);
            }
        }
        self.citations(&mut cited, out);
        for (kind, field) in [("toolUse", "input"), ("toolResult", "content")] {
            let Some(block) = own.take(kind).and_then(|raw| Fields::read(raw).ok()) else {
                continue;
            };
            let mut block = Own::from(block);
            let content = block.take(field).map_or("{}", RawValue::get);
            let fields = block.to_string();
            let fields = fields.strip_prefix(',').unwrap_or_default();
            self.start_block(format_args!(r#""{kind}":{{{fields}}}"#), out);
            if kind == "toolUse" {
                let input = Quoted(content);
                self.delta(format_args!(r#""toolUse":{{"input":{input}}}"#), out);
            } else {
                self.delta(format_args!(r#""toolResult":{}"#, OneLine(content)), out);
            }
        }
        self.stop_block(out);
    }
}

fn elements(raw: Option<&RawValue>) -> Vec<&RawValue> {
    raw.and_then(|raw| list(raw).ok()).unwrap_or_default()
}

impl Grammar for Blocks {
    fn voice(&self) -> &'static Voice {
        &STREAM_VOICE
    }

    fn start(&mut self, _: &AnswerHead, _: Option<Usage>, out: &mut Frames<'_>) {
        out.event("messageStart", format_args!(r#"{{"role":"assistant"}}"#));
    }

    fn begin(&mut self, form: Form<'_>, _: Option<&Json>, out: &mut Frames<'_>) {
        self.open = match form {
            Form::Text => Open::Text,
            Form::Thinking => Open::Thinking,
            Form::Call { id, name } => {
                let (id, name) = (Quoted(id), Quoted(name));
                self.start_block(
                    format_args!(r#""toolUse":{{"toolUseId":{id},"name":{name}}}"#),
                    out,
                );
                Open::Call
            }
        };
    }

    fn more(&mut self, text: &str, out: &mut Frames<'_>) {
        let text = Quoted(text);
        match self.open {
            Open::Text => self.delta(format_args!(r#""text":{text}"#), out),
            Open::Thinking => {
                self.delta(format_args!(r#""reasoningContent":{{"text":{text}}}"#), out);
            }
            Open::Call => self.delta(format_args!(r#""toolUse":{{"input":{text}}}"#), out),
        }
    }

    fn end(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        match said {
            Said::Thinking { seal: Some(seal), .. } => self.seal(seal, out),
            // What began as a text turned out to be cited.
            Said::Opaque(value) => {
                let mut block = Own::of(Some(value)).take_object("citationsContent");
                self.citations(&mut block, out);
            }
            _ => {}
        }
        self.stop_block(out);
    }

    fn whole(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        match said {
            Said::Thinking { .. } => self.end(said, out),
            Said::Image { image, .. } => {
                if let (Some(format), Source::Base64(data)) = (image_format(image), &image.source) {
                    let (format, data) = (format.name, Quoted(data));
                    self.start_block(format_args!(r#""image":{{"format":"{format}"}}"#), out);
                    self.delta(format_args!(r#""image":{{"source":{{"bytes":{data}}}}}"#), out);
                    self.stop_block(out);
                }
            }
            Said::Opaque(value) => self.opaque(value, out),
            // These do not come at once, or have no place.
            Said::Text { .. } | Said::Call { .. } | Said::File { .. } | Said::Refusal(_) => {}
        }
    }

    fn finish(&mut self, _: &AnswerHead, ending: &Ending<'_>, out: &mut Frames<'_>) {
        let reason = Quoted(ending.finish);
        out.event("messageStop", format_args!(r#"{{"stopReason":{reason}}}"#));
        let mut told = String::new();
        costs(ending.usage.unwrap_or_default(), &mut told);
        out.event("metadata", format_args!("{{{told}}}"));
    }

    fn fail(&mut self, _: &AnswerHead, error: &Wording<'_>, out: &mut Frames<'_>) {
        let message = Quoted(&error.message);
        // Members of a stream are named in camel case.
        let (initial, rest) = error.code.split_at(error.code.ceil_char_boundary(1));
        let name = initial.to_ascii_lowercase() + rest;
        out.exception(&name, format_args!(r#"{{"message":{message}}}"#));
    }
}
