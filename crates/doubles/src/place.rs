//! The blocks of messages, and where they stand.

use serde_json::Value;

use crate::family::Incoming;
use crate::value::{list, text};

/// A block of a message and where it stands, on Anthropic and on Bedrock.
pub(crate) struct Place<'a> {
    pub(crate) message: usize,
    pub(crate) role: &'a str,
    pub(crate) index: usize,
    pub(crate) block: &'a Value,
}

/// The blocks of all messages.
pub(crate) fn blocks<'a>(incoming: &Incoming<'a>) -> impl Iterator<Item = Place<'a>> {
    let messages = list(&incoming.body["messages"]).iter().enumerate();
    messages.flat_map(|(message, value)| {
        let role = text(&value["role"]);
        let blocks = list(&value["content"]).iter().enumerate();
        blocks.map(move |(index, block)| Place { message, role, index, block })
    })
}

impl Place<'_> {
    /// Where it stands, in the notation of both APIs.
    pub(crate) fn at(&self) -> String {
        format!("messages.{}.content.{}", self.message, self.index)
    }
}
