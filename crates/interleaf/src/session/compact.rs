//! Compaction of a session: planned, asked for, checked, taken in.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_assemble::{Agent, Ledger, Recipe, Summary};
use interleaf_conversation::Conversation;
use interleaf_model::{Message, MessageId, Role};
use interleaf_wire::Decoder;

use super::lane::{Lane, Made, Went};
use super::{Session, now};
use crate::compaction::{
    Compacted, CompactedReport, Compaction, CompactionPolicy, Fact, Figures, Finder, Ground, Held,
    SummaryForm, SummaryRequest, Trigger, again, check, cover, digest, extending, find,
    instructions, transcript,
};
use crate::preview::pinned;
use crate::{Error, Impact, Next, Request, Single, Target};

/// The beginning of the first message that stays, by which a model finds it.
const FIRST_WORDS: usize = 80;

impl Session {
    /// What a compaction would do, if the policy says that one is due and something can give
    /// way. `recipe` and `target` are those of the session's requests.
    ///
    /// # Errors
    /// If the policy is wrong, the store refuses, or what may not give way does not fit the
    /// window: no summary helps then.
    pub async fn compaction(
        &mut self,
        policy: &CompactionPolicy,
        recipe: &Recipe,
        target: &Target,
    ) -> Result<Option<Compaction>, Error> {
        policy.check()?;
        let Some(when) = &policy.when else { return Ok(None) };
        self.plan(policy, (recipe, target), Some(when)).await
    }

    /// What a compaction would do now, whether one is due or not.
    ///
    /// # Errors
    /// If nothing can give way; and as [`compaction`](Self::compaction).
    pub async fn compaction_now(
        &mut self,
        policy: &CompactionPolicy,
        recipe: &Recipe,
        target: &Target,
    ) -> Result<Compaction, Error> {
        policy.check()?;
        let plan = self.plan(policy, (recipe, target), None).await?;
        plan.ok_or_else(|| {
            Error::rule("nothing can be summarised: what may give way is no longer than a summary")
        })
    }

    async fn plan(
        &mut self,
        policy: &CompactionPolicy,
        (recipe, target): (&Recipe, &Target),
        when: Option<&Trigger>,
    ) -> Result<Option<Compaction>, Error> {
        if recipe.agent != Agent::Main {
            return Err(Error::rule(
                "a summary covers what the main agent heard, and no sub-agent",
            ));
        }
        let recipe = self.kept().await?.complete(recipe, now()?).await?.into_owned();
        let ledger = match &recipe.ledger {
            Some(own) => own.clone(),
            None => self.ledger(&target.options.model).await?,
        };
        let relevant = match policy.keep_relevant {
            0 => Vec::new(),
            n => self.relevant(n).await?,
        };
        let earlier = recipe.summary.as_deref().cloned();
        let ground = Ground {
            messages: self.conversation.visible().collect(),
            agent: &Agent::Main,
            pinned: pinned(&self.conversation),
            relevant,
            already: earlier.as_ref().map(|summary| &summary.covers),
            task: None,
            policy,
        };
        let summary = earlier.as_ref().map_or(0, |summary| ledger.text(&summary.text));
        let fixed = fixed(&recipe, &ledger);
        let is_shown = |message: &&&Arc<Message>| {
            let mut covering = earlier.iter().filter(|s| s.covers.contains(&message.id));
            Agent::Main.hears(message) && covering.next().is_none()
        };
        let shown = ground.messages.iter().filter(is_shown);
        let messages = shown.clone().count();
        let history: u64 = shown.map(|message| ledger.message(message)).sum();
        let limit = recipe.budget.unwrap_or_else(|| target.budget()).limit();
        let figures = Figures { tokens: fixed + summary + history, fixed, limit, messages };
        if when.is_some_and(|when| !when.is_due(&figures)) {
            return Ok(None);
        }
        let down_to = (limit.min(figures.tokens) as f64 * policy.down_to) as u64;
        let room = down_to.saturating_sub(fixed + policy.summary_tokens);
        let cover = cover(&ground, |message| ledger.message(message), room);
        if fixed + cover.least > limit {
            return Err(Error::rule(format!(
                "no summary makes the request fit: tools, system texts and context take {fixed} \
                 tokens, messages that may not give way {}, and the limit is {limit}",
                cover.least
            )));
        }
        let covered = history.saturating_sub(cover.stays) + summary;
        let most = most(policy, covered);
        if cover.gone.is_empty() || most == 0 || covered <= policy.summary_tokens {
            return Ok(None);
        }
        let messages: Vec<Arc<Message>> =
            cover.gone.iter().map(|&at| ground.messages[at].clone()).collect();
        let new = messages.iter().map(|message| message.id.clone());
        let mut covers: BTreeSet<MessageId> = new.collect();
        let first = messages.first().map(|message| message.id.clone());
        let start = earlier.as_ref().map(|summary| summary.start.clone()).or(first);
        let Some(start) = start else { return Ok(None) };
        covers.extend(earlier.iter().flat_map(|summary| summary.covers.iter().cloned()));
        Ok(Some(Compaction {
            due: when.cloned(),
            figures,
            covers,
            n_messages: messages.len(),
            spared: cover.spared,
            covered,
            after: fixed + cover.stays + most,
            start,
            messages,
            earlier,
            refused: Vec::new(),
        }))
    }

