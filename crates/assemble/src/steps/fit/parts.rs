//! The parts of a request, held against their shares (H10).

use super::Tokens;
use crate::allot::{Figures, Room, Rooms};
use crate::brief::Brief;
use crate::draft::Draft;
use crate::{Cause, Error, Part, PartReport, Rebase};

/// The parts of a request that shares its budget.
pub(super) struct Parts<'a> {
    brief: &'a Brief<'a>,
    rooms: &'a Rooms,
    limit: u64,
    /// What they took before the history gave way.
    before: Tokens,
}

impl<'a> Parts<'a> {
    pub(super) fn of(brief: &'a Brief<'a>, before: &Tokens, limit: u64) -> Option<Self> {
        let rooms = brief.allotted.rooms.as_ref()?;
        Some(Self { brief, rooms, limit, before: before.clone() })
    }

    /// What the history may take.
    pub(super) fn history(&self) -> Room {
        self.rooms.of_part(Part::History)
    }

    fn figures(&self) -> Figures {
        let (Tokens { system, summary, history, .. }, allotted) =
            (&self.before, &self.brief.allotted);
        Figures {
            fixed: system + summary,
            history: *history,
            context: allotted.context_cost.1,
            tools: allotted.tools_cost.1,
        }
    }

    /// Whether the history may be fitted into what the other parts leave. If not, the draft
    /// says how the request is to be made again.
    pub(super) fn leave_room(&self, draft: &mut Draft) -> Result<bool, Error> {
        let (tokens, figures) = (&self.before, self.figures());
        for part in [Part::System, Part::Tools] {
            if self.rooms.of_part(part).max.is_some_and(|max| taken(tokens, part) > max) {
                return Err(self.refused(tokens, Some(part)));
            }
        }
        let targets = self.brief.allotted.targets;
        match self.rooms.targets(figures, targets.n_forced) {
            None => return Err(self.refused(tokens, None)),
            Some(aim) if aim != targets => {
                draft.remake = Some(aim);
                return Ok(false);
            }
            Some(_) => {}
        }
        let is_over = self.rooms.of_part(Part::Context).max.is_some_and(|max| tokens.context > max);
        let others = tokens.total() - tokens.history;
        let least = self.history().min.unwrap_or(0).min(tokens.history);
        if is_over || others + least > self.limit {
            if !self.brief.memory.has_elements() {
                return Err(self.refused(tokens, is_over.then_some(Part::Context)));
            }
            // What was superseded goes, and with it its room.
            draft.rebase.get_or_insert(Rebase::Budget);
            return Ok(false);
        }
        Ok(true)
    }

    /// By how much the request is too large, after the history gave way.
    pub(super) fn excess(&self, tokens: &Tokens) -> u64 {
        let most = self.history().max.unwrap_or(u64::MAX);
        let total = tokens.total().saturating_sub(self.limit);
        total.max(tokens.history.saturating_sub(most))
    }

    /// The history cannot give way any more: the next part does, or the request is refused.
    pub(super) fn give_more(&self, draft: &mut Draft, tokens: &Tokens) -> Result<(), Error> {
        let (figures, targets) = (self.figures(), self.brief.allotted.targets);
        let over = (tokens.total() <= self.limit).then_some(Part::History);
        let can_give = over.is_none()
            && !self.brief.memory.has_elements()
            && targets.n_forced < self.rooms.n_giving(figures);
        let aim = can_give.then(|| self.rooms.targets(figures, targets.n_forced + 1)).flatten();
        match aim {
            Some(aim) => {
                draft.remake = Some(aim);
                Ok(())
            }
            None => Err(self.refused(tokens, over)),
        }
    }

    fn refused(&self, tokens: &Tokens, over: Option<Part>) -> Error {
        Error::parts_too_large(self.limit, tokens.clone(), self.reports(tokens), over)
    }

    /// What each part may take, took and takes.
    pub(super) fn reports(&self, tokens: &Tokens) -> Vec<PartReport> {
        let (before, allotted) = (&self.before, &self.brief.allotted);
        let report = |part: Part| {
            let after = taken(tokens, part);
            let Room { min, max } = self.rooms.of_part(part);
            let (whole, at_most, aim) = match part {
                Part::Context => {
                    (allotted.context_cost.0, allotted.context_cost.1, allotted.targets.context)
                }
                Part::Tools => {
                    (allotted.tools_cost.0, allotted.tools_cost.1, allotted.targets.tools)
                }
                Part::History => {
                    let at_most = max.unwrap_or(u64::MAX).min(before.history);
                    let others = tokens.total() - tokens.history;
                    let is_full = others.saturating_add(at_most) > self.limit;
                    (before.history, at_most, is_full.then_some(after))
                }
                Part::System => (before.system, before.system, None),
            };
            let cause = match aim.filter(|&aim| aim < at_most) {
                Some(_) => Some(Cause::Budget),
                None => (at_most < whole).then_some(Cause::Share),
            };
            // What was shown and is superseded takes its room too.
            PartReport { part, before: whole.max(after), after, min, max, cause }
        };
        Part::ALL.map(report).to_vec()
    }
}

fn taken(tokens: &Tokens, part: Part) -> u64 {
    match part {
        Part::History => tokens.history,
        Part::Context => tokens.context,
        Part::Tools => tokens.tools,
        Part::System => tokens.system,
    }
}
