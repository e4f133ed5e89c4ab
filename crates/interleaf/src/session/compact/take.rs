//! A text that is to be the summary: held against its contract, and taken in.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_assemble::{OpenBlock, Recipe, Summary};
use interleaf_model::{Finish, Message, MessageId, Reply};

use super::super::Session;
use super::super::retry::RETRIES;
use super::{heard, most};
use crate::compaction::{
    Compacted, CompactedReport, Compaction, CompactionPolicy, Fact, Glance, Ground, Held, Judged,
    Refusal, check, digest, protected, unsaid,
};
use crate::preview::pinned;
use crate::{Error, ErrorKind, Single};

impl Session {
    /// Takes in a text as the summary, if it keeps the contract. If it does not, it is to be
    /// asked for once more; if that does not either, a digest made without a model takes its
    /// place. If something was said meanwhile, the contract is held against that too.
    ///
    /// # Errors
    /// If what it covers has changed since, another summary was taken in meanwhile, or the store
    /// refuses; nothing has changed then.
    pub async fn take_summary(
        &mut self,
        compaction: &mut Compaction,
        policy: &CompactionPolicy,
        text: &str,
    ) -> Result<Compacted, Error> {
        let mut tries = 0;
        loop {
            let checked = self.checked(compaction, policy, text)?;
            match judged(compaction, text, checked.refused) {
                Judged::Kept => {}
                Judged::Again(refused) => return Ok(Compacted::Again(refused)),
                Judged::Broken(refused) => {
                    let report = self.compact_without_model(compaction, policy).await?;
                    return Ok(Compacted::Digest(report, refused));
                }
            }
            if self.put_summary(compaction, text.trim(), &mut tries).await? {
                let Checked { tokens, n_facts, .. } = checked;
                return Ok(Compacted::Taken(report(compaction, tokens, n_facts)));
            }
        }
    }

    /// Holds an answer against the contract. Nothing is taken in: that is for
    /// [`take_summary`](Self::take_summary), or for
    /// [`compact_without_model`](Self::compact_without_model) if it was broken twice.
    ///
    /// # Errors
    /// If what it covers has changed since.
    pub fn judge_summary(
        &self,
        compaction: &mut Compaction,
        policy: &CompactionPolicy,
        answer: &Reply,
    ) -> Result<Judged, Error> {
        let text = answer.message.text();
        let mut refused = self.checked(compaction, policy, &text)?.refused;
        let is_empty = refused == [Refusal::Empty];
        let ended = match answer.finish {
            _ if answer.message.calls().next().is_some() => Some(Refusal::Calls),
            Finish::ToolCalls => Some(Refusal::Calls),
            Finish::ContentFilter => Some(Refusal::Filtered),
            Finish::Length | Finish::Cut | Finish::Paused if !is_empty => Some(Refusal::CutOff),
            Finish::Length | Finish::Cut | Finish::Paused | Finish::Stop | Finish::Other(_) => None,
        };
        if let Some(ended) = ended {
            refused.insert(0, ended);
        }
        Ok(judged(compaction, &text, refused))
    }

    fn checked(
        &self,
        compaction: &Compaction,
        policy: &CompactionPolicy,
        text: &str,
    ) -> Result<Checked, Error> {
        let text = text.trim();
        let stays = self.stays(compaction, text)?;
        let facts = self.facts(compaction, policy)?.into_owned();
        let most = most(policy, compaction.covered);
        let language = policy.language.as_deref();
        let tokens = compaction.counted_by.tokens(text);
        let n_facts = (facts.kept.len(), facts.n_left_out());
        let kept = stays.lost.into_iter().chain(facts.kept).collect::<Vec<Fact>>();
        let held = Held { facts: &kept, stays: &stays.messages, most, language };
        Ok(Checked { refused: check(text, tokens, &held), tokens, n_facts })
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
    ) -> Result<CompactedReport, Error> {
        let mut tries = 0;
        loop {
            let (text, report) = self.digest(compaction, policy)?;
            if self.put_summary(compaction, &text, &mut tries).await? {
                return Ok(report);
            }
        }
    }

    /// A digest of what gives way, and what it is.
    fn digest(
        &self,
        compaction: &Compaction,
        policy: &CompactionPolicy,
    ) -> Result<(String, CompactedReport), Error> {
        let stays = self.stays(compaction, "")?;
        let facts = self.facts(compaction, policy)?.into_owned();
        let n_facts = (facts.kept.len(), facts.n_left_out());
        let kept = stays.lost.into_iter().chain(unsaid(facts.kept, &stays.messages));
        let kept = kept.collect::<Vec<Fact>>();
        let most = most(policy, compaction.covered);
        let held = Held { facts: &kept, stays: &stays.messages, most, language: None };
        let earlier = compaction.earlier.as_ref().map(|summary| &*summary.text);
        let counts = (|text: &str| compaction.counted_by.tokens(text), held.most);
        let text = digest(&compaction.messages, earlier, &kept, counts);
        let tokens = compaction.counted_by.tokens(&text);
        if let Some(refusal) = check(&text, tokens, &held).first() {
            return Err(Error::no_room(format!(
                "{} facts to keep leave nothing to gain: of the digest, {refusal}; let the policy \
                 keep fewer, or more tokens for the summary",
                kept.len()
            )));
        }
        let report = report(compaction, tokens, n_facts);
        Ok((text, report))
    }

