//! What an API's answers can say, as data.

use interleaf_model::{File, Finish, Image, Json, Seal, Usage};

use super::tally::Kind;

/// What the answers of an API can say.
///
/// It is told whatever the model has a word for; what it cannot repeat is reported in
/// one place, and no writer has to decide anything.
pub(crate) struct Voice {
    /// Whose fields and opaque parts go back.
    pub(crate) owner: &'static str,
    /// Whether a thought of this text can carry this seal.
    pub(crate) seals: fn(text: &str, seal: &Seal) -> bool,
    /// Whether a picture has a place.
    pub(crate) image: fn(&Image) -> bool,
    /// Whether a file has a place.
    pub(crate) file: fn(&File) -> bool,
    /// Whether an opaque part of its owner has a place.
    pub(crate) opaque: fn(&Json) -> bool,
    /// Whether a refusal is something other than text.
    pub(crate) refusals: bool,
    /// Whether such arguments, which are no object, are wrapped in one.
    pub(crate) wraps: fn(&str) -> bool,
    /// Whether parts of this kind have fields that we have no word for.
    pub(crate) part_fields: fn(Kind) -> bool,
    /// The field of another owner, on a call, that has a customary place here.
    pub(crate) lends: Option<(&'static str, &'static str)>,
    /// Whether the message as a whole has such fields.
    pub(crate) message_fields: bool,
    /// Whether an answer has an id and names its model.
    pub(crate) named: bool,
    /// What becomes one on the way.
    pub(crate) merges: Merges,
    /// The words to search for for why the model stopped.
    pub(crate) finish: FinishWords,
    /// Which tokens are counted.
    pub(crate) counts: Counts,
}

/// Which parts of an answer become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merges {
    /// None.
    Nothing,
    /// Neighbours of one kind to which nothing is attached.
    Neighbours,
    /// All of one kind, and kinds stand in a fixed order.
    Kinds,
}

/// The words to search for for why a model stopped.
pub(crate) struct FinishWords {
    pub(crate) stop: &'static str,
    pub(crate) length: &'static str,
    pub(crate) tool_calls: &'static str,
    pub(crate) content_filter: &'static str,
    pub(crate) paused: Option<&'static str>,
    /// Words that have no other meaning here.
    pub(crate) others: &'static [&'static str],
    /// Who reads the word tells an ordinary stop beside calls from one for the sake of
    /// them.
    pub(crate) keeps_stop: bool,
    /// Calls alone tell that the model wants results.
    pub(crate) calls_tell: bool,
    /// A refusal alone tells that the model refused.
    pub(crate) refusal_tells: bool,
}

/// Which tokens an API counts, and how.
pub(crate) struct Counts {
    /// An answer without counts is no answer.
    pub(crate) needed: bool,
    pub(crate) cache_writes: bool,
    /// Those written for an hour are told from the others.
    pub(crate) cache_hours: bool,
    pub(crate) reasoning: bool,
    /// Cached tokens are not among those sent.
    pub(crate) cached_apart: bool,
    /// Reasoning is not among what was made.
    pub(crate) reasoning_apart: bool,
}

impl FinishWords {
    /// The word for a reason, and what who reads it takes it for.
    pub(crate) fn word<'a>(
        &self,
        finish: &'a Finish,
        has_calls: bool,
        has_refusal: bool,
    ) -> (&'a str, Finish) {
        let plain = if has_calls { self.tool_calls } else { self.stop };
        let word = match finish {
            Finish::Stop if has_calls && !self.keeps_stop => self.tool_calls,
            Finish::Stop => self.stop,
            // What was cut off is at least known to be short.
            Finish::Length | Finish::Cut => self.length,
            Finish::ToolCalls => self.tool_calls,
            Finish::ContentFilter if has_refusal && self.refusal_tells => self.stop,
            Finish::ContentFilter => self.content_filter,
            Finish::Paused => self.paused.unwrap_or(plain),
            Finish::Other(reason) if self.others.contains(&reason.as_str()) => reason,
            Finish::Other(_) => plain,
        };
        (word, self.meaning(word, has_calls, has_refusal))
    }

    fn meaning(&self, word: &str, has_calls: bool, has_refusal: bool) -> Finish {
        let is_plain = word == self.stop || word == self.tool_calls;
        if is_plain && has_refusal && self.refusal_tells {
            Finish::ContentFilter
        } else if is_plain && self.calls_tell {
            if has_calls { Finish::ToolCalls } else { Finish::Stop }
        } else if word == self.stop {
            Finish::Stop
        } else if word == self.tool_calls {
            Finish::ToolCalls
        } else if word == self.length {
            Finish::Length
        } else if word == self.content_filter {
            Finish::ContentFilter
        } else if Some(word) == self.paused {
            Finish::Paused
        } else {
            Finish::Other(word.into())
        }
    }
}

impl Counts {
    /// What is left of the counts once they are told.
    pub(crate) fn told(&self, usage: Usage) -> Usage {
        let mut told = usage;
        if !self.cache_writes {
            told.cache_write = 0;
        }
        if !self.cache_hours {
            told.cache_write_hour = 0;
        }
        told.cache_write_hour = told.cache_write_hour.min(told.cache_write);
        if !self.reasoning {
            told.reasoning = 0;
        }
        if self.cached_apart {
            told.prompt = told.prompt.max(told.cache_read.saturating_add(told.cache_write));
        }
        if self.reasoning_apart {
            told.completion = told.completion.max(told.reasoning);
        }
        told
    }
}
