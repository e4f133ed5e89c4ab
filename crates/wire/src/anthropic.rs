//! The family of Anthropic's Messages API.
//!
//! | on the wire | in the model |
//! |---|---|
//! | `system`, a string or text blocks | a system message, each block a part |
//! | a `user` message with results | a tool message for each `tool_result`, then a user message with what is left |
//! | `is_error` | the result's status |
//! | an `assistant` message | an assistant message, its blocks as parts in their order |
//! | `thinking` with its signature | thinking sealed with a signature; without one it is not sent |
//! | `redacted_thinking` | thinking without text, sealed by its data |
//! | `input`, an object | the arguments; what is no object is wrapped in one |
//! | `image`; `document` from base64, an address, a file id or plain text | an image; a file, its title the name |
//! | any other block: tools that the API runs, search results, compaction, … | an opaque part of owner `anthropic` |
//! | `tools` with an `input_schema`; any other tool | tools; hosted tools |
//! | `tool_choice`, `disable_parallel_tool_use` | the choice, parallel calls |
//! | `thinking`, `output_config.effort` | the thinking mode; of a type without a neutral word, the options' rest |
//! | `max_tokens` | the limit; no more than the model writes, where that is known |
//! | `output_config.format` | the response format |
//! | `cache_control` | an extra where it stands; written anew when breakpoints are on |
//! | any other field of the body | the options' rest |
//! | any other field of a message, block or tool | an extra of owner `anthropic`; one of a `source` stays below that name |
//!
//! Fields of a user message that held only results stay below `in_message` in the
//! extra of the first result.
//!
//! Cache breakpoints, if they are on, stand on the last tool, on the last system
//! block and on the last block that can have one of the prompt's breakpoint message;
//! those that tools and messages carry are left out then, because the API takes four
//! and a turn is written without regard to the others. A request that marks its own
//! end keeps that mark.
//!
//! | an event of a stream | what is done |
//! |---|---|
//! | `message_start` | id, model, first usage |
//! | `content_block_start`, `…_delta`, `…_stop` | a part grows; a tool that the API runs is put together and becomes an opaque part |
//! | `message_delta` | the reason to stop; usage, which replaces what came before |
//! | `message_stop` | the message is whole |
//! | `ping` | nothing |
//! | `error` | an error of the API's |
//! | any other | handed on |

mod answer;
mod answer_writer;
mod decode;
mod detect;
mod encode;
mod error;
mod http;
mod lint;
pub(crate) mod max_tokens;
mod models;
mod schema;
mod stream;
mod stream_writer;
pub(crate) mod thinking;
mod wire;

pub(crate) use models::{Model, binds_thinking, refuses_prefill};
pub(crate) use thinking::{LEAST_BUDGET, thinking_fault};

use crate::codec::Codec;
use crate::encode::Marking;
use crate::setting_type::SettingType::{self, Count, Flag, Number, Texts};
use crate::stream::Framing;
use crate::tree::Value;
use crate::{Alphabet, Quirks};

