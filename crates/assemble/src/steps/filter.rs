//! **Sees** any draft.
//! **Guarantees** that every message says something and is for this agent; blank user
//! messages stay only if nothing else would be left and the target takes them.
//! **Reports** what was dropped.

use interleaf_model::{Message, Origin, Role};

use crate::draft::Draft;
use crate::finding::Findings;
use crate::order::Order;
use crate::{Agent, Cause, Error, FindingKind};

pub(crate) fn run(
    order: &Order<'_>,
    draft: &mut Draft,
    findings: &mut Findings,
) -> Result<(), Error> {
    let says =
        |message: &Message| message.role() != Role::System && unheard(order, message).is_none();
    let keeps_blank = !order.requires.no_blank_user
        && draft.prior.is_none()
        && !draft.messages().any(|m| says(m));
    draft.entries.retain(|entry| {
        let message = &entry.message;
        let cause = unheard(order, message).filter(|&cause| {
            !(keeps_blank && cause == Cause::Blank && message.role() == Role::User)
        });
        if let Some(cause) = cause {
            findings.add(FindingKind::Dropped, &message.id, cause);
        }
        cause.is_none()
    });
    Ok(())
}

/// Why a message is not for the model, if it is not.
pub(crate) fn unheard(order: &Order<'_>, message: &Message) -> Option<Cause> {
    let foreign = match (&message.origin, &order.recipe.agent) {
        (Origin::Internal, _) => Some(Cause::Internal),
        (Origin::Main, Agent::Main) => None,
        (Origin::Main, Agent::Sub(_)) => order.has_own.then_some(Cause::OtherAgent),
        (Origin::SubAgent(name), Agent::Sub(own)) if name == own => None,
        (Origin::SubAgent(_), _) => Some(Cause::OtherAgent),
    };
    foreign.or_else(|| is_silent(message).then_some(Cause::Blank))
}

/// A tool result may be empty: that it came says enough.
fn is_silent(message: &Message) -> bool {
    message.role() != Role::Tool && message.is_blank()
}
