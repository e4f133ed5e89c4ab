//! From the pieces of a reply to the events of a response.
//!
//! Every event has the next sequence number; the last one repeats the whole response.

use std::borrow::Cow;
use std::fmt;

use interleaf_model::{Json, Usage};

use super::answer_writer::{
    Status, UNNAMED, VOICE, content_of, is_custom, is_text, item, item_id, message_head,
    message_id, response,
};
use crate::api_error::Wording;
use crate::raw::{Fields, list};
use crate::stream_writer::{Ending, Form, Frames, Grammar};
use crate::write_answer::{AnswerHead, Own, Put, Quoted, Said, Voice, refusal};

/// The grammar of this family's streams.
pub(crate) fn grammar() -> Box<dyn Grammar> {
    Box::new(Events::default())
}

#[derive(Default)]
struct Events {
    answer: String,
    sequence: u64,
    /// The items that are done, and how many there are.
    output: String,
    n_items: usize,
    message: Option<Message>,
    open: Open,
}

/// The message that more can be added to.
struct Message {
    id: String,
    /// It, up to its content, when it is done.
    head: String,
    content: String,
    n_parts: usize,
}

/// The part that grows.
#[derive(Default)]
enum Open {
    #[default]
    Nothing,
    Text,
    Thinking {
        id: String,
        /// Whether the summary comes in pieces; else it comes at the end.
        is_told: bool,
        has_part: bool,
    },
    Call {
        id: String,
        is_custom: bool,
    },
}

