//! **Sees** the finished draft.
//! **Guarantees** that what leaves is a prompt, which keeps every law.
//! **Reports** nothing: a violation is an error.

use interleaf_model::{Prompt, Violation};

use crate::Input;
use crate::draft::Draft;

pub(super) fn run(input: &Input<'_>, draft: Draft) -> Result<Prompt, Violation> {
    Prompt::check(draft.entries, input.tools.clone())
}
