//! A session played again under other rules of placement, windows and caches: what each of its
//! requests would have taken.

use std::sync::Arc;

use interleaf_assemble::{CachePrices, ContextText, Ledger, Outcome, Recipe, Running, Tokens};
use interleaf_cache::{Cache, Match, Prices, Prompt, Rules, Stop, Used};
use interleaf_model::{Message, Requirements, Role, Tool};

use crate::{Error, neutral};

/// A session to be played.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Script {
    /// The system prompts.
    pub system: Vec<Arc<str>>,
    /// The tools of every request.
    pub tools: Arc<[Tool]>,
    /// What comes before each request.
    pub turns: Vec<Turn>,
}

/// What comes before a request.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Turn {
    /// What was said since the request before.
    pub said: Vec<Arc<Message>>,
    /// What the context sources say.
    pub context: Vec<ContextText>,
    /// When the request was made, in seconds since the first.
    pub at: u64,
}

/// What a request takes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// Its tokens, by part.
    pub tokens: Tokens,
    /// What the cache makes of it.
    pub used: Used,
    /// What that costs, in tokens that are not cached.
    pub cost: f64,
}

impl Turn {
    /// These messages and these texts.
    pub fn new(said: Vec<Arc<Message>>, context: Vec<ContextText>) -> Self {
        Self { said, context, at: 0 }
    }
}

impl Script {
    /// A session with these turns, and nothing beside them.
    pub fn of(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().collect(), ..Self::default() }
    }

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
        let mut recipe = recipe.clone().with_ledger(ledger.clone()).with_tools(self.tools.clone());
        recipe.system.clone_from(&self.system);
        let mut running = Running::new();
        let mut seen = Seen::new(rules, ledger, &self.tools);
        let mut figures = vec![Vec::with_capacity(self.turns.len()); rules.len()];
        for (turn, next) in self.turns.iter().zip(self.turns.iter().skip(1).map(Some).chain([None]))
        {
            turn.said.iter().for_each(|message| running.append(message.clone()));
            recipe.context.clone_from(&turn.context);
            let assembly = running.assemble(&recipe, requires).map_err(Error::assemble)?;
            let Outcome::Ready(prompt) = &assembly.outcome else { continue };
            let prompt = prompt.whole();
            let stable = assembly.report.stable_prefix.map_or(0, |stable| stable.messages);
            let used = seen.request(&prompt, stable, turn.at);
            let tokens = assembly.report.tokens.unwrap_or_default();
            for ((figures, used), rules) in figures.iter_mut().zip(used).zip(rules) {
                let cost = rules.prices.cost(used);
                figures.push(Figures { tokens: tokens.clone(), used, cost });
            }
            let answer = next.and_then(|next| next.said.first());
            if let Some(answer) = answer.filter(|message| message.role() == Role::Assistant) {
                seen.answer(answer);
            }
        }
        Ok(figures)
    }
}

/// What a cache charges, for the rule `auto`. Where reads are free nothing is said: there, what
/// was shown always stays.
pub fn cache_prices(rules: &Rules) -> Option<CachePrices> {
    let Prices { read, write } = rules.prices;
    let reach = match rules.matches {
        Match::Prefix { .. } | Match::Units { .. } => usize::MAX,
        // A message has more than one content block.
        Match::Marks { lookback, .. } => lookback * 3 / 5,
        _ => 0,
    };
    (read > 0.0).then_some(CachePrices { read, write, reach })
}

/// The session as caches see it.
struct Seen<'a> {
    caches: Vec<Cache>,
    prompt: Prompt,
    ledger: &'a Ledger,
    /// How many pieces stand before the messages.
    n_before: usize,
}

impl<'a> Seen<'a> {
    fn new(rules: &[Rules], ledger: &'a Ledger, tools: &[Tool]) -> Self {
        let mut prompt = Prompt::new();
        if !tools.is_empty() {
            let text: String = tools.iter().map(neutral::write_tool).collect();
            prompt.push(key(&text), ledger.tools(tools) as u32, Stop::Block);
        }
        Self {
            caches: rules.iter().cloned().map(Cache::new).collect(),
            n_before: prompt.len(),
            prompt,
            ledger,
        }
    }

    /// Sends a prompt whose first messages are those of the one before.
    fn request(&mut self, prompt: &interleaf_model::Prompt, stable: usize, at: u64) -> Vec<Used> {
        self.prompt.truncate(self.n_before + stable);
        for message in prompt.messages().skip(stable) {
            self.push(message);
        }
        self.prompt.clear_marks();
        let head = prompt.messages().take_while(|m| m.role() == Role::System).count();
        self.prompt.mark(self.n_before + head);
        let breakpoint = prompt.breakpoint().map_or(0, |at| at + 1);
        self.prompt.mark(self.n_before + breakpoint);
        self.caches.iter_mut().map(|cache| cache.request(&self.prompt, at)).collect()
    }

    /// Takes in the answer to the last prompt.
    fn answer(&mut self, answer: &Arc<Message>) {
        let n = self.prompt.len();
        self.push(answer);
        self.caches.iter_mut().for_each(|cache| cache.answered(&self.prompt));
        self.prompt.truncate(n);
    }

    fn push(&mut self, message: &Arc<Message>) {
        let tokens = u32::try_from(self.ledger.message(message)).unwrap_or(u32::MAX);
        self.prompt.push(key(&said(message)), tokens, Stop::Block);
    }
}

/// What a message says to a model, in a text that only an equal one has.
fn said(message: &Message) -> String {
    let mut said = message.clone();
    (said.at, said.id) = (None, interleaf_model::MessageId::new(""));
    neutral::to_json(&said)
}

fn key(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    let mut key = [0; 8];
    key.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(key)
}
