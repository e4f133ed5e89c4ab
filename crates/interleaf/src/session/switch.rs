//! What changes if the next request goes to another target.

use std::borrow::Cow;

use interleaf_assemble::{Agent, Budget, OpenBlock, Recipe, Step, Tokens};
use interleaf_cache::{Match, Rules};
use interleaf_model::AgentName;
use interleaf_store::SentRequest;
use interleaf_wire::{CacheMarks, Family, Vendor};
use smol_str::SmolStr;

use super::Session;
use super::told::Told;
use crate::switch::{Caching, Fit, Losses, PayBack, Sample, Side, Switch};
use crate::{BreakCause, Cost, Error, ErrorKind, Impact, Next, Request, Target, waiting_for};

/// How many requests further ones are taken to be like, the next one among them.
const SAMPLES: usize = 8;

impl Session {
    /// What changes if the next request goes to another vendor or model: what is lost, whether
    /// it fits, what the cold cache costs, and when the change pays back. Nothing is sent, and
    /// nothing is noted.
    ///
    /// The request is made for both. The current target is that of the agent's last request that a
    /// model saw, with the settings of the new one, unless it is given. The recipe's budget is that
    /// of the new model; without one, the window of its vendor's usual models counts.
    ///
    /// ```
    /// use interleaf::assemble::Recipe;
    /// use interleaf::model::Message;
    /// use interleaf::{Session, Target, store};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let mut session = Session::create(store::open("memory:").await?, "").await?;
    /// session.append(Message::user("Which files are here?")).await?;
    /// let recipe = Recipe::new();
    /// session.record(&recipe, &Target::new("openai", "gpt-5")?).await?;
    ///
    /// let to = Target::new("anthropic", "claude-sonnet-4-5")?;
    /// let switch = session.switch(&recipe, &to, None).await?;
    /// assert_eq!(switch.from.model, "gpt-5");
    /// assert!(switch.fit.fits && switch.losses.new.is_empty());
    /// let pay_back = switch.pay_back.priced("1.25/10".parse()?, "3/15".parse()?);
    /// assert_eq!(pay_back.money.unwrap().requests, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// If no request was recorded and no current target is given, calls wait for their
    /// results, or one of the two APIs cannot be told what must be said.
    pub async fn switch(
        &mut self,
        recipe: &Recipe,
        to: &Target,
        from: Option<&Target>,
    ) -> Result<Switch, Error> {
        let agent = recipe.agent.name();
        let from = match from {
            Some(from) => Cow::Borrowed(from),
            None => Cow::Owned(target_of(self.last_asked(agent).await?, to)?),
        };
        let mut recipe = recipe.clone();
        if recipe.open_block == OpenBlock::Unsaid {
            recipe.open_block = OpenBlock::Mend;
        }
        let budget = recipe.budget.take().unwrap_or_else(|| to.budget());
        // Where there is room for all, nothing is shared.
        let shares = std::mem::take(&mut recipe.shares);
        let now = self.made_for(&recipe, &from).await?;
        let new = self.made_for(&recipe, to).await?;
        recipe.shares = shares;
        let ledger = self.ledger(&to.options.model).await?;
        let adjustments = (now.adjustments(), new.adjustments());
        let losses = Losses::of(adjustments, &self.conversation, &ledger);
        let (_, stays) = self.fit(&recipe, &from, from.budget(), now).await?;
        let (fit, goes) = self.fit(&recipe, to, budget, new).await?;
        let (from_side, to_side) = (side(&from, &stays), side(to, &goes));
        let samples = self.samples(agent, &stays.impact).await?;
        let caching = |target: &Target, scale: f64| Caching {
            rules: target.rules(),
            marked: target.options.cache == CacheMarks::On,
            scale,
        };
        let scale = to_side.tokens as f64 / from_side.tokens.max(1) as f64;
        let (at_now, at_new) = (caching(&from, 1.0), caching(to, scale));
        let pay_back =
            PayBack::of(&samples, (&at_now, from_side.price()), (&at_new, to_side.price()));
        Ok(Switch { from: from_side, to: to_side, losses, fit, pay_back })
    }

