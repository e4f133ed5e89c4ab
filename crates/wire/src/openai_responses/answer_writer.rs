//! From a reply to a response object.
//!
//! Each part is an item, but texts, refusals and parts of a content that follow each
//! other: they are one message, until a text says that it began another.

use std::borrow::Cow;

use interleaf_model::{Image, Json, Reply, Seal, Source, ToolCall, Usage};
use serde_json::value::RawValue;

use super::{OWNER, WRAPPED_PART, is_part_type};
use crate::api_error::Wording;
use crate::raw::Fields;
use crate::write_answer::{
    AnswerHead, AnswerWriter, Counts, FinishWords, Merges, OneLine, Own, Put, Quoted, Said, Tally,
    Voice, parts,
};

/// Writes answers.
pub(super) const WRITER: AnswerWriter = AnswerWriter { voice: &VOICE, write };

/// The name of an answer that has none.
pub(super) const UNNAMED: &str = "resp_unnamed";

/// A thought can be encrypted, its summary beside it. A picture is the result of a
/// tool that the API runs.
pub(super) const VOICE: Voice = Voice {
    owner: OWNER,
    seals: |_, seal| matches!(seal, Seal::Encrypted(data) if !data.is_empty()),
    image: |image| image_format(image).is_some(),
    file: |_| false,
    opaque: Json::is_object,
    refusals: true,
    wraps: |_| false,
    part_fields: |_| true,
    lends: None,
    message_fields: false,
    named: true,
    merges: Merges::Nothing,
    finish: FinishWords {
        stop: "completed",
        length: "max_output_tokens",
        tool_calls: "completed",
        content_filter: "content_filter",
        paused: None,
        others: &["cancelled"],
        keeps_stop: false,
        calls_tell: true,
        refusal_tells: true,
    },
    counts: Counts {
        needed: false,
        cache_writes: true,
        cache_hours: false,
        reasoning: true,
        cached_apart: false,
        reasoning_apart: false,
    },
};

/// The format of a picture, if its bytes are here. One of unknown type is taken for
/// what the API makes when it is not asked for another.
fn image_format(image: &Image) -> Option<&str> {
    let Source::Base64(_) = &image.source else { return None };
    let format = image.media_type.as_deref().unwrap_or("image/png").strip_prefix("image/")?;
    ["png", "webp", "jpeg", "gif", "svg"].contains(&format).then_some(format)
}

fn write(reply: &Reply, head: &AnswerHead, tally: &mut Tally) -> String {
    let mut items = Items::new(head.id_or(UNNAMED));
    for part in parts(reply) {
        if let Some(said) = tally.part(part) {
            items.add(&said);
        }
    }
    tally.message(&reply.message.extra);
    let output = items.finish();
    let status = Status::of(tally.finish(&reply.finish));
    let mut body = String::new();
    response(head, status, &output, tally.usage(reply.usage), &mut body);
    body
}

/// How an answer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status<'a> {
    InProgress,
    /// A word of the voice.
    Ended(&'a str),
    /// Why it failed.
    Failed(&'a Wording<'a>),
}

impl<'a> Status<'a> {
    pub(super) fn of(word: &'a str) -> Self {
        Self::Ended(word)
    }

    /// The status, and the reason for which the answer is incomplete.
    pub(super) fn words(self) -> (&'a str, Option<&'a str>) {
        match self {
            Self::InProgress => ("in_progress", None),
            Self::Ended(reason @ ("max_output_tokens" | "content_filter")) => {
                ("incomplete", Some(reason))
            }
            Self::Ended(status) => (status, None),
            Self::Failed(_) => ("failed", None),
        }
    }
}

