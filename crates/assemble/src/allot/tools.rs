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
    /// The bytes of a description that stay.
    longest: usize,
    left_out: Vec<ToolName>,
}

impl Fitted {
    pub(super) fn tell(&self, findings: &mut Findings, cause: Cause) {
        let id = |name: &ToolName| MessageId::new(format!("{ID}{name}"));
        for name in &self.abridged {
            let detail = format!("descriptions of at most {} bytes", self.longest);
            findings.add_with(FindingKind::Altered, &id(name), cause, detail);
        }
        for name in &self.left_out {
            findings.add(FindingKind::Dropped, &id(name), cause);
        }
    }
}

/// The tools in at most so many tokens, or as near as they can come.
pub(super) fn fitted(
    all: &[Tool],
    limit: u64,
    counting: &Counting<'_>,
    stays: impl FnOnce() -> HashSet<ToolName>,
) -> Fitted {
    let mut tools: Vec<Tool> = all.to_vec();
    let mut longest = 0;
    let mut costs: Vec<u64> = Vec::new();
    let fits = |costs: &[u64]| counting.at_rate(costs.iter().sum()) <= limit;
    for bytes in LONGEST {
        longest = bytes;
        tools = all.iter().map(|t| t.abridged(bytes).unwrap_or_else(|| t.clone())).collect();
        costs = tools.iter().map(|tool| counting.tool(tool)).collect();
        if fits(&costs) {
            break;
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
    Fitted { tools: tools.into(), abridged, longest, left_out }
}
