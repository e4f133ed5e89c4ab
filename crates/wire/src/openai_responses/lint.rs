//! What can be seen in a body that the API will refuse.

mod messages;
mod pairing;
mod parts;
pub(super) mod rules;
mod settings;
mod tools;

use crate::lint::{Faults, Rule};
use crate::tree::Value;
use crate::{Family, Vendor, misplaced};

pub(super) use self::messages::is_sealed;
pub(super) use self::parts::is_address;
pub(super) use self::rules::RULES;

/// Where a check puts what it found: the rule, the place, particulars.
pub(super) type Report<'r> = dyn FnMut(&'static Rule, String, String) + 'r;

pub(crate) fn check(body: &Value, vendor: &Vendor, faults: &mut Faults) {
    let mut report =
        |rule: &'static Rule, place: String, detail: String| faults.add(rule, place, detail);
    let Value::Object(_) = body else {
        return report(&rules::BODY, String::new(), String::new());
    };
    settings::check(body, vendor, &mut report);
    if let Some(Value::Array(input)) = body.get("input") {
        for (i, item) in input.iter().enumerate() {
            messages::check(item, &format!("/input/{i}"), &mut report);
        }
        pairing::check(body, input, &mut report);
    }
    tools::check(body, &mut report);
    misplaced::check(Family::OpenaiResponses, body, &rules::OTHER_FORM, faults);
}

/// Whether an item of the vendor's own can be sent at all.
pub(super) fn takes_item(item: &Value) -> bool {
    let mut is_legal = !misplaced::is_foreign(Family::OpenaiResponses, item);
    messages::check(item, "", &mut |_, _, _| is_legal = false);
    is_legal
}

/// Whether a content part of the vendor's own can be sent from this side.
pub(super) fn takes_part(part: &Value, side: Side) -> bool {
    let mut is_legal = true;
    parts::check_part(part, side, "", &mut |_, _, _| is_legal = false);
    is_legal
}

/// Who a content part comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The user, the system, a tool.
    Input,
    /// The model.
    Output,
}

/// A field that is a string.
fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

/// The type of an item; a message may do without.
fn kind(item: &Value) -> &str {
    match text(item, "type") {
        Some(kind) => kind,
        None if item.get("role").is_some() => "message",
        None => "",
    }
}