    /// Names the target's model, if it has none: the one of this vendor that saw the agent's last
    /// request, for each model has a cache of its own. Says what became of it.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn name_model(
        &self,
        agent: Option<&AgentName>,
        target: &mut Target,
    ) -> Result<Option<String>, Error> {
        if !target.options.model.is_empty() {
            return Ok(None);
        }
        let request = self.last_asked(agent).await?;
        let vendor = target.vendor.name.as_str();
        let Some(request) = request.filter(|request| request.vendor == vendor) else {
            return Ok(Some("no model is named, so nothing is known to be cached".to_owned()));
        };
        target.options.model = request.model.as_str().into();
        Ok(Some(format!("no model is named; the last request asked {}", request.model)))
    }

    /// Whom the main agent's last request was made for, whatever became of it.
    ///
    /// # Errors
    /// If none was recorded, or its vendor is not known.
    pub async fn last_target(&self) -> Result<Target, Error> {
        self.last_target_of(None).await
    }

    /// The same of an agent.
    ///
    /// # Errors
    /// If none was recorded, or its vendor is not known.
    pub async fn last_target_of(&self, agent: Option<&AgentName>) -> Result<Target, Error> {
        let like = Target::of(Vendor::of(Family::Anthropic).clone(), "");
        target_of(self.newest_request(agent).await?, &like)
    }

    /// The last request of an agent that a model saw; if none did, its last one.
    async fn last_asked(&self, agent: Option<&AgentName>) -> Result<Option<SentRequest>, Error> {
        match self.seen_at(self.conversation.newest_request(agent)).await? {
            Some((_, seen)) => Ok(Some(seen)),
            None => self.newest_request(agent).await,
        }
    }

    async fn newest_request(
        &self,
        agent: Option<&AgentName>,
    ) -> Result<Option<SentRequest>, Error> {
        match self.conversation.newest_request(agent) {
            Some(event) => self.request_begun(event, None).await,
            None => Ok(None),
        }
    }

    /// The next request, counted as the target's model counts.
    async fn made_for(&mut self, recipe: &Recipe, target: &Target) -> Result<Request, Error> {
        let ledger = self.ledger(&target.options.model).await?;
        let recipe = recipe.clone().with_ledger(ledger);
        match self.preview(&recipe, target).await? {
            Next::Send(request) => Ok(*request),
            Next::Wait(calls) => Err(Error::rule(waiting_for(calls.iter().map(|open| &open.call)))),
        }
    }

    /// Whether a request fits, and the one that does: something may have to give way.
    async fn fit(
        &mut self,
        recipe: &Recipe,
        target: &Target,
        budget: Budget,
        whole: Request,
    ) -> Result<(Fit, Request), Error> {
        let reserve = budget.reserve.max(target.options.max_tokens.unwrap_or(0));
        let window = budget.window;
        let tokens = whole.report.tokens.clone().unwrap_or_default();
        let fits = tokens.total() <= window.saturating_sub(reserve);
        let (gives_way, left, refused) = (Vec::new(), None, None);
        let mut fit = Fit { window, reserve, tokens, fits, gives_way, left, refused };
        if fits {
            return Ok((fit, whole));
        }
        let mut recipe = recipe.clone();
        recipe.budget = Some(budget);
        match self.made_for(&recipe, target).await {
            Ok(request) => {
                let report = &request.report;
                let gave_way = report.findings().filter(|(step, _)| *step == Step::Fit);
                fit.gives_way = gave_way.map(|(_, finding)| finding.clone()).collect();
                fit.left = report.tokens.as_ref().map(Tokens::total);
                Ok((fit, request))
            }
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                fit.refused = Some(error.to_string());
                Ok((fit, whole))
            }
            Err(error) => Err(error),
        }
    }

    /// What the last requests of an agent shared with those before them, and what the next one
    /// does. Those that went to a model that knew nothing are left out.
    async fn samples(
        &self,
        agent: Option<&AgentName>,
        next: &Impact,
    ) -> Result<Vec<Sample>, Error> {
        let mut samples = Vec::new();
        let asker = agent.map_or(Agent::Main, |name| Agent::Sub(name.clone()));
        let recent = self.explain_shared(&asker, SAMPLES).await?;
        for request in recent.into_iter().filter(|request| !request.unseen) {
            let answer = request.usage.map(|usage| usage.completion).filter(|&n| n > 0);
            samples.extend(request.impact.as_ref().and_then(|impact| sample(impact, answer)));
        }
        samples.extend(sample(next, None));
        if samples.is_empty() {
            // Nothing is known yet: a request is then taken to repeat all of this one.
            let tokens = next.tokens;
            samples.push(Sample { shared: tokens, tokens, marks: None, answer: None });
        }
        samples.drain(..samples.len().saturating_sub(SAMPLES));
        Ok(samples)
    }
}

/// The target of a request that was recorded, with the settings of another.
fn target_of(request: Option<SentRequest>, like: &Target) -> Result<Target, Error> {
    let Some(request) = request else {
        let rule = "no request was recorded, so that the current model is not known: name it";
        return Err(Error::rule(rule));
    };
    let Some(vendor) = Vendor::named(&request.vendor) else {
        let vendor = &request.vendor;
        let rule = format!("the last request went to {vendor:?}, which is not known: name it");
        return Err(Error::rule(rule));
    };
    let mut target = like.clone();
    (target.vendor, target.options.model) = (vendor.clone(), request.model.as_str().into());
    (target.bound_thinking, target.cache_rules) = (None, None);
    // It goes on as it did, whatever is asked of another.
    if let Some(trace) = Told::by(&request).trace {
        target.options.cache = if trace.is_marked() { CacheMarks::On } else { CacheMarks::Off };
    }
    Ok(target)
}

fn side(target: &Target, request: &Request) -> Side {
    let counted = request.report.tokens.as_ref();
    let counter = counted.map(|tokens| SmolStr::new(&tokens.counter)).unwrap_or_default();
    let rate = counted.map(|tokens| tokens.rate).unwrap_or_default();
    Side {
        vendor: target.vendor.name.clone(),
        model: target.options.model.clone(),
        tokens: request.impact.tokens,
        counter,
        rate,
        cost: request.impact.cost.clone(),
    }
}

fn sample(impact: &Impact, answer: Option<u64>) -> Option<Sample> {
    let tokens = impact.tokens;
    let shared = match &impact.cause {
        BreakCause::First | BreakCause::Vendor { .. } | BreakCause::Model { .. } => return None,
        BreakCause::Setting { .. } => 0,
        _ => impact.place.as_ref().map_or(tokens, |place| place.token),
    };
    Some(Sample { shared, tokens, marks: impact.cost.as_ref().and_then(marks), answer })
}

/// Up to where a cache that goes by marks had the request before, and has this one. A request that
/// came too late found nothing, and does not tell.
fn marks(cost: &Cost) -> Option<(u64, u64)> {
    let rules = Rules::named(&cost.rules)?;
    let by_marks = matches!(rules.matches, Match::Marks { .. });
    (by_marks && cost.read > 0).then_some((cost.read, cost.read + cost.written))
}
