//! Rules of caches, as data.

use std::borrow::Cow;

use crate::Prices;

/// The rules of a cache.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rules {
    /// A short name.
    pub name: Cow<'static, str>,
    /// How a prompt is matched.
    pub matches: Match,
    /// A shorter prefix is not kept.
    pub minimum: u64,
    /// For how many seconds a prefix is kept after its last use, if that is known.
    pub lifetime: Option<u64>,
    /// Whether a read is a use: the lifetime begins anew.
    pub renewal: Renewal,
    /// What tokens cost.
    pub prices: Prices,
    /// How sure the rules are.
    pub certainty: Certainty,
}

/// How a prompt is matched against what came before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Match {
    /// The longest prefix that it shares with any earlier sequence.
    Prefix {
        /// In whole steps of this many tokens.
        step: u64,
        /// Whether answers are kept too.
        answers: bool,
        /// Whether the last token is computed in any case.
        computes_last: bool,
    },
    /// A prefix is written at a mark, and found from a mark.
    Marks {
        /// From each mark, this many content blocks are looked at, its own included.
        lookback: usize,
        /// This many marks are heeded, the last ones.
        most: usize,
        /// Whether the last content block is marked without being told.
        implicit: bool,
    },
    /// The longest prefix that is a unit: an earlier prompt, an earlier prompt with its answer,
    /// or what two earlier sequences had in common.
    Units {
        /// Sequences that have fewer tokens in common make no unit.
        least: u64,
    },
    /// What it shares with the last sequence; nothing else is kept.
    Slot {
        /// For models whose state cannot be cut back to any token.
        checkpoints: Option<Checkpoints>,
    },
}

/// Where the state of a model can be taken back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoints {
    /// How many tokens before the end of a prompt a checkpoint is made, the farthest first.
    pub before_end: [u64; 2],
    /// How many are kept, the youngest.
    pub most: usize,
}

/// What a read does to the lifetime of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Renewal {
    /// It begins anew.
    OnRead,
    /// That is not known.
    Unknown,
}

/// How sure rules are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// The cache itself was seen to follow them.
    Measured,
    /// The vendor states them.
    Documented,
    /// Others report them, or the vendor's pages disagree.
    Reported,
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// Memory of one's own costs nothing to read, and to write no more than to compute.
const OWN: Prices = Prices { read: 0.0, write: 1.0 };

const fn priced(read: f64, write: f64) -> Prices {
    Prices { read, write }
}

const fn prefix(step: u64, answers: bool) -> Match {
    Match::Prefix { step, answers, computes_last: false }
}

const fn engine(step: u64) -> Match {
    Match::Prefix { step, answers: true, computes_last: true }
}

const fn marks(implicit: bool) -> Match {
    Match::Marks { lookback: 20, most: 4, implicit }
}

const CHECKPOINTS: Checkpoints = Checkpoints { before_end: [516, 4], most: 32 };

/// How long a prefix is kept, and what a read does to that.
type Life = (Option<u64>, Renewal);

/// Kept for this long after each read.
const fn renewed(seconds: u64) -> Life {
    (Some(seconds), Renewal::OnRead)
}

/// Kept for this long; what a read does to that is not known.
const fn kept(seconds: u64) -> Life {
    (Some(seconds), Renewal::Unknown)
}

/// Nobody says how long.
const UNSAID: Life = (None, Renewal::Unknown);

type Row = (&'static str, Match, u64, Life, Prices, Certainty);

/// One row for each kind of cache. Sources: OpenAI's guide to prompt caching and its cookbook
/// "Prompt Caching 201"; Anthropic's page on prompt caching; the Gemini API's page on caching;
/// DeepSeek's guide to context caching; vLLM's design page on automatic prefix caching. What
/// is measured was held against the engines themselves, request by request.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("openai", prefix(128, false), 1_024, renewed(10 * MINUTE), priced(0.1, 1.0), Certainty::Documented),
    ("openai-5.5", prefix(2_048, false), 1_024, kept(24 * HOUR), priced(0.1, 1.0), Certainty::Documented),
    ("openai-5.6", marks(true), 1_024, kept(30 * MINUTE), priced(0.1, 1.25), Certainty::Reported),
    ("anthropic", marks(false), 1_024, renewed(5 * MINUTE), priced(0.1, 1.25), Certainty::Documented),
    ("bedrock", marks(false), 1_024, renewed(5 * MINUTE), priced(0.1, 1.25), Certainty::Reported),
    ("gemini", prefix(1, false), 4_096, UNSAID, priced(0.1, 1.0), Certainty::Reported),
    ("deepseek", prefix(64, true), 64, UNSAID, priced(0.1, 1.0), Certainty::Documented),
    ("deepseek-v4", Match::Units { least: 64 }, 0, UNSAID, priced(0.1, 1.0), Certainty::Documented),
    ("vllm", engine(16), 0, UNSAID, OWN, Certainty::Measured),
    ("sglang", engine(1), 0, UNSAID, OWN, Certainty::Measured),
    ("llama.cpp", Match::Slot { checkpoints: None }, 0, UNSAID, OWN, Certainty::Measured),
    ("llama.cpp-window", Match::Slot { checkpoints: Some(CHECKPOINTS) }, 0, UNSAID, OWN, Certainty::Reported),
];

/// Vendors whose cache is another's: its rows are theirs too.
const KIN: &[(&str, &str)] = &[
    ("openai-responses", "openai"),
    ("azure", "openai"),
    ("azure-responses", "openai"),
    ("google", "gemini"),
    ("vertex", "gemini"),
    ("llama-cpp", "llama.cpp"),
];