    /// The request that asks for the summary, for the model that is to write it. If that is
    /// the session's own and its cache makes it cheaper, it is the session's next request with
    /// one more message; else a transcript. After a text was refused it says why.
    ///
    /// # Errors
    /// If a key is needed and none is given, or what is to be covered does not fit the model's
    /// window however much it is shortened.
    pub async fn compaction_request(
        &mut self,
        compaction: &Compaction,
        policy: &CompactionPolicy,
        (recipe, target): (&Recipe, &Target),
        writer: &Target,
    ) -> Result<SummaryRequest, Error> {
        let facts = facts(compaction, policy)?;
        let http = writer.vendor.http(&writer.options, writer.key.as_ref()).map_err(Error::wire)?;
        let plain = self.transcript_request(compaction, (policy, &facts), writer).await;
        let is_own = writer.vendor.name == target.vendor.name
            && writer.options.model == target.options.model;
        if is_own && compaction.refused.is_empty() {
            let extended = self.extended(compaction, (policy, &facts), recipe, writer).await?;
            let whole = plain.as_ref().ok().map(|request| request.impact.tokens as f64);
            if let Some((price, mut request)) = extended
                && whole.is_none_or(|whole| price < whole)
            {
                request.http = Some(http);
                return Ok(SummaryRequest { request, form: SummaryForm::Extended });
            }
        }
        let mut request = plain?;
        request.http = Some(http);
        Ok(SummaryRequest { request, form: SummaryForm::Transcript })
    }

    async fn transcript_request(
        &mut self,
        compaction: &Compaction,
        (policy, facts): (&CompactionPolicy, &[Fact]),
        writer: &Target,
    ) -> Result<Request, Error> {
        let ledger = self.ledger(&writer.options.model).await?;
        let system = instructions(policy, facts);
        let limit = writer.budget().limit();
        let most = limit.saturating_sub(ledger.text(&system) + 2 * policy.summary_tokens);
        let earlier = compaction.earlier.as_ref().map(|summary| &*summary.text);
        let counts = (|text: &str| ledger.text(text), most);
        let text = transcript(&compaction.messages, earlier, counts).map_err(|least| {
            Error::rule(format!(
                "what is to be summarised has {least} tokens at the least, and the model's window \
                 leaves {most}: choose a model with a larger one"
            ))
        })?;
        let mut conversation = Conversation::default();
        let mut say = |message: Message| conversation.append(message).map_err(Error::conversation);
        say(Message::user(&text))?;
        for (refused, why) in &compaction.refused {
            if !refused.trim().is_empty() {
                say(Message::assistant(refused))?;
            }
            say(Message::user(&again(why)))?;
        }
        let recipe = Recipe::new().with_system(system).with_ledger(ledger);
        let preview = Single::of(&conversation, &recipe).preview(Some(writer))?;
        let Some(body) = preview.body else {
            return Err(Error::rule("a request for a summary waits for nothing"));
        };
        let decoder = Decoder::new(writer.vendor.family, body.names.clone());
        let decoder = match &writer.key {
            Some(key) => decoder.hiding(key),
            None => decoder,
        };
        let report = preview.assembly.report;
        let impact = Impact::first(report.tokens.as_ref().map_or(0, |tokens| tokens.total()));
        Ok(Request { number: None, http: None, body, decoder, report, impact })
    }

