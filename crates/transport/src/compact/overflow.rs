//! A request that an API found too long.
//!
//! | which time | what is done |
//! |---|---|
//! | first | the session is compacted if something can give way, and the request made for what the API takes |
//! | second | the request is shortened without a model: old results, then the oldest turns |
//! | third | an error with the figures |
//!
//! This is counted for each target: another may take more or less. A request that is not smaller than the one before by a margin is not sent.

use interleaf::assemble::{Agent, Budget, Recipe};
use interleaf::wire::ApiErrorKind;
use interleaf::{Session, Target};

use super::before::{at_once, is_no_room};
use super::done::lost;
use super::{By, CompactedBecause, CompactionDone, Compacts, SummaryText, name};
use crate::attempt::Because;
use crate::incoming::Deadline;
use crate::{Error, ErrorKind, Transport};

/// Each request takes at most this part of the one before that was too long.
const MOST_OF_BEFORE: f64 = 0.9;
/// As much is tried if the API does not say what it takes.
const PART_IF_UNTOLD: f64 = 0.75;
/// As much of what the API takes is tried the second time: our count was too low the first.
const HARDER: f64 = 0.6;

/// What was done to make a session's requests shorter, whoever was asked.
#[derive(Default)]
pub(crate) struct Room {
    pub(crate) done: Vec<CompactionDone>,
    /// Why a compaction was not done.
    pub(super) not_done: Option<String>,
    /// What was written as a summary in vain, and not told with a compaction that was done.
    pub(crate) lost: Vec<SummaryText>,
}

impl Room {
    /// A compaction was done, after all that was written in vain.
    pub(super) fn did(&mut self, mut done: CompactionDone) {
        done.texts.splice(0..0, std::mem::take(&mut self.lost));
        self.done.push(done);
        self.not_done = None;
    }

    /// A compaction that was due could not be done.
    pub(super) fn did_not(&mut self, why: Error) {
        self.not_done = Some(why.message().to_owned());
        self.lost.extend(why.into_lost());
    }

    /// Why a compaction that was due was not done, and what texts cost that were lost.
    pub(crate) fn not_compacted(&self) -> Option<String> {
        match (&self.not_done, lost(&self.lost)) {
            (Some(why), Some(lost)) => Some(format!("{why}; {lost}")),
            (why, lost) => why.clone().or(lost),
        }
    }
}

/// The requests that one target found too long.
#[derive(Default)]
pub(crate) struct Overflows {
    /// By our count, the tokens of each, and what had been done to make it shorter.
    too_long: Vec<(u64, &'static str)>,
    /// What had been done for the last one.
    how: &'static str,
    /// Why it can be made no shorter.
    no_shorter: Option<String>,
}

impl Overflows {
    /// Notes how the request was made that failed now.
    pub(crate) fn made_as(&mut self, because: Because) {
        self.how = match because {
            Because::Compacted => "after a compaction ",
            Because::Shortened => "shortened ",
            _ => "",
        };
    }

