//! What laws are tried on: proptest strategies, from a text to a whole transcript.
//!
//! They are boxed, so that compilers and backtraces are spared their types.

mod conversation;
mod damage;
mod json;
mod message;
mod part;
mod text;
mod transcript;

pub use conversation::conversation;
pub use damage::broken_conversation;
pub use json::{json, json_object};
pub use message::message;
pub use part::arguments;
pub use text::text;
pub use transcript::transcript;
