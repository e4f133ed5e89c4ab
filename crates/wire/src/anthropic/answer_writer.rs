//! From a reply to a message as the API would have sent it.

use interleaf_model::{Json, Reply, Seal, Usage};

use super::OWNER;
use crate::arguments;
use crate::write_answer::{
    AnswerHead, AnswerWriter, Counts, FinishWords, Merges, OneLine, Own, Put, Quoted, Said, Tally,
    Voice, parts,
};

/// Writes answers.
pub(super) const WRITER: AnswerWriter = AnswerWriter { voice: &VOICE, write };

/// The name of an answer that has none.
pub(super) const UNNAMED: &str = "msg_unnamed";

/// A signature stands beside a text, or alone; redacted thinking has no text.
pub(super) const VOICE: Voice = Voice {
    owner: OWNER,
    seals: |text, seal| match seal {
        Seal::Signature(signature) => !signature.is_empty(),
        Seal::Encrypted(_) => text.is_empty(),
    },
    image: |_| false,
    file: |_| false,
    opaque: Json::is_object,
    refusals: false,
    wraps: |_| true,
    part_fields: |_| true,
    lends: None,
    message_fields: false,
    named: true,
    merges: Merges::Nothing,
    finish: FinishWords {
        stop: "end_turn",
        length: "max_tokens",
        tool_calls: "tool_use",
        content_filter: "refusal",
        paused: Some("pause_turn"),
        others: &[],
        keeps_stop: false,
        calls_tell: false,
        refusal_tells: false,
    },
    counts: Counts {
        needed: true,
        cache_writes: true,
        cache_hours: true,
        reasoning: true,
        cached_apart: true,
        reasoning_apart: false,
    },
};

fn write(reply: &Reply, head: &AnswerHead, tally: &mut Tally) -> String {
    let mut body = String::new();
    let (id, model) = (Quoted(head.id_or(UNNAMED)), Quoted(head.model_name()));
    body.put(format_args!(
        r#"{{"id":{id},"type":"message","role":"assistant","model":{model},"content":["#
    ));
    let mut comma = "";
    for part in parts(reply) {
        if let Some(said) = tally.part(part) {
            body.push_str(comma);
            block(&said, &mut body);
            comma = ",";
        }
    }
    tally.message(&reply.message.extra);
    let reason = Quoted(tally.finish(&reply.finish));
    body.put(format_args!(r#"],"stop_reason":{reason},"stop_sequence":null,"usage":"#));
    counts(tally.usage(reply.usage).unwrap_or_default(), &mut body);
    body.push('}');
    body
}

/// Writes a part as a block.
pub(super) fn block(said: &Said<'_>, out: &mut String) {
    match said {
        Said::Text { text, own } => {
            out.put(format_args!(r#"{{"type":"text","text":{}{}}}"#, Quoted(text), Own::of(*own)));
        }
        Said::Thinking { seal: Some(Seal::Encrypted(data)), own, .. } => out.put(format_args!(
            r#"{{"type":"redacted_thinking","data":{}{}}}"#,
            Quoted(data),
            Own::of(*own)
        )),
        Said::Thinking { text, seal, own } => out.put(format_args!(
            r#"{{"type":"thinking","thinking":{},"signature":{}{}}}"#,
            Quoted(text),
            Quoted(signature(*seal)),
            Own::of(*own)
        )),
        Said::Call { call, own } => out.put(format_args!(
            r#"{{"type":"tool_use","id":{},"name":{},"input":{}{}}}"#,
            Quoted(call.id.as_str()),
            Quoted(call.name.as_str()),
            OneLine(&arguments::as_object(&call.arguments)),
            Own::of(*own)
        )),
        Said::Opaque(value) => out.put(format_args!("{}", OneLine(value.as_str()))),
        // The API has no place for these, and says so.
        Said::Image { .. } | Said::File { .. } | Said::Refusal(_) => {}
    }
}

/// The signature of a thought; empty where there is none, because it must be there.
pub(super) fn signature(seal: Option<&Seal>) -> &str {
    match seal {
        Some(Seal::Signature(signature)) => signature,
        Some(Seal::Encrypted(_)) | None => "",
    }
}

/// Writes the counts. Cached tokens stand beside the others here.
pub(super) fn counts(usage: Usage, out: &mut String) {
    let Usage { prompt, cache_read, cache_write, cache_write_hour, completion, reasoning } = usage;
    let fresh = prompt.saturating_sub(cache_read).saturating_sub(cache_write);
    out.put(format_args!(
        r#"{{"input_tokens":{fresh},"cache_creation_input_tokens":{cache_write},"cache_read_input_tokens":{cache_read},"output_tokens":{completion}"#
    ));
    if cache_write_hour > 0 {
        let usual = cache_write.saturating_sub(cache_write_hour);
        out.put(format_args!(
            r#","cache_creation":{{"ephemeral_5m_input_tokens":{usual},"ephemeral_1h_input_tokens":{cache_write_hour}}}"#
        ));
    }
    if reasoning > 0 {
        out.put(format_args!(r#","output_tokens_details":{{"thinking_tokens":{reasoning}}}"#));
    }
    out.push('}');
}
