//! What strict tools and strict formats may not have, by the rules of this family.

use super::lint::{Report, rules};
use crate::strict_schema::{Refused, faults};
use crate::tree::Value;

/// Whether a schema may be sent as strict.
pub(super) fn takes(schema: &Value) -> bool {
    faults(schema).is_empty()
}

pub(super) fn check(schema: &Value, place: &str, report: &mut Report<'_>) {
    for fault in faults(schema) {
        let rule = match fault.refused {
            Refused::Root => &rules::STRICT_ROOT,
            Refused::Keyword => &rules::STRICT_KEYWORDS,
            Refused::Open => &rules::STRICT_CLOSED,
            Refused::Optional => &rules::STRICT_REQUIRED,
            Refused::Size => &rules::STRICT_SIZE,
        };
        report(rule, format!("{place}{}", fault.place), fault.detail);
    }
}
