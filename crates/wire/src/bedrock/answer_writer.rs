//! From a reply to the answer of Converse.

use interleaf_model::{File, Image, Json, Reply, Seal, Source, Usage};

use super::media::{Format, MediaKind, detect, document_name, is_base64};
use super::wire::OWNER;
use crate::arguments;
use crate::write_answer::{
    AnswerHead, AnswerWriter, Counts, FinishWords, Merges, OneLine, Own, Put, Quoted, Said, Tally,
    Voice, parts,
};

/// Writes answers.
pub(super) const WRITER: AnswerWriter = AnswerWriter { voice: &VOICE, write };

/// Redacted thinking is bytes without a text. Media are bytes of a format that the API
/// has a name for.
pub(super) const VOICE: Voice = Voice {
    owner: OWNER,
    seals: |text, seal| match seal {
        Seal::Signature(signature) => !signature.is_empty(),
        Seal::Encrypted(data) => text.is_empty() && is_base64(data),
    },
    image: |image| image_format(image).is_some(),
    file: |file| file_format(file).is_some(),
    opaque: Json::is_object,
    refusals: false,
    wraps: |_| true,
    part_fields: |_| true,
    lends: None,
    message_fields: true,
    named: false,
    merges: Merges::Nothing,
    finish: FinishWords {
        stop: "end_turn",
        length: "max_tokens",
        tool_calls: "tool_use",
        content_filter: "content_filtered",
        paused: None,
        others: &["malformed_model_output", "malformed_tool_use"],
        keeps_stop: false,
        calls_tell: false,
        refusal_tells: false,
    },
    counts: Counts {
        needed: true,
        cache_writes: true,
        cache_hours: true,
        reasoning: false,
        cached_apart: true,
        reasoning_apart: false,
    },
};

/// The format of a picture, if its bytes are here.
pub(super) fn image_format(image: &Image) -> Option<&'static Format> {
    let Source::Base64(data) = &image.source else { return None };
    let format = detect(image.media_type.as_deref(), "", data)?;
    (format.kind == MediaKind::Image && is_base64(data)).then_some(format)
}

/// The format of a file, if its bytes are here and it is read as what it is.
fn file_format(file: &File) -> Option<&'static Format> {
    let Source::Base64(data) = &file.source else { return None };
    let format = detect(file.media_type.as_deref(), "", data)?;
    let is_same = format.media_types.first().copied() == file.media_type.as_deref();
    (format.kind != MediaKind::Image && is_same && is_base64(data)).then_some(format)
}

fn write(reply: &Reply, _: &AnswerHead, tally: &mut Tally) -> String {
    let mut body = String::from(r#"{"output":{"message":{"role":"assistant","content":["#);
    let mut comma = "";
    for part in parts(reply) {
        if let Some(said) = tally.part(part) {
            body.push_str(comma);
            block(&said, &mut body);
            comma = ",";
        }
    }
    let own = Own::of(tally.message(&reply.message.extra));
    let reason = Quoted(tally.finish(&reply.finish));
    body.put(format_args!(r#"]{own}}}}},"stopReason":{reason},"#));
    costs(tally.usage(reply.usage).unwrap_or_default(), &mut body);
    body.push('}');
    body
}

/// Writes a part as a block.
fn block(said: &Said<'_>, out: &mut String) {
    match said {
        Said::Text { text, own } => {
            out.put(format_args!(r#"{{"text":{}{}}}"#, Quoted(text), Own::of(*own)));
        }
        Said::Thinking { seal: Some(Seal::Encrypted(data)), own, .. } => {
            let own = Own::of(*own).without("reasoningContent");
            out.put(format_args!(
                r#"{{"reasoningContent":{{"redactedContent":{}}}{own}}}"#,
                Quoted(data)
            ));
        }
        Said::Thinking { text, seal, own } => {
            let mut own = Own::of(*own);
            let inner = own.take_object("reasoningContent");
            out.put(format_args!(
                r#"{{"reasoningContent":{{"reasoningText":{{"text":{}"#,
                Quoted(text)
            ));
            if let Some(Seal::Signature(signature)) = seal {
                out.put(format_args!(r#","signature":{}"#, Quoted(signature)));
            }
            out.put(format_args!("{inner}}}}}{own}}}"));
        }
        Said::Call { call, own } => {
            let mut own = Own::of(*own);
            let inner = own.take_object("toolUse");
            out.put(format_args!(
                r#"{{"toolUse":{{"toolUseId":{},"name":{},"input":{}{inner}}}{own}}}"#,
                Quoted(call.id.as_str()),
                Quoted(call.name.as_str()),
                OneLine(&arguments::as_object(&call.arguments)),
            ));
        }
        Said::Image { image, own } => {
            if let (Some(format), Source::Base64(data)) = (image_format(image), &image.source) {
                media(format, None, data, *own, out);
            }
        }
        Said::File { file, own } => {
            if let (Some(format), Source::Base64(data)) = (file_format(file), &file.source) {
                media(format, file.name.as_deref(), data, *own, out);
            }
        }
        Said::Opaque(value) => out.put(format_args!("{}", OneLine(value.as_str()))),
        // It stands as text.
        Said::Refusal(_) => {}
    }
}

fn media(format: &Format, name: Option<&str>, data: &str, own: Option<&Json>, out: &mut String) {
    let kind = format.kind.as_str();
    let mut own = Own::of(own);
    let inner = own.take_object(kind).without("name");
    out.put(format_args!(r#"{{"{kind}":{{"format":"{}""#, format.name));
    if format.kind == MediaKind::Document {
        let name = document_name(name.unwrap_or_default(), format.name);
        out.put(format_args!(r#","name":{}"#, Quoted(&name)));
    }
    out.put(format_args!(r#","source":{{"bytes":{}}}{inner}}}{own}}}"#, Quoted(data)));
}

/// Writes the counts, cached tokens beside the others, and a time that nobody took.
pub(super) fn costs(usage: Usage, out: &mut String) {
    let Usage { prompt, cache_read, cache_write, cache_write_hour, completion, .. } = usage;
    let fresh = prompt.saturating_sub(cache_read).saturating_sub(cache_write);
    let total = usage.total();
    out.put(format_args!(
        r#""usage":{{"inputTokens":{fresh},"outputTokens":{completion},"totalTokens":{total},"cacheReadInputTokens":{cache_read},"cacheWriteInputTokens":{cache_write}"#
    ));
    if cache_write_hour > 0 {
        let usual = cache_write.saturating_sub(cache_write_hour);
        out.put(format_args!(
            r#","cacheDetails":[{{"ttl":"5m","inputTokens":{usual}}},{{"ttl":"1h","inputTokens":{cache_write_hour}}}]"#
        ));
    }
    out.push_str(r#"},"metrics":{"latencyMs":0}"#);
}
