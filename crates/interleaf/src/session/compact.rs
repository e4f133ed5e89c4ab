//! Compaction of a session: planned here, asked for, checked and taken in.

mod ask;
mod copied;
mod keep;
mod take;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

use interleaf_assemble::{Agent, Ledger, Recipe};
use interleaf_conversation::Conversation;
use interleaf_model::{ContextKind, Message, MessageId};

use super::{Session, now};
use crate::compaction::{
    Compaction, CompactionPolicy, CountedBy, Covers, Figures, Glance, Ground, NoCompaction,
    Trigger, cover,
};
use crate::preview::pinned;
use crate::text_form::TextForm;
use crate::{Error, Target};

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
        Ok(self.plan(policy, (recipe, target), Some(when)).await?.ok())
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
        self.plan(policy, (recipe, target), None).await?.map_err(|none| Error::rule(none.why))
    }

    /// Why [`compaction`](Self::compaction) plans none; nothing, if it plans one.
    ///
    /// # Errors
    /// As [`compaction`](Self::compaction).
    pub async fn no_compaction(
        &mut self,
        policy: &CompactionPolicy,
        recipe: &Recipe,
        target: &Target,
    ) -> Result<Option<NoCompaction>, Error> {
        policy.check()?;
        let Some(when) = &policy.when else {
            let why = "the policy does not say when a compaction is due".to_owned();
            return Ok(Some(NoCompaction { due: None, why }));
        };
        Ok(self.plan(policy, (recipe, target), Some(when)).await?.err())
    }

    /// The figures of the next request, counted from what it is made of: how full the window
    /// is, and what of it no summary makes less.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn figures(&mut self, recipe: &Recipe, target: &Target) -> Result<Figures, Error> {
        let (recipe, ledger) = self.counted_by(recipe, target).await?;
        let shown = self.shown_tokens(&recipe, &ledger).await?;
        Ok(counted(&self.conversation, &recipe, (&ledger, shown), target).figures)
    }

    /// The tokens of the context that was shown and stays where it was, if the rule leaves it
    /// there.
    async fn shown_tokens(&mut self, recipe: &Recipe, ledger: &Ledger) -> Result<u64, Error> {
        if !recipe.rule.amends() {
            return Ok(0);
        }
        let agent = recipe.agent.name();
        self.catch_up(agent).await?;
        Ok(self.lane(agent).shown().messages().map(|message| ledger.message(message)).sum())
    }

    /// What a compaction would do, if this says that one is due; or why there is none.
    async fn plan(
        &mut self,
        policy: &CompactionPolicy,
        (recipe, target): (&Recipe, &Target),
        when: Option<&Trigger>,
    ) -> Result<Result<Compaction, NoCompaction>, Error> {
        let none = |why: String| Ok(Err(NoCompaction { due: when.cloned(), why }));
        if recipe.agent != Agent::Main {
            return Err(Error::rule(
                "a summary covers what the main agent heard, and no sub-agent",
            ));
        }
        let (recipe, ledger) = self.counted_by(recipe, target).await?;
        let relevant = match policy.keep_relevant {
            0 => Vec::new(),
            n => self.relevant(n).await?,
        };
        let earlier = recipe.summary.clone();
        let shown = self.shown_tokens(&recipe, &ledger).await?;
        let Counted { messages, glances, tokens, figures, summary } =
            counted(&self.conversation, &recipe, (&ledger, shown), target);
        if when.is_some_and(|when| !when.is_due(&figures)) {
            let why = format!("no compaction is due: {figures}");
            return Ok(Err(NoCompaction { due: None, why }));
        }
        let pinned = pinned(&self.conversation);
        let ground = Ground { messages, glances, pinned, tokens, relevant, policy };
        let Figures { tokens: before, fixed, limit, .. } = figures;
        let history = before.saturating_sub(fixed + summary);
        let down_to = (limit.min(before) as f64 * policy.down_to) as u64;
        let room = down_to.saturating_sub(fixed).saturating_sub(policy.summary_tokens);
        let cover = cover(&ground, room);
        if fixed + cover.least > limit {
            return Err(Error::no_room(format!(
                "no summary makes the request fit: tools, system texts and context take {fixed} \
                 tokens, messages that may not give way {}, and the limit is {limit}",
                cover.least
            )));
        }
        let covered = history.saturating_sub(cover.stays) + summary;
        let most = most(policy, covered);
        // What is no longer than a summary need not go, unless the request is too long.
        let need_not_go = covered <= policy.summary_tokens && before <= limit;
        let first = cover.gone.first().map(|&at| ground.messages[at].id.clone());
        let start = earlier.as_ref().map(|summary| summary.start.clone()).or(first);
        let Some(start) = start.filter(|_| !cover.gone.is_empty() && most > 0 && !need_not_go)
        else {
            return none(format!(
                "nothing can be summarised: what may give way has {covered} tokens, and a summary \
                 may have {} (summary_tokens of the policy)",
                policy.summary_tokens
            ));
        };
        let after = fixed + cover.stays + most;
        // One that gains next to nothing would be due again at once, and so on without end.
        if when.is_some() && before.saturating_sub(after) < (before as f64 * LEAST_GAIN) as u64 {
            return none(format!(
                "a compaction gains next to nothing: {before} tokens, and {after} after it"
            ));
        }
        let messages: Arc<[Arc<Message>]> =
            cover.gone.iter().map(|&at| ground.messages[at].clone()).collect();
        let covers = Covers::of(messages.clone(), earlier.clone());
        let next = cover.gone.last().map_or(0, |last| last + 1)..ground.messages.len();
        let stays_from = next
            .filter(|&at| ground.tokens[at].is_some())
            .map(|at| ground.messages[at].id.clone())
            .next();
        Ok(Ok(Compaction {
            due: when.cloned(),
            figures,
            covers,
            n_messages: messages.len(),
            spared: cover.spared,
            newest: cover.newest,
            stays_from,
            covered,
            after,
            start,
            messages,
            earlier,
            refused: Vec::new(),
            found: OnceLock::new(),
            counted_by: CountedBy(ledger),
        }))
    }

    /// The recipe with what the session and the target add to it, and what counts its tokens.
    async fn counted_by(
        &mut self,
        recipe: &Recipe,
        target: &Target,
    ) -> Result<(Recipe, Arc<Ledger>), Error> {
        let mut recipe = self.kept().await?.complete(recipe, now()?).await?.into_owned();
        recipe.budget.get_or_insert_with(|| target.budget());
        let mut recipe = Cow::Owned(recipe);
        target.suit(&mut recipe);
        let ledger = match &recipe.ledger {
            Some(own) => own.clone(),
            None => self.ledger(&target.options.model).await?,
        };
        let ledger = match target.has_text_tools() {
            true => TextForm::new(recipe.tools.clone()).ledger(&ledger),
            false => ledger,
        };
        Ok((recipe.into_owned(), ledger))
    }
}

