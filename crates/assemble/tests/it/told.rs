//! What the report says is gone is what is gone: each step is held against the messages
//! before and after it.

mod users;

use std::collections::BTreeSet;

use interleaf_assemble::{
    Assembly, Cause, Finding, FindingKind, Outcome, Report, Step, View, assemble_observed,
};
use interleaf_model::{Entry, MessageId, Prompt};
use proptest::prelude::*;

use crate::case::{Case, tight_case};
use crate::scene::words;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn each_step_tells_exactly_what_it_dropped(case in tight_case()) {
        if let Some((steps, report, _)) = observed(&case) {
            for (step, before, after) in steps {
                check_step(step, &before, &after, &report);
            }
        }
    }

    #[test]
    fn no_user_message_is_gone_unless_a_run_that_reaches_over_it_counts_it(case in tight_case()) {
        if let Some((_, report, prompt)) = observed(&case) {
            let view = View::of(case.view.iter().cloned());
            users::check(&view, &prompt, &report);
        }
    }
}

/// The ids before and after each step, the report and the prompt.
type Observed = (Vec<(Step, Vec<MessageId>, Vec<MessageId>)>, Report, Prompt);

fn observed(case: &Case) -> Option<Observed> {
    let scene = case.input(&words());
    let mut steps = Vec::new();
    let mut before: Vec<MessageId> = scene.view.messages.iter().map(|m| m.id.clone()).collect();
    let observe = |step, entries: &[Entry]| {
        let after: Vec<MessageId> = entries.iter().map(|e| e.message.id.clone()).collect();
        steps.push((step, std::mem::replace(&mut before, after.clone()), after));
    };
    let made = assemble_observed(&scene.view, &scene.recipe, scene.requires, None, observe);
    match made {
        Ok(Assembly { outcome: Outcome::Ready(prompt), report }) => Some((steps, report, prompt)),
        _ => None,
    }
}

/// The findings of a step, end to end, are the messages that it dropped, in order.
fn check_step(step: Step, before: &[MessageId], after: &[MessageId], report: &Report) {
    let kept: BTreeSet<&MessageId> = after.iter().collect();
    let mut gone: Vec<&MessageId> = before.iter().filter(|id| !kept.contains(id)).collect();
    let findings = report.findings().filter(|(at, _)| *at == step).map(|(_, finding)| finding);
    // A message whose calls stand in the message before it has no place of its own.
    let is_gone = |finding: &&Finding| {
        finding.kind == FindingKind::Dropped || finding.cause == Cause::ParallelCalls
    };
    let mut told: Vec<&Finding> = findings.filter(is_gone).collect();
    match step {
        // A result that goes with its call is told of with that call.
        Step::Repair => {
            gone.sort();
            told.sort_by_key(|finding| &finding.message);
            let named: BTreeSet<&MessageId> = told.iter().flat_map(|f| f.messages()).collect();
            let n_told: usize = told.iter().map(|finding| finding.count).sum();
            assert_eq!(n_told, gone.len(), "{step}: {told:?} for {gone:?}");
            assert!(named.iter().all(|id| gone.contains(id)), "{step}: {told:?} for {gone:?}");
        }
        // Prompts and system messages are joined into one; nothing of them is gone.
        Step::System => assert!(told.is_empty()),
        Step::Compress | Step::Filter | Step::Place | Step::Fit | Step::Validate => {
            for finding in told {
                assert!(finding.count <= gone.len(), "{step}: {finding:?} for {gone:?}");
                let run: Vec<&MessageId> = gone.drain(..finding.count).collect();
                let named: Vec<&MessageId> = finding.messages().collect();
                if named.len() == run.len() {
                    assert_eq!(named, run, "{step}");
                } else {
                    assert_eq!(named, [run[0], run[run.len() - 1]], "{step}");
                }
            }
            assert!(gone.is_empty(), "{step} says nothing of {gone:?}");
        }
    }
}
