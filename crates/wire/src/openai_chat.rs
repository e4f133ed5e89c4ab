//! The family of OpenAI's chat completions, and of the many servers that speak it.
//!
//! Read, from a request:
//!
//! | on the wire | in the model |
//! |---|---|
//! | role `developer` | a system message, `{"role":"developer"}` in its extra |
//! | role `function`, `function_call` | a tool result and a call; the call's id is made from its place |
//! | `thinking_blocks` | thinking, before the text |
//! | `reasoning_content`, `reasoning` | thinking without a seal, if there are no blocks |
//! | `is_error` of a tool message | the result's status |
//! | `provider_specific_fields.thought_signature` of a call | `thoughtSignature` in its extra of owner `google` |
//! | `data:` addresses | base64 with a media type |
//! | `refusal`, a part of unknown type | an opaque part of owner `openai` |
//! | any other field | an extra of owner `openai`; a field below `function`, `file`, … keeps that name above it |
//! | `id`, `timestamp`, `at`, `created_at` of a message | its id and its instant, where they are such |
//! | function tools, `functions` | tools |
//! | other tools | hosted tools of owner `openai` |
//! | settings, also below `params` | options; those without a neutral word stay fields |
//!
//! Who made a thinking block is told by its form: an `id` that begins with `rs_` is
//! of OpenAI's Responses API (its signature is the encrypted thought), any other
//! signature and all redacted thinking is Anthropic's, and a block with neither
//! has no known producer.
//!
//! Written, to a request; the quirks of the [`Vendor`](crate::Vendor) decide where it
//! says so:
//!
//! | in the model | on the wire |
//! |---|---|
//! | each system message, a summary | a `system` message; one for all by quirk; `developer` if it was one and the vendor has it |
//! | each message | a message; neighbours of one role are one by quirk |
//! | a message that says nothing | nothing; `.` where a turn would be missing |
//! | one text | a string; a list of one part where cache marks are set |
//! | several texts | a list of parts; a string, joined with newlines, by quirk |
//! | an image, a file, a sound | `image_url`, `file`, `input_audio`; a note in words where that cannot be |
//! | an image or file of a result | a note there, itself in a user message after all results of the block |
//! | a failed result | `Error: ` before its text |
//! | a user message after results | the same, with a short answer before it by quirk |
//! | thinking | a field or part by quirk, else nothing; beside calls an empty one by quirk |
//! | arguments that are no object | an object with the one key `raw_arguments` |
//! | an answer at the end | the same, marked as a prefix by quirk |
//! | a strict schema outside of the subset | the schema, not strict |
//! | cache marks | `prompt_cache_breakpoint`, for GPT-5.6 and later of OpenAI itself and of Azure: at the end of the system messages, and at the breakpoint or the last message before it that is not the model's |
//! | extras and opaque parts of owner `openai` | the fields and parts that they came from |

mod answer;
mod answer_writer;
mod called;
mod decode;
mod detect;
pub(crate) mod effort;
mod encode;
mod error;
mod http;
mod lint;
mod models;
mod schema;
mod stream;
mod stream_writer;
mod wire;

use crate::codec::Codec;
use crate::setting_type::SettingType::{self, Count, Flag, Text, TextOrTexts};
use crate::stream::Framing;
use crate::{Alphabet, Quirks};

/// The family's table of contents.
pub(crate) static CODEC: Codec = Codec {
    kin: &[],
    kin_fields: &[],
    hosted_makers: &[],
    cache_mark: Some(MARK),
    marking: models::marking,
    declares_tools: false,
    keeps_result_names: true,
    writer: encode::WRITER,
    read_request: decode::decode_request,
    body_of_tools: |tools| format!(r#"{{"messages":[],"tools":{tools}}}"#),
    read_answer: answer::decode_response,
    framing: Framing::Sse,
    machine: stream::machine,
    errors: error::FORM,
    route: http::ROUTE,
    requirements: models::requirements,
    most_tools: lint::most_tools,
    takes_cache_key: |vendor| vendor.quirks.native,
    goes_on_by: None,
    binds_thinking: crate::anthropic::binds_thinking,
    answer_writer: answer_writer::WRITER,
    grammar: stream_writer::grammar,
    check: lint::check,
    quirks: Quirks {
        // `null` as content is what most who imitate OpenAI stumble over.
        empty_content: true,
        ..Quirks::none(Alphabet::new("_-.:", 40), Alphabet::NAME)
    },
    rules: lint::RULES,
    signs: detect::SIGNS,
};

pub(crate) use decode::{read_format, read_schema};
pub(crate) use detect::{has_chat_fields, has_own_role};
pub(crate) use models::{Model, ONLY_DEFAULT};

/// Fields of a body that mean the same in both of OpenAI's families.
pub(crate) const SHARED: [&str; 5] =
    ["user", "metadata", "store", "service_tier", "safety_identifier"];

/// The types of settings.
const SETTINGS: [(&str, SettingType); 6] = [
    ("max_tokens", Count),
    ("max_completion_tokens", Count),
    ("stop", TextOrTexts),
    ("stream", Flag),
    ("parallel_tool_calls", Flag),
    ("prompt_cache_key", Text),
];

/// The field of a part that marks where a cached prefix ends.
pub(crate) const MARK: &str = "prompt_cache_breakpoint";

/// The mark that we set.
pub(crate) const EXPLICIT: &str = r#"{"mode":"explicit"}"#;

/// The owner of what only this family understands.
const OPENAI: &str = "openai";
