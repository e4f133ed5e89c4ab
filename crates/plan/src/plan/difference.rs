//! What tells two plans apart.

use super::{Plan, PlanStep};
use crate::{Error, ErrorKind};

impl Plan {
    /// The first thing in which this plan is another one than `before`, with its place: what
    /// was asked and run for the one is not for the other. Tools may have changed.
    ///
    /// # Errors
    /// If there is such a thing.
    pub fn goes_on_from(&self, before: &Self) -> Result<(), Error> {
        let changed =
            |place: String, rule: String| Err(Error::new(ErrorKind::Changed, place, rule));
        if self.objective() != before.objective() {
            return changed("objective".to_owned(), "it is another one than before".to_owned());
        }
        for (at, step) in self.steps().iter().enumerate() {
            let Some(own) = before.steps().get(at) else {
                let rule = format!("step {} was not there before", step.id);
                return changed(format!("steps[{at}]"), rule);
            };
            if let Some((field, was)) = field_changed((self, step), (before, own)) {
                let place = format!("steps[{at}].{field}");
                return changed(place, format!("step {} has changed: it was {was}", step.id));
            }
        }
        match before.steps().get(self.steps().len()) {
            Some(gone) => changed("steps".to_owned(), format!("step {} is gone", gone.id)),
            None => Ok(()),
        }
    }
}

/// The field in which a step differs, and what that was before.
fn field_changed(
    (plan, step): (&Plan, &PlanStep),
    (before, own): (&Plan, &PlanStep),
) -> Option<(&'static str, String)> {
    let needed = |plan: &Plan, step: &PlanStep| {
        let ids = step.depends_on.iter().map(|&at| plan.steps()[at].id.to_string());
        ids.collect::<Vec<_>>()
    };
    let (needs, needed) = (needed(plan, step), needed(before, own));
    if step.id != own.id {
        return Some(("id", format!("{:?}", own.id.as_str())));
    }
    if step.tool != own.tool {
        return Some(("tool", format!("{:?}", own.tool.as_str())));
    }
    if step.reason != own.reason {
        return Some(("reason", format!("{:?}", own.reason)));
    }
    if needs != needed {
        return Some(("depends_on", format!("{needed:?}")));
    }
    if step.draft != own.draft {
        let draft = own.draft.as_ref().map(serde_json::to_string);
        return Some(("draft", draft.and_then(Result::ok).unwrap_or("none".to_owned())));
    }
    None
}
