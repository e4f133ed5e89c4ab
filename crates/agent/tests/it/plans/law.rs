//! The law of a plan that runs, for random plans, against a brute-force oracle:
//!
//! - no step begins before all that it depends on is done;
//! - whatever may begin does, whatever else is at work, up to as many as are allowed at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interleaf_agent::{Limits, PlanEnd, PlanEvent, PlanRun};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio::sync::oneshot;

use super::{Step, by_number, done, plan_of, runner, started};
use crate::world::{changing, double, session, transport};

/// Steps that are at work, each with what lets it end.
type Gates = Arc<Mutex<BTreeMap<String, oneshot::Sender<()>>>>;

/// A random plan: for each step, in a random order of the file, what it depends on.
#[derive(Debug, Clone)]
struct Drawn {
    needs: Vec<Vec<usize>>,
    at_once: usize,
    /// Which of those at work ends next.
    ends: Vec<usize>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (1_usize..9).prop_flat_map(|n| {
        let order = Just((0..n).collect::<Vec<usize>>()).prop_shuffle();
        let edges = prop::collection::vec(prop::bool::weighted(0.35), n * n);
        let at_once = prop_oneof![Just(64_usize), 1_usize..4];
        let ends = prop::collection::vec(0_usize..64, n);
        (order, edges, at_once, ends).prop_map(move |(order, edges, at_once, ends)| {
            // A step depends only on what comes before it in the random order.
            let needs = (0..n).map(|a| {
                let before = |b: &usize| {
                    let place = |step: usize| order.iter().position(|own| *own == step);
                    place(*b) < place(a) && edges[a * n + b]
                };
                (0..n).filter(before).collect()
            });
            Drawn { needs: needs.collect(), at_once, ends }
        })
    })
}

/// Waits for events until this many steps are at work.
async fn until(run: &mut PlanRun, n: usize, seen: &mut Seen) {
    while seen.at_work.len() < n {
        let next = tokio::time::timeout(Duration::from_secs(120), run.next()).await;
        let Ok(Some(event)) = next else {
            panic!("{n} steps may be at work, and only {:?} are", seen.at_work);
        };
        seen.take(&event);
    }
}

/// What is known from events.
struct Seen {
    needs: Vec<Vec<usize>>,
    at_work: BTreeSet<usize>,
    done: BTreeSet<usize>,
}

impl Seen {
    fn take(&mut self, event: &PlanEvent) {
        if let Some(step) = started(event) {
            let missing = self.needs[step].iter().find(|needed| !self.done.contains(needed));
            assert_eq!(missing, None, "step {step} began before what it depends on");
            assert!(self.at_work.insert(step), "step {step} began twice");
        }
        if let Some(step) = done(event) {
            assert!(self.at_work.remove(&step));
            self.done.insert(step);
        }
    }

    /// By brute force: how many steps are at work when nothing holds anything up.
    fn expected(&self, at_once: usize) -> usize {
        let may = (0..self.needs.len()).filter(|step| {
            !self.done.contains(step) && self.needs[*step].iter().all(|n| self.done.contains(n))
        });
        may.count().min(at_once)
    }
}

async fn holds(double: &interleaf_doubles::Double, drawn: Drawn) {
    let Drawn { needs, at_once, ends } = drawn;
    let ids: Vec<String> = (1..=needs.len()).map(|n| format!("part {n}")).collect();
    let names: Vec<Vec<&str>> =
        needs.iter().map(|own| own.iter().map(|at| ids[*at].as_str()).collect()).collect();
    let steps: Vec<Step<'_>> =
        ids.iter().zip(&names).map(|(id, names)| (id.as_str(), names.as_slice())).collect();
    let gates = Gates::default();
    let opened = gates.clone();
    let work = changing("work", move |named, _| {
        let (open, opens) = oneshot::channel();
        opened.lock().unwrap().insert(named.name, open);
        async move {
            opens.await?;
            Ok("done".into())
        }
    });
    let mut limits = Limits::default();
    limits.at_once = at_once;
    let runner = runner(plan_of(&steps), double).with_tool(work).with_limits(limits);
    let mut run = runner.start(&transport(), session().await).await.unwrap();
    let mut seen = Seen { needs, at_work: BTreeSet::new(), done: BTreeSet::new() };
    for pick in ends {
        let expected = seen.expected(at_once);
        until(&mut run, expected, &mut seen).await;
        assert_eq!(seen.at_work.len(), expected);
        let step = *seen.at_work.iter().nth(pick % expected).unwrap();
        // The tool begins just after it is told.
        let open = loop {
            if let Some(open) = gates.lock().unwrap().remove(&ids[step]) {
                break open;
            }
            tokio::task::yield_now().await;
        };
        open.send(()).unwrap();
        while !seen.done.contains(&step) {
            seen.take(&run.next().await.unwrap());
        }
    }
    assert_eq!(run.finish().await.unwrap().end, PlanEnd::Completed);
}

#[test]
fn e10_steps_begin_when_all_that_they_depend_on_is_done_and_wait_for_nothing_else() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let double = runtime.block_on(double(by_number));
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    let law = TestRunner::new(config).run(&drawn(), |drawn| {
        runtime.block_on(holds(&double, drawn));
        Ok(())
    });
    law.unwrap();
}
