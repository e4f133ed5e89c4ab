//! No word of a user's is lost without the report saying so.

use std::sync::Arc;

use interleaf_assemble::{Finding, FindingKind, Report, View};
use interleaf_model::{MessageId, Prompt, Role};

/// Each user message is sent, in order, or a finding that says so names it, or it stands
/// between the ends of a run too long to name it; and runs count as many as they leave
/// unnamed.
pub(crate) fn check(view: &View, prompt: &Prompt, report: &Report) {
    let dropped: Vec<&Finding> = report
        .findings()
        .map(|(_, finding)| finding)
        .filter(|finding| finding.kind == FindingKind::Dropped)
        .collect();
    let mut unnamed = 0;
    let mut next = 0;
    for (at, message) in view.messages.iter().enumerate() {
        if message.role() != Role::User {
            continue;
        }
        let rest = &prompt.entries()[next..];
        if let Some(sent) = rest.iter().position(|e| Arc::ptr_eq(&e.message, message)) {
            next += sent + 1;
            continue;
        }
        if dropped.iter().any(|finding| finding.messages().any(|id| *id == message.id)) {
            continue;
        }
        unnamed += 1;
        let is_told = dropped.iter().any(|finding| reaches_over(finding, view, at));
        assert!(is_told, "{} is gone: {dropped:?}", message.id);
    }
    let counted: usize = dropped.iter().map(|f| f.count - f.messages().count()).sum();
    assert!(unnamed <= counted, "{unnamed} are gone, {counted} are counted");
}

/// Whether a run too long to name all its messages has its ends on both sides of a place.
fn reaches_over(finding: &Finding, view: &View, at: usize) -> bool {
    let last = finding.through.as_ref().unwrap_or(&finding.message);
    let ends = place(view, &finding.message).zip(place(view, last));
    finding.count > finding.messages().count()
        && ends.is_some_and(|(first, last)| (first..=last).contains(&at))
}

/// Where a message stands in the view. One that was made stands with the message that it
/// was made for, after which it is named.
fn place(view: &View, id: &MessageId) -> Option<usize> {
    let is_made_for = |message: &MessageId| {
        let rest = id.as_str().strip_prefix(message.as_str());
        rest.is_some_and(|rest| rest.starts_with(':'))
    };
    let mut messages = view.messages.iter();
    let said = messages.clone().position(|message| message.id == *id);
    said.or_else(|| messages.position(|message| is_made_for(&message.id)))
}
