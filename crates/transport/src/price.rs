//! What tokens cost in money: exact, and unknown where it is not known.

use std::fmt;
use std::str::FromStr;

use interleaf::cache::{self, Rules};
use interleaf::model::Spent;
use smol_str::SmolStr;

/// An amount of money, exact to a millionth of a millionth. Which money is the vendor's
/// matter; the rows here are in US dollars.
///
/// ```
/// use interleaf_transport::Amount;
///
/// let price: Amount = "0.30".parse()?;
/// assert_eq!(price.to_string(), "0.3");
/// assert!("-1".parse::<Amount>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount {
    /// In millionths of a millionth.
    pico: u128,
}

const PICO: u128 = 1_000_000_000_000;

/// How many digits after the point a price for a million tokens may have.
const DIGITS: usize = 6;

/// What a million tokens cost, by kind. Reasoning costs what output does.
///
/// It is read as `INPUT/OUTPUT` or `INPUT/READ/WRITE/OUTPUT`. What is not said of the cache
/// follows from the rules of the vendor's cache, or is what input costs if none are known; a
/// write for an hour costs what any write does.
///
/// ```
/// use interleaf::model::{Spent, Usage};
/// use interleaf_transport::Rates;
///
/// let rates: Rates = "3/0.30/3.75/15".parse()?;
/// let usage = Usage { prompt: 1000, cache_read: 900, completion: 10, ..Usage::default() };
/// assert_eq!(rates.price(&Spent::from(usage)).to_string(), "0.00072");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rates {
    /// Tokens sent, without a cache.
    pub input: Amount,
    /// Tokens read from the cache.
    pub read: Amount,
    /// Tokens written to the cache.
    pub write: Amount,
    /// Tokens written to the cache for an hour.
    pub write_hour: Amount,
    /// Tokens that the model made.
    pub output: Amount,
    /// Whether nothing was said of the cache.
    leaves_cache: bool,
}

