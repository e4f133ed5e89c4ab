//! Fields that another vendor attached: they go back to their owner only, and whoever
//! sends a message elsewhere is told.

use interleaf_model::{ENGINE, Entry, Extra, Message, PartRef};
use serde_json::Value;

use crate::Family;
use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::raw::nearest;

/// Reports the fields of these messages that `family` does not take.
pub(super) fn report<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    family: Family,
    adjustments: &mut Adjustments,
) {
    for entry in entries {
        let message = &entry.message;
        let parts = message.parts().filter_map(|part| match part {
            PartRef::Text(text) => Some(&text.extra),
            PartRef::Thinking(thinking) => Some(&thinking.extra),
            PartRef::Call(call) => Some(&call.extra),
            PartRef::Image(image) => Some(&image.extra),
            PartRef::File(file) => Some(&file.extra),
            PartRef::Opaque(_) => None,
        });
        for extra in std::iter::once(&message.extra).chain(parts) {
            report_one(extra, message, family, adjustments);
        }
    }
}

fn report_one(extra: &Extra, message: &Message, family: Family, adjustments: &mut Adjustments) {
    for (owner, fields) in extra.iter().filter(|(owner, _)| !takes(family, owner.as_str())) {
        let names: Vec<String> = match nearest(fields) {
            Value::Object(fields) => fields.into_iter().map(|(name, _)| name).collect(),
            _ => Vec::new(),
        };
        let detail = format!("{owner}'s {}", names.join(", "));
        adjustments.add(AdjustmentKind::FieldsDropped, &message.id, detail);
    }
}

/// What the engine keeps for itself is no one's loss.
fn takes(family: Family, owner: &str) -> bool {
    owner == ENGINE || owner == family.owner() || family.codec().kin.contains(&owner)
}
