//! The pieces of the XML protocol (E8): tags, text, values, the parameters of a call, and
//! the writer. The grammar is in `docs/plan-xml.md`.
//!
//! The writer is exact, the reader is tolerant: whatever the writer writes, the reader
//! reads back as it was, and of what a model writes it makes the most.

pub(crate) mod body;
pub(crate) mod elements;
pub(crate) mod parameters;
pub(crate) mod tag;
pub(crate) mod text;
mod value;
mod write;

pub(crate) use self::text::escape;
pub(crate) use self::write::{
    write_calls, write_made, write_result, write_tool, write_tool_result,
};
