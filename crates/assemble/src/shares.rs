//! How the parts of a request share its budget (H10).

use std::fmt;
use std::str::FromStr;

use interleaf_model::ContextKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;

/// How the parts of a request share its budget: what each may take, and which gives way
/// before which. By default the history alone gives way, and no part has a maximum.
///
/// ```
/// use interleaf_assemble::{Part, Shares};
///
/// let shares = Shares::new()
///     .with(Part::Context, "500..10%".parse()?)
///     .with(Part::Tools, "..4000".parse()?);
/// assert_eq!(shares.of(Part::Context).to_string(), "500..10%");
/// # Ok::<(), interleaf_assemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Shares {
    /// The tools.
    #[serde(skip_serializing_if = "Share::is_unset")]
    pub tools: Share,
    /// The system message, which is never cut: a request with more than its maximum is refused.
    #[serde(skip_serializing_if = "Share::is_unset")]
    pub system: Share,
    /// The context.
    #[serde(skip_serializing_if = "Share::is_unset")]
    pub context: Share,
    /// The conversation.
    #[serde(skip_serializing_if = "Share::is_unset")]
    pub history: Share,
    /// Which part gives way before which; parts that are not named follow in the usual order:
    /// the history, the context, the tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Part>,
    /// Which source of the context gives way before which; sources that are not named follow
    /// in the usual order: notes, information, further sources, the TODO list, the role.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<ContextKind>,
}

/// A part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// The conversation.
    History,
    /// The context.
    Context,
    /// The tools.
    Tools,
    /// The system message.
    System,
}

/// What a part may take: `500..10%`, `..4000`, `1000..`.
///
/// A part gives way down to its minimum when the request does not fit. Without one the
/// history may give way as far as it can, and the other parts do not give way for the sake
/// of the whole. What is more than the maximum gives way in every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Share {
    /// At least.
    pub min: Option<Amount>,
    /// At most.
    pub max: Option<Amount>,
}

/// Tokens, or a part of what a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// This many.
    Tokens(u64),
    /// This many of a hundred that the window leaves.
    Percent(u8),
}

interleaf_model::only_objects!(Shares);

impl Part {
    /// The parts that can give way, in the usual order.
    const GIVING: [Self; 3] = [Self::History, Self::Context, Self::Tools];

    /// Every part, in the order in which a request has them.
    pub const ALL: [Self; 4] = [Self::Tools, Self::System, Self::Context, Self::History];

    /// The part's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Context => "context",
            Self::Tools => "tools",
            Self::System => "system",
        }
    }
}

impl Amount {
    /// In tokens, of what the window leaves.
    pub fn tokens(self, limit: u64) -> u64 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Percent(percent) => {
                let part = u128::from(limit) * u128::from(percent) / 100;
                u64::try_from(part).unwrap_or(u64::MAX)
            }
        }
    }
}

impl Share {
    /// At least and at most so much, where that is said.
    pub fn new(min: Option<Amount>, max: Option<Amount>) -> Self {
        Self { min, max }
    }

    fn is_unset(&self) -> bool {
        *self == Self::default()
    }
}

impl Shares {
    /// The history alone gives way.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with this share of a part.
    #[must_use]
    pub fn with(mut self, part: Part, share: Share) -> Self {
        match part {
            Part::History => self.history = share,
            Part::Context => self.context = share,
            Part::Tools => self.tools = share,
            Part::System => self.system = share,
        }
        self
    }

    /// The same, with these parts giving way first.
    #[must_use]
    pub fn with_order(mut self, order: impl Into<Vec<Part>>) -> Self {
        self.order = order.into();
        self
    }

    /// The same, with these sources of the context giving way first.
    #[must_use]
    pub fn with_sources(mut self, sources: impl Into<Vec<ContextKind>>) -> Self {
        self.sources = sources.into();
        self
    }

    /// The share of a part.
    pub fn of(&self, part: Part) -> Share {
        match part {
            Part::History => self.history,
            Part::Context => self.context,
            Part::Tools => self.tools,
            Part::System => self.system,
        }
    }

