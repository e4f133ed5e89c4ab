//! What model APIs speak: requests, answers and streams, written and read.
//!
//! ```text
//!   Prompt ──▶ encode ──▶ body ──▶ API ──▶ answer, events ──▶ decode ──▶ Reply
//!   body ──▶ decode_request ──▶ Request          Reply ──▶ write_answer, StreamWriter
//!   body ──▶ lint ──▶ what the API would refuse  text ──▶ detect ──▶ Family
//! ```
//!
//! A wire family is a folder, and each has one table of contents, its `Codec`
//! (`codec.rs`): the only place that chooses between families is `Family::codec`. The
//! same file name holds the same thing in every folder:
//!
//! | file | holds |
//! |---|---|
//! | `wire.rs` | the JSON of a request as it is written |
//! | `encode.rs`, `encode/` | from a prompt to a body: `system`, `user`, `results`, `assistant`, `parts`, `media`, `tools`, `settings` |
//! | `decode.rs`, `decode/` | from a body to messages: `messages`, `parts`, `tools`, `settings` |
//! | `answer.rs`, `stream.rs` | from an answer, whole or in events, to a reply |
//! | `answer_writer.rs`, `stream_writer.rs` | from a reply to an answer, whole or in events |
//! | `error.rs` | what the API says instead of an answer |
//! | `lint.rs`, `lint/` | what the API would refuse: `rules`, `messages`, `parts`, `pairing`, `tools`, `settings` |
//! | `http.rs` | where a request goes, and with which headers |
//! | `detect.rs` | the signs by which a text of the family is known |
//! | `models.rs`, `schema.rs` | what is known of models by their names; which schemas are taken |
//!
//! The structs of a folder never leave it. What a vendor sends that the model has no word
//! for is kept byte for byte as `Opaque` or `Extra`, under its owner's name, and goes back
//! to that owner. A vendor is data ([`Vendor`]): a row of [`VENDORS`], or made at run time.
//!
//! Nothing here does I/O, asks a clock or draws a random number: an id that has to
//! be made derives from its place.
//!
//! ```
//! use interleaf_model::Role;
//! use interleaf_wire::{Family, decode_request};
//!
//! let messages = decode_request(
//!     Family::OpenaiChat,
//!     r#"[{"role": "user", "content": "list the files"},
//!         {"role": "assistant", "content": null, "tool_calls": [
//!             {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
//!         {"role": "tool", "tool_call_id": "c1", "content": "src"}]"#,
//! )?
//! .messages;
//! assert_eq!(messages[1].role(), Role::Assistant);
//! assert_eq!(messages[1].calls().count(), 1);
//! assert_eq!(messages[2].text(), "src");
//! # Ok::<(), interleaf_wire::Error>(())
//! ```

mod api_error;
mod call_reader;
mod codec;
mod error;
mod event_stream;
mod family;
mod http;
mod options;
mod vendor;

mod adjustment;
mod arguments;
mod array_items;
mod base64;
mod count;
mod failed;
mod made_id;
mod names;
mod thinking;
mod turns;

mod strict_schema;

mod encode;

mod decode;
mod doubles;
mod foreign_choice;
mod foreign_tool;
mod misplaced;
mod open_calls;
mod raw;
mod rest;
mod setting_type;
mod source;
mod tree;

mod pieces;
mod reply_builder;
mod sse;
mod stream;

pub mod detect;
mod stream_writer;
mod write_answer;

mod known_names;
pub mod lint;
mod rewritten;

mod anthropic;
mod bedrock;
mod gemini;
mod openai_chat;
mod openai_responses;

pub use adjustment::{Adjustment, AdjustmentKind};
pub use api_error::{ApiError, ApiErrorKind, WrittenError, decode_error, write_error};
pub use call_reader::{CallListener, CallReader};
pub use decode::{Decoder, decode_request, decode_tools};
pub use encode::{Cut, Encoded, Marks, Outline, SessionEncoder, SettledSpan, encode};
pub use error::{Error, ErrorKind};
pub use family::Family;
pub use http::{HeaderValue, Http};
pub use made_id::is_made_call_id;
pub use names::{Alphabet, NameMap};
pub use options::{
    AnswerSchema, CacheMarks, Effort, Number, Options, OwnFields, Request, ResponseFormat,
    ThinkingAmount, ThinkingMode, Thoughts, ToolChoice,
};
pub use rewritten::{Change, Rewritten, rewritten};
pub use stream::{Delta, StreamDecoder};
pub use stream_writer::{StreamWriter, WrittenStream, write_stream};
pub use vendor::{Auth, Quirks, Reasoning, Switch, VENDORS, Vendor};
pub use write_answer::{AnswerHead, WrittenAnswer, write_answer};