    /// The error with what was tried about it.
    pub(crate) fn told(&self, error: Error) -> Error {
        let error = match &self.no_shorter {
            Some(why) => error.saying(why),
            None => error,
        };
        match self.too_long.as_slice() {
            [] => error,
            [(first, _)] => error.saying(&format!("it had {first} tokens by our count")),
            [(first, _), rest @ ..] => {
                let rest: Vec<String> =
                    rest.iter().map(|(tokens, how)| format!("{how}{tokens}")).collect();
                let rest = rest.join(", ");
                error.saying(&format!("by our count it had {first} tokens, {rest}"))
            }
        }
    }
}

impl Transport {
    /// Makes room after a request was too long: the recipe by which the next one is made, and
    /// why. None, if there is nothing more to do.
    pub(crate) async fn make_room(
        &self,
        session: &mut Session,
        (recipe, target): (&Recipe, &Target),
        error: &Error,
        total: Option<Deadline>,
        (overflows, room): (&mut Overflows, &mut Room),
    ) -> Result<Option<(Recipe, Because)>, Error> {
        let ErrorKind::Api(ApiErrorKind::TooLong { tokens, limit }) = error.kind() else {
            return Ok(None);
        };
        let Some(compacts) = self.1.as_ref().filter(|_| recipe.agent == Agent::Main) else {
            return Ok(None);
        };
        let Compacts { how, under_way } = &**compacts;
        let refused = |e| Error::in_session(e, name(target));
        let sent = match overflows.too_long.is_empty() {
            true => {
                let figures = session.figures(recipe, target).await.map_err(refused)?;
                let fitted = recipe.budget.is_some().then_some(figures.limit);
                figures.tokens.min(fitted.unwrap_or(u64::MAX))
            }
            false => self.counted(session, recipe, target).await?.unwrap_or(0),
        };
        overflows.too_long.push((sent, overflows.how));
        let taken = match (tokens, limit) {
            (Some(tokens), Some(limit)) if tokens > limit => {
                (sent as f64 * limit as f64 / tokens as f64) as u64
            }
            (_, Some(limit)) => limit,
            _ => (sent as f64 * PART_IF_UNTOLD) as u64,
        };
        let (most, mut because) = match overflows.too_long.len() {
            1 => (taken, Because::Compacted),
            2 => ((taken as f64 * HARDER) as u64, Because::Shortened),
            _ => return Ok(None),
        };
        let most = most.min((sent as f64 * MOST_OF_BEFORE) as u64);
        let mut smaller = recipe.clone();
        smaller.budget = Some(budget(recipe, most, target));
        if because == Because::Compacted {
            // What was prepared was planned for another window.
            room.lost.extend(under_way.forget(session.id()).await);
            let policy = at_once(&how.policy);
            let done = match session.compaction(&policy, &smaller, target).await {
                Ok(Some(plan)) => {
                    let writer = how.writer.as_ref().unwrap_or(target);
                    let by = By { policy: &policy, own: (&smaller, target), writer, total };
                    let plan = (plan, CompactedBecause::Overflow);
                    self.carry_out_until(session, plan, by).await.map(Some)
                }
                Ok(None) => Ok(None),
                Err(e) => Err(refused(e)),
            };
            match done {
                Ok(Some(done)) => room.did(done),
                // Nothing can give way to a summary; the request may still be shortened.
                Ok(None) => because = Because::Shortened,
                Err(e) if is_no_room(&e) => {
                    room.did_not(e);
                    because = Because::Shortened;
                }
                Err(e) => return Err(e),
            }
        }
        // The fill is that of the request itself. If what must be said does not fit, the API's
        // error is told with the figures, and nothing more is sent.
        match self.counted(session, &smaller, target).await {
            Ok(Some(tokens)) if tokens <= most => Ok(Some((smaller, because))),
            Ok(_) => Ok(None),
            Err(e) if is_no_room(&e) => {
                overflows.no_shorter = Some(e.message().to_owned());
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// The tokens of the next request, as it would be sent.
    async fn counted(
        &self,
        session: &mut Session,
        recipe: &Recipe,
        target: &Target,
    ) -> Result<Option<u64>, Error> {
        let next = session.preview(recipe, target).await;
        let next = next.map_err(|e| Error::in_session(e, name(target)))?;
        let tokens = next.request().and_then(|request| request.report.tokens);
        Ok(tokens.map(|tokens| tokens.total()))
    }
}

/// A budget under which a request may take this many tokens.
fn budget(recipe: &Recipe, most: u64, target: &Target) -> Budget {
    let reserve = target.options.max_tokens.unwrap_or(0);
    let window = most.saturating_add(reserve);
    let usual = recipe.budget.unwrap_or_else(|| Budget::of_window(window));
    let longest_result = usual.longest_result.min(most / 4).max(1);
    Budget { window, reserve, longest_result, ..usual }
}
