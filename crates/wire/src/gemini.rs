//! The family of Google's Gemini `generateContent`, on Google AI and on Vertex.
//!
//! | on the wire | in the model |
//! |---|---|
//! | `systemInstruction` | system messages, each part one part |
//! | a content of role `user` | the results in it, each a tool message, then a user message of the rest |
//! | a content of role `model` | an assistant message |
//! | neighbours of one role | one content; parts stay apart |
//! | `text` with `thought` | thinking; its `thoughtSignature` is the seal |
//! | `thoughtSignature` of another part | `thoughtSignature` in the part's extra of owner `google` |
//! | an empty `text` with a signature, in a `model` content | an opaque part: it says nothing and must go back |
//! | `functionCall` | a call; with an `id` only if it was read with one, else ids are made from the place |
//! | `functionResponse` | a tool result; it is matched by `id`, then by name among the calls that wait |
//! | `response` `{"output": text}`, `{"error": text}` | the result's text and status |
//! | any other `response` | its JSON text; goes back as the object |
//! | `functionResponse.parts` | the pictures and files of the result |
//! | `inlineData`, `fileData` | a picture if the type says so, else a file |
//! | `executableCode`, `toolCall`, a part of unknown kind | an opaque part of owner `google` |
//! | `parametersJsonSchema` | a tool's schema as it is |
//! | `parameters` | a tool's schema in JSON Schema's words; the original in the tool's extra |
//! | an element of `tools` without functions | a hosted tool |
//! | `toolConfig`, `generationConfig` | the settings with a neutral word; the rest stays in `rest` |
//! | any other field | an extra of owner `google`; a field below `functionCall`, `inlineData`, … keeps that name above it |
//!
//! Names are read in camel case and in snake case, and written in camel case.
//!
//! What is written follows these rules:
//!
//! - A signature goes back on the part that it came with. It is left out where the
//!   thinking beside it tells that another model made it. From Gemini 3 on, the first
//!   call of each step of the running tool loop has one: where none is known, the
//!   stand-in that Google names for that purpose.
//! - A schema goes out as `parametersJsonSchema`, unless it is written in Google's own
//!   words (`"type": "OBJECT"`) and has properties: then as `parameters`.
//! - A blank text is left out. A user turn of nothing else is sent as it is on Google
//!   AI, which takes it; everywhere else a full stop stands for it.
//! - A request that would end with the model's turn gets a short user turn.
//! - A `cachedContent` forbids system text and tools beside it; it gives way.

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
use crate::encode::Marking;
use crate::setting_type::SettingType::{self, CountOrDigits, Object, Text, Texts};
use crate::stream::Framing;
use crate::{Alphabet, Effort, Quirks};

/// The types of settings.
const SETTINGS: [(&str, SettingType); 3] =
    [("model", Text), ("generationConfig", Object), ("toolConfig", Object)];

/// The types of those in `generationConfig`.
const CONFIG_SETTINGS: [(&str, SettingType); 2] =
    [("maxOutputTokens", CountOrDigits), ("stopSequences", Texts)];

/// The levels of thinking.
const LEVELS: [(Effort, &str); 4] = [
    (Effort::Minimal, "MINIMAL"),
    (Effort::Low, "LOW"),
    (Effort::Medium, "MEDIUM"),
    (Effort::High, "HIGH"),
];

/// The names of functions that the API takes.
pub(crate) const NAMES: Alphabet = Alphabet::letter_first("_.:-", 128);

/// The family's table of contents.
pub(crate) static CODEC: Codec = Codec {
    kin: &[],
    kin_fields: &[],
    hosted_makers: &[],
    cache_mark: None,
    marking: |_, _| Marking::Nothing,
    declares_tools: false,
    keeps_result_names: false,
    writer: encode::WRITER,
    read_request: decode::decode_request,
    body_of_tools: |tools| format!(r#"{{"contents":[],"tools":{tools}}}"#),
    read_answer: answer::decode_response,
    framing: Framing::Sse,
    machine: stream::machine,
    errors: error::FORM,
    route: http::ROUTE,
    requirements: models::requirements,
    most_tools: |_| Some(lint::MOST_FUNCTIONS),
    takes_cache_key: |_| false,
    goes_on_by: None,
    binds_thinking: |_| false,
    answer_writer: answer_writer::WRITER,
    grammar: stream_writer::grammar,
    check: lint::check,
    quirks: Quirks::none(Alphabet::new("_-.:", 64), NAMES),
    rules: lint::RULES,
    signs: detect::SIGNS,
};

/// The owner of what only this family understands.
const GOOGLE: &str = "google";
