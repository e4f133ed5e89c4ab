//! The family of AWS Bedrock's Converse.
//!
//! | in the model | on the wire |
//! |---|---|
//! | system messages | blocks of `system`, in order |
//! | a user message | blocks of a `user` message, after the results of the turn |
//! | tool results | `toolResult` blocks, all of a turn in one `user` message; a failed one has `status: "error"` |
//! | a call | a `toolUse` block; its arguments are an object |
//! | thinking with a signature | `reasoningContent.reasoningText` |
//! | sealed thinking | `reasoningContent.redactedContent` |
//! | thinking without a seal, or another's | left out |
//! | an image, a file | `image`, `document`, `video` or `audio`, by media type, else name, else first bytes |
//! | an `s3://` address | `s3Location`; other addresses and uploaded files become a note |
//! | a document's name | made legal and, with a few digits, unique; one that came from this API stays, by its extra; the sixth document of a turn becomes a note |
//! | a text of a result that came as `json` | `json` again, by `{"json":true}` in its extra |
//! | no tools, but calls in the history | stand-ins from the names in it |
//! | `ToolChoice::None` | no choice: the API has none |
//! | `thinking`, `top_k` | in `additionalModelRequestFields` |
//! | `response_format` of a schema | `outputConfig.textFormat` |
//! | cache marks | `cachePoint` after tools, system and the breakpoint message |
//! | `model`, `stream` | not in the body: the address says them; `modelId` is read |
//! | an opaque part | a block that we have no word for, such as `guardContent`, `citationsContent`, a document of text, a `cachePoint`, what the API ran itself |
//! | an extra | unknown fields; those inside a block keep the block's key above them |
//!
//! A `cachePoint` directly after a result is in the extra of that result's message.
//! Where results may not stand beside what the user said, an assistant turn `.` is put
//! between; reading does not take it out again.

mod answer;
mod answer_writer;
mod decode;
mod detect;
mod encode;
mod error;
mod http;
mod lint;
mod media;
mod models;
mod schema;
mod stream;
mod stream_writer;
mod wire;

use crate::codec::Codec;
use crate::encode::Marking;
use crate::setting_type::SettingType::{self, Count, Object, Text, Texts};
use crate::stream::Framing;
use crate::{Alphabet, Quirks};

/// The types of settings.
const SETTINGS: [(&str, SettingType); 5] = [
    ("modelId", Text),
    ("toolConfig", Object),
    ("inferenceConfig", Object),
    ("additionalModelRequestFields", Object),
    ("outputConfig", Object),
];

/// The types of those in `inferenceConfig`.
const INFERENCE_SETTINGS: [(&str, SettingType); 2] =
    [("maxTokens", Count), ("stopSequences", Texts)];

/// The family's table of contents.
pub(crate) static CODEC: Codec = Codec {
    kin: &[],
    kin_fields: &[],
    hosted_makers: &["anthropic"],
    cache_mark: Some("cachePoint"),
    marking: |_, _| Marking::All,
    declares_tools: true,
    keeps_result_names: false,
    writer: encode::WRITER,
    read_request: decode::decode_request,
    body_of_tools: |tools| format!(r#"{{"messages":[],"toolConfig":{{"tools":{tools}}}}}"#),
    read_answer: answer::decode_response,
    framing: Framing::EventStream,
    machine: stream::machine,
    errors: error::FORM,
    route: http::ROUTE,
    requirements: models::requirements,
    most_tools: |_| None,
    takes_cache_key: |_| false,
    goes_on_by: None,
    binds_thinking: crate::anthropic::binds_thinking,
    answer_writer: answer_writer::WRITER,
    grammar: stream_writer::grammar,
    check: lint::check,
    quirks: Quirks::none(Alphabet::NAME, Alphabet::NAME),
    rules: lint::RULES,
    signs: detect::SIGNS,
};
