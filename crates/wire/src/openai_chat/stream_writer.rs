//! From the pieces of a reply to chunks.

use std::fmt;

use interleaf_model::{Json, Usage};

use super::answer_writer::{CallForm, Joints, Signature, UNNAMED, VOICE, counts, picture};
use super::error;
use crate::api_error::Wording;
use crate::stream_writer::{Ending, Form, Frames, Grammar};
use crate::write_answer::{AnswerHead, Kind, Own, Put, Quoted, Said, Voice};

/// The grammar of this family's streams.
pub(crate) fn grammar() -> Box<dyn Grammar> {
    Box::new(Chunks::default())
}

#[derive(Default)]
struct Chunks {
    /// What every chunk begins with.
    head: String,
    joints: Joints,
    open: Option<Open>,
    n_calls: usize,
}

/// The part that grows.
#[derive(Clone, Copy)]
enum Open {
    Text,
    Thinking,
    /// Where the arguments stand.
    Call {
        field: &'static str,
        input: &'static str,
    },
}

impl Chunks {
    fn chunk(&self, delta: fmt::Arguments<'_>, out: &mut Frames<'_>) {
        let head = &self.head;
        out.event(
            "",
            format_args!(
                r#"{head},"choices":[{{"index":0,"delta":{{{delta}}},"logprobs":null,"finish_reason":null}}]}}"#
            ),
        );
    }
}

impl Grammar for Chunks {
    fn voice(&self) -> &'static Voice {
        &VOICE
    }

    fn start(&mut self, head: &AnswerHead, _: Option<Usage>, out: &mut Frames<'_>) {
        let (id, model) = (Quoted(head.id_or(UNNAMED)), Quoted(head.model_name()));
        let created = head.created;
        self.head.put(format_args!(
            r#"{{"id":{id},"object":"chat.completion.chunk","created":{created},"model":{model}"#
        ));
        self.chunk(format_args!(r#""role":"assistant","content":"","refusal":null"#), out);
    }

    fn begin(&mut self, form: Form<'_>, own: Option<&Json>, out: &mut Frames<'_>) {
        let (open, kind) = match form {
            Form::Text => (Open::Text, Kind::Text),
            Form::Thinking => (Open::Thinking, Kind::Thinking),
            Form::Call { id, name } => {
                let CallForm { kind, field, input, inner, rest } = CallForm::of(own);
                let (index, id, name) = (self.n_calls, Quoted(id), Quoted(name));
                self.chunk(
                    format_args!(
                        r#""tool_calls":[{{"index":{index},"id":{id},"type":"{kind}","{field}":{{"name":{name},"{input}":""{inner}}}{rest}}}]"#
                    ),
                    out,
                );
                (Open::Call { field, input }, Kind::Call)
            }
        };
        self.open = Some(open);
        let joint = self.joints.before(kind);
        if !joint.is_empty() {
            self.more(joint, out);
        }
    }

    fn more(&mut self, text: &str, out: &mut Frames<'_>) {
        let text = Quoted(text);
        match self.open {
            Some(Open::Text) => self.chunk(format_args!(r#""content":{text}"#), out),
            Some(Open::Thinking) => {
                self.chunk(format_args!(r#""reasoning_content":{text}"#), out);
            }
            Some(Open::Call { field, input }) => {
                let index = self.n_calls;
                self.chunk(
                    format_args!(
                        r#""tool_calls":[{{"index":{index},"{field}":{{"{input}":{text}}}}}]"#
                    ),
                    out,
                );
            }
            None => {}
        }
    }

    fn end(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        self.open = None;
        if let Said::Call { call, .. } = said {
            let signature = Signature(call).to_string();
            if !signature.is_empty() {
                let index = self.n_calls;
                self.chunk(format_args!(r#""tool_calls":[{{"index":{index},"function":{{"arguments":""}}{signature}}}]"#), out);
            }
            self.n_calls += 1;
        }
    }

    fn whole(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        match said {
            Said::Refusal(words) => {
                self.joints.before(Kind::Refusal);
                self.chunk(format_args!(r#""refusal":{}"#, Quoted(words)), out);
            }
            Said::Image { image, .. } => {
                self.joints.before(Kind::Other);
                let mut url = String::new();
                picture(image, &mut url);
                self.chunk(format_args!(r#""images":[{url}]"#), out);
            }
            // There is no place for these.
            Said::Text { .. }
            | Said::Thinking { .. }
            | Said::Call { .. }
            | Said::File { .. }
            | Said::Opaque(_) => {}
        }
    }

    fn finish(&mut self, answer: &AnswerHead, ending: &Ending<'_>, out: &mut Frames<'_>) {
        if ending.own.is_some() {
            // The role is said once: readers put all texts of a delta together.
            let own = Own::of(ending.own).to_string();
            self.chunk(format_args!("{}", own.strip_prefix(',').unwrap_or_default()), out);
        }
        let (head, reason) = (&self.head, Quoted(ending.finish));
        out.event(
            "",
            format_args!(
                r#"{head},"choices":[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":{reason}}}]}}"#
            ),
        );
        if let Some(usage) = ending.usage.filter(|_| answer.include_usage) {
            let mut told = String::new();
            counts(usage, &mut told);
            out.event("", format_args!(r#"{head},"choices":[],"usage":{told}}}"#));
        }
        out.event("", format_args!("[DONE]"));
    }

    fn fail(&mut self, _: &AnswerHead, error: &Wording<'_>, out: &mut Frames<'_>) {
        out.event("", format_args!("{}", error::write(error)));
    }
}