    /// The session's next request with one more message, which asks for the summary, and what
    /// it costs. Nothing, if that is not known.
    async fn extended(
        &mut self,
        compaction: &Compaction,
        (policy, facts): (&CompactionPolicy, &[Fact]),
        recipe: &Recipe,
        target: &Target,
    ) -> Result<Option<(f64, Request)>, Error> {
        if self.conversation.newest_request(None).is_none() {
            return Ok(None);
        }
        let first_kept = first_words(&self.conversation, compaction);
        let text = extending(policy, facts, first_kept.as_deref());
        let mut conversation = self.conversation.clone();
        conversation.append(Message::user(&text)).map_err(Error::conversation)?;
        // What is kept free for an answer is more than this one needs; but a history that was
        // shortened for the window may then be shown as it was not before.
        let mut roomy = recipe.clone();
        if let Some(budget) = &mut roomy.budget {
            budget.reserve = budget.reserve.min(policy.summary_tokens);
        }
        let mut cheapest: Option<(f64, Request)> = None;
        for recipe in [recipe, &roomy] {
            let made = self.made_beside(&conversation, recipe, target).await?;
            let Some(request) = made.and_then(Next::request) else { continue };
            let Some(price) = request.impact.cost.as_ref().map(|cost| cost.price) else { continue };
            if cheapest.as_ref().is_none_or(|(least, _)| price < *least) {
                cheapest = Some((price, request));
            }
        }
        Ok(cheapest)
    }

    /// Takes in a text as the summary, if it keeps the contract. If it does not, it is to be
    /// asked for once more; if that does not either, a digest made without a model takes its
    /// place.
    ///
    /// # Errors
    /// If what it covers has changed since, another summary was taken in meanwhile, or the store
    /// refuses; nothing has changed then.
    pub async fn take_summary(
        &mut self,
        compaction: &mut Compaction,
        policy: &CompactionPolicy,
        target: &Target,
        text: &str,
    ) -> Result<Compacted, Error> {
        let ledger = self.ledger(&target.options.model).await?;
        let facts = facts(compaction, policy)?;
        let stays = self.stays(compaction)?;
        let held = held(compaction, policy, &facts, &stays);
        let text = text.trim();
        let tokens = ledger.text(text);
        let refused = check(text, tokens, &held);
        if refused.is_empty() {
            let report = report(compaction, tokens, &facts);
            self.put_summary(compaction, text).await?;
            return Ok(Compacted::Taken(report));
        }
        compaction.refused.push((text.to_owned(), refused.clone()));
        if compaction.refused.len() < 2 {
            return Ok(Compacted::Again(refused));
        }
        let report = self.compact_without_model(compaction, policy, target).await?;
        Ok(Compacted::Digest(report, refused))
    }

    /// Takes in a digest as the summary: what must be kept, word for word, and a notice. No
    /// model writes it (F5).
    ///
    /// # Errors
    /// If what must be kept is no shorter than what it was found in; and as
    /// [`take_summary`](Self::take_summary).
    pub async fn compact_without_model(
        &mut self,
        compaction: &Compaction,
        policy: &CompactionPolicy,
        target: &Target,
    ) -> Result<CompactedReport, Error> {
        let ledger = self.ledger(&target.options.model).await?;
        let facts = facts(compaction, policy)?;
        let stays = self.stays(compaction)?;
        let mut held = held(compaction, policy, &facts, &stays);
        held.language = None;
        let earlier = compaction.earlier.as_ref().map(|summary| &*summary.text);
        let counts = (|text: &str| ledger.text(text), held.most);
        let text = digest(&compaction.messages, earlier, &facts, counts);
        let tokens = ledger.text(&text);
        if let Some(refusal) = check(&text, tokens, &held).first() {
            let n = facts.len();
            return Err(Error::rule(format!(
                "{n} facts to keep leave nothing to gain: of the digest, {refusal}; let the policy \
                 keep fewer, or more tokens for the summary"
            )));
        }
        self.put_summary(compaction, &text).await?;
        Ok(report(compaction, tokens, &facts))
    }

    async fn put_summary(&mut self, compaction: &Compaction, text: &str) -> Result<(), Error> {
        let earlier = self.kept().await?.active_summary();
        if earlier.as_deref() != compaction.earlier.as_ref() {
            return Err(Error::rule(
                "another summary was taken in since this compaction was planned: plan it again",
            ));
        }
        let (start, covers) = (compaction.start.clone(), compaction.covers.clone());
        self.summarise(Summary { text: text.into(), start, covers }).await
    }

