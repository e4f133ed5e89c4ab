//! Which thinking goes back, and to whom.

use interleaf_model::{Message, Thinking};

use crate::change::{ChangeKind, Changes};
use crate::encode::TurnPlace;
use crate::{Family, Options};

/// Whether a thought may be sent to a family; reports it if not.
///
/// It goes back to its producer only: the same family, and the same model where
/// both are known. Where the producer is not known the family decides by what the
/// thought has (a signature, say), and Bedrock takes a thought that is known to be
/// Anthropic's but not to be another model's. Thinking behind a changed prefix does
/// not go back at all.
pub(crate) fn goes_back(
    thinking: &Thinking,
    message: &Message,
    index: usize,
    family: Family,
    options: &Options,
    place: TurnPlace,
    changes: &mut Changes,
) -> bool {
    let refused = if place.unbound_from.is_some_and(|from| index >= from) {
        Some("it was made behind another prefix")
    } else {
        foreign(thinking, family, &options.model)
    };
    if let Some(reason) = refused {
        changes.add(ChangeKind::ThinkingDropped, &message.id, reason);
    }
    refused.is_none()
}

fn foreign(thinking: &Thinking, family: Family, model: &str) -> Option<&'static str> {
    let producer = thinking.producer.as_ref()?;
    let same_vendor = match (family, producer.vendor.as_str()) {
        (Family::OpenaiResponses, "openai") => true,
        (Family::Bedrock, "anthropic") => producer.model.is_none(),
        (family, vendor) => vendor == family.owner(),
    };
    let same_model = match &producer.model {
        Some(made_by) => model.is_empty() || made_by.as_str() == model,
        None => true,
    };
    if !same_vendor {
        Some("another vendor's model made it")
    } else if !same_model {
        Some("another model made it")
    } else {
        None
    }
}
