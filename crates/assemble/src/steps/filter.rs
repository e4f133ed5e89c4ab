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
    let speaks_for_itself = has_own(input);
    draft.entries.retain(|entry| {
        let cause = unheard(input, speaks_for_itself, &entry.message);
        if let Some(cause) = cause {
            findings.add(Change::Dropped, &entry.message.id, cause);
        }
        cause.is_none()
    });
    Ok(draft)
}

/// Whether the view tells a sub-agent's messages from the main agent's. Where it
/// does not, the whole view is the sub-agent's own conversation.
pub(super) fn has_own(input: &Input<'_>) -> bool {
    let Agent::Sub(own) = &input.settings.agent else { return false };
    input
        .view
        .iter()
        .any(|message| matches!(&message.origin, Origin::SubAgent(name) if name == own))
}

/// Whose the messages are that the steps make: the agent's whose request it is.
pub(crate) fn own_origin(input: &Input<'_>) -> Origin {
    match &input.settings.agent {
        Agent::Sub(name) if has_own(input) => Origin::SubAgent(name.clone()),
        Agent::Main | Agent::Sub(_) => Origin::Main,
    }
}

/// Why a message is not for the model, if it is not.
pub(super) fn unheard(input: &Input<'_>, has_own: bool, message: &Message) -> Option<Cause> {
    let foreign = match (&message.origin, &input.settings.agent) {
        (Origin::Internal, _) => Some(Cause::Internal),
        (Origin::Main, Agent::Main) => None,
        (Origin::Main, Agent::Sub(_)) => has_own.then_some(Cause::OtherAgent),
        (Origin::SubAgent(name), Agent::Sub(own)) if name == own => None,
        (Origin::SubAgent(_), _) => Some(Cause::OtherAgent),
    };
    foreign.or_else(|| is_silent(message).then_some(Cause::Blank))
}

/// A tool result may be empty: that it came says enough.
fn is_silent(message: &Message) -> bool {
    message.role() != Role::Tool && message.is_blank()
}
