//! The words of Interleaf.
//!
//! A [`Message`] is an envelope (id, time, origin) around a [`Body`]; the body's
//! role decides which parts it may hold, so an assistant cannot carry a tool
//! result and a user cannot call a tool. Messages travel as a [`Transcript`]
//! (the JSON format of files and the command line) and are shown to people in the
//! [`notation`], one line each.
//!
//! ```text
//!   Text · Image · File · Thinking · ToolCall · Opaque      part.rs
//!        └────────────── Body · ToolResult ──────────┐      message.rs
//!                     Message { id, at, origin, body }
//!            Transcript  ◀── form ──▶  JSON                 transcript.rs
//!            notation    ◀── print / parse ──▶  one line    notation.rs
//! ```
//!
//! Nothing here does I/O, asks a clock or draws a random number.
//!
//! ```
//! use interleaf_model::{Message, Role, notation};
//!
//! let messages = notation::parse("u list the files\na [call c1 ls {\"path\":\".\"}]\nt c1= src\n")?;
//! assert_eq!(messages[1].role(), Role::Assistant);
//! assert_eq!(messages[1].calls().count(), 1);
//! assert_eq!(messages[0], Message::user("list the files"));
//! # Ok::<(), interleaf_model::Error>(())
//! ```

mod error;
mod fragment;
mod id;
mod json;
mod objects;
mod only_objects;
mod time;
mod write;

mod abridge;
mod message;
mod part;
mod usage;

mod any_part;
mod form;
mod ranges;
mod transcript;

mod answered;
mod base64;
mod blocks;
mod echo;
mod keys;
mod plural;
mod prompt;
mod remarks;
mod reply;
mod requirements;
mod secret;
mod settled;
mod shown;
mod spent;
mod spoken;
mod tool;

pub mod notation;

pub use answered::{Answered, ENGINE};
pub use base64::in_base64;
pub use blocks::Blocks;
pub use error::{Error, ErrorKind, Place};
pub use fragment::read_json;
pub use id::{AgentName, CallId, MessageId, ToolName, VendorName};
pub use json::Json;
pub use keys::{is_key_letter, key_start};
pub use message::{Body, Message, Origin, Parts, Role, Status, ToolResult};
#[doc(hidden)]
pub use only_objects::ObjectDeserializer;
pub use part::{
    Arguments, AssistantPart, ContentPart, Extra, File, Image, Opaque, PartRef, Producer, Seal,
    Source, SystemPart, Text, Thinking, ToolCall,
};
pub use plural::plural;
pub use prompt::{
    Carried, CarriedTexts, Carrying, ContextKind, Entry, Law, Prompt, Provenance, Violation,
};
pub use ranges::Ranges;
pub use reply::{Finish, Reply};
pub use requirements::{Requirements, SystemInPlace};
pub use secret::Secret;
pub use settled::{Link, Settled};
pub use shown::{is_hidden, shown, shown_exactly, shown_lines, shown_speech};
pub use spent::Spent;
pub use spoken::Spoken;
pub use time::Timestamp;
pub use tool::Tool;
pub use transcript::{BatchRecord, TRANSCRIPT_VERSION, Transcript, UsageRecord};
pub use usage::Usage;
pub use write::{json_text, write_json};
