//! Causes and verdicts, in words.

use std::fmt;

use interleaf_model::shown;
use smol_str::SmolStr;

use super::{BreakCause, ContextChange, Impact, Verdict};

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

/// Lines for people: why a request is not the beginning of the next, and what that costs.
impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.of_session.map_or_else(String::new, |id| format!(" of {id}"));
        let against =
            self.against.map_or_else(String::new, |no| format!(" (against request {no}{of})"));
        writeln!(f, "  cause      {}{against}", self.cause)?;
        if let Some(place) = &self.place {
            let id = place.id.as_ref().map_or_else(String::new, |id| format!(" ({id})"));
            // A setting stands beside what the model sees, all of which it changes.
            let byte = self.byte.filter(|_| place.byte == 0).unwrap_or(place.byte);
            let verb = if self.cause.breaks() { "differs" } else { "goes on" };
            let token = place.token;
            let at = match place.is_head() {
                true => "before the messages".to_owned(),
                false => format!("at message {}{id}", place.message),
            };
            writeln!(f, "  {verb:<9}  {at}, byte {byte}, token {token}")?;
        }
        if let Some(goes_on) = &self.goes_on {
            writeln!(f, "  stored     {goes_on}")?;
        }
        let Some(cost) = &self.cost else {
            return writeln!(f, "  cost       not known: nothing is known of this vendor's cache");
        };
        if cost.unmarked {
            writeln!(f, "  marks      {UNMARKED}")?;
        }
        if cost.too_short {
            writeln!(f, "  length     shorter than the least that this cache keeps")?;
        }
        let (read, written, computed) = (cost.read, cost.written, cost.computed);
        let (tokens, rules) = (self.tokens, &cost.rules);
        let about = if self.by_bytes { "about " } else { "" };
        writeln!(
            f,
            "  cost       {read} read, {written} written, {computed} computed of {about}{tokens} \
             tokens, by {rules}'s rules"
        )?;
        let (price, unbroken) = (cost.price, cost.unbroken);
        writeln!(
            f,
            "  price      {price:.0}, unbroken {unbroken:.0} (in tokens that are not cached)"
        )
    }
}

/// What is said of a request without marks, where a cache goes by them.
pub(crate) const UNMARKED: &str = "none, and nothing is kept without them: --cache sets them";

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AsPredicted => "as predicted",
            Self::OurMiss => "as predicted; the request itself is not what was cached",
            Self::TheirMiss => "less than predicted: the cache no longer had it",
            Self::More => "more than predicted",
            Self::LessWritten => "read as predicted, and less written than predicted",
            Self::MoreWritten => "read as predicted, and more written than predicted",
        })
    }
}
