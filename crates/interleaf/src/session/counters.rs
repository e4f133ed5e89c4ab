//! What counts the tokens of a session's requests, where a recipe does not say.
//!
//! An estimate learns from what the API reports. What it has learned follows from what is
//! stored: the rate at which the last answered request of its model was counted, and what
//! the API said of it. So another node, or this one started anew, counts the same.

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
    /// The number of the request that it learned from last.
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

    fn learn(&mut self, number: u64, (rate, total): (Rate, u64), reported: u64) {
        if self.learned_from.is_none_or(|last| last < number) {
            self.ledger.resume(rate);
            self.ledger.observe(total, reported);
            self.learned_from = Some(number);
        }
    }
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
            if let Some((number, tokens, reported)) = self.last_answered(model, &name).await? {
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
                    counter.learn(asked.number, (counted.rate, counted.total), reported);
                }
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

    /// The last request of a model that was counted under this name and answered: its
    /// number, its tokens, and what the API says of it.
    async fn last_answered(
        &self,
        model: &str,
        counter: &str,
    ) -> Result<Option<(u64, Tokens, u64)>, Error> {
        let told = |request: &SentRequest| {
            let reported = request.usage?.prompt;
            let tokens = Told::by(request).tokens.filter(|tokens| tokens.counter == counter)?;
            (request.model == model && reported > 0).then_some((request.no, tokens, reported))
        };
        let mut page = Page::newest(PAGE);
        loop {
            let requests = self.requests(page).await?;
            let Some(first) = requests.first().map(|request| request.no) else { return Ok(None) };
            if let Some(found) = requests.iter().rev().find_map(told) {
                return Ok(Some(found));
            }
            page = Page::before(first, PAGE);
        }
    }
}
