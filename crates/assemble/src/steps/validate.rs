//! **Sees** the finished draft.
//! **Guarantees** that what leaves is a prompt, which keeps every law and what the
//! target requires.
//! **Reports** nothing: a violation is an error.

use interleaf_model::{Prompt, Violation};

use crate::draft::Draft;
use crate::order::Order;

pub(super) fn run(order: &Order<'_>, draft: &mut Draft) -> Result<Prompt, Violation> {
    let (entries, tools) = (std::mem::take(&mut draft.entries), order.recipe.tools.clone());
    match draft.prior.as_ref().and_then(|prior| prior.shown()) {
        Some(settled) => Prompt::check_continued(settled, order.requires, entries, tools),
        None => Prompt::check_for(order.requires, entries, tools),
    }
}
