//! From a reply to a `GenerateContentResponse`.

use interleaf_model::{Json, Reply, Seal, Source, Usage};

use super::GOOGLE;
use crate::arguments;
use crate::base64::is_base64;
use crate::write_answer::{
    AnswerHead, AnswerWriter, Counts, FinishWords, Merges, OneLine, Own, Put, Quoted, Said, Tally,
    Voice, parts,
};

/// Writes answers.
pub(super) const WRITER: AnswerWriter = AnswerWriter { voice: &VOICE, write };

/// A signature is bytes, and stands beside any text. What is a picture, its media type
/// tells.
pub(super) const VOICE: Voice = Voice {
    owner: GOOGLE,
    seals: |_, seal| match seal {
        Seal::Signature(signature) => is_base64(signature),
        Seal::Encrypted(_) => false,
    },
    image: |image| {
        let media_type = image.media_type.as_deref().unwrap_or_default();
        media_type.starts_with("image/") && is_reachable(&image.source)
    },
    file: |file| {
        let media_type = file.media_type.as_deref().unwrap_or_default();
        !media_type.starts_with("image/") && is_reachable(&file.source)
    },
    opaque: Json::is_object,
    refusals: false,
    wraps: |_| true,
    part_fields: |_| true,
    lends: None,
    message_fields: true,
    named: true,
    merges: Merges::Neighbours,
    finish: FinishWords {
        stop: "STOP",
        length: "MAX_TOKENS",
        tool_calls: "STOP",
        content_filter: "SAFETY",
        paused: None,
        others: &[
            "LANGUAGE",
            "OTHER",
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "NO_IMAGE",
            "IMAGE_OTHER",
            "CONTINUATION",
            "MALFORMED_RESPONSE",
        ],
        keeps_stop: false,
        calls_tell: true,
        refusal_tells: false,
    },
    counts: Counts {
        needed: false,
        cache_writes: false,
        cache_hours: false,
        reasoning: true,
        cached_apart: false,
        reasoning_apart: true,
    },
};

fn is_reachable(source: &Source) -> bool {
    match source {
        Source::Base64(data) => is_base64(data),
        Source::Url(url) => url.starts_with("https://") || url.starts_with("http://"),
        Source::Id { owner, .. } => owner.as_str() == GOOGLE,
    }
}

fn write(reply: &Reply, head: &AnswerHead, tally: &mut Tally) -> String {
    let mut body = String::from(r#"{"candidates":[{"content":{"parts":["#);
    let mut comma = "";
    for said in parts(reply).iter() {
        if let Some(said) = tally.part(said) {
            body.push_str(comma);
            part(&said, &mut body);
            comma = ",";
        }
    }
    let own = Own::of(tally.message(&reply.message.extra));
    let reason = Quoted(tally.finish(&reply.finish));
    body.put(format_args!(r#"],"role":"model"{own}}},"finishReason":{reason},"index":0}}]"#));
    end(tally.usage(reply.usage), head, &mut body);
    body
}

/// Ends an answer, or a piece of one, after its candidates.
pub(super) fn end(usage: Option<Usage>, head: &AnswerHead, out: &mut String) {
    if let Some(usage) = usage {
        counts(usage, out);
    }
    if let Some(model) = &head.model {
        out.put(format_args!(r#","modelVersion":{}"#, Quoted(model)));
    }
    if let Some(id) = &head.id {
        out.put(format_args!(r#","responseId":{}"#, Quoted(id)));
    }
    out.push('}');
}

/// Writes a part.
pub(super) fn part(said: &Said<'_>, out: &mut String) {
    match said {
        Said::Text { text, own } => {
            out.put(format_args!(r#"{{"text":{}{}}}"#, Quoted(text), Own::of(*own)));
        }
        Said::Thinking { text, seal, own } => {
            out.put(format_args!(r#"{{"text":{},"thought":true"#, Quoted(text)));
            if let Some(Seal::Signature(signature)) = seal {
                out.put(format_args!(r#","thoughtSignature":{}"#, Quoted(signature)));
            }
            out.put(format_args!("{}}}", Own::of(*own)));
        }
        Said::Call { call, own } => {
            let mut own = Own::of(*own);
            let inner = own.take_object("functionCall").without("id");
            out.put(format_args!(
                r#"{{"functionCall":{{"id":{},"name":{},"args":{}{inner}}}{own}}}"#,
                Quoted(call.id.as_str()),
                Quoted(call.name.as_str()),
                OneLine(&arguments::as_object(&call.arguments)),
            ));
        }
        Said::Image { image, own } => {
            media(&image.source, image.media_type.as_deref(), None, *own, out);
        }
        Said::File { file, own } => {
            media(&file.source, file.media_type.as_deref(), file.name.as_deref(), *own, out);
        }
        Said::Opaque(value) => out.put(format_args!("{}", OneLine(value.as_str()))),
        // It stands as text.
        Said::Refusal(_) => {}
    }
}

fn media(
    source: &Source,
    media_type: Option<&str>,
    name: Option<&str>,
    own: Option<&Json>,
    out: &mut String,
) {
    let (field, place, value) = match source {
        Source::Base64(data) => ("inlineData", "data", data),
        Source::Url(uri) | Source::Id { id: uri, .. } => ("fileData", "fileUri", uri),
    };
    let mut own = Own::of(own);
    let inner = own.take_object(field).without("displayName");
    out.put(format_args!(r#"{{"{field}":{{"{place}":{}"#, Quoted(value)));
    if let Some(media_type) = media_type {
        out.put(format_args!(r#","mimeType":{}"#, Quoted(media_type)));
    }
    if let Some(name) = name {
        out.put(format_args!(r#","displayName":{}"#, Quoted(name)));
    }
    out.put(format_args!("{inner}}}{own}}}"));
}

/// Writes the counts. Thoughts stand beside the other output here.
fn counts(usage: Usage, out: &mut String) {
    let said = usage.completion.saturating_sub(usage.reasoning);
    out.put(format_args!(
        r#","usageMetadata":{{"promptTokenCount":{},"cachedContentTokenCount":{},"candidatesTokenCount":{said},"thoughtsTokenCount":{},"totalTokenCount":{}}}"#,
        usage.prompt,
        usage.cache_read,
        usage.reasoning,
        usage.total(),
    ));
}
