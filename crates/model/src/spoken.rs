//! What a text says, where calls are made in words.

use crate::{Arguments, ToolName};

/// A piece of what a model said in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken {
    /// Words.
    Text(String),
    /// A call. Like one that an API gives, it may name a tool that there is not, or have
    /// arguments that nobody can read.
    Call {
        /// Which tool.
        name: ToolName,
        /// With what.
        arguments: Arguments,
    },
}
