//! The requests of a script, made again one after the other.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use interleaf_assemble::{Assembly, Ledger, Outcome, Placement, Recipe, Running};
use interleaf_assemble::{OpenBlock, ShownContext, Tokens, ToolOrder};
use interleaf_cache::{Rules, Used};
use interleaf_model::{Entry, Provenance, Requirements, Role};
use serde::Serialize;
use smol_str::SmolStr;

use super::as_sent::AsSent;
use super::seen::{Marking, Seen};
use super::{Script, ScriptHead, Turn, Way};
use crate::hearing::Heard;
use crate::{Error, Target};

/// What a request takes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// Its tokens, by part.
    pub tokens: Tokens,
    /// The tokens of the conversation and the context, by who said them.
    pub shares: Shares,
    /// What the cache makes of it.
    pub used: Used,
    /// What that costs, in tokens that are not cached.
    pub cost: f64,
}

/// The tokens of a request's conversation and context, by who said them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Shares {
    /// The user.
    pub user: u64,
    /// The model.
    pub assistant: u64,
    /// The tools.
    pub results: u64,
    /// Each context source.
    pub context: BTreeMap<SmolStr, u64>,
}

/// How one request is made.
pub(super) struct Making<'a> {
    /// Without the prompts, tools and context, which the script has.
    pub(super) recipe: Recipe,
    pub(super) requires: Requirements,
    /// Which of the caches sees it; without one, each of them does.
    pub(super) cache: Option<usize>,
    pub(super) marking: Marking,
    /// Whom it is for, if that is known: not every API takes a mark everywhere.
    pub(super) target: Option<&'a Target>,
}

/// A body that is taken as it was sent.
pub(super) struct Resent<'a> {
    pub(super) sent: &'a Arc<AsSent>,
    pub(super) cache: Option<usize>,
    pub(super) marking: Marking,
    /// What a window leaves for it.
    pub(super) limit: Option<u64>,
}

impl Script {
    /// Plays it with a recipe, to which it adds its prompts, tools and context, and gives the
    /// figures of each request for a cache of each of these rules. The ledger counts the
    /// tokens.
    ///
    /// # Errors
    /// If a request cannot be made.
    pub fn play(
        &self,
        recipe: &Recipe,
        requires: Requirements,
        rules: &[Rules],
        ledger: &Arc<Ledger>,
    ) -> Result<Vec<Vec<Figures>>, Error> {
        let mut figures = vec![Vec::with_capacity(self.turns.len()); rules.len()];
        let mut player = Player::new(self, rules);
        player.ledger = Some(ledger.clone());
        for index in 0..self.turns.len() {
            let (recipe, marking) = (recipe.clone(), Marking::Ours);
            let making = Making { recipe, requires, cache: None, marking, target: None };
            let (_, made) = player.request(index, Ok(making))?;
            figures.iter_mut().zip(made).for_each(|(figures, made)| figures.push(made));
        }
        Ok(figures)
    }
}

impl Script {
    /// Makes its requests again in one way: each as it would be sent, or why it cannot be.
    ///
    /// # Errors
    /// If a rule was recorded that cannot be followed.
    pub fn requests(&self, way: &Way) -> Result<Vec<Result<Assembly, Error>>, Error> {
        let script = way.script(self);
        let mut player = Player::new(&script, &[]);
        let mut requests = Vec::with_capacity(self.turns.len());
        for (index, turn) in self.turns.iter().enumerate() {
            let making = way.making(turn, &[])?;
            requests.push(player.request(index, Ok(making)).map(|(assembly, _)| assembly));
        }
        Ok(requests)
    }
}

/// A script on its way.
pub(super) struct Player<'a> {
    script: &'a Script,
    rules: &'a [Rules],
    running: Running,
    seen: Seen,
    head: Arc<ScriptHead>,
    /// What counts the tokens, if not each model's own counter.
    ledger: Option<Arc<Ledger>>,
    ledgers: HashMap<String, Arc<Ledger>>,
    /// What counts for the figures of each model: at one rate, the last one, so that what does not
    /// change has the same tokens in every request.
    counting: HashMap<String, Arc<Ledger>>,
    counted_for: String,
    /// The turns that a later one goes on from, and where the context stood in them.
    returned_to: HashSet<usize>,
    stood: HashMap<usize, (Option<Placement>, ShownContext, ToolOrder)>,
}

impl<'a> Player<'a> {
    pub(super) fn new(script: &'a Script, rules: &'a [Rules]) -> Self {
        let mut counting: HashMap<String, Arc<Ledger>> = HashMap::new();
        for turn in &script.turns {
            let model = model_of(turn);
            let new = || Arc::new(Ledger::for_model(model));
            let ledger = counting.entry(model.to_owned()).or_insert_with(new);
            turn.rate.into_iter().for_each(|rate| ledger.resume(rate));
        }
        let head = ScriptHead {
            system: script.system.clone(),
            tools: script.tools.clone(),
            summary: None,
        };
        Self {
            script,
            rules,
            running: Running::new(),
            seen: Seen::new(rules),
            head: Arc::new(head),
            ledger: None,
            ledgers: HashMap::new(),
            counting,
            counted_for: String::new(),
            returned_to: script.turns.iter().filter_map(|turn| turn.goes_on_from?).collect(),
            stood: HashMap::new(),
        }
    }