/// Writes a response object around its output.
pub(super) fn response(
    head: &AnswerHead,
    status: Status<'_>,
    output: &str,
    usage: Option<Usage>,
    out: &mut String,
) {
    let (id, model) = (Quoted(head.id_or(UNNAMED)), Quoted(head.model_name()));
    let (word, reason) = status.words();
    let created = head.created;
    out.put(format_args!(
        r#"{{"id":{id},"object":"response","created_at":{created},"status":"{word}","error":"#
    ));
    match status {
        Status::Failed(error) => {
            let (code, message) = (Quoted(error.code), Quoted(&error.message));
            out.put(format_args!(r#"{{"code":{code},"message":{message}}}"#))
        }
        Status::InProgress | Status::Ended(_) => out.push_str("null"),
    }
    out.push_str(r#","incomplete_details":"#);
    match reason {
        Some(reason) => out.put(format_args!(r#"{{"reason":"{reason}"}}"#)),
        None => out.push_str("null"),
    }
    out.put(format_args!(
        r#","instructions":null,"metadata":{{}},"model":{model},"output":[{output}],"parallel_tool_calls":true,"temperature":null,"tool_choice":"auto","tools":[],"top_p":null,"usage":"#
    ));
    match usage {
        Some(usage) => counts(usage, out),
        None => out.push_str("null"),
    }
    out.push('}');
}

fn counts(usage: Usage, out: &mut String) {
    let Usage { prompt, cache_read, cache_write, completion, reasoning, .. } = usage;
    let total = usage.total();
    out.put(format_args!(
        r#"{{"input_tokens":{prompt},"input_tokens_details":{{"cached_tokens":{cache_read},"cache_write_tokens":{cache_write}}},"output_tokens":{completion},"output_tokens_details":{{"reasoning_tokens":{reasoning}}},"total_tokens":{total}}}"#
    ));
}

/// The items of an output.
struct Items<'a> {
    answer: &'a str,
    n_items: usize,
    output: String,
    /// The message that more can be added to.
    open: Option<Message>,
}

/// A message that grows.
struct Message {
    head: String,
    content: String,
}

impl<'a> Items<'a> {
    fn new(answer: &'a str) -> Self {
        Self { answer, n_items: 0, output: String::new(), open: None }
    }

    fn add(&mut self, said: &Said<'_>) {
        match content_of(said) {
            Some((item, content)) => {
                if item.is_some() {
                    self.end_message();
                }
                let stands_alone = self.open.is_none() && !is_text(said);
                self.content(item, &content);
                if stands_alone {
                    self.end_message();
                }
            }
            None => {
                self.end_message();
                let id = item_id(self.answer, said, self.n_items);
                let mut text = String::new();
                item(said, &id, &mut text);
                self.push(&text);
            }
        }
    }

    fn content(&mut self, item: Option<Own<'_>>, content: &str) {
        if let Some(open) = &mut self.open {
            open.content.push(',');
            open.content.push_str(content);
            return;
        }
        let id = message_id(self.answer, self.n_items);
        let head = message_head(&id, None, item.unwrap_or_default());
        self.open = Some(Message { head, content: content.to_owned() });
    }

    fn end_message(&mut self) {
        if let Some(Message { head, content }) = self.open.take() {
            self.push(&format!(r#"{head},"content":[{content}]}}"#));
        }
    }

    fn push(&mut self, item: &str) {
        if self.n_items > 0 {
            self.output.push(',');
        }
        self.output.push_str(item);
        self.n_items += 1;
    }

    fn finish(mut self) -> String {
        self.end_message();
        self.output
    }
}

/// Whether a part is a text. A message that begins with something else is read as one
/// piece, so that nothing may be added to it.
pub(super) fn is_text(said: &Said<'_>) -> bool {
    matches!(said, Said::Text { .. })
}

/// The element of a message's content that a part is, if it is one, and the fields of
/// the message if it begins one.
pub(super) fn content_of<'a>(said: &Said<'a>) -> Option<(Option<Own<'a>>, String)> {
    match said {
        Said::Text { text, own } => {
            let (item, part) = text_part(text, *own);
            Some((item, part))
        }
        Said::Refusal(words) => {
            Some((None, format!(r#"{{"type":"refusal","refusal":{}}}"#, Quoted(words))))
        }
        Said::Opaque(value) => Some((None, own_part(value)?)),
        Said::Thinking { .. } | Said::Call { .. } | Said::Image { .. } | Said::File { .. } => None,
    }
}

fn text_part<'a>(text: &str, own: Option<&'a Json>) -> (Option<Own<'a>>, String) {
    let mut own = Own::of(own);
    let item = own.take("item").and_then(|item| Fields::read(item).ok()).map(Own::from);
    let annotations = own.take("annotations").map_or("[]", RawValue::get);
    let mut part = String::new();
    part.put(format_args!(
        r#"{{"type":"output_text","text":{},"annotations":{}{own}}}"#,
        Quoted(text),
        OneLine(annotations)
    ));
    (item, part)
}

/// A part of a content that was kept as it came; nothing if it is an item.
fn own_part(value: &Json) -> Option<String> {
    let mut own = Own::of(Some(value));
    let kind = own.take_text("type")?;
    if kind == WRAPPED_PART {
        return own.take("part").map(|part| OneLine(part.get()).to_string());
    }
    is_part_type(&kind).then(|| OneLine(value.as_str()).to_string())
}

/// A message up to its content. Without a status it has its own, or is completed.
pub(super) fn message_head(id: &str, status: Option<&str>, mut item: Own<'_>) -> String {
    let id = item.take_text("id").unwrap_or(Cow::Borrowed(id));
    let own = item.take("status").map_or(r#""completed""#, RawValue::get);
    let status = status.unwrap_or(own);
    format!(r#"{{"type":"message","id":{},"status":{status},"role":"assistant"{item}"#, Quoted(&id))
}

/// The id of a message at this place.
pub(super) fn message_id(answer: &str, at: usize) -> String {
    made_id("msg", answer, at)
}

/// The id of an item: its own, or one that is made from its place.
pub(super) fn item_id<'a>(answer: &str, said: &Said<'a>, at: usize) -> Cow<'a, str> {
    let (own, prefix) = match said {
        Said::Thinking { own, .. } => (*own, "rs"),
        Said::Call { own, .. } if is_custom(*own) => (*own, "ctc"),
        Said::Call { own, .. } => (*own, "fc"),
        Said::Image { own, .. } => (*own, "ig"),
        Said::Opaque(value) => (Some(*value), "item"),
        Said::Text { .. } | Said::Refusal(_) | Said::File { .. } => (None, "msg"),
    };
    let id = Own::of(own).take_text("id");
    id.unwrap_or_else(|| made_id(prefix, answer, at).into())
}

fn made_id(prefix: &str, answer: &str, at: usize) -> String {
    let answer = answer.strip_prefix("resp_").unwrap_or(answer);
    format!("{prefix}_{answer}_{at}")
}

/// Whether a call is one whose input is any text.
pub(super) fn is_custom(own: Option<&Json>) -> bool {
    Own::of(own).take_text("type").is_some_and(|kind| kind == "custom_tool_call")
}

/// Writes a part as an item. Texts and refusals are parts of one.
pub(super) fn item(said: &Said<'_>, id: &str, out: &mut String) {
    match said {
        Said::Thinking { text, seal, own } => reasoning(text, *seal, *own, id, out),
        Said::Call { call, own } => written_call(call, *own, id, out),
        Said::Image { image, own } => picture(image, *own, id, out),
        Said::Opaque(value) => out.put(format_args!("{}", OneLine(value.as_str()))),
        Said::Text { .. } | Said::Refusal(_) | Said::File { .. } => {}
    }
}

fn reasoning(text: &str, seal: Option<&Seal>, own: Option<&Json>, id: &str, out: &mut String) {
    let mut own = Own::of(own).without("id");
    let (summary, content) = (own.take("summary"), own.take("content"));
    out.put(format_args!(r#"{{"type":"reasoning","id":{},"summary":"#, Quoted(id)));
    match (summary, content) {
        (Some(summary), _) => out.put(format_args!("{}", OneLine(summary.get()))),
        (None, Some(_)) => out.push_str("[]"),
        (None, None) if text.is_empty() => out.push_str("[]"),
        (None, None) => {
            out.put(format_args!(r#"[{{"type":"summary_text","text":{}}}]"#, Quoted(text)));
        }
    }
    if let Some(content) = content {
        out.put(format_args!(r#","content":{}"#, OneLine(content.get())));
    }
    if let Some(Seal::Encrypted(data)) = seal {
        out.put(format_args!(r#","encrypted_content":{}"#, Quoted(data)));
    }
    out.put(format_args!("{own}}}"));
}

fn written_call(call: &ToolCall, own: Option<&Json>, id: &str, out: &mut String) {
    let is_custom = is_custom(own);
    let mut own = Own::of(own).without("id").without("type");
    let arguments = call.arguments.as_str();
    let (kind, field, input) = if is_custom {
        let input = own.take_text("input").unwrap_or(Cow::Borrowed(arguments));
        ("custom_tool_call", "input", input)
    } else {
        ("function_call", "arguments", Cow::Borrowed(arguments))
    };
    // Only calls of functions have one that must be there.
    let status = if is_custom || own.has("status") { "" } else { r#","status":"completed""# };
    out.put(format_args!(
        r#"{{"type":"{kind}","id":{},"call_id":{},"name":{},"{field}":{}{status}{own}}}"#,
        Quoted(id),
        Quoted(call.id.as_str()),
        Quoted(call.name.as_str()),
        Quoted(&input),
    ));
}

fn picture(image: &Image, own: Option<&Json>, id: &str, out: &mut String) {
    let (Some(format), Source::Base64(data)) = (image_format(image), &image.source) else { return };
    let mut own = Own::of(own).without("id").without("type");
    let status = own.take("status").map_or(r#""completed""#, RawValue::get);
    own.take("output_format");
    out.put(format_args!(
        r#"{{"type":"image_generation_call","id":{},"status":{status},"output_format":"{format}","result":{}{own}}}"#,
        Quoted(id),
        Quoted(data),
    ));
}
