//! Counting tokens.

#[cfg(feature = "bpe")]
mod bpe;
mod estimate;
mod ledger;
mod rate;
mod tools;

#[cfg(feature = "bpe")]
pub use bpe::Bpe;
pub use estimate::Estimate;
pub use ledger::Ledger;
pub use rate::Rate;

pub(crate) use ledger::{Counting, PER_MESSAGE};
pub(crate) use tools::ToolList;

use std::sync::Arc;

use interleaf_model::{Message, Tool};

/// What counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// The tokens of a text; the same text always gives the same number.
    fn count(&self, text: &str) -> u64;

    /// What a count in [`count`](Self::count)'s own unit means for the model. An
    /// estimate corrects itself here, so that remembered counts stay valid.
    fn rate(&self) -> Rate {
        Rate::ONE
    }

    /// Takes note of what a request really took: `counted` is what its report says,
    /// `reported` is what the API says. An exact counter has nothing to learn.
    fn observe(&self, counted: u64, reported: u64) {
        let _ = (counted, reported);
    }

    /// Goes on at the rate at which an earlier request was counted, as its report says.
    fn resume(&self, rate: Rate) {
        let _ = rate;
    }

    /// The counter's name; an estimate says that it is one.
    fn name(&self) -> &str;
}

/// What messages and tools are sent as, where that is not as they are: their tokens are those
/// of what is sent.
pub trait SentAs: Send + Sync {
    /// What a message is sent as; nothing, if as it is.
    fn message(&self, message: &Message) -> Option<Message>;

    /// What a tool is sent as.
    fn tool(&self, tool: &Tool) -> String;

    /// What is said before the tools, if there are any.
    fn before_tools(&self) -> String;
}

/// The counter for a model: its own vocabulary where that is public, else an
/// estimate. Without the feature `bpe`, which brings the vocabularies, it is an estimate
/// for every model.
pub fn counter_for(model: &str) -> Arc<dyn TokenCounter> {
    exact(model).unwrap_or_else(|| Arc::new(Estimate::default()))
}

#[cfg(feature = "bpe")]
fn exact(model: &str) -> Option<Arc<dyn TokenCounter>> {
    Some(Arc::new(Bpe::for_model(model)?))
}

#[cfg(not(feature = "bpe"))]
fn exact(_: &str) -> Option<Arc<dyn TokenCounter>> {
    None
}
