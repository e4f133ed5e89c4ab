//! From a reply to a chat completion.
//!
//! The message has one place for each kind of part: thoughts go into
//! `reasoning_content`, texts into `content`, pictures into `images`. What one place
//! holds of two parts that others stood between is set apart by an empty line.

use interleaf_model::{Image, Json, Reply, Source, ToolCall, Usage};

use super::OPENAI;
use crate::write_answer::{
    AnswerHead, AnswerWriter, Counts, FinishWords, Kind, Merges, Own, Put, Quoted, QuotedOrNull,
    Said, Tally, Voice, parts,
};

/// Writes answers.
pub(super) const WRITER: AnswerWriter = AnswerWriter { voice: &VOICE, write };

/// The name of an answer that has none.
pub(super) const UNNAMED: &str = "chatcmpl-unnamed";

/// Nothing seals a thought. A picture is an address, which may hold the data itself.
pub(super) const VOICE: Voice = Voice {
    owner: OPENAI,
    seals: |_, _| false,
    image: |image| match &image.source {
        Source::Base64(_) => image.media_type.is_some(),
        Source::Url(_) => true,
        Source::Id { .. } => false,
    },
    file: |_| false,
    opaque: |_| false,
    refusals: true,
    wraps: |_| false,
    part_fields: |kind| kind == Kind::Call,
    lends: Some(("google", "thoughtSignature")),
    message_fields: true,
    named: true,
    merges: Merges::Kinds,
    finish: FinishWords {
        stop: "stop",
        length: "length",
        tool_calls: "tool_calls",
        content_filter: "content_filter",
        paused: None,
        others: &[],
        keeps_stop: true,
        calls_tell: false,
        refusal_tells: false,
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

/// What stands between the pieces that one place holds.
#[derive(Debug, Default)]
pub(super) struct Joints {
    last: Option<Kind>,
    has_text: bool,
    has_thought: bool,
}

impl Joints {
    /// What goes before a part of this kind.
    pub(super) fn before(&mut self, kind: Kind) -> &'static str {
        let has_one = match kind {
            Kind::Text => std::mem::replace(&mut self.has_text, true),
            Kind::Thinking => std::mem::replace(&mut self.has_thought, true),
            Kind::Refusal | Kind::Other | Kind::Call => false,
        };
        let last = self.last.replace(kind);
        if has_one && last != Some(kind) { "\n\n" } else { "" }
    }
}

#[derive(Default)]
struct Draft {
    joints: Joints,
    thought: Option<String>,
    text: Option<String>,
    refusal: Option<String>,
    images: String,
    calls: String,
}

fn write(reply: &Reply, head: &AnswerHead, tally: &mut Tally) -> String {
    let mut draft = Draft::default();
    for part in parts(reply) {
        if let Some(said) = tally.part(part) {
            draft.add(&said);
        }
    }
    let (id, model) = (Quoted(head.id_or(UNNAMED)), Quoted(head.model_name()));
    let created = head.created;
    let mut body = String::new();
    body.put(format_args!(
        r#"{{"id":{id},"object":"chat.completion","created":{created},"model":{model},"choices":[{{"index":0,"message":"#
    ));
    draft.write(Own::of(tally.message(&reply.message.extra)), &mut body);
    let reason = Quoted(tally.finish(&reply.finish));
    body.put(format_args!(r#","logprobs":null,"finish_reason":{reason}}}]"#));
    if let Some(usage) = tally.usage(reply.usage) {
        body.push_str(r#","usage":"#);
        counts(usage, &mut body);
    }
    body.push('}');
    body
}

impl Draft {
    fn add(&mut self, said: &Said<'_>) {
        match said {
            Said::Thinking { text, .. } => {
                let thought = self.thought.get_or_insert_default();
                thought.push_str(self.joints.before(Kind::Thinking));
                thought.push_str(text);
            }
            Said::Text { text, .. } => {
                let all = self.text.get_or_insert_default();
                all.push_str(self.joints.before(Kind::Text));
                all.push_str(text);
            }
            Said::Refusal(words) => {
                self.joints.before(Kind::Refusal);
                self.refusal.get_or_insert_default().push_str(words);
            }
            Said::Image { image, .. } => {
                self.joints.before(Kind::Other);
                let comma = if self.images.is_empty() { "" } else { "," };
                self.images.push_str(comma);
                picture(image, &mut self.images);
            }
            Said::Call { call, own } => {
                self.joints.before(Kind::Call);
                let comma = if self.calls.is_empty() { "" } else { "," };
                self.calls.push_str(comma);
                written_call(call, *own, &mut self.calls);
            }
            // There is no place for these.
            Said::File { .. } | Said::Opaque(_) => {}
        }
    }

    fn write(&self, own: Own<'_>, out: &mut String) {
        let (text, refusal) = (self.text.as_deref(), self.refusal.as_deref());
        out.put(format_args!(
            r#"{{"role":"assistant","content":{},"refusal":{}"#,
            QuotedOrNull(text),
            QuotedOrNull(refusal)
        ));
        if let Some(thought) = &self.thought {
            out.put(format_args!(r#","reasoning_content":{}"#, Quoted(thought)));
        }
        for (name, list) in [("images", &self.images), ("tool_calls", &self.calls)] {
            if !list.is_empty() {
                out.put(format_args!(r#","{name}":[{list}]"#));
            }
        }
        out.put(format_args!("{own}}}"));
    }
}

/// Writes a picture.
pub(super) fn picture(image: &Image, out: &mut String) {
    let media_type = image.media_type.as_deref().unwrap_or_default();
    let url = match &image.source {
        Source::Base64(data) => format!("data:{media_type};base64,{data}"),
        Source::Url(url) | Source::Id { id: url, .. } => url.to_string(),
    };
    out.put(format_args!(r#"{{"type":"image_url","image_url":{{"url":{}}}}}"#, Quoted(&url)));
}

fn written_call(call: &ToolCall, own: Option<&Json>, out: &mut String) {
    let CallForm { kind, field, input, inner, rest } = CallForm::of(own);
    out.put(format_args!(
        r#"{{"id":{},"type":"{kind}","{field}":{{"name":{},"{input}":{}{inner}}}{}{rest}}}"#,
        Quoted(call.id.as_str()),
        Quoted(call.name.as_str()),
        Quoted(call.arguments.as_str()),
        Signature(call),
    ));
}

/// Where a call has its name and arguments, and what else it has.
pub(super) struct CallForm<'a> {
    pub(super) kind: &'static str,
    pub(super) field: &'static str,
    pub(super) input: &'static str,
    pub(super) inner: Own<'a>,
    pub(super) rest: Own<'a>,
}

impl<'a> CallForm<'a> {
    pub(super) fn of(own: Option<&'a Json>) -> Self {
        let mut rest = Own::of(own);
        let is_custom = rest.take_text("type").is_some_and(|kind| kind == "custom");
        let (custom, function) = (rest.take_object("custom"), rest.take_object("function"));
        if is_custom {
            Self { kind: "custom", field: "custom", input: "input", inner: custom, rest }
        } else {
            let (kind, input) = ("function", "arguments");
            Self { kind, field: kind, input, inner: function, rest }
        }
    }
}

/// Google's signature of a call, where gateways put it.
pub(super) struct Signature<'a>(pub(super) &'a ToolCall);

impl std::fmt::Display for Signature<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let signature = Own::of(self.0.extra.get("google")).take("thoughtSignature");
        match signature {
            Some(signature) => write!(
                f,
                r#","provider_specific_fields":{{"thought_signature":{}}}"#,
                signature.get()
            ),
            None => Ok(()),
        }
    }
}

/// Writes the counts.
pub(super) fn counts(usage: Usage, out: &mut String) {
    let Usage { prompt, cache_read, cache_write, completion, reasoning, .. } = usage;
    let total = usage.total();
    out.put(format_args!(
        r#"{{"prompt_tokens":{prompt},"completion_tokens":{completion},"total_tokens":{total},"prompt_tokens_details":{{"cached_tokens":{cache_read},"cache_write_tokens":{cache_write}}},"completion_tokens_details":{{"reasoning_tokens":{reasoning}}}}}"#
    ));
}
