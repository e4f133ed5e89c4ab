//! The family of OpenAI's Responses.
//!
//! | on the wire | in the model |
//! |---|---|
//! | `instructions` | a system message, `{"role":"instructions"}` in its extra |
//! | an item of role `developer` | a system message, `{"role":"developer"}` in its extra |
//! | an item of role `user` | a user message; the item's other fields are the message's extra |
//! | a run of `reasoning`, assistant `message` and call items | one assistant message; each item is a part |
//! | an assistant `message` | its texts; what the item has beside them is `item` in the first text's extra |
//! | `reasoning` | thinking; summary parts joined, `encrypted_content` as its seal, `id` in its extra |
//! | `function_call`, `custom_tool_call` | a call; `id`, `status`, `namespace`, … in its extra, and the `type` of a custom one |
//! | `image_generation_call` with a result | a picture, the other fields in its extra |
//! | `function_call_output`, `custom_tool_call_output` | a tool result |
//! | an output whose call is in an earlier answer that the body continues | an opaque part of a user message |
//! | the `id` of an item that repeats one before it | left out: it names the first |
//! | any other item, a `refusal` | an opaque part of owner `openai_responses` |
//! | `text.format` | `response_format` in chat's form; what else `text` has stays in `rest` |
//! | a tool that is no function | a hosted tool |
//! | any other field | an extra of owner `openai_responses`, or `rest` |
//!
//! Writing goes the same way back, with these rules of its own:
//!
//! | what | how it is written |
//! |---|---|
//! | system messages | leading items, unless the message was read from `instructions` |
//! | thinking | only with an item id `rs_…`, only before an item of the same turn; without storage only if it is encrypted |
//! | item ids | only of the right prefix, and not after a reasoning item that was left out |
//! | a hosted call after such a reasoning item | left out, unless it has a `call_id`: then its id is |
//! | pictures and files of results | where they stand |
//! | a picture or file of the assistant | a note, unless the API made it |
//! | a failed result | `Error: ` before its text |
//! | a strict tool outside of the strict subset | not strict |
//! | `stop`, `top_k` | left out: there are no such fields |
//! | cache marks | for GPT-5.6 and later, as in chat; `instructions` take none. Models before cache prefixes without being asked |

mod answer;
mod answer_writer;
mod decode;
mod detect;
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
use crate::encode::GoesOnBy;
use crate::openai_chat::MARK;
use crate::setting_type::SettingType::{self, Count, Flag, Object, Text};
use crate::stream::Framing;
use crate::{Alphabet, Quirks};

/// The family's table of contents.
pub(crate) static CODEC: Codec = Codec {
    kin: &[CHAT_OWNER],
    kin_fields: &["id", "role", "detail"],
    hosted_makers: &[],
    cache_mark: Some(MARK),
    marking: models::marking,
    declares_tools: false,
    keeps_result_names: false,
    writer: encode::WRITER,
    read_request: decode::decode_request,
    body_of_tools: |tools| format!(r#"{{"input":[],"tools":{tools}}}"#),
    read_answer: answer::decode_response,
    framing: Framing::Sse,
    machine: stream::machine,
    errors: error::FORM,
    route: http::ROUTE,
    requirements: models::requirements,
    most_tools: |_| None,
    takes_cache_key: |_| true,
    goes_on_by: Some(GoesOnBy { list: "input", field: CONTINUED[0], kept: "store" }),
    binds_thinking: |_| false,
    answer_writer: answer_writer::WRITER,
    grammar: stream_writer::grammar,
    check: lint::check,
    quirks: Quirks::none(Alphabet::new("_-.:", 64), Alphabet::NAME),
    rules: lint::RULES,
    signs: detect::SIGNS,
};

/// The owner of what only this family understands.
const OWNER: &str = "openai_responses";

/// The owner of what OpenAI's chat API attached: the same house, so its file ids,
/// image details, reasoning ids and developer role are good here.
const CHAT_OWNER: &str = "openai";

/// The types of settings.
const SETTINGS: [(&str, SettingType); 11] = [
    ("max_output_tokens", Count),
    ("max_completion_tokens", Count),
    ("max_tokens", Count),
    ("stream", Flag),
    ("parallel_tool_calls", Flag),
    ("prompt_cache_key", Text),
    ("instructions", Text),
    ("store", Flag),
    ("background", Flag),
    ("reasoning", Object),
    ("text", Object),
];

/// The longest id of an item.
const LONGEST_ITEM_ID: usize = 64;

/// Fewer output tokens than this are refused.
const FEWEST_OUTPUT_TOKENS: u64 = 16;

/// The file name of data that came without one: the API wants one.
const UNNAMED_FILE: &str = "attachment";

/// The media type of a file that came without one.
const UNKNOWN_MEDIA: &str = "application/octet-stream";

/// What a wrapped content part of unknown type is called: see [`is_part_type`].
const WRAPPED_PART: &str = "content_part";

/// Fields of Chat Completions that are refused here.
const MOVED_FIELDS: [&str; 8] = [
    "messages",
    "functions",
    "function_call",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "reasoning_effort",
    "stop",
];

/// Fields that name an earlier answer, which the API has; never both.
pub(crate) const CONTINUED: [&str; 2] = ["previous_response_id", "conversation"];

/// What the id of an item begins with, for the types that are checked.
fn id_prefix(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "message" => "msg",
        "function_call" => "fc",
        "custom_tool_call" => "ctc",
        "reasoning" => "rs",
        _ => return None,
    })
}

/// Whether something of this type stands in a message's content, and is no item.
fn is_part_type(kind: &str) -> bool {
    const PARTS: [&str; 5] =
        ["refusal", "text", "summary_text", "reasoning_text", "computer_screenshot"];
    kind.starts_with("input_") || kind.starts_with("output_") || PARTS.contains(&kind)
}

/// Whether an item of this type is something that the model made.
fn is_made_by_model(kind: &str) -> bool {
    const OTHERS: [&str; 6] = [
        "additional_tools",
        "compaction",
        "compaction_trigger",
        "configuration_update",
        "item_reference",
        "mcp_approval_response",
    ];
    !kind.ends_with("_output") && !OTHERS.contains(&kind)
}
