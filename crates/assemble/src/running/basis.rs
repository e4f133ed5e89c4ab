//! What settled turns depend on beside the messages.

use std::sync::Arc;

use interleaf_model::Requirements;

use crate::brief::Brief;
use crate::tokens::Rate;
use crate::{
    Agent, Carrier, Ledger, LookAlikes, MissingResult, Summary, SummaryRole, SystemMessages,
};

/// What settled turns depend on beside the messages: if any of it changes, they are
/// made anew.
pub(super) struct Basis {
    agent: Agent,
    requires: Requirements,
    look_alikes: LookAlikes,
    carrier: Carrier,
    system_messages: SystemMessages,
    missing_result: MissingResult,
    summary: Option<Arc<Summary>>,
    summary_role: SummaryRole,
    longest_result: Option<u64>,
    ledger: Option<(Arc<Ledger>, Rate)>,
    edition: u64,
    /// The edition of what was shown of the context, if the rule amends it.
    elements: Option<u64>,
}

impl Basis {
    pub(super) fn of(brief: &Brief<'_>, edition: u64, shown_edition: u64) -> Self {
        let recipe = brief.recipe;
        Self {
            agent: recipe.agent.clone(),
            requires: brief.requires,
            look_alikes: recipe.look_alikes,
            carrier: recipe.carrier,
            system_messages: recipe.system_messages,
            missing_result: recipe.missing_result,
            summary: recipe.summary.clone(),
            summary_role: recipe.summary_role,
            longest_result: recipe.budget.map(|budget| budget.longest_result),
            ledger: recipe.ledger.clone().zip(brief.counting.as_ref().map(|c| c.rate())),
            edition,
            elements: brief.memory.kept.map(|_| shown_edition),
        }
    }
}

impl PartialEq for Basis {
    fn eq(&self, other: &Self) -> bool {
        let same_summary = match (&self.summary, &other.summary) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (a, b) => a.is_none() && b.is_none(),
        };
        let same_ledger = match (&self.ledger, &other.ledger) {
            (Some((a, at)), Some((b, bt))) => Arc::ptr_eq(a, b) && at == bt,
            (a, b) => a.is_none() && b.is_none(),
        };
        same_summary
            && same_ledger
            && self.agent == other.agent
            && self.requires == other.requires
            && self.look_alikes == other.look_alikes
            && self.carrier == other.carrier
            && self.system_messages == other.system_messages
            && self.missing_result == other.missing_result
            && self.summary_role == other.summary_role
            && self.longest_result == other.longest_result
            && self.edition == other.edition
            && self.elements == other.elements
    }
}