/// One that is due by itself must make the request smaller by at least this part of it.
const LEAST_GAIN: f64 = 0.1;

/// A conversation, counted.
struct Counted<'a> {
    messages: Vec<&'a Arc<Message>>,
    glances: Vec<Glance>,
    /// The tokens of each; none, if it is not shown.
    tokens: Vec<Option<u64>>,
    figures: Figures,
    /// The tokens of the summary before.
    summary: u64,
}

fn counted<'a>(
    conversation: &'a Conversation,
    recipe: &Recipe,
    (ledger, shown_before): (&Ledger, u64),
    target: &Target,
) -> Counted<'a> {
    let messages: Vec<&Arc<Message>> = conversation.visible().collect();
    let covered: HashSet<&MessageId> =
        recipe.summary.iter().flat_map(|summary| &summary.covers).collect();
    let glances: Vec<Glance> = messages.iter().map(|message| Glance::at(message)).collect();
    let is_shown = |(message, glance): (&&Arc<Message>, &Glance)| {
        let is_heard = match &recipe.agent {
            Agent::Main => glance.is_heard,
            sub => sub.hears(message),
        };
        is_heard && (covered.is_empty() || !covered.contains(&message.id))
    };
    let shown: Vec<bool> = messages.iter().zip(&glances).map(is_shown).collect();
    let zipped = messages.iter().zip(&shown);
    let shown_ones: Vec<&Arc<Message>> =
        zipped.filter(|(_, shown)| **shown).map(|(message, _)| *message).collect();
    let n_threads = available_parallelism().map_or(1, |n| n.get());
    let mut counts = ledger.messages(&shown_ones, n_threads).into_iter();
    let tokens: Vec<Option<u64>> =
        shown.into_iter().map(|shown| if shown { counts.next() } else { None }).collect();
    let history: u64 = tokens.iter().flatten().sum();
    // A summary covers what the main agent heard, and is shown to no other.
    let summary = recipe.summary.as_ref().filter(|_| recipe.agent == Agent::Main);
    let summary = summary.map_or(0, |summary| ledger.text(&summary.text));
    let fixed = fixed(recipe, ledger);
    let limit = recipe.budget.unwrap_or_else(|| target.budget()).limit();
    // A summary lets go of what was shown, apart from one copy.
    let copies = shown_before.saturating_sub(context(recipe, ledger));
    let tokens_in_all = fixed + copies + summary + history;
    let figures = Figures { tokens: tokens_in_all, fixed, limit, messages: shown_ones.len() };
    Counted { messages, glances, tokens, figures, summary }
}

/// The main agent's messages that are visible.
fn heard(conversation: &Conversation) -> Vec<&Arc<Message>> {
    conversation.visible().filter(|message| Agent::Main.hears(message)).collect()
}

/// The tokens of what no summary makes less.
fn fixed(recipe: &Recipe, ledger: &Ledger) -> u64 {
    let said = recipe.system.iter().filter(|text| !text.trim().is_empty());
    let mut system: u64 = said.map(|text| ledger.text(text)).sum();
    if system == 0 {
        // The role is the system message too.
        let role = recipe.context.iter().find(|context| context.kind == ContextKind::Role);
        system = role.map_or(0, |role| ledger.text(&role.text));
    }
    ledger.tools(&recipe.tools) + system + context(recipe, ledger)
}

fn context(recipe: &Recipe, ledger: &Ledger) -> u64 {
    recipe.context.iter().map(|context| ledger.text(&context.text)).sum()
}

/// The most tokens of a summary of this many.
fn most(policy: &CompactionPolicy, covered: u64) -> u64 {
    policy.summary_tokens.min((covered as f64 * (1.0 - policy.margin)) as u64)
}