impl Events {
    fn event(&mut self, name: &str, rest: fmt::Arguments<'_>, out: &mut Frames<'_>) {
        let sequence = self.sequence;
        self.sequence += 1;
        out.event(name, format_args!(r#"{{"type":"{name}","sequence_number":{sequence},{rest}}}"#));
    }

    /// An event of the item that is open.
    fn of_item(&mut self, name: &str, id: &str, rest: fmt::Arguments<'_>, out: &mut Frames<'_>) {
        let (index, id) = (self.n_items, Quoted(id));
        self.event(name, format_args!(r#""item_id":{id},"output_index":{index}{rest}"#), out);
    }

    fn added(&mut self, item: fmt::Arguments<'_>, out: &mut Frames<'_>) {
        let index = self.n_items;
        let rest = format_args!(r#""output_index":{index},"item":{item}"#);
        self.event("response.output_item.added", rest, out);
    }

    fn done(&mut self, item: &str, out: &mut Frames<'_>) {
        let index = self.n_items;
        let rest = format_args!(r#""output_index":{index},"item":{item}"#);
        self.event("response.output_item.done", rest, out);
        if index > 0 {
            self.output.push(',');
        }
        self.output.push_str(item);
        self.n_items += 1;
    }

    /// A message that is open, for one more part.
    fn open_message(&mut self, item: Option<&Json>, out: &mut Frames<'_>) {
        let fields = || {
            let item = Own::of(item).take("item")?;
            Fields::read(item).ok().map(Own::from)
        };
        if fields().is_some() {
            self.end_message(out);
        }
        if self.message.is_some() {
            return;
        }
        let made = message_id(&self.answer, self.n_items);
        let id = fields().and_then(|mut own| own.take_text("id")).map_or(made, Cow::into_owned);
        let begun = message_head(&id, Some(r#""in_progress""#), fields().unwrap_or_default());
        let head = message_head(&id, None, fields().unwrap_or_default());
        self.added(format_args!(r#"{begun},"content":[]}}"#), out);
        self.message = Some(Message { id, head, content: String::new(), n_parts: 0 });
    }

    fn end_message(&mut self, out: &mut Frames<'_>) {
        if let Some(Message { head, content, .. }) = self.message.take() {
            self.done(&format!(r#"{head},"content":[{content}]}}"#), out);
        }
    }

    /// An event of the part of the message that is open.
    fn of_part(&mut self, name: &str, rest: fmt::Arguments<'_>, out: &mut Frames<'_>) {
        let Some(message) = &self.message else { return };
        let (id, index) = (message.id.clone(), message.n_parts);
        self.of_item(name, &id, format_args!(r#","content_index":{index},{rest}"#), out);
    }

    fn end_part(&mut self, part: &str, out: &mut Frames<'_>) {
        self.of_part("response.content_part.done", format_args!(r#""part":{part}"#), out);
        if let Some(message) = &mut self.message {
            if message.n_parts > 0 {
                message.content.push(',');
            }
            message.content.push_str(part);
            message.n_parts += 1;
        }
    }

    fn summary_part(&mut self, id: &str, at: usize, out: &mut Frames<'_>) {
        self.of_item(
            "response.reasoning_summary_part.added",
            id,
            format_args!(r#","summary_index":{at},"part":{{"type":"summary_text","text":""}}"#),
            out,
        );
    }

    fn summary_delta(&mut self, id: &str, at: usize, text: &str, out: &mut Frames<'_>) {
        let text = Quoted(text);
        self.of_item(
            "response.reasoning_summary_text.delta",
            id,
            format_args!(r#","summary_index":{at},"delta":{text}"#),
            out,
        );
    }

    fn end_summary(&mut self, id: &str, at: usize, text: &str, out: &mut Frames<'_>) {
        let text = Quoted(text);
        self.of_item(
            "response.reasoning_summary_text.done",
            id,
            format_args!(r#","summary_index":{at},"text":{text}"#),
            out,
        );
        self.of_item(
            "response.reasoning_summary_part.done",
            id,
            format_args!(r#","summary_index":{at},"part":{{"type":"summary_text","text":{text}}}"#),
            out,
        );
    }

    /// A part of a message that comes at once.
    fn whole_part(&mut self, said: &Said<'_>, part: &str, out: &mut Frames<'_>) {
        self.open_message(None, out);
        let words = match said {
            Said::Refusal(words) => Some(words.clone()),
            Said::Opaque(value) => refusal(value),
            _ => None,
        };
        let Some(words) = words else {
            self.of_part("response.content_part.added", format_args!(r#""part":{part}"#), out);
            self.end_part(part, out);
            return;
        };
        let empty = r#"{"type":"refusal","refusal":""}"#;
        self.of_part("response.content_part.added", format_args!(r#""part":{empty}"#), out);
        let words = Quoted(&words);
        self.of_part("response.refusal.delta", format_args!(r#""delta":{words}"#), out);
        self.of_part("response.refusal.done", format_args!(r#""refusal":{words}"#), out);
        self.end_part(part, out);
    }

    fn end_thinking(
        &mut self,
        said: &Said<'_>,
        (id, is_told, has_part): (&str, bool, bool),
        out: &mut Frames<'_>,
    ) {
        if has_part {
            self.end_summary(id, 0, said.text(), out);
        } else if !is_told {
            for (at, text) in summaries(said).iter().enumerate() {
                self.summary_part(id, at, out);
                self.summary_delta(id, at, text, out);
                self.end_summary(id, at, text, out);
            }
        }
        self.end_item(said, id, out);
    }

    fn end_call(&mut self, said: &Said<'_>, id: &str, begun_custom: bool, out: &mut Frames<'_>) {
        let Said::Call { call, own } = said else { return };
        // What it began as, it is.
        let own = own.filter(|own| is_custom(Some(own)) == begun_custom);
        let input = own.and_then(|own| Own::of(Some(own)).take_text("input"));
        let text = input.unwrap_or(Cow::Borrowed(call.arguments.as_str()));
        let (name, field) = if begun_custom {
            ("response.custom_tool_call_input.done", "input")
        } else {
            ("response.function_call_arguments.done", "arguments")
        };
        let text = Quoted(&text);
        self.of_item(name, id, format_args!(r#","{field}":{text}"#), out);
        self.end_item(&Said::Call { call, own }, id, out);
    }

    fn end_item(&mut self, said: &Said<'_>, id: &str, out: &mut Frames<'_>) {
        let mut whole = String::new();
        item(said, id, &mut whole);
        self.done(&whole, out);
    }
}

/// The summaries of a thought, as its item has them.
fn summaries<'a>(said: &'a Said<'_>) -> Vec<Cow<'a, str>> {
    let mut own = Own::of(said.own());
    match (own.take("summary"), own.take("content")) {
        (Some(summary), _) => {
            let text = |part| Fields::read(part).ok()?.take_text("text").ok()?;
            list(summary).unwrap_or_default().into_iter().filter_map(text).collect()
        }
        (None, None) if !said.text().is_empty() => vec![Cow::Borrowed(said.text())],
        (None, _) => Vec::new(),
    }
}

impl Grammar for Events {
    fn voice(&self) -> &'static Voice {
        &VOICE
    }

    fn start(&mut self, head: &AnswerHead, _: Option<Usage>, out: &mut Frames<'_>) {
        head.id_or(UNNAMED).clone_into(&mut self.answer);
        let mut empty = String::new();
        response(head, Status::InProgress, "", None, &mut empty);
        for name in ["response.created", "response.in_progress"] {
            self.event(name, format_args!(r#""response":{empty}"#), out);
        }
    }

    fn begin(&mut self, form: Form<'_>, own: Option<&Json>, out: &mut Frames<'_>) {
        if form == Form::Text {
            self.open_message(own, out);
            let part = r#"{"type":"output_text","text":"","annotations":[]}"#;
            self.of_part("response.content_part.added", format_args!(r#""part":{part}"#), out);
            self.open = Open::Text;
            return;
        }
        self.end_message(out);
        let own_id = Own::of(own).take_text("id");
        let made = |prefix: &str, at: usize| {
            format!("{prefix}_{}_{at}", self.answer.trim_start_matches("resp_"))
        };
        match form {
            Form::Text => {}
            Form::Thinking => {
                let id = own_id.map_or_else(|| made("rs", self.n_items), Cow::into_owned);
                // The API's own thoughts may have several summaries, which only their
                // end tells.
                let is_told = own.is_none();
                let quoted = Quoted(&id);
                self.added(
                    format_args!(r#"{{"type":"reasoning","id":{quoted},"summary":[]}}"#),
                    out,
                );
                self.open = Open::Thinking { id, is_told, has_part: false };
            }
            Form::Call { id: call, name } => {
                let is_custom = is_custom(own);
                let (kind, prefix, rest) = if is_custom {
                    ("custom_tool_call", "ctc", r#""input":"""#)
                } else {
                    ("function_call", "fc", r#""arguments":"","status":"in_progress""#)
                };
                let id = own_id.map_or_else(|| made(prefix, self.n_items), Cow::into_owned);
                let (quoted, call, name) = (Quoted(&id), Quoted(call), Quoted(name));
                self.added(
                    format_args!(
                        r#"{{"type":"{kind}","id":{quoted},"call_id":{call},"name":{name},{rest}}}"#
                    ),
                    out,
                );
                self.open = Open::Call { id, is_custom };
            }
        }
    }

    fn more(&mut self, text: &str, out: &mut Frames<'_>) {
        let mut open = std::mem::take(&mut self.open);
        match &mut open {
            Open::Nothing => {}
            Open::Text => {
                let text = Quoted(text);
                let rest = format_args!(r#""delta":{text},"logprobs":[]"#);
                self.of_part("response.output_text.delta", rest, out);
            }
            Open::Thinking { is_told: false, .. } => {}
            Open::Thinking { id, has_part, .. } => {
                if !std::mem::replace(has_part, true) {
                    self.summary_part(id, 0, out);
                }
                self.summary_delta(id, 0, text, out);
            }
            Open::Call { id, is_custom } => {
                let name = if *is_custom {
                    "response.custom_tool_call_input.delta"
                } else {
                    "response.function_call_arguments.delta"
                };
                let text = Quoted(text);
                self.of_item(name, id, format_args!(r#","delta":{text}"#), out);
            }
        }
        self.open = open;
    }

    fn end(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        match std::mem::take(&mut self.open) {
            Open::Nothing => {}
            Open::Text => {
                let text = Quoted(said.text());
                let rest = format_args!(r#""text":{text},"logprobs":[]"#);
                self.of_part("response.output_text.done", rest, out);
                if let Some((item, part)) = content_of(said) {
                    self.end_part(&part, out);
                    if let (Some(item), Some(message)) = (item, &mut self.message) {
                        message.head = message_head(&message.id, None, item.without("id"));
                    }
                }
            }
            Open::Thinking { id, is_told, has_part } => {
                self.end_thinking(said, (&id, is_told, has_part), out);
            }
            Open::Call { id, is_custom } => self.end_call(said, &id, is_custom, out),
        }
    }

    fn whole(&mut self, said: &Said<'_>, out: &mut Frames<'_>) {
        if let Said::Thinking { own, .. } = said {
            self.begin(Form::Thinking, *own, out);
            self.end(said, out);
            return;
        }
        if let Some((_, part)) = content_of(said) {
            let stands_alone = self.message.is_none() && !is_text(said);
            self.whole_part(said, &part, out);
            if stands_alone {
                self.end_message(out);
            }
            return;
        }
        self.end_message(out);
        let id = item_id(&self.answer, said, self.n_items);
        if let Said::Image { .. } = said {
            let id = Quoted(&id);
            self.added(
                format_args!(
                    r#"{{"type":"image_generation_call","id":{id},"status":"in_progress","result":null}}"#
                ),
                out,
            );
        } else {
            let mut begun = String::new();
            item(said, &id, &mut begun);
            self.added(format_args!("{begun}"), out);
        }
        self.end_item(said, &id, out);
    }

    fn finish(&mut self, head: &AnswerHead, ending: &Ending<'_>, out: &mut Frames<'_>) {
        self.end_message(out);
        let status = Status::Ended(ending.finish);
        let name = match status.words() {
            ("incomplete", _) => "response.incomplete",
            _ => "response.completed",
        };
        let mut whole = String::from(r#""response":"#);
        response(head, status, &self.output, ending.usage, &mut whole);
        self.event(name, format_args!("{whole}"), out);
    }

    fn fail(&mut self, head: &AnswerHead, error: &Wording<'_>, out: &mut Frames<'_>) {
        let mut whole = String::new();
        response(head, Status::Failed(error), &self.output, None, &mut whole);
        let mut rest = String::new();
        rest.put(format_args!(r#""response":{whole}"#));
        self.event("response.failed", format_args!("{rest}"), out);
    }

    /// The item at the end says everything again, but not another id or type.
    fn takes_late(&self, own: &Json) -> bool {
        let mut own = Own::of(Some(own));
        own.take("item").is_none() && own.take("id").is_none() && own.take("type").is_none()
    }
}