/// Models whose rules differ from their vendor's row: how their names begin (with a `+`, or with
/// a later number), the row, the least tokens that are kept, and what a read costs. The first that
/// fits counts. Claude has the same figures on Bedrock.
#[rustfmt::skip]
const MODELS: &[(&str, &str, &str, u64, f64)] = &[
    ("openai", "gpt-6.1", "openai-5.6", 1_024, 0.05),
    ("openai", "gpt-5.6+", "openai-5.6", 1_024, 0.1),
    ("openai", "gpt-5.5", "openai-5.5", 1_024, 0.1),
    ("openai", "gpt-4.1", "openai", 1_024, 0.25),
    ("openai", "gpt-4o", "openai", 1_024, 0.5),
    ("openai", "", "openai", 1_024, 0.1),
    ("anthropic", "claude-opus-5-5", "anthropic", 512, 0.05),
    ("anthropic", "claude-sonnet-5-5", "anthropic", 512, 0.05),
    ("anthropic", "claude-haiku-5-5", "anthropic", 512, 0.1),
    ("anthropic", "claude-fable-5-1", "anthropic", 512, 0.025),
    ("anthropic", "claude-mythos-5-1", "anthropic", 512, 0.025),
    ("anthropic", "claude-opus-5", "anthropic", 512, 0.1),
    ("anthropic", "claude-fable-5", "anthropic", 512, 0.1),
    ("anthropic", "claude-mythos-5", "anthropic", 512, 0.1),
    ("anthropic", "claude-opus-4-7", "anthropic", 2_048, 0.1),
    ("anthropic", "claude-opus-4-6", "anthropic", 4_096, 0.1),
    ("anthropic", "claude-opus-4-5", "anthropic", 4_096, 0.1),
    ("anthropic", "claude-haiku-4-5", "anthropic", 4_096, 0.1),
    ("anthropic", "claude-3-5-haiku", "anthropic", 2_048, 0.1),
    ("anthropic", "", "anthropic", 1_024, 0.1),
    ("bedrock", "amazon.nova", "bedrock", 1_000, 0.1),
    ("bedrock", "", "bedrock", 1_024, 0.1),
    ("gemini", "gemini-2.5", "gemini", 2_048, 0.1),
    ("gemini", "", "gemini", 4_096, 0.1),
    ("deepseek", "deepseek-v4", "deepseek-v4", 0, 0.1),
    ("deepseek", "", "deepseek", 64, 0.1),
];

impl Match {
    /// Reads are told in steps of this many tokens.
    pub fn step(&self) -> u64 {
        match self {
            Self::Prefix { step, .. } => (*step).max(1),
            Self::Marks { .. } | Self::Units { .. } | Self::Slot { .. } => 1,
        }
    }
}

impl Rules {
    /// The rules of a name, such as `anthropic` or `llama.cpp`.
    pub fn named(name: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.0 == name).map(Self::of_row)
    }

    /// All rules that have a name.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(Self::of_row)
    }

    /// The rules of a vendor's model; none, if nothing is known of that vendor's cache.
    ///
    /// ```
    /// use interleaf_cache::Rules;
    ///
    /// assert_eq!(Rules::of_model("anthropic", "claude-opus-4-6").unwrap().minimum, 4_096);
    /// assert_eq!(Rules::of_model("openai", "gpt-5.6-mini").unwrap().name, "openai-5.6");
    /// assert_eq!(Rules::of_model("azure", "gpt-6.1-sol").unwrap().name, "openai-5.6");
    /// assert_eq!(Rules::of_model("anthropic", "claude-opus-5-5").unwrap().prices.read, 0.05);
    /// assert_eq!(Rules::of_model("google", "gemini-2.5-pro").unwrap().name, "gemini");
    /// assert!(Rules::of_model("someone", "a-model").is_none());
    /// ```
    pub fn of_model(vendor: &str, model: &str) -> Option<Self> {
        let vendor = KIN.iter().find(|(name, _)| *name == vendor).map_or(vendor, |(_, kin)| kin);
        let model = model.rsplit('/').next().unwrap_or(model);
        // On Bedrock a region stands before the maker's name: `us.anthropic.claude-…`.
        let (of, model) = match vendor {
            "bedrock" => match model.split_once("anthropic.") {
                Some((_, claude)) => ("anthropic", claude),
                None => (vendor, model.find("amazon.").map_or(model, |at| &model[at..])),
            },
            _ => (vendor, model),
        };
        let row = MODELS.iter().find(|(maker, begins, ..)| *maker == of && fits(begins, model));
        match row {
            Some((.., name, minimum, read)) => {
                Self::named(if of == vendor { name } else { vendor }).map(|rules| {
                    let prices = Prices { read: *read, ..rules.prices };
                    Self { minimum: *minimum, prices, ..rules }
                })
            }
            None => Self::named(vendor),
        }
    }

    fn of_row(&(name, matches, minimum, life, prices, certainty): &Row) -> Self {
        let (lifetime, renewal) = life;
        Self { name: name.into(), matches, minimum, lifetime, renewal, prices, certainty }
    }
}

/// Whether the name of a model begins so; with a `+`, or with a later number.
fn fits(begins: &str, model: &str) -> bool {
    let Some(least) = begins.strip_suffix('+') else { return model.starts_with(begins) };
    let number_at = least.find(|c: char| c.is_ascii_digit()).unwrap_or(least.len());
    let (word, least) = least.split_at(number_at);
    model.strip_prefix(word).is_some_and(|number| version(number) >= version(least))
}

/// The two numbers that a text begins with, such as `5.6`; nothing, if it begins with none.
fn version(text: &str) -> Option<(u32, u32)> {
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse().ok()
    };
    let minor = text.split_once('.').and_then(|(_, minor)| number(minor));
    Some((number(text)?, minor.unwrap_or(0)))
}