    /// Whether a summary is written. If not, others wrote meanwhile, and the contract is to be
    /// held against that too.
    async fn put_summary(
        &mut self,
        compaction: &Compaction,
        text: &str,
        tries: &mut usize,
    ) -> Result<bool, Error> {
        let earlier = self.kept().await?.active_summary();
        if earlier != compaction.earlier {
            return Err(Error::rule(
                "another summary was taken in since this compaction was planned: plan it again",
            ));
        }
        match self.summarise(summary_of(compaction, text)).await {
            Err(e) if e.kind() == ErrorKind::Conflict && *tries < RETRIES => {
                *tries += 1;
                self.refresh().await?;
                // Of two that were planned on the same state, one is taken.
                let active = self.kept().await?.active_summary();
                match active.is_some() && active != compaction.earlier {
                    true => Err(e),
                    false => Ok(false),
                }
            }
            put => put.map(|()| true),
        }
    }

    /// What the model still sees if this text becomes the summary, if all that gives way is
    /// still visible.
    pub(super) fn stays(&self, compaction: &Compaction, text: &str) -> Result<Stays, Error> {
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
        let mut stays: Vec<Arc<Message>> =
            heard.iter().filter(|message| !gives_way(message)).map(|m| Arc::clone(m)).collect();
        // What was planned spares these. What was pinned, opened or hidden since may have made
        // others of them: what the next request shows of those is looked at.
        let policy = CompactionPolicy::default();
        let ground = Ground {
            glances: heard.iter().map(|message| Glance::at(message)).collect(),
            messages: heard,
            pinned: pinned(&self.conversation),
            tokens: Vec::new(),
            relevant: Vec::new(),
            policy: &policy,
        };
        let mut covered = protected(&ground);
        covered.retain(|(message, _)| gives_way(message));
        let mut lost = Vec::new();
        if !covered.is_empty() {
            let shown = self.shown_with(summary_of(compaction, text))?;
            for (message, rule) in covered {
                match shown.contains(&message.id) {
                    true => stays.push(message.clone()),
                    false => lost.push(Fact {
                        rule: rule.into(),
                        text: message.text().trim().into(),
                        message: Some(message.id.clone()),
                    }),
                }
            }
        }
        Ok(Stays { messages: stays, lost })
    }

    /// The messages of the next request, if it had this summary.
    fn shown_with(&self, mut summary: Summary) -> Result<BTreeSet<MessageId>, Error> {
        if summary.text.trim().is_empty() {
            summary.text = "-".into();
        }
        let mut recipe = Recipe::new();
        recipe.open_block = OpenBlock::Wait;
        recipe.summary = Some(Arc::new(summary));
        let preview = Single::of(&self.conversation, &recipe).preview(None)?;
        Ok(preview.entries().iter().map(|entry| entry.message.id.clone()).collect())
    }
}

/// What a text was found to be.
struct Checked {
    refused: Vec<Refusal>,
    tokens: u64,
    /// How many facts must survive, and how many need not.
    n_facts: (usize, usize),
}

/// What the model still sees beside a summary.
pub(super) struct Stays {
    pub(super) messages: Vec<Arc<Message>>,
    /// Messages that must not go, and would.
    lost: Vec<Fact>,
}

fn judged(compaction: &mut Compaction, text: &str, refused: Vec<Refusal>) -> Judged {
    if refused.is_empty() {
        return Judged::Kept;
    }
    compaction.refused.push((text.trim().to_owned(), refused.clone()));
    match compaction.refused.len() {
        1 => Judged::Again(refused),
        _ => Judged::Broken(refused),
    }
}

fn summary_of(compaction: &Compaction, text: &str) -> Summary {
    let (start, covers) = (compaction.start.clone(), BTreeSet::clone(&compaction.covers));
    Summary { text: text.into(), start, covers }
}

fn report(
    compaction: &Compaction,
    after: u64,
    (n_facts, n_left_out): (usize, usize),
) -> CompactedReport {
    let (n_messages, before) = (compaction.n_messages, compaction.covered);
    CompactedReport { n_messages, before, after, n_facts, n_left_out }
}
