//! How much of an answer is taken in.

use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};

/// The most bytes of a message. A longer one is read and thrown away, and the call that it
/// answers is told.
pub(crate) const MOST_MESSAGE: usize = 16 * 1024 * 1024;

/// What a call is told whose answer is too long.
pub(crate) fn too_long(id: RequestId) -> ServerJsonRpcMessage {
    told(
        format!(
            "the call was made, and its answer has more than {MOST_MESSAGE} bytes: it was not \
             taken in"
        ),
        id,
    )
}

/// What a call is told whose answer cannot be understood.
pub(crate) fn unread(why: &serde_json::Error, id: RequestId) -> ServerJsonRpcMessage {
    told(format!("the call was made, but the server did not answer as MCP has it: {why}"), id)
}

fn told(text: String, id: RequestId) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error(text, None), Some(id))
}
