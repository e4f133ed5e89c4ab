//! What is done before a request: a compaction that is due, or the preparation of one.

use interleaf::assemble::{Agent, Recipe};
use interleaf::compaction::CompactionPolicy;
use interleaf::{ErrorKind as EngineErrorKind, Session, Target};

use super::done::outdated;
use super::prepared::Outcome;
use super::{
    By, CompactedBecause, CompactionDone, Compacts, Room, SummaryText, WithoutModel, Written, name,
};
use crate::failed::Failed;
use crate::incoming::Deadline;
use crate::{Attempts, Error, ErrorKind, Transport};

impl Transport {
    /// Compacts a session before its next request, if that is due.
    pub(crate) async fn compact_before(
        &self,
        session: &mut Session,
        (recipe, target): (&Recipe, &Target),
        total: Option<Deadline>,
        room: &mut Room,
    ) -> Result<(), Error> {
        let Some(compacts) = &self.1 else { return Ok(()) };
        // A summary covers what the main agent heard.
        if recipe.agent != Agent::Main {
            return Ok(());
        }
        let Compacts { how, under_way } = &**compacts;
        let policy = &how.policy;
        let refused = |e| Error::in_session(e, name(target));
        let figures = session.figures(recipe, target).await.map_err(refused)?;
        if figures.fixed > figures.limit {
            return Err(does_not_fit(figures.fixed, figures.limit, target));
        }
        let is_due = policy.when.as_ref().is_some_and(|when| when.is_due(&figures));
        if !is_due {
            let is_early = policy.prepare.as_ref().is_some_and(|when| when.is_due(&figures));
            if is_early {
                under_way.begin(self, session, (recipe, target), how).await?;
            }
            return Ok(());
        }
        let writer = how.writer.as_ref().unwrap_or(target);
        let by = By { policy, own: (recipe, target), writer, total };
        let timed_out = |failed| Error::of(failed, name(target), Attempts::default());
        let prepared = under_way.taken(session.id(), total).await;
        if let Some(prepared) = prepared.map_err(timed_out)? {
            match Box::pin(self.take_prepared(session, prepared, by)).await? {
                Ok(done) => {
                    room.did(done);
                    return Ok(());
                }
                Err(texts) => room.lost.extend(texts),
            }
        }
        let plan = session.compaction(policy, recipe, target).await.map_err(refused);
        let done = match plan {
            Ok(None) => {
                let why = format!("too little can give way for a summary ({figures})");
                room.not_done = Some(why);
                return Ok(());
            }
            Ok(Some(plan)) => {
                Box::pin(self.carry_out_until(session, (plan, CompactedBecause::Due), by)).await
            }
            Err(e) => Err(e),
        };
        match done {
            Ok(done) => room.did(done),
            // What may not give way whole may still be shortened, which is for the request to
            // find out.
            Err(e) if is_no_room(&e) => room.did_not(e),
            Err(e) => return Err(e),
        }
        Ok(())
    }

    /// Takes in a summary that was prepared. If there is none, or what it was written for has
    /// changed, it is as if it had not been prepared, apart from what that cost: the texts.
    async fn take_prepared(
        &self,
        session: &mut Session,
        prepared: Outcome,
        by: By<'_>,
    ) -> Result<Result<CompactionDone, Vec<SummaryText>>, Error> {
        let (plan, written) = match prepared {
            Err(e) => return Ok(Err(e.into_lost())),
            Ok((_, Written { texts, outcome: Err(WithoutModel::Failed(_)) })) => {
                return Ok(Err(texts));
            }
            Ok(prepared) => prepared,
        };
        match self.take_in(session, (plan, CompactedBecause::Prepared), written, by).await {
            Err(e) if is_stale(&e) => Ok(Err(outdated(e.into_lost()))),
            taken => taken.map(Ok),
        }
    }
}

fn is_stale(error: &Error) -> bool {
    error.session().is_some_and(|e| e.kind() == EngineErrorKind::Invalid)
}

/// Whether what must stay leaves no room.
pub(super) fn is_no_room(error: &Error) -> bool {
    error.session().is_some_and(|e| e.kind() == EngineErrorKind::TooLarge)
}

/// Nothing can help: no call is made.
fn does_not_fit(fixed: u64, limit: u64, target: &Target) -> Error {
    let text = format!(
        "no compaction helps: tools, system texts and context take {fixed} tokens, and a request \
         may have {limit}"
    );
    Error::of(Failed::new(ErrorKind::Request, text), name(target), Attempts::default())
}

/// A policy by which a compaction is due at once.
pub(super) fn at_once(policy: &CompactionPolicy) -> CompactionPolicy {
    let mut policy = policy.clone();
    policy.when = Some(interleaf::compaction::Trigger::Tokens(0));
    policy
}
