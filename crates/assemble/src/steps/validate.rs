//! **Sees** the finished draft.
//! **Guarantees** that what leaves is a prompt, which keeps every law and what the
//! target requires.
//! **Reports** nothing: a violation is an error.

use interleaf_model::{Prompt, Violation};

use crate::brief::Brief;
use crate::draft::Draft;

pub(super) fn run(brief: &Brief<'_>, draft: &mut Draft) -> Result<Prompt, Violation> {
    let (entries, tools) = (std::mem::take(&mut draft.entries), brief.allotted.tools.clone());
    match draft.prior.as_ref().and_then(|prior| prior.shown()) {
        Some(settled) => Prompt::check_continued(settled, brief.requires, entries, tools),
        None => Prompt::check_for(brief.requires, entries, tools),
    }
}
