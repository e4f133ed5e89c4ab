//! Fields that are not sent, of which whoever sends the messages is told: those that another
//! vendor attached, which go back to their owner only, and cache marks that give way to ours.

use super::Context;
use crate::Family;
use crate::adjustment::AdjustmentKind;
use crate::raw::{Fields, nearest};
use crate::tree::Value;
use interleaf_model::{ENGINE, Entry, Extra, Json, Message, PartRef};

/// What is said of a mark that is not sent.
pub(crate) const GIVES_WAY: &str = "gives way to the cache marks that are set anew";

/// Reports the fields of these messages that are not sent.
pub(super) fn report<'a>(entries: impl Iterator<Item = &'a Entry>, cx: &mut Context<'_>) {
    for entry in entries {
        let message = &entry.message;
        let parts = message.parts().filter_map(|part| match part {
            PartRef::Text(text) => Some(&text.extra),
            PartRef::Thinking(thinking) => Some(&thinking.extra),
            PartRef::Call(call) => Some(&call.extra),
            PartRef::Image(image) => Some(&image.extra),
            PartRef::File(file) => Some(&file.extra),
            PartRef::Opaque(opaque) => {
                let is_own = opaque.owner.as_str() == cx.vendor.family.owner();
                if is_own && gives_way(cx, &opaque.value) {
                    report_mark(cx, message);
                }
                None
            }
        });
        let parts: Vec<&Extra> = parts.collect();
        for extra in std::iter::once(&message.extra).chain(parts) {
            report_one(extra, message, cx);
        }
    }
}

fn report_one(extra: &Extra, message: &Message, cx: &mut Context<'_>) {
    let family = cx.vendor.family;
    if extra.get(family.owner()).is_some_and(|own| gives_way(cx, own)) {
        report_mark(cx, message);
    }
    for (owner, fields) in extra.iter().filter(|(owner, _)| !takes(family, owner.as_str())) {
        let codec = family.codec();
        let is_kin = codec.kin.contains(&owner.as_str());
        let mut names: Vec<String> = match nearest(fields) {
            Value::Object(fields) => fields.keys().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        names.retain(|name| !is_kin || !codec.kin_fields.contains(&name.as_str()));
        if names.is_empty() {
            continue;
        }
        let detail = format!("{owner}'s {}", names.join(", "));
        cx.adjustments.add(AdjustmentKind::FieldsDropped, &message.id, detail);
    }
}

fn report_mark(cx: &mut Context<'_>, message: &Message) {
    let mark = cx.vendor.family.cache_mark().unwrap_or_default();
    let detail = format!("{mark} {GIVES_WAY}");
    cx.adjustments.add(AdjustmentKind::FieldsDropped, &message.id, detail);
}

/// Whether an object of the API's own has a cache mark where we set ours.
pub(crate) fn gives_way(cx: &Context<'_>, own: &Json) -> bool {
    let Some(mark) = cx.vendor.family.cache_mark() else { return false };
    cx.sets_marks
        && own.as_str().contains(mark)
        && Fields::read(own.as_raw()).is_ok_and(|fields| fields.peek(mark).is_some())
}

/// What the engine keeps for itself is no one's loss.
fn takes(family: Family, owner: &str) -> bool {
    owner == ENGINE || owner == family.owner()
}
