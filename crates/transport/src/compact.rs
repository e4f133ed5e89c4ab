//! A session is compacted: a model writes the summary, the contract is held against it.
//!
//! ```text
//!   plan ──▶ request ──▶ a model ──▶ contract ── kept ──▶ summary
//!              ▲                        │ broken once: what is missing
//!              └────────────────────────┤
//!                                       │ broken twice, or no answer
//!                                       └──▶ digest, made without a model
//! ```
//!
//! With [`Transport::compacting`], `ask` and its kin do this by themselves: before a request,
//! when the policy says that it is due, and once after an API found a request too long.

mod before;
mod done;
mod overflow;
mod prepared;

use std::sync::Arc;

use interleaf::assemble::Recipe;
use interleaf::compaction::{
    Compacted, CompactedReport, Compaction, CompactionPolicy, Judged, Refusal,
};
use interleaf::{ErrorKind as EngineErrorKind, Session, Target};
use tokio::time::Instant;

pub(crate) use self::done::lost;
pub use self::done::{CompactedBecause, CompactionDone, SummaryText, WithoutModel};
pub(crate) use self::overflow::{Overflows, Room};
use self::prepared::UnderWay;
use crate::incoming::Deadline;
use crate::keep::patiently;
use crate::{Call, Error, ErrorKind, Transport};

/// How sessions are compacted while they are asked.
///
/// ```
/// use interleaf::Target;
/// use interleaf::compaction::CompactionPolicy;
/// use interleaf_transport::{Compacting, Transport};
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let cheap = Target::new("openai", "gpt-5-mini")?;
/// let compacting = Compacting::new(CompactionPolicy::default()).with_writer(cheap);
/// // From here on `ask` compacts a session when its window is 80 % full.
/// let transport = Transport::new()?.compacting(compacting);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Compacting {
    /// When, and what must stay.
    pub policy: CompactionPolicy,
    /// The model that writes summaries. Nothing: the one that is asked.
    pub writer: Option<Target>,
}

/// What a transport knows that compacts.
pub(crate) struct Compacts {
    pub(crate) how: Compacting,
    under_way: UnderWay,
}

impl Compacting {
    /// Compacts by this policy, with summaries by the model that is asked.
    pub fn new(policy: CompactionPolicy) -> Self {
        Self { policy, writer: None }
    }

    /// The same, with summaries by this model.
    #[must_use]
    pub fn with_writer(mut self, writer: Target) -> Self {
        self.writer = Some(writer);
        self
    }
}

impl Transport {
    /// The same transport for sessions that are compacted while they are asked. It shares
    /// connections and keys with this one.
    ///
    /// Before a request, a session is compacted if the policy says that it is due. If an API
    /// finds a request too long, the session is compacted once and the request sent again; if
    /// it is still too long, it is shortened without a model and sent one last time. What was
    /// done is in the answer, and in the error.
    #[must_use]
    pub fn compacting(&self, how: Compacting) -> Self {
        let compacts = Compacts { how, under_way: UnderWay::default() };
        Self(self.0.clone(), Some(Arc::new(compacts)), self.2.clone())
    }

    /// The model that writes summaries, if one was named.
    pub fn writer(&self) -> Option<&Target> {
        self.1.as_ref().and_then(|compacts| compacts.how.writer.as_ref())
    }

    /// Compacts a session now, whether that is due or not. `recipe` and `target` are those of
    /// its requests; `writer` is the model that writes the summary.
    ///
    /// A text that breaks the contract is asked for once more, with the list of what is
    /// missing. If that breaks it too, or there is no answer, a digest that is made without a
    /// model takes its place; [`CompactionDone::without_model`] says why.
    ///
    /// # Errors
    /// If nothing can be summarised, the writer has no key, the session changed meanwhile, the
    /// limit in all ran out, or not even a digest keeps what must be kept.
    pub async fn compact(
        &self,
        session: &mut Session,
        policy: &CompactionPolicy,
        (recipe, target): (&Recipe, &Target),
        writer: &Target,
    ) -> Result<CompactionDone, Error> {
        let plan = session.compaction_now(policy, recipe, target).await;
        let plan = plan.map_err(|e| Error::in_session(e, name(target)))?;
        self.carry_out(session, plan, (policy, CompactedBecause::Asked), (recipe, target), writer)
            .await
    }

    /// Carries out a compaction that was planned before.
    ///
    /// # Errors
    /// As [`compact`](Self::compact).
    pub async fn carry_out(
        &self,
        session: &mut Session,
        plan: Compaction,
        (policy, because): (&CompactionPolicy, CompactedBecause),
        own: (&Recipe, &Target),
        writer: &Target,
    ) -> Result<CompactionDone, Error> {
        let by = By { policy, own, writer, total: self.total() };
        self.carry_out_until(session, (plan, because), by).await
    }

    /// As [`carry_out`](Self::carry_out), as a part of a call that must be done by then. If the
    /// time runs out, nothing is changed: the call is over.
    async fn carry_out_until(
        &self,
        session: &mut Session,
        (mut plan, because): (Compaction, CompactedBecause),
        by: By<'_>,
    ) -> Result<CompactionDone, Error> {
        let written = self.write(session, &mut plan, by).await?;
        if let (Some(total), Err(_)) = (by.total, &written.outcome)
            && Instant::now() >= total.at
        {
            let attempts = written.texts.last().map(|text| text.attempts.clone());
            let late = Error::of(total.failed(), name(by.writer), attempts.unwrap_or_default());
            return Err(late.losing(written.texts));
        }
        self.take_in(session, (plan, because), written, by).await
    }

