//! **Sees** the finished draft.
//! **Guarantees** that what leaves is a prompt, which keeps every law and what the
//! target requires.
//! **Reports** nothing: a violation is an error.

use interleaf_model::{Prompt, Violation};

use crate::draft::Draft;
use crate::order::Order;

pub(super) fn run(order: &Order<'_>, draft: Draft) -> Result<Prompt, Violation> {
    Prompt::check_for(order.requires, draft.entries, order.recipe.tools.clone())
}
