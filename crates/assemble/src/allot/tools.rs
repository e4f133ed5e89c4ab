//! The tools in less room: descriptions abridged, then tools left out that nobody has called.
//!
//! What is left out is the end of the list, and never a tool that was called. The model can
//! call only what it is shown: so the list stays as it is from one request to the next.

use std::sync::Arc;

use interleaf_model::{MessageId, Tool, ToolName};

use crate::finding::Findings;
use crate::tokens::{Counting, ToolList};
use crate::{Cause, FindingKind};

/// How long a description may be, in bytes: the first of these that is enough.
const LONGEST: [usize; 5] = [1_000, 500, 250, 120, 60];

/// How the id of a finding about a tool begins.
pub(super) const ID: &str = "tool:";

/// The tools that are shown.
pub(super) struct Fitted {
    pub(super) tools: Arc<[Tool]>,
    /// What they take.
    pub(super) tokens: u64,
    abridged: Vec<ToolName>,
    left_out: Vec<ToolName>,
}

impl Fitted {
    pub(super) fn tell(&self, findings: &mut Findings, cause: Cause) {
        let id = |name: &ToolName| MessageId::new(format!("{ID}{name}"));
        for name in &self.abridged {
            findings.add(FindingKind::Altered, &id(name), cause);
        }
        for name in &self.left_out {
            findings.add(FindingKind::Dropped, &id(name), cause);
        }
    }
}

/// The tools in at most this number of tokens, or as near to it as they can come.
pub(super) fn fitted(
    all: &Arc<ToolList>,
    limit: u64,
    counting: &Counting<'_>,
    stays: impl Fn(&ToolName) -> bool,
) -> Fitted {
    let fits = |sum: u64| counting.at_rate(sum) <= limit;
    let sum_of = |list: &ToolList| list.costs.iter().sum::<u64>();
    let (mut longer, mut list) = (all.clone(), all.clone());
    for bytes in LONGEST {
        if fits(sum_of(&list)) {
            break;
        }
        (longer, list) = (list, all.abridged(bytes, counting.costing()));
    }
    let mut sum = sum_of(&list);
    // The first ones keep what there is room for.
    let mut n_longer = 0;
    while fits(sum) && n_longer < longer.costs.len() {
        let more = sum - list.costs[n_longer] + longer.costs[n_longer];
        if !fits(more) {
            break;
        }
        (sum, n_longer) = (more, n_longer + 1);
    }
    let mut shown: Vec<usize> = (0..list.costs.len()).collect();
    let mut left_out = Vec::new();
    for at in (0..list.costs.len()).rev() {
        if fits(sum) || shown.len() == 1 {
            break;
        }
        if !stays(&list.tools[at].name) {
            shown.remove(at);
            sum -= list.costs[at];
            left_out.push(list.tools[at].name.clone());
        }
    }
    let shown_as = |&at: &usize| if at < n_longer { &longer.tools[at] } else { &list.tools[at] };
    let abridged = shown.iter().filter(|&at| *shown_as(at) != all.tools[*at]);
    Fitted {
        abridged: abridged.map(|&at| all.tools[at].name.clone()).collect(),
        tools: shown.iter().map(|at| shown_as(at).clone()).collect(),
        tokens: counting.at_rate(sum),
        left_out,
    }
}
