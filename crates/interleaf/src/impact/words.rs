//! Causes and verdicts, in words.

use std::fmt;

use interleaf_model::shown;
use smol_str::SmolStr;

use super::{BreakCause, ContextChange, Verdict};

impl fmt::Display for BreakCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("there is no request before it"),
            Self::Same => f.write_str("nothing: it is the same request"),
            Self::Appended => f.write_str("nothing: it extends the request before"),
            Self::Vendor { from, to } => write!(f, "another vendor: {to}, before {from}"),
            Self::Model { from, to } => {
                write!(f, "another model: {}, before {}", shown(to), shown(from))
            }
            Self::Tools { added, removed, changed, reordered } => {
                let part = |what: &str, names: &[SmolStr]| match names {
                    [] => None,
                    names => Some(format!("{what} {}", names.join(", "))),
                };
                let parts = [part("added", added), part("removed", removed)];
                let parts = parts.into_iter().chain([part("changed", changed)]);
                let order = reordered.then(|| "in another order".to_owned());
                let parts: Vec<String> = parts.flatten().chain(order).collect();
                write!(f, "the tool list: {}", parts.join("; "))
            }
            Self::System => f.write_str("the system text changed"),
            Self::Setting { name } => write!(f, "the setting {name} changed"),
            Self::Summary => f.write_str("the summary was added, replaced or removed"),
            Self::Context { source, change } => write!(f, "context: {source} {change}"),
            Self::Marks => f.write_str(
                "marks for the cache: the request before had them, and this one has none",
            ),
            Self::Restored { message } => write!(f, "{message} is back: there is room for it"),
            Self::Shortened { message, why } => write!(f, "{message} gave way: {why}"),
            Self::Repaired { message, why } => {
                write!(f, "the history is mended at {message}: {why}")
            }
            Self::Operation { names } => write!(f, "an operation: {}", names.join(", ")),
            Self::Form { message: Some(message) } => {
                write!(f, "{message} is encoded differently here")
            }
            Self::Form { message: None } => f.write_str("messages at the end are gone"),
        }
    }
}

impl fmt::Display for ContextChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "is new",
            Self::Removed => "is gone",
            Self::Changed => "says something else",
            Self::Again => "is said anew",
            Self::Moved => "moved with the block",
            Self::Carried => "is now sent in a different carrier",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AsPredicted => "as predicted",
            Self::OurMiss => "as predicted: a miss of ours",
            Self::TheirMiss => "less than predicted: a miss of theirs",
            Self::More => "more than predicted",
            Self::LessWritten => "read as predicted, and less written than predicted",
            Self::MoreWritten => "read as predicted, and more written than predicted",
        })
    }
}
