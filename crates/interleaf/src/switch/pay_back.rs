//! When a change of model pays back.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::{Caching, Sample};

/// For how many requests it is told what the new model may cost.
const TOLD: [u64; 6] = [1, 2, 5, 10, 20, 50];

/// What further requests cost at two models, and when a change pays back. Costs are in tokens
/// of a prompt without a cache, each in the tokens of its own model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PayBack {
    /// From how many requests, the next one among them, the following are told.
    pub samples: usize,
    /// What a request like these costs at the current model.
    pub each_now: f64,
    /// What the next one costs there.
    pub first_now: f64,
    /// What a request costs at the new one, once that has seen the one before.
    pub each_new: f64,
    /// What the first request costs at the new one, which has seen none.
    pub first_new: f64,
    /// The tokens of an answer, if any is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<u64>,
    /// What the new model may cost for the change to pay back within a number of requests.
    pub break_even: Vec<BreakEven>,
    /// The same, if the session goes on for ever.
    pub in_the_end: f64,
    /// What it comes to in money, if the prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
}

/// What the new model may cost for the change to pay back. Answers are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BreakEven {
    /// Within this number of requests,
    pub requests: u64,
    /// if its price of an input token is at most this part of the current one's.
    pub ratio: f64,
}

/// What a model's tokens cost, in money for a million.
///
/// ```
/// use interleaf::Price;
///
/// let price: Price = "3.00/15.00".parse()?;
/// assert_eq!((price.input, price.output), (3.0, 15.0));
/// assert!("3".parse::<Price>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Price {
    /// Tokens of a prompt, without a cache.
    pub input: f64,
    /// Tokens of an answer.
    pub output: f64,
}

/// What a change comes to in money.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Money {
    /// The prices of the current model.
    pub price_now: Price,
    /// The prices of the new one.
    pub price_new: Price,
    /// What a request and its answer cost at the current model.
    pub each_now: f64,
    /// What the next costs there.
    pub first_now: f64,
    /// What a request and its answer cost at the new one.
    pub each_new: f64,
    /// What the first costs there.
    pub first_new: f64,
    /// After how many requests at the new model less has been paid than at the current one.
    /// None: never.
    pub requests: Option<u64>,
}

impl PayBack {
    /// What requests like these cost at two models, of which each takes this for the next.
    pub(crate) fn of(
        samples: &[Sample],
        (now, first_now): (&Caching, f64),
        (new, first_new): (&Caching, f64),
    ) -> Self {
        let mean = |caching: &Caching| {
            let all: f64 = samples.iter().map(|&sample| caching.warm(sample)).sum();
            all / samples.len().max(1) as f64
        };
        let (each_now, each_new) = (mean(now), mean(new));
        let answers: Vec<u64> = samples.iter().filter_map(|sample| sample.answer).collect();
        let answer = answers.iter().sum::<u64>().checked_div(answers.len() as u64);
        let first = first_now / first_new.max(1.0);
        // What pays back with the first request may not with more of them.
        let ratio = |n: u64| {
            let more = n as f64 - 1.0;
            first.max((first_now + more * each_now) / (first_new + more * each_new).max(1.0))
        };
        Self {
            samples: samples.len(),
            each_now,
            first_now,
            each_new,
            first_new,
            answer,
            break_even: TOLD.map(|requests| BreakEven { requests, ratio: ratio(requests) }).into(),
            in_the_end: first.max(each_now / each_new.max(1.0)),
            money: None,
        }
    }

    /// The same at these prices.
    #[must_use]
    pub fn priced(mut self, price_now: Price, price_new: Price) -> Self {
        let answer = self.answer.unwrap_or(0) as f64;
        let paid = |prompt: f64, price: Price| {
            (prompt * price.input + answer * price.output) / 1_000_000.0
        };
        let each_now = paid(self.each_now, price_now);
        let each_new = paid(self.each_new, price_new);
        let first_now = paid(self.first_now, price_now);
        let first_new = paid(self.first_new, price_new);
        let requests = requests((first_now, each_now), (first_new, each_new));
        let money =
            Money { price_now, price_new, each_now, first_now, each_new, first_new, requests };
        self.money = Some(money);
        self
    }
}

/// After how many requests less has been paid, if ever, given what the next costs and each after
/// it.
fn requests((first_now, each_now): (f64, f64), (first_new, each_new): (f64, f64)) -> Option<u64> {
    if first_new < first_now {
        return Some(1);
    }
    let saved = each_now - each_new;
    // The first costs that much more, and each of the others saves this.
    let n = ((first_new - first_now) / saved).floor() + 2.0;
    (saved > 0.0 && n.is_finite()).then_some(n as u64)
}

impl Price {
    /// The price of input, written `INPUT/OUTPUT`, or `INPUT` alone where no answers count.
    ///
    /// # Errors
    /// If it is no price, or not above zero.
    pub fn of_input(text: &str) -> Result<f64, String> {
        let both = if text.contains('/') { text.to_owned() } else { format!("{text}/0") };
        let Self { input, .. } = both.parse()?;
        let is_price = input > 0.0;
        is_price.then_some(input).ok_or_else(|| "the price of input must be above zero".to_owned())
    }
}

impl FromStr for Price {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let number = text.trim().parse::<f64>().ok();
            number.filter(|number| (0.0..=1e9).contains(number))
        };
        let prices = text.split_once('/');
        let prices = prices.and_then(|(input, output)| Some((number(input)?, number(output)?)));
        let (input, output) = prices.ok_or_else(|| {
            "a price is written INPUT/OUTPUT, in money for a million tokens, such as 3.00/15.00"
                .to_owned()
        })?;
        Ok(Self { input, output })
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}/{:.2}", self.input, self.output)
    }
}