    /// Has a summary written, and checks it. Nothing of the session changes.
    async fn write(
        &self,
        session: &mut Session,
        plan: &mut Compaction,
        by: By<'_>,
    ) -> Result<Written, Error> {
        let mut texts = Vec::new();
        match Box::pin(self.write_texts(session, plan, &mut texts, by)).await {
            Ok(outcome) => Ok(Written { texts, outcome }),
            Err(e) => Err(e.losing(texts)),
        }
    }

    /// As [`write`](Self::write): the text that keeps the contract, if there is one.
    async fn write_texts(
        &self,
        session: &mut Session,
        plan: &mut Compaction,
        texts: &mut Vec<SummaryText>,
        By { policy, own, writer, total }: By<'_>,
    ) -> Result<Result<String, WithoutModel>, Error> {
        loop {
            let ask = match session.summary_request(plan, policy, own, writer).await {
                Err(e) if e.kind() == EngineErrorKind::TooLarge => {
                    return Ok(Err(WithoutModel::Failed(e.to_string())));
                }
                ask => ask.map_err(|e| Error::in_session(e, name(writer)))?,
            };
            let call = Call::of(&ask.request, writer);
            let answer = match self.send_until(total, std::slice::from_ref(&call)).await {
                // What was set up wrongly is for whoever set it up.
                Err(e) if matches!(e.kind(), ErrorKind::Key | ErrorKind::Request) => return Err(e),
                Err(e) => {
                    texts.push(SummaryText::failed(ask.form, &e));
                    return Ok(Err(WithoutModel::Failed(e.to_string())));
                }
                Ok(answer) => answer,
            };
            let judged = session.judge_summary(plan, policy, &answer.reply);
            let judged = judged.map_err(|e| Error::in_session(e, name(writer)))?;
            let text = answer.reply.message.text().into_owned();
            let (refused, outcome) = match judged {
                Judged::Kept => (Vec::new(), Some(Ok(text))),
                Judged::Again(refused) => (refused, None),
                Judged::Broken(refused) => {
                    (refused.clone(), Some(Err(WithoutModel::Refused(refused))))
                }
                _ => (Vec::new(), None),
            };
            texts.push(SummaryText::of(ask.form, answer, refused));
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    /// Takes in what was written, or a digest. A text that was right when it was written may
    /// break the contract by now, for something was said or pinned since: it is asked for once
    /// more, as any other.
    async fn take_in(
        &self,
        session: &mut Session,
        (mut plan, because): (Compaction, CompactedBecause),
        written: Written,
        by: By<'_>,
    ) -> Result<CompactionDone, Error> {
        let Written { mut texts, outcome } = written;
        let taken = self.take_texts(session, &mut plan, (&mut texts, outcome), by).await;
        match taken {
            Ok((report, without_model)) => {
                Ok(CompactionDone { because, plan, report, texts, without_model })
            }
            Err(e) => Err(e.losing(texts)),
        }
    }

    /// As [`take_in`](Self::take_in), beside the texts that were written so far.
    async fn take_texts(
        &self,
        session: &mut Session,
        plan: &mut Compaction,
        (texts, mut outcome): (&mut Vec<SummaryText>, Result<String, WithoutModel>),
        by: By<'_>,
    ) -> Result<(CompactedReport, Option<WithoutModel>), Error> {
        let (policy, target) = (by.policy, by.own.1);
        let in_session = |e| Error::in_session(e, name(target));
        loop {
            let text = match outcome {
                Ok(text) => text,
                Err(why) => {
                    let done = session.compact_without_model(plan, policy).await;
                    return Ok((done.map_err(in_session)?, Some(why)));
                }
            };
            let taken = patiently!(Box::pin(session.take_summary(plan, policy, &text)).await);
            let refused = match taken.map_err(in_session)? {
                Compacted::Taken(report) => return Ok((report, None)),
                Compacted::Digest(report, refused) => {
                    note_refused(texts, &refused);
                    return Ok((report, Some(WithoutModel::Refused(refused))));
                }
                Compacted::Again(refused) => refused,
                _ => {
                    outcome = Err(WithoutModel::Refused(Vec::new()));
                    continue;
                }
            };
            note_refused(texts, &refused);
            let again = self.write(session, plan, by).await?;
            texts.extend(again.texts);
            outcome = again.outcome;
        }
    }
}

/// Says of the last text why it was not taken in.
fn note_refused(texts: &mut [SummaryText], refused: &[Refusal]) {
    if let Some(last) = texts.last_mut() {
        last.refused = refused.to_vec();
    }
}

/// What a summary is written and taken in by.
#[derive(Clone, Copy)]
struct By<'a> {
    policy: &'a CompactionPolicy,
    /// Those of the session's requests.
    own: (&'a Recipe, &'a Target),
    /// Who writes it.
    writer: &'a Target,
    /// When all must be done.
    total: Option<Deadline>,
}

/// What came of asking for a summary.
struct Written {
    texts: Vec<SummaryText>,
    outcome: Result<String, WithoutModel>,
}

fn name(target: &Target) -> (&str, &str) {
    (&target.vendor.name, &target.options.model)
}