/// The rates of a model, by the beginning of its name.
type Row = (&'static str, &'static str, [&'static str; 5]);

/// List prices in US dollars for a million tokens: input, read, write, write for an hour,
/// output, as Anthropic's and OpenAI's pages of prices had them in November 2026. Vendors
/// change them; what is set for a transport counts more. A model whose price
/// depends on the length of the request is left out: no single figure is right.
const ROWS: &[Row] = &[
    ("anthropic", "claude-fable-5-1", ["10", "0.25", "12.5", "20", "50"]),
    ("anthropic", "claude-mythos-5-1", ["10", "0.25", "12.5", "20", "50"]),
    ("anthropic", "claude-fable-5", ["10", "1", "12.5", "20", "50"]),
    ("anthropic", "claude-mythos-5", ["10", "1", "12.5", "20", "50"]),
    ("anthropic", "claude-opus-5-5", ["4", "0.2", "5", "8", "20"]),
    ("anthropic", "claude-opus-5", ["5", "0.5", "6.25", "10", "25"]),
    ("anthropic", "claude-opus-4-8", ["5", "0.5", "6.25", "10", "25"]),
    ("anthropic", "claude-opus-4-7", ["5", "0.5", "6.25", "10", "25"]),
    ("anthropic", "claude-opus-4-6", ["5", "0.5", "6.25", "10", "25"]),
    ("anthropic", "claude-opus-4-5", ["5", "0.5", "6.25", "10", "25"]),
    ("anthropic", "claude-sonnet-5-5", ["2", "0.1", "2.5", "4", "10"]),
    ("anthropic", "claude-sonnet-5", ["2", "0.2", "2.5", "4", "10"]),
    ("anthropic", "claude-sonnet-4-6", ["3", "0.3", "3.75", "6", "15"]),
    ("anthropic", "claude-sonnet-4-5", ["3", "0.3", "3.75", "6", "15"]),
    ("anthropic", "claude-haiku-4-5", ["1", "0.1", "1.25", "2", "5"]),
    ("openai", "gpt-5-mini", ["0.25", "0.025", "0.25", "0.25", "2"]),
    ("openai", "gpt-5-nano", ["0.05", "0.005", "0.05", "0.05", "0.4"]),
    ("openai", "gpt-4.1", ["2", "0.5", "2", "2", "8"]),
    ("openai", "gpt-4.1-mini", ["0.4", "0.1", "0.4", "0.4", "1.6"]),
    ("openai", "gpt-4o", ["2.5", "1.25", "2.5", "2.5", "10"]),
    ("openai", "gpt-4o-mini", ["0.15", "0.075", "0.15", "0.15", "0.6"]),
    ("openai", "gpt-5.2", ["1.75", "0.175", "1.75", "1.75", "14"]),
    ("openai", "gpt-5", ["1.25", "0.125", "1.25", "1.25", "10"]),
];

/// Vendors that are one and the same to whoever pays.
const SAME: &[(&str, &str)] = &[("openai-responses", "openai")];

/// Rates that were set, the last ones first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prices(Vec<(SmolStr, SmolStr, Rates)>);

impl Prices {
    pub(crate) fn put(&mut self, vendor: SmolStr, model: SmolStr, rates: Rates) {
        self.0.insert(0, (vendor, model, rates));
    }

    /// Whether no rates were set.
    pub(crate) fn are_listed(&self) -> bool {
        self.0.is_empty()
    }

    /// The rates of a model, if they are known.
    pub(crate) fn of(&self, vendor: &str, model: &str) -> Option<Rates> {
        let own = self.0.iter().find(|(v, m, _)| v == vendor && is_model(m, model));
        let rules = || Rules::of_model(vendor, model);
        let own = own.map(|(_, _, rates)| match rates.leaves_cache {
            true => rules().map_or(*rates, |rules| rates.by(&rules)),
            false => *rates,
        });
        own.or_else(|| listed(vendor, model))
    }
}

/// The list price of a model.
fn listed(vendor: &str, model: &str) -> Option<Rates> {
    let vendor = SAME.iter().find(|(name, _)| *name == vendor).map_or(vendor, |(_, same)| same);
    let (_, _, rates) = ROWS.iter().find(|(v, m, _)| *v == vendor && is_model(m, model))?;
    let [input, read, write, write_hour, output] = rates.map(|rate| rate.parse().ok());
    Some(Rates {
        input: input?,
        read: read?,
        write: write?,
        write_hour: write_hour?,
        output: output?,
        leaves_cache: false,
    })
}

/// Whether a model has this name, with or without the date of its snapshot. An empty name
/// stands for all of a vendor's models.
fn is_model(name: &str, model: &str) -> bool {
    if name.is_empty() || name == model {
        return true;
    }
    let Some(rest) = model.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')) else {
        return false;
    };
    rest == "latest" || rest.len() >= 8 && rest.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

impl Rates {
    /// With what a cache charges for each token of input.
    fn by(self, rules: &Rules) -> Self {
        let cache::Prices { read, write } = rules.prices;
        let [read, write] = [read, write].map(|factor| self.input.times(factor));
        Self { read, write, write_hour: write, ..self }
    }

    /// What these tokens cost.
    pub fn price(&self, spent: &Spent) -> Amount {
        let parts = [
            (spent.uncached, self.input),
            (spent.read, self.read),
            (spent.written, self.write),
            (spent.written_hour, self.write_hour),
            (spent.output, self.output),
            (spent.reasoning, self.output),
        ];
        // A rate is a whole number of millionths for a million tokens, so nothing is lost.
        let pico = parts
            .iter()
            .map(|(tokens, rate)| u128::from(*tokens).saturating_mul(rate.pico / 1_000_000));
        Amount { pico: pico.fold(0, u128::saturating_add) }
    }
}

impl std::ops::Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { pico: self.pico.saturating_add(other.pico) }
    }
}

impl Amount {
    /// So much of it, to a millionth.
    fn times(self, factor: f64) -> Self {
        const MILLION: u128 = 1_000_000;
        let millionths = (factor * MILLION as f64).round() as u128;
        Self { pico: self.pico.saturating_mul(millionths) / MILLION }
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no amount such as 3 or 0.30");
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() && part.is_empty() || !is_number(whole) || !is_number(part) {
            return Err(wrong());
        }
        if part.trim_end_matches('0').len() > DIGITS {
            return Err(format!("{text:?} has more than {DIGITS} digits after the point"));
        }
        let whole: u128 =
            if whole.is_empty() { Ok(0) } else { whole.parse() }.map_err(|_| wrong())?;
        let part: u128 =
            format!("{:0<12}", part.trim_end_matches('0')).parse().map_err(|_| wrong())?;
        let pico = whole.checked_mul(PICO).and_then(|whole| whole.checked_add(part));
        Ok(Self { pico: pico.ok_or_else(wrong)? })
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.pico / PICO, self.pico % PICO);
        let part = format!("{part:012}");
        match part.trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            part => write!(f, "{whole}.{part}"),
        }
    }
}

