//! Which part gives way how far, by the figures.

use super::{Rooms, Targets};
use crate::shares::Part;

/// What is not history is taken for a whole number of these parts of the limit, so that a
/// summary that grows by a line does not move what is shown of the context.
const FIXED_PART: u64 = 20;

/// What a request would take, with the context and the tools at their maxima.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// The system message and the summary.
    pub(crate) fixed: u64,
    pub(crate) history: u64,
    pub(crate) context: u64,
    pub(crate) tools: u64,
}

impl Rooms {
    /// What the context and the tools must come down to, with the first `n_forced` of them at
    /// their minima; nothing, if the minima do not fit.
    ///
    /// A part gives way only when all before it are at their minima. How far it goes does not
    /// depend on how full the window is: if the history goes before it, to what is left beside
    /// the history's minimum; else to its own minimum. So it gives way once, and what is shown
    /// stays the same while the history grows.
    pub(crate) fn targets(&self, figures: Figures, n_forced: usize) -> Option<Targets> {
        let Figures { fixed, mut context, mut tools, .. } = figures;
        let least_history = self.of_part(Part::History).min.unwrap_or(0);
        let history = self.of_part(Part::History).max.unwrap_or(u64::MAX).min(figures.history);
        let sum = [fixed, history, context, tools].into_iter().fold(0, u64::saturating_add);
        let mut excess = sum.saturating_sub(self.limit);
        let step = (self.limit / FIXED_PART).max(1);
        let reserved = fixed.div_ceil(step).saturating_mul(step).saturating_add(least_history);
        let mut targets = Targets { n_forced, ..Targets::default() };
        let (mut n_left, mut is_history_least) = (n_forced, false);
        for &part in &self.order {
            let (whole, other) = match part {
                Part::Context => (context, tools),
                Part::Tools => (tools, context),
                Part::History | Part::System => {
                    excess = excess.saturating_sub(history.saturating_sub(least_history));
                    is_history_least = true;
                    continue;
                }
            };
            let least = self.least(part, whole);
            let gain = whole - least;
            if gain == 0 || (excess == 0 && n_left == 0) {
                continue;
            }
            let is_last = n_left == 0 && excess <= gain && is_history_least;
            let room = self.limit.saturating_sub(reserved).saturating_sub(other);
            let target = if is_last { room.max(least) } else { least };
            n_left = n_left.saturating_sub(1);
            excess = excess.saturating_sub(gain);
            match part {
                Part::Context => (targets.context, context) = (Some(target), target),
                Part::Tools => (targets.tools, tools) = (Some(target), target),
                Part::History | Part::System => {}
            }
        }
        (excess == 0).then_some(targets)
    }

    /// How many of the context and the tools can give way.
    pub(crate) fn n_giving(&self, figures: Figures) -> usize {
        let parts = [(Part::Context, figures.context), (Part::Tools, figures.tools)];
        parts.into_iter().filter(|&(part, whole)| self.least(part, whole) < whole).count()
    }

    /// How far a part that takes so much may give way.
    fn least(&self, part: Part, whole: u64) -> u64 {
        self.of_part(part).min.unwrap_or(whole).min(whole)
    }
}