    /// The parts that can give way, the first that does first.
    pub fn giving_order(&self) -> Vec<Part> {
        let rest = Part::GIVING.into_iter().filter(|part| !self.order.contains(part));
        self.order.iter().copied().chain(rest).collect()
    }

    /// The place of a source among those that give way.
    pub(crate) fn source_rank(&self, kind: &ContextKind) -> (usize, u8) {
        let named = self.sources.iter().position(|source| source == kind);
        let usual = match kind {
            ContextKind::Notes => 0,
            ContextKind::Info => 1,
            ContextKind::Other(_) => 2,
            ContextKind::Todo => 3,
            ContextKind::Role => 4,
        };
        (named.unwrap_or(self.sources.len()), usual)
    }

    /// Whether nothing is said, so that the history alone gives way.
    pub fn is_unset(&self) -> bool {
        Part::ALL.into_iter().all(|part| self.of(part).is_unset())
    }

    /// Checks what can be known without a request.
    ///
    /// # Errors
    /// If a field makes no sense; the error names it.
    pub fn check(&self, limit: u64) -> Result<(), Error> {
        let wrong = |field: &str, rule: String| Err(Error::settings(format!("{field}: {rule}")));
        for part in Part::ALL {
            let Share { min, max } = self.of(part);
            for percent in [min, max].into_iter().flatten() {
                if matches!(percent, Amount::Percent(percent) if percent > 100) {
                    return wrong(part.as_str(), format!("{percent} is more than the whole"));
                }
            }
            if let (Some(min), Some(max)) = (min, max)
                && min.tokens(limit) > max.tokens(limit)
            {
                let (less, more) = (max.tokens(limit), min.tokens(limit));
                let rule = format!(
                    "the minimum {min} is more than the maximum {max}: {more} tokens against {less}"
                );
                return wrong(part.as_str(), rule);
            }
        }
        if self.system.min.is_some() {
            let rule = "the system message is never cut, so that a minimum says nothing";
            return wrong("system", rule.to_owned());
        }
        for (at, part) in self.order.iter().enumerate() {
            if *part == Part::System {
                return wrong("order", "the system message never gives way".to_owned());
            }
            if self.order[..at].contains(part) {
                return wrong("order", format!("{part} appears twice"));
            }
        }
        for (at, source) in self.sources.iter().enumerate() {
            if self.sources[..at].contains(source) {
                return wrong("sources", format!("{} appears twice", source.as_str()));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Part {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|part| part.as_str() == text.trim());
        known.ok_or_else(|| {
            Error::settings(format!(
                "{text:?} is not a part of a request: tools, system, context and history are"
            ))
        })
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(tokens) => write!(f, "{tokens}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for Amount {
    type Err = Error;

    /// Reads a number of tokens, or a part of a hundred such as `10%`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let amount = match text.trim().strip_suffix('%') {
            Some(percent) => {
                let percent = percent.trim_end().parse().ok();
                percent.filter(|percent| *percent <= 100).map(Self::Percent)
            }
            None => text.trim().parse().ok().map(Self::Tokens),
        };
        amount.ok_or_else(|| {
            Error::settings(format!(
                "{text:?} is not an amount: a number of tokens such as 2000, or a part of what \
                 the window leaves such as 10%"
            ))
        })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |amount: Option<Amount>| amount.map(|a| a.to_string()).unwrap_or_default();
        write!(f, "{}..{}", side(self.min), side(self.max))
    }
}

impl FromStr for Share {
    type Err = Error;

    /// Reads `MIN..MAX`, of which either may be left out.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (min, max) = text.split_once("..").ok_or_else(|| {
            Error::settings(format!(
                "{text:?} is not a share: MIN..MAX is expected, such as 500..10%, ..2000 or 1000.."
            ))
        })?;
        let amount = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse().map(Some),
        };
        Ok(Self { min: amount(min)?, max: amount(max)? })
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
