//! What counts the tokens of a session's requests, where a recipe does not say.
//!
//! An estimate learns from what the API reports. What it has learned follows from what is
//! stored: the rate at which the last answered request of its model was counted, and what
//! the API said of it. So another node, this one started anew, or a fork counts the same.
//! A model that has answered none is counted as one of the same vocabulary that has.

use std::borrow::Cow;
use std::sync::Arc;

use interleaf_assemble::{Ledger, Rate, Tokens};
use interleaf_model::Usage;
use interleaf_store::{Page, SentRequest};

use super::Session;
use super::lane::Asked;
use super::told::Told;
use crate::Error;

/// How many requests are looked at at once to find one that was answered.
const PAGE: usize = 32;

/// What counts the tokens of a model's requests.
#[derive(Clone)]
pub(super) struct ModelCounter {
    ledger: Arc<Ledger>,
    /// The number of the request that it learned from last, if that is one of its model and of
    /// this session.
    learned_from: Option<u64>,
    /// Whether no later one may have been answered.
    is_current: bool,
}

/// What a request was counted with, and as how many tokens.
#[derive(Clone)]
pub(super) struct Counted {
    pub(super) ledger: Arc<Ledger>,
    /// Whether the session chose the ledger.
    pub(super) is_own: bool,
    pub(super) rate: Rate,
    pub(super) total: u64,
}

impl ModelCounter {
    fn new(model: &str) -> Self {
        let ledger = Arc::new(Ledger::for_model(model));
        Self { ledger, learned_from: None, is_current: false }
    }

    fn learn(&mut self, number: Option<u64>, (rate, total): (Rate, u64), reported: u64) {
        if self.learned_from.is_none() || self.learned_from < number {
            self.ledger.resume(rate);
            self.ledger.observe(total, reported);
            self.learned_from = number;
        }
    }
}

/// A request that an estimate can learn from.
struct Answered {
    /// Its number, if it is one of the model's own and of this session.
    number: Option<u64>,
    tokens: Tokens,
    /// What the API says of it.
    reported: u64,
}

impl Session {
    /// What counts the tokens of a model's requests, with what it learned from the answers to
    /// this session's. A recipe with a budget is counted with it, unless it has its own.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn ledger(&mut self, model: &str) -> Result<Arc<Ledger>, Error> {
        if !self.counters.get(model).is_some_and(|counter| counter.is_current) {
            let mut counter = match self.counters.remove(model) {
                Some(counter) => counter,
                None => ModelCounter::new(model),
            };
            let name = counter.ledger.counter().name().to_owned();
            if let Some(last) = self.last_answered(model, &name).await? {
                let Answered { number, tokens, reported } = last;
                counter.learn(number, (tokens.rate, tokens.total()), reported);
            }
            counter.is_current = true;
            self.counters.insert(model.to_owned(), counter);
        }
        let counter = self.counters.get(model).map(|counter| counter.ledger.clone());
        Ok(counter.unwrap_or_else(|| Arc::new(Ledger::for_model(model))))
    }

    /// Lets an estimate learn from what the API says that a request took.
    pub(super) fn learn(&mut self, asked: Option<Asked>, usage: Option<Usage>) {
        let Some(reported) = usage.map(|usage| usage.prompt).filter(|&prompt| prompt > 0) else {
            return;
        };
        let counted = asked.as_ref().and_then(|asked| asked.counted.as_ref());
        match (&asked, counted) {
            (Some(asked), Some(counted)) if counted.is_own => {
                if let Some(counter) = self.counters.get_mut(&asked.model) {
                    counter.learn(Some(asked.number), (counted.rate, counted.total), reported);
                }
                // Models of the same vocabulary may go by what it learned.
                let akin = vocabulary(&asked.model);
                let others = self.counters.iter_mut();
                others
                    .filter(|(model, it)| it.learned_from.is_none() && vocabulary(model) == akin)
                    .for_each(|(_, it)| it.is_current = false);
            }
            (_, Some(counted)) => {
                counted.ledger.observe(counted.total, reported);
                self.look_again();
            }
            (_, None) => self.look_again(),
        }
    }

    /// Has the counters look at what was answered meanwhile.
    pub(super) fn look_again(&mut self) {
        self.counters.values_mut().for_each(|counter| counter.is_current = false);
    }

    /// The last request of a model that was counted under this name and answered, in this
    /// session or in what it shares with those that it is a fork of. If there is none, the last
    /// one of a model with the same vocabulary.
    async fn last_answered(&self, model: &str, counter: &str) -> Result<Option<Answered>, Error> {
        let answered = |request: &SentRequest| {
            let reported = request.usage?.prompt;
            let tokens = Told::by(request).tokens.filter(|tokens| tokens.counter == counter)?;
            (reported > 0).then_some(Answered { number: None, tokens, reported })
        };
        let mut akin = None;
        let (mut owner, mut page) = (Cow::Borrowed(&self.head), Page::newest(PAGE));
        loop {
            let requests = self.store.requests(owner.id, page).await.map_err(Error::store)?;
            for request in requests.iter().rev() {
                if request.model == model {
                    if let Some(found) = answered(request) {
                        let number = (owner.id == self.id()).then_some(request.no);
                        return Ok(Some(Answered { number, ..found }));
                    }
                } else if akin.is_none() && vocabulary(&request.model) == vocabulary(model) {
                    akin = answered(request);
                }
            }
            page = match requests.first() {
                Some(first) => Page::before(first.no, PAGE),
                None => {
                    let Some(fork) = owner.parent else { return Ok(akin) };
                    let parent = self.store.head(fork.session).await.map_err(Error::store)?;
                    let later = self.first_from(&parent, fork.seq, None).await?;
                    owner = Cow::Owned(parent);
                    later.map_or(Page::newest(PAGE), |later| Page::before(later.no, PAGE))
                }
            };
        }
    }
}

/// What the vocabulary of a model is known by, as far as models share one: Claude before 4.7 has
/// one, whoever serves it, and Gemini has one. Otherwise it is the model's own.
fn vocabulary(model: &str) -> &str {
    const NEWER_CLAUDE: (u32, u32) = (4, 7);
    if let Some((_, claude)) = model.rsplit_once("claude-") {
        // A date is no version.
        let mut numbers = claude.split(['-', '.']).filter(|word| word.len() < 3);
        let mut number = || numbers.find_map(|word| word.parse::<u32>().ok());
        let version = (number(), number());
        return match version {
            (Some(major), minor) if (major, minor.unwrap_or(0)) < NEWER_CLAUDE => "claude",
            _ => claude,
        };
    }
    match model.rsplit('/').next() {
        Some(name) if name.starts_with("gemini-") => "gemini",
        _ => model,
    }
}
