//! The calls of a body that wait for their results.

use std::collections::HashSet;

use interleaf_model::{CallId, ToolCall};

/// The calls that have no result yet.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls(HashSet<CallId>);

impl OpenCalls {
    /// Takes in calls.
    pub(crate) fn open<'c>(&mut self, calls: impl Iterator<Item = &'c ToolCall>) {
        self.0.extend(calls.map(|call| call.id.clone()));
    }

    /// The call that a result answers: the one that it names, or if it names none the only
    /// one that waits.
    pub(crate) fn answer(&mut self, named: Option<&str>) -> Option<CallId> {
        let call = match named.and_then(|named| CallId::new(named).ok()) {
            Some(call) => call,
            None if self.0.len() == 1 => self.0.iter().next()?.clone(),
            None => return None,
        };
        self.0.remove(&call);
        Some(call)
    }
}
