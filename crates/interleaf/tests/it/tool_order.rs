//! Tools stay in the order in which a session first sent them.

use interleaf::assemble::{OpenBlock, Recipe};
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::{Message, Tool};
use interleaf::wire::{Family, Vendor};
use interleaf::{BreakCause, Request, Session};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::json;

use crate::{block_on, memory, target_of};

fn tool(name: &str, says: u8) -> Tool {
    Tool::new(name, format!("It helps {says} times."), json!({"type": "object"}))
}

fn recipe(tools: &[(&str, u8)]) -> Recipe {
    let tools: Vec<Tool> = tools.iter().map(|(name, says)| tool(name, *says)).collect();
    let mut recipe = Recipe::new().with_tools(tools);
    recipe.open_block = OpenBlock::Mend;
    recipe
}

async fn sent(session: &mut Session, recipe: &Recipe, family: Family) -> Request {
    let target = target_of(Vendor::of(family), "a-model");
    session.request(recipe, &target).await.unwrap().request().unwrap()
}

/// The names of the tools, in the order of the body.
fn names(request: &Request) -> Vec<String> {
    let body = String::from_utf8(request.body.to_bytes()).unwrap();
    // Each has a description.
    let mut places: Vec<(usize, &str)> = NAMES
        .iter()
        .filter_map(|name| Some((body.find(&format!("\"name\":\"{name}\""))?, *name)))
        .collect();
    places.sort_unstable();
    places.into_iter().map(|(_, name)| name.to_owned()).collect()
}

const NAMES: [&str; 5] = ["ask", "find", "mend", "read", "write"];

fn lists() -> impl Strategy<Value = Vec<Vec<(&'static str, u8)>>> {
    let list = subsequence(NAMES.to_vec(), 0..=NAMES.len()).prop_shuffle();
    let list = (list, 0..2_u8).prop_map(|(names, says)| {
        names.into_iter().map(|name| (name, if name == "mend" { says } else { 0 })).collect()
    });
    prop::collection::vec(list, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn h11_tools_stand_as_they_were_first_sent_whoever_goes_on(
        lists in lists(),
        family in select(Family::ALL.as_slice()),
    ) {
        block_on(async {
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            let mut first_sent: Vec<&str> = Vec::new();
            for (n, list) in lists.iter().enumerate() {
                session.append(Message::user(&format!("question {n}"))).await.unwrap();
                first_sent.extend(list.iter().map(|(name, _)| *name).filter(|name| !first_sent.contains(name)).collect::<Vec<_>>());
                let is_asked = |name: &&&str| list.iter().any(|(asked, _)| asked == *name);
                let expected: Vec<&str> = first_sent.iter().filter(is_asked).copied().collect();
                let recipe = recipe(list);
                let mut fork = session.fork("").await.unwrap();
                let mut opened = Session::open(store.clone(), session.id()).await.unwrap();
                let target = target_of(Vendor::of(family), "a-model");
                let request = sent(&mut session, &recipe, family).await;
                assert_eq!(names(&request), expected);
                let asked: Vec<&str> = list.iter().map(|(name, _)| *name).collect();
                assert_eq!(request.report.tool_order.is_some(), asked != expected);
                for other in [&mut fork, &mut opened] {
                    let seen = other.preview(&recipe, &target).await.unwrap().request().unwrap();
                    assert_eq!(seen.body.to_bytes(), request.body.to_bytes());
                }
            }
        });
    }
}

#[test]
fn h11_a_list_in_another_order_costs_nothing_and_is_told() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("hello")).await.unwrap();
        let family = Family::Anthropic;
        let first = sent(&mut session, &recipe(&[("read", 0), ("write", 0)]), family).await;
        let other = recipe(&[("write", 0), ("read", 0)]);
        let second = sent(&mut session, &other, family).await;
        assert_eq!(first.body.to_bytes(), second.body.to_bytes());
        assert_eq!(second.impact.cause, BreakCause::Same);
        let kept = second.report.tool_order.unwrap();
        assert_eq!(kept.moved, ["read".into(), "write".into()]);
        let more = recipe(&[("find", 0), ("write", 1)]);
        let BreakCause::Tools { added, removed, changed, reordered } =
            sent(&mut session, &more, family).await.impact.cause
        else {
            panic!("the tools are others")
        };
        assert_eq!(
            (added, removed, changed),
            (vec!["find".into()], vec!["read".into()], vec!["write".into()])
        );
        assert!(!reordered);
        // One that comes back stands where it stood.
        let all = recipe(&[("find", 0), ("write", 1), ("read", 0)]);
        assert_eq!(names(&sent(&mut session, &all, family).await), ["read", "write", "find"]);
    });
}

#[test]
fn h11_after_a_rollback_tools_stand_as_they_did_then() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        let family = Family::Bedrock;
        for text in ["one", "two", "three"] {
            session.append(Message::user(text)).await.unwrap();
        }
        sent(&mut session, &recipe(&[("write", 0)]), family).await;
        let batch = session.conversation().current_batch();
        let cut = Truncate { keep_last: Some(1), ..Truncate::default() };
        session.operate(Operation::Truncate(cut)).await.unwrap();
        sent(&mut session, &recipe(&[("read", 0), ("write", 0)]), family).await;
        session.roll_back(batch).await.unwrap();
        let all = recipe(&[("ask", 0), ("read", 0), ("write", 0)]);
        assert_eq!(names(&sent(&mut session, &all, family).await), ["write", "ask", "read"]);
    });
}
