//! A made-up session, to be played.

use std::sync::Arc;

use interleaf::assemble::ContextText;
use interleaf::model::ContextKind;
use interleaf::replay::{Script, Turn};
use interleaf_samples::working_session::{Course, Step, working_session};

/// The session of a course.
pub(crate) fn script(course: Course) -> Script {
    let kinds = [ContextKind::Role, ContextKind::Todo, ContextKind::Info, ContextKind::Notes];
    let turn = |step: Step| {
        let texts = kinds.iter().zip(step.context);
        let context = texts.map(|(kind, text)| ContextText::new(kind.clone(), text)).collect();
        Turn::new(step.said.into_iter().map(Arc::new).collect(), context)
    };
    let mut script = Script::of(working_session(course).into_iter().map(turn));
    script.system = vec!["You mend programs with care. ".repeat(250).into()];
    script
}
