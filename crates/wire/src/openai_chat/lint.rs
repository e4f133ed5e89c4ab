//! What can be seen in a chat body that its vendor will refuse.

mod facts;
mod messages;
mod order;
mod pairing;
mod parts;
mod rules;
mod settings;
mod tools;

use crate::lint::{self, Faults, Rule};
use crate::strict_schema::{self, Refused};
use crate::tree::Value;
use crate::{Family, Vendor, misplaced};

pub(super) use self::facts::Facts;
pub(super) use self::rules::RULES;
pub(super) use self::settings::setting_fault;
pub(super) use self::tools::{check_count, hosted_tool, most_tools};

/// A rule that is broken, and where below the value that was looked at.
pub(super) struct Found {
    pub(super) rule: &'static Rule,
    /// A JSON pointer; empty for the value itself.
    pub(super) path: String,
    pub(super) detail: String,
}

impl Found {
    fn new(rule: &'static Rule, path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { rule, path: path.into(), detail: detail.into() }
    }

    /// What is wrong with a strict schema that stands here.
    fn strict(at: &str, fault: strict_schema::Fault) -> Self {
        let rule = match fault.refused {
            Refused::Open => &rules::STRICT_CLOSED,
            Refused::Optional => &rules::STRICT_REQUIRED,
            Refused::Root | Refused::Keyword | Refused::Size => &rules::STRICT,
        };
        Self::new(rule, format!("{at}{}", fault.place), fault.detail)
    }
}

/// Finds what a vendor will refuse.
pub(crate) fn check(body: &Value, vendor: &Vendor, faults: &mut Faults) {
    let Value::Object(fields) = body else {
        faults.add(&rules::BODY, "", "must be an object");
        return;
    };
    if let Some((place, detail)) = lint::model_fault(body, vendor) {
        faults.add(&rules::MODEL, place, detail);
    }
    let facts = Facts::read(body, vendor);
    match fields.get("messages") {
        Some(Value::Array(list)) if !list.is_empty() => {
            messages::check(list, &facts, faults);
            pairing::check(list, faults);
            order::check(list, &facts, faults);
        }
        Some(Value::Array(_)) => faults.add(&rules::MESSAGES, "/messages", "empty"),
        Some(_) => faults.add(&rules::MESSAGES, "/messages", "must be a list"),
        None => faults.add(&rules::MESSAGES, "", "`messages` is missing"),
    }
    misplaced::check(Family::OpenaiChat, body, &rules::OTHER_FORM, faults);
    tools::check(fields, &facts, faults);
    for (name, value) in fields {
        if let Some(found) = setting_fault(name, value, &facts) {
            faults.add(found.rule, format!("/{name}{}", found.path), found.detail);
        }
    }
    settings::check_together(fields, &facts, faults);
}
