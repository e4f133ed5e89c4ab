//! Which calls went out to a server: what never did may be made again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};

/// The calls that may have reached a server and have no answer yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent(Arc<Mutex<HashSet<RequestId>>>);

impl Sent {
    /// A message is about to go out.
    pub(crate) fn begin(&self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::CallToolRequest(_))
        {
            self.with(|ids| ids.insert(request.id.clone()));
        }
    }

    /// A message did not go out after all, or its call is over.
    pub(crate) fn forget(&self, id: &RequestId) {
        self.with(|ids| ids.remove(id));
    }

    /// Whether a call may have reached the server.
    pub(crate) fn has(&self, id: &RequestId) -> bool {
        self.with(|ids| ids.contains(id))
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashSet<RequestId>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The id of a request.
pub(crate) fn request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}
