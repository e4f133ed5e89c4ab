//! **Sees** the finished draft.
//! **Guarantees** that what leaves is a prompt, which keeps every law.
//! **Reports** nothing: a violation is an error.

use interleaf_model::{Prompt, Violation};

use crate::Input;
use crate::draft::Draft;

pub(super) fn run(input: &Input<'_>, draft: Draft) -> Result<Prompt, Violation> {
    match draft.prior {
        Some(prior) => {
            let settled = prior.settled.clone();
            Prompt::check_continued(settled, draft.entries, input.tools.clone())
        }
        None => Prompt::check(draft.entries, input.tools.clone()),
    }
}