/// The family's table of contents.
pub(crate) static CODEC: Codec = Codec {
    kin: &[],
    kin_fields: &[],
    hosted_makers: &[],
    cache_mark: Some(MARK),
    marking: |_, _| Marking::All,
    declares_tools: false,
    keeps_result_names: false,
    writer: encode::WRITER,
    read_request: decode::decode_request,
    body_of_tools: |tools| format!(r#"{{"messages":[],"tools":{tools}}}"#),
    read_answer: answer::decode_response,
    framing: Framing::Sse,
    machine: stream::machine,
    errors: error::FORM,
    route: http::ROUTE,
    requirements: models::requirements,
    most_tools: |_| None,
    takes_cache_key: |_| false,
    goes_on_by: None,
    binds_thinking: models::binds_thinking,
    answer_writer: answer_writer::WRITER,
    grammar: stream_writer::grammar,
    check: lint::check,
    quirks: Quirks::none(Alphabet::NAME, Alphabet::NAME),
    rules: lint::RULES,
    signs: detect::SIGNS,
};

/// Whose words opaque parts and extras are.
const OWNER: &str = "anthropic";

/// The types of settings.
const SETTINGS: [(&str, SettingType); 6] = [
    ("max_tokens", Count),
    ("temperature", Number),
    ("top_p", Number),
    ("top_k", Number),
    ("stop_sequences", Texts),
    ("stream", Flag),
];

/// The field that marks a breakpoint, on a block, a tool, or a body as a whole.
const MARK: &str = "cache_control";
const AUTO_MARK: &str = MARK;

/// The field that has a system message go with the next word of the user's.
const CLEAR_AT: &str = "clear_at";

/// The field that keeps a tool back until it is looked for.
const DEFER: &str = "defer_loading";

/// What stands where something must stand.
const PLACEHOLDER: &str = ".";

const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const PDF: &str = "application/pdf";
const PLAIN_TEXT: &str = "text/plain";

/// What the API can compile into one grammar.
const MOST_STRICT_TOOLS: usize = 20;

/// Whether a system message with this value of `clear_at`, as JSON, is there for one turn only.
/// It is no part of what is cached, and the API refuses a mark on it.
fn clears(value: &str) -> bool {
    !matches!(value, "null" | r#""never""#)
}

/// Whether the API sees no text in it.
fn is_blank(text: &str) -> bool {
    // The separators U+001C to U+001F are white space to the API, not to Rust.
    text.chars().all(|c| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}

/// Whether a mark is one that the API knows; none at all is as good.
fn is_legal_mark(json: &str) -> bool {
    json == "null" || serde_json::from_str(json).is_ok_and(|value| mark_fault(&value).is_none())
}

/// What is wrong with a mark.
fn mark_fault(mark: &Value) -> Option<&'static str> {
    if mark.get("type").is_none_or(|kind| kind != "ephemeral") {
        return Some("its type must be ephemeral");
    }
    match mark.get("ttl") {
        None | Some(Value::Null) => None,
        Some(ttl) if ttl == "5m" || ttl == "1h" => None,
        Some(_) => Some("its ttl must be 5m or 1h"),
    }
}

/// Whether a call id is in the API's alphabet.
fn is_legal_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Whether an id is one of those that the API gives to the tools it runs itself.
fn is_server_id(id: &str) -> bool {
    id.strip_prefix("srvtoolu_").is_some_and(|id| is_legal_id(id) && !id.contains('-'))
}

/// Why one of two sampling settings is left out.
pub(crate) const ONE_WAY: &str = "the model takes `temperature` or `top_p`, not both";

/// Which of two sampling settings is too much for a model that takes only one of them: the
/// temperature if it is the default, else the nucleus.
pub(crate) fn surplus_sampling(
    model: Model,
    temperature: Option<f64>,
    top_p: Option<f64>,
) -> Option<&'static str> {
    let is_default = temperature? == 1.0;
    let surplus = if is_default { "temperature" } else { "top_p" };
    top_p.filter(|_| model.samples_one_way()).map(|_| surplus)
}

/// Why a sampling setting is refused, if it is.
pub(crate) fn sampling_fault(
    name: &str,
    number: f64,
    model: Model,
    is_thinking: bool,
) -> Option<&'static str> {
    // The nucleus that thinking leaves free.
    const LEAST_TOP_P: f64 = 0.95;
    let is_inside = if name == "top_k" { number >= 0.0 } else { (0.0..=1.0).contains(&number) };
    if !is_inside {
        Some("it is out of range")
    } else if model.refuses_sampling() && !(name == "temperature" && number == 1.0) {
        Some("the model takes no sampling settings")
    } else if !is_thinking {
        None
    } else {
        match name {
            "temperature" if number != 1.0 => Some("it must be 1 while the model thinks"),
            "top_p" if number < LEAST_TOP_P => {
                Some("it must be at least 0.95 while the model thinks")
            }
            "top_k" => Some("it may not be set while the model thinks"),
            _ => None,
        }
    }
}