    /// The messages that stay, if all that give way are still visible.
    fn stays(&self, compaction: &Compaction) -> Result<Vec<Arc<Message>>, Error> {
        let heard = heard(&self.conversation);
        let gives_way = |message: &Message| compaction.covers.contains(&message.id);
        let n = heard.iter().filter(|message| gives_way(message)).count();
        let earlier = compaction.earlier.as_ref().map_or(0, |summary| {
            heard.iter().filter(|message| summary.covers.contains(&message.id)).count()
        });
        if n != compaction.n_messages + earlier {
            return Err(Error::rule(
                "messages that were to be summarised are no longer visible: plan it again",
            ));
        }
        Ok(heard.into_iter().filter(|message| !gives_way(message)).cloned().collect())
    }

    /// The next request of another conversation that goes on from this session's. What this
    /// session knows does not change.
    async fn made_beside(
        &mut self,
        conversation: &Conversation,
        recipe: &Recipe,
        target: &Target,
    ) -> Result<Option<Next>, Error> {
        let time = now()?;
        let mut recipe = self.kept().await?.complete(recipe, time).await?.into_owned();
        if recipe.ledger.is_none() {
            recipe.ledger = Some(self.ledger(&target.options.model).await?);
        }
        let mut recipe = std::borrow::Cow::Owned(recipe);
        target.suit(&mut recipe);
        let target = &*self.keyed(target, None).await?;
        let went = Went {
            last: self.conversation.last_request(None),
            newest: self.conversation.newest_request(None),
        };
        let stood = match went.last {
            Some(event) => self.stood(event).await?,
            None => Default::default(),
        };
        let mut lane = Lane::default();
        lane.catch_up(went, stood, self.before(went.newest).await?, None);
        let at = (time.as_microseconds() / 1_000_000).max(0) as u64;
        Ok(match lane.make(conversation, &recipe, target, (at, None))? {
            Made::Ready(made) => Some(super::request::next(*made, None, target)),
            Made::Waiting(_) => None,
        })
    }
}

/// The main agent's messages that are visible.
fn heard(conversation: &Conversation) -> Vec<&Arc<Message>> {
    conversation.visible().filter(|message| Agent::Main.hears(message)).collect()
}

/// The tokens of what no summary makes less.
fn fixed(recipe: &Recipe, ledger: &Ledger) -> u64 {
    let system: u64 = recipe.system.iter().map(|text| ledger.text(text)).sum();
    let context: u64 = recipe.context.iter().map(|context| ledger.text(&context.text)).sum();
    ledger.tools(&recipe.tools) + system + context
}

/// The most tokens of a summary of this many.
fn most(policy: &CompactionPolicy, covered: u64) -> u64 {
    policy.summary_tokens.min((covered as f64 * (1.0 - policy.margin)) as u64)
}

fn facts(compaction: &Compaction, policy: &CompactionPolicy) -> Result<Vec<Fact>, Error> {
    let finder = Finder::of(&policy.facts)?;
    let earlier = compaction.earlier.as_ref().map(|summary| &*summary.text);
    Ok(find(&finder, compaction.messages.iter(), earlier))
}

fn held<'a>(
    compaction: &Compaction,
    policy: &'a CompactionPolicy,
    facts: &'a [Fact],
    stays: &'a [Arc<Message>],
) -> Held<'a> {
    let most = most(policy, compaction.covered);
    Held { facts, stays, most, language: policy.language.as_deref() }
}

fn report(compaction: &Compaction, tokens: u64, facts: &[Fact]) -> CompactedReport {
    CompactedReport {
        n_messages: compaction.n_messages,
        before: compaction.covered,
        after: tokens,
        n_facts: facts.len(),
    }
}

/// The first words of the first message that stays and says something.
fn first_words(conversation: &Conversation, compaction: &Compaction) -> Option<String> {
    let heard = heard(conversation);
    let last = heard.iter().rposition(|message| compaction.covers.contains(&message.id))?;
    let stays = heard[last + 1..].iter().filter(|message| message.role() != Role::System);
    let text = stays.map(|message| message.text()).find(|text| !text.trim().is_empty())?;
    Some(text.trim().chars().take(FIRST_WORDS).collect())
}
