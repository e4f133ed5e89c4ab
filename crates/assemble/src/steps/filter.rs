//! **Sees** any draft.
//! **Guarantees** that every message says something and is for this agent; blank user
//! messages stay only if nothing else would be left and the target takes them.
//! **Reports** what was dropped, and which texts had a line that looked like ours.

use interleaf_model::{Message, Origin, Provenance, Role};

use crate::brief::Brief;
use crate::draft::Draft;
use crate::finding::Findings;
use crate::{Agent, Cause, Error, FindingKind};

pub(crate) fn run(
    brief: &Brief<'_>,
    draft: &mut Draft,
    findings: &mut Findings,
) -> Result<(), Error> {
    let agent = &brief.recipe.agent;
    let says =
        |message: &Message| message.role() != Role::System && unheard(agent, message).is_none();
    let keeps_blank = !brief.requires.no_blank_user
        && draft.prior.is_none()
        && !draft.messages().any(|m| says(m));
    draft.entries.retain(|entry| {
        let message = &entry.message;
        let cause = unheard(agent, message).filter(|&cause| {
            !(keeps_blank && cause == Cause::Blank && message.role() == Role::User)
        });
        match cause {
            Some(cause) => findings.add(FindingKind::Dropped, &message.id, cause),
            None if entry.provenance == Provenance::Altered => {
                findings.add(FindingKind::Altered, &message.id, Cause::LookAlike);
            }
            None => {}
        }
        cause.is_none()
    });
    Ok(())
}

/// Why a message is not for the model, if it is not.
pub(crate) fn unheard(agent: &Agent, message: &Message) -> Option<Cause> {
    match &message.origin {
        _ if agent.hears(message) => is_silent(message).then_some(Cause::Blank),
        Origin::Internal => Some(Cause::Internal),
        Origin::Main | Origin::SubAgent(_) => Some(Cause::OtherAgent),
    }
}

/// Whether a message is a word of a user's that the model is shown.
pub(crate) fn speaks(agent: &Agent, message: &Message) -> bool {
    message.role() == Role::User && unheard(agent, message).is_none()
}

/// A tool result may be empty: that it came says enough.
fn is_silent(message: &Message) -> bool {
    message.role() != Role::Tool && message.is_blank()
}
