//! Token usage: one counter that is replaced, one that rewinds, one that never does.

use std::sync::Arc;

use interleaf_model::{Message, Usage};

/// The three counters of an agent (A12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// The running request, or the last one. What a stream reports replaces it.
    pub current: Usage,
    /// All requests, the current one included. Rewinds with a rollback.
    pub cumulative: Usage,
    /// All requests that were ever made. Never rewinds.
    pub lifetime: Usage,
    /// The length of the log when the current request was made; forgotten when an
    /// operation changes the view, for then its prompt says nothing of the next.
    pub(crate) request_log_len: Option<u32>,
}

/// How full the context window is: what the last request is known to have sent,
/// and the messages that came since.
#[derive(Debug, Clone)]
pub struct Fill<'a> {
    /// The tokens of the last request's prompt, as the API counted them.
    pub prompt: u64,
    /// Visible messages appended since that request was made, still to be counted.
    pub added: Vec<&'a Arc<Message>>,
}

impl Counters {
    pub(crate) fn begin(&mut self, log_len: u32) {
        self.current = Usage::default();
        self.request_log_len = Some(log_len);
    }

    /// Starts counting anew, but for what never rewinds.
    pub(crate) fn rewind(&mut self) {
        self.current = Usage::default();
        self.cumulative = Usage::default();
    }

    /// Takes what the API reports of the current request so far. Only the difference
    /// to the report before counts, also when a rollback came between the two.
    pub(crate) fn note(&mut self, usage: Usage) {
        self.cumulative = instead(self.cumulative, self.current, usage);
        self.lifetime = instead(self.lifetime, self.current, usage);
        self.current = usage;
    }

    /// Takes what the API reports of a request before the current one.
    pub(crate) fn note_earlier(&mut self, usage: Usage) {
        self.cumulative = instead(self.cumulative, Usage::default(), usage);
        self.lifetime = instead(self.lifetime, Usage::default(), usage);
    }
}

/// `sum`, with `new` counted instead of `old`.
fn instead(sum: Usage, old: Usage, new: Usage) -> Usage {
    let field = |sum: u64, old: u64, new: u64| match new.checked_sub(old) {
        Some(more) => sum.saturating_add(more),
        None => sum.saturating_sub(old - new),
    };
    Usage {
        prompt: field(sum.prompt, old.prompt, new.prompt),
        cache_read: field(sum.cache_read, old.cache_read, new.cache_read),
        cache_write: field(sum.cache_write, old.cache_write, new.cache_write),
        cache_write_hour: field(sum.cache_write_hour, old.cache_write_hour, new.cache_write_hour),
        completion: field(sum.completion, old.completion, new.completion),
        reasoning: field(sum.reasoning, old.reasoning, new.reasoning),
    }
}