    /// Makes the request of a turn. They are made in order, also after one was refused.
    pub(super) fn request(
        &mut self,
        index: usize,
        making: Result<Making<'_>, Error>,
    ) -> Result<(Assembly, Vec<Figures>), Error> {
        let turn = &self.script.turns[index];
        self.take_in(turn);
        let Making { mut recipe, requires, cache, marking, target } = making?;
        let ledger = self.ledger(turn);
        recipe.agent.clone_from(&self.script.agent);
        recipe.system.clone_from(&self.head.system);
        recipe.tools = self.head.tools.clone();
        recipe.summary.clone_from(&self.head.summary);
        recipe.context.clone_from(&turn.context);
        recipe.ledger = Some(ledger.clone());
        recipe.open_block = OpenBlock::Mend;
        let made = self.running.assemble(&recipe, requires).map_err(Error::assemble);
        if self.returned_to.contains(&index) {
            let placement = made.as_ref().ok().and_then(|made| made.report.placement.clone());
            let order = self.running.tool_order().clone();
            self.stood.insert(index, (placement, self.running.shown().clone(), order));
        }
        let assembly = made?;
        let Outcome::Ready(prompt) = &assembly.outcome else {
            return Err(Error::rule("calls without a result were left open"));
        };
        let stable = assembly.report.stable_prefix.map_or(0, |stable| stable.messages);
        let counting = self.counting(turn);
        self.seen.place(prompt, stable, marking.of(prompt, target), &counting);
        let mut tokens = assembly.report.tokens.clone().unwrap_or_default();
        if self.ledger.is_none() {
            let is_summary = |entry: &&Entry| entry.provenance == Provenance::Summary;
            let summary = prompt.entries().iter().filter(is_summary);
            tokens.summary = summary.map(|entry| counting.message(&entry.message)).sum();
            let head = self.seen.tokens();
            (tokens.tools, tokens.system) =
                (head.tools, head.system.saturating_sub(tokens.summary));
        }
        let figures = self.figures(index, cache, tokens, &counting);
        Ok((assembly, figures))
    }

    /// Takes the body of a turn as it was sent.
    pub(super) fn sent(&mut self, index: usize, body: &Resent<'_>) -> Result<Vec<Figures>, Error> {
        let turn = &self.script.turns[index];
        self.take_in(turn);
        let ledger = self.counting(turn);
        self.seen.place_sent(body.sent, body.marking, &ledger);
        if let Some(limit) = body.limit.filter(|&limit| self.seen.n_tokens() > limit) {
            let tokens = self.seen.n_tokens();
            let rule =
                format!("as it was sent it has {tokens} tokens, and the window leaves {limit}");
            return Err(Error::rule(rule));
        }
        let tokens = self.seen.tokens();
        Ok(self.figures(index, body.cache, tokens, &ledger))
    }

    /// What the caches make of the prompt, and of the answer after it.
    fn figures(
        &mut self,
        index: usize,
        cache: Option<usize>,
        tokens: Tokens,
        ledger: &Ledger,
    ) -> Vec<Figures> {
        let turn = &self.script.turns[index];
        let caches = cache.map_or(0..self.rules.len(), |cache| cache..cache + 1);
        let mut figures = Vec::with_capacity(caches.len());
        for cache in caches {
            let used = self.seen.request(cache, turn.at);
            let cost = self.rules[cache].prices.cost(used);
            let shares = self.seen.shares().clone();
            figures.push(Figures { tokens: tokens.clone(), shares, used, cost });
        }
        let next = self.script.turns.get(index + 1).filter(|next| next.view.is_none());
        let answer = next.and_then(|next| next.said.first());
        if let Some(answer) = answer.filter(|message| message.role() == Role::Assistant) {
            self.seen.answer(answer, cache, ledger);
        }
        figures
    }

    /// Takes in what comes before a request.
    fn take_in(&mut self, turn: &Turn) {
        let Turn { view, said, pinned, head, goes_on_from, .. } = turn;
        let heard = Heard { view: view.clone(), said: said.clone(), pinned: pinned.clone() };
        heard.tell(&mut self.running);
        if let Some(head) = head {
            self.head = head.clone();
        }
        if let Some(earlier) = goes_on_from {
            let stood = earlier.and_then(|earlier| self.stood.get(&earlier).cloned());
            let (placement, shown, order) = stood.unwrap_or_default();
            self.running.resume(placement, shown, order);
            self.seen.forget();
        }
    }

    /// What counts the tokens of a turn for the figures.
    fn counting(&mut self, turn: &Turn) -> Arc<Ledger> {
        let (own, model) = (self.ledger.clone(), model_of(turn));
        let Some(ledger) = own.or_else(|| self.counting.get(model).cloned()) else {
            return Arc::new(Ledger::for_model(model));
        };
        if self.counted_for != model {
            model.clone_into(&mut self.counted_for);
            // What was counted for another model is counted again.
            self.seen.forget();
        }
        ledger
    }

    /// What counts the tokens of a turn as it is made, at the rate at which they were counted.
    fn ledger(&mut self, turn: &Turn) -> Arc<Ledger> {
        if let Some(ledger) = &self.ledger {
            return ledger.clone();
        }
        let model = model_of(turn);
        let ledger = match self.ledgers.get(model) {
            Some(ledger) => ledger.clone(),
            None => {
                let ledger = Arc::new(Ledger::for_model(model));
                self.ledgers.insert(model.to_owned(), ledger.clone());
                ledger
            }
        };
        turn.rate.into_iter().for_each(|rate| ledger.resume(rate));
        ledger
    }
}

/// The model that a turn's request asked.
fn model_of(turn: &Turn) -> &str {
    turn.target.as_deref().map_or("", Target::model)
}
