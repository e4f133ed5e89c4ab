//! Two opinions on every body: the double's, and that of the lint of `interleaf-wire`.
//!
//! Each test draws a few hundred bodies, always the same. `INTERLEAF_AGREEMENT=10000` draws that
//! many, and `-- --nocapture` shows the figures.

mod drawn;
mod mutation;
mod place;
mod unknown;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use interleaf_doubles::{Api, Refusal, verdict};
use interleaf_wire::lint::{Fault, lint};
use interleaf_wire::{Family, Vendor};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::fixtures::{bodies, model};

/// How many bodies of each API are drawn, unless a variable says otherwise.
const FEW: usize = 100;

fn family(api: Api) -> Family {
    Family::ALL.into_iter().find(|family| family.as_str() == api.as_str()).unwrap()
}

/// What the two say of a body.
pub(crate) struct Opinions {
    ours: Vec<Fault>,
    theirs: Option<Refusal>,
}

/// How the two opinions go together.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    BothTake,
    BothRefuse,
    /// Both refuse, and name places that have nothing to do with each other.
    Elsewhere(String),
    /// One of them refuses, and nobody can know who is right.
    Unknown(&'static str),
    Differ(String),
}

impl Opinions {
    pub(crate) fn on(api: Api, body: &Value) -> Self {
        let ours = lint(Vendor::of(family(api)), &body.to_string()).unwrap();
        Self { ours, theirs: verdict(api, &model(body), body).err() }
    }

    pub(crate) fn outcome(&self, body: &Value) -> Outcome {
        match (self.ours.first(), &self.theirs) {
            (None, None) => Outcome::BothTake,
            (Some(_), Some(refusal)) => self.both(refusal, body),
            (None, Some(refusal)) => match unknown::excuses_double(refusal) {
                Some(why) => Outcome::Unknown(why),
                None => Outcome::Differ(format!("double: {}: {}", refusal.rule, refusal.message)),
            },
            (Some(fault), None) => match unknown::excuses_lint(&self.ours) {
                Some(why) => Outcome::Unknown(why),
                None => Outcome::Differ(format!("lint: {}", said(fault))),
            },
        }
    }

    fn both(&self, refusal: &Refusal, body: &Value) -> Outcome {
        let Some(at) = place::named(refusal, body) else { return Outcome::BothRefuse };
        let meets = |fault: &Fault| {
            // That JSON is asked for and not spoken of is wrong in two places.
            place::meet(&fault.pointer, &at) || fault.rule.id.ends_with("/json-word")
        };
        if self.ours.iter().any(meets) || unknown::excuses_double(refusal).is_some() {
            return Outcome::BothRefuse;
        }
        let faults: Vec<String> = self.ours.iter().map(said).collect();
        let (rule, message) = (refusal.rule, &refusal.message);
        Outcome::Elsewhere(format!("double: {at}: {rule}: {message}, lint: {}", faults.join("; ")))
    }
}

fn said(fault: &Fault) -> String {
    format!("{} at {:?} {}", fault.rule.id, fault.pointer, fault.detail)
}

/// Draws bodies, and shows how the two opinions on them went together.
fn compare(api: Api, bodies: impl Strategy<Value = Value>) -> BTreeMap<Outcome, usize> {
    let n = std::env::var("INTERLEAF_AGREEMENT").map_or(FEW, |n| n.parse().unwrap());
    let mut runner = TestRunner::deterministic();
    let mut n_of: BTreeMap<Outcome, usize> = BTreeMap::new();
    let mut failed = String::new();
    for _ in 0..n {
        let body = bodies.new_tree(&mut runner).unwrap().current();
        let outcome = Opinions::on(api, &body).outcome(&body);
        if let Outcome::Differ(said) | Outcome::Elsewhere(said) = &outcome {
            writeln!(failed, "{said}\n  {body}").unwrap();
        }
        *n_of.entry(outcome).or_default() += 1;
    }
    println!("{api}: of {n} bodies");
    n_of.iter().for_each(|(outcome, n)| println!("  {n:6} {outcome:?}"));
    assert!(failed.is_empty(), "{failed}");
    n_of
}

/// A good body, of ours or of the fixtures, that was changed in one or two places.
fn changed(api: Api) -> impl Strategy<Value = Value> {
    let good = bodies(api).into_iter().filter(|(name, _)| name.ends_with(".good"));
    let good: Vec<Value> = good.map(|(_, body)| body).collect();
    let start = prop_oneof![drawn::body(api).boxed(), select(good).boxed()];
    (start, proptest::collection::vec(mutation::mutation(api), 1..3)).prop_map(
        move |(mut body, mutations)| {
            mutations.iter().for_each(|mutation| mutation.apply(api, &mut body));
            body
        },
    )
}

/// Both laws for an API.
macro_rules! agree_on {
    ($($name:ident $api:ident)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn what_we_write_is_taken_by_both() {
                let n_of = compare(Api::$api, drawn::body(Api::$api));
                assert_eq!(n_of.into_keys().collect::<Vec<_>>(), [Outcome::BothTake]);
            }

            #[test]
            fn a_body_that_was_changed_is_taken_by_both_or_refused_by_both_for_the_same_place() {
                let n_of = compare(Api::$api, changed(Api::$api));
                // A change that breaks nothing, or one that breaks all, would show nothing.
                assert!(n_of.contains_key(&Outcome::BothTake), "{n_of:?}");
                assert!(n_of.contains_key(&Outcome::BothRefuse), "{n_of:?}");
            }
        }
    )*};
}

agree_on! {
    openai_chat OpenAiChat
    openai_responses OpenAiResponses
    anthropic Anthropic
    gemini Gemini
    bedrock Bedrock
}
