//! The tools in less room: descriptions abridged, then tools left out that nobody has called.
//!
//! What is left out is the end of the list, and never a tool that was called. The model can
//! call only what it is shown: so the list stays as it is from one request to the next.

use std::sync::Arc;

use hashbrown::HashSet;
use interleaf_model::{MessageId, Tool, ToolName};

use crate::finding::Findings;
use crate::tokens::Counting;
use crate::{Cause, FindingKind};

/// How long a description may be, in bytes: the first of these that is enough.
const LONGEST: [usize; 5] = [1_000, 500, 250, 120, 60];

/// How the id of a finding about a tool begins.
pub(super) const ID: &str = "tool:";

/// The tools that are shown.
pub(super) struct Fitted {
    pub(super) tools: Arc<[Tool]>,
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
    all: &[Tool],
    limit: u64,
    counting: &Counting<'_>,
    stays: impl FnOnce() -> HashSet<ToolName>,
) -> Fitted {
    let counted = |tools: &[Tool]| tools.iter().map(|tool| counting.tool(tool)).collect();
    let fits = |costs: &[u64]| counting.at_rate(costs.iter().sum()) <= limit;
    let mut tools: Vec<Tool> = all.to_vec();
    let mut costs: Vec<u64> = counted(&tools);
    for bytes in LONGEST {
        if fits(&costs) {
            break;
        }
        let (longer, more) = (tools, costs);
        tools = all.iter().map(|t| t.abridged(bytes).unwrap_or_else(|| t.clone())).collect();
        costs = counted(&tools);
        // The first ones keep what there is room for.
        let n_first = if fits(&costs) { longer.len() } else { 0 };
        for (at, longer) in longer.into_iter().enumerate().take(n_first) {
            let less = std::mem::replace(&mut costs[at], more[at]);
            if !fits(&costs) {
                costs[at] = less;
                break;
            }
            tools[at] = longer;
        }
    }
    let mut left_out = Vec::new();
    if !fits(&costs) {
        let stays = stays();
        for at in (0..tools.len()).rev() {
            if fits(&costs) || tools.len() == 1 {
                break;
            }
            if !stays.contains(&tools[at].name) {
                left_out.push(tools.remove(at).name);
                costs.remove(at);
            }
        }
    }
    let of = |name: &ToolName| all.iter().find(|tool| tool.name == *name);
    let abridged = tools.iter().filter(|tool| of(&tool.name) != Some(*tool));
    let abridged = abridged.map(|tool| tool.name.clone()).collect();
    Fitted { tools: tools.into(), abridged, left_out }
}