impl FromStr for Rates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let amounts: Result<Vec<Amount>, String> = text.split('/').map(str::parse).collect();
        let amounts = amounts?;
        let (input, read, write, output) = match *amounts.as_slice() {
            [input, output] => (input, input, input, output),
            [input, read, write, output] => (input, read, write, output),
            _ => return Err("prices are written INPUT/OUTPUT or INPUT/READ/WRITE/OUTPUT".into()),
        };
        let leaves_cache = amounts.len() == 2;
        Ok(Self { input, read, write, write_hour: write, output, leaves_cache })
    }
}

#[cfg(test)]
mod tests {
    use interleaf::model::Usage;

    use super::*;

    #[test]
    fn what_a_cache_charges_is_the_same_in_the_list_of_prices_and_in_its_rules() {
        for (vendor, model, [input, read, write, ..]) in ROWS {
            let [input, read, write] = [input, read, write].map(|it| it.parse::<Amount>().unwrap());
            let rules = Rules::of_model(vendor, model).unwrap();
            assert_eq!(input.times(rules.prices.read), read, "{model}");
            assert_eq!(input.times(rules.prices.write), write, "{model}");
        }
    }

    #[test]
    fn a_price_is_exact_and_each_kind_of_token_has_its_own() {
        let usage = Usage {
            prompt: 10_000,
            cache_read: 7_000,
            cache_write: 2_000,
            cache_write_hour: 500,
            completion: 300,
            reasoning: 100,
        };
        let rates = listed("anthropic", "claude-sonnet-4-5-20250929").unwrap();
        // 1000 × 3 + 7000 × 0.3 + 1500 × 3.75 + 500 × 6 + 300 × 15, for a million.
        assert_eq!(rates.price(&usage.into()).to_string(), "0.018225");
        assert_eq!(rates.price(&Spent::default()).to_string(), "0");
    }

    #[test]
    fn every_row_is_read_and_a_model_without_one_has_no_price() {
        for (vendor, model, _) in ROWS {
            let rates = listed(vendor, model).unwrap();
            assert!(rates.read <= rates.input && rates.input <= rates.output, "{model}");
            assert!(rates.write <= rates.write_hour, "{model}");
        }
        assert_eq!(listed("anthropic", "claude-sonnet-9"), None);
        assert_eq!(listed("openai", "gpt-5.6"), None, "another model, not a snapshot");
        assert_eq!(listed("openai", "gpt-5-2025-08-07"), listed("openai-responses", "gpt-5"));
        assert_ne!(listed("openai", "gpt-5-mini"), listed("openai", "gpt-5"));
        assert_eq!(listed("groq", "gpt-5"), None, "another vendor's price");
    }

    #[test]
    fn what_is_set_counts_more_than_the_list() {
        let mut prices = Prices::default();
        prices.put("anthropic".into(), "".into(), "1/2".parse().unwrap());
        prices.put("anthropic".into(), "claude-haiku-4-5".into(), "7/8".parse().unwrap());
        let input = |model| prices.of("anthropic", model).unwrap().input.to_string();
        assert_eq!((input("claude-haiku-4-5").as_str(), input("other").as_str()), ("7", "1"));
        assert!(prices.of("mistral", "mistral-large-latest").is_none());
    }

    #[test]
    fn rates_that_say_nothing_of_the_cache_leave_it_to_the_caches_rules() {
        let usage =
            Usage { prompt: 3_000, cache_read: 1_000, cache_write: 1_000, ..Usage::default() };
        let price = |vendor: &str, rates: &str| {
            let mut prices = Prices::default();
            prices.put(vendor.into(), "".into(), rates.parse().unwrap());
            prices.of(vendor, "claude-sonnet-4-5").unwrap().price(&usage.into()).to_string()
        };
        // 1000 × 3 + 1000 × 0.3 + 1000 × 3.75, for a million.
        assert_eq!(price("anthropic", "3/15"), "0.00705");
        assert_eq!(price("anthropic", "3/3/3/15"), "0.009", "what is said counts");
        assert_eq!(price("someone", "3/15"), "0.009", "nothing is known of the cache");
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for text in
            ["", "/", "1", "1/2/3", "1/2/3/4/5", "a/b", "-1/2", "1e3/2", ".", "1/0.0000001", "1//2"]
        {
            assert!(text.parse::<Rates>().is_err(), "{text}");
        }
    }
}
