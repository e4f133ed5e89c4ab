//! **Sees** any draft.
//! **Guarantees** that every message says something and is for this agent.
//! **Reports** what was dropped.

use interleaf_model::{Message, Origin, Role};

use crate::draft::Draft;
use crate::finding::Findings;
use crate::{Agent, Cause, Change, Error, Input};

pub(super) fn run(
    input: &Input<'_>,
    mut draft: Draft,
    findings: &mut Findings,
) -> Result<Draft, Error> {
    draft.entries.retain(|entry| {
        let cause = unheard(input, &entry.message);
        if let Some(cause) = cause {
            findings.add(Change::Dropped, &entry.message.id, cause);
        }
        cause.is_none()
    });
    Ok(draft)
}

/// Why a message is not for the model, if it is not.
pub(super) fn unheard(input: &Input<'_>, message: &Message) -> Option<Cause> {
    foreign(&input.settings.agent, &message.origin)
        .or_else(|| is_silent(message).then_some(Cause::Blank))
}

fn foreign(agent: &Agent, origin: &Origin) -> Option<Cause> {
    match (origin, agent) {
        (Origin::Main, _) => None,
        (Origin::Internal, _) => Some(Cause::Internal),
        (Origin::SubAgent(name), Agent::Sub(own)) if name == own => None,
        (Origin::SubAgent(_), _) => Some(Cause::OtherAgent),
    }
}

/// A tool result may be empty: that it came says enough.
fn is_silent(message: &Message) -> bool {
    message.role() != Role::Tool && message.is_blank()
}
