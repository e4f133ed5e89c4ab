//! Rules that go by what was shown before: the session remembers, wherever it is made.

use interleaf::assemble::{
    CachePrices, ContextText, OpenBlock, PlacementRule, Recipe, View, assemble,
};
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::{ContextKind, Json, Message, notation};
use interleaf::wire::{Family, Vendor};
use interleaf::{Sent, Session, Target, copy};
use interleaf_samples::generate::agent_session;

use crate::{block_on, memory, target_of};

fn target() -> Target {
    target_of(Vendor::of(Family::OpenaiChat), "a-model")
}

fn shown(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

/// The rules that remember.
const RULES: [PlacementRule; 4] = [
    PlacementRule::Sticky(8),
    PlacementRule::Delta(12),
    PlacementRule::Delta(3),
    PlacementRule::Auto(10),
];

/// A list of which one item changes with every number.
fn todo(number: usize) -> String {
    let state = |item: usize| if item <= number { number - (number - item) % 9 } else { 0 };
    (0..9).map(|item| format!("item {item} is in the state {}\n", state(item))).collect()
}

fn recipe(rule: &PlacementRule, todo: &str) -> Recipe {
    let mut recipe = Recipe::new().with_rule(rule.clone()).with_context(ContextKind::Todo, todo);
    recipe.open_block = OpenBlock::Mend;
    recipe
}

/// The same with a text of which every line is another when the list is. Under `auto` it goes
/// to the tail.
fn two_sources(rule: &PlacementRule, todo: &str) -> Recipe {
    let mut recipe = recipe(rule, todo);
    let passages = todo.replace("state", &format!("state of {todo:?}"));
    recipe.context.push(ContextText::new(ContextKind::Other("passages".into()), passages));
    recipe.cache_prices = Some(CachePrices { read: 0.1, write: 1.25, reach: 12, lags: false });
    recipe
}

/// The next request, as bytes.
async fn next(session: &mut Session, recipe: &Recipe) -> String {
    let request = session.request(recipe, &target()).await.unwrap().request().unwrap();
    shown(&request.body.to_bytes())
}

/// What the next request would be.
async fn seen(session: &mut Session, recipe: &Recipe) -> String {
    let request = session.preview(recipe, &target()).await.unwrap().request().unwrap();
    shown(&request.body.to_bytes())
}

/// A session with a request after each message, in which the list changes at every nth.
async fn played(
    session: &mut Session,
    messages: &[Message],
    rule: &PlacementRule,
    changes: impl Fn(usize) -> usize,
) {
    for (n, message) in messages.iter().enumerate() {
        session.append(message.clone()).await.unwrap();
        next(session, &two_sources(rule, &todo(changes(n)))).await;
    }
}

#[test]
fn c6_what_was_shown_is_found_again_by_a_resume_another_node_and_a_fork() {
    block_on(async {
        for rule in &RULES {
            // The list changes with every message, and more often than is read at once.
            let every = if matches!(rule, PlacementRule::Sticky(_)) { 20 } else { 1 };
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            let mut other = Session::open(store.clone(), session.id()).await.unwrap();
            let mut alone = Session::create(memory().await, "").await.unwrap();
            for (n, message) in agent_session(80).into_iter().enumerate() {
                alone.append(message.clone()).await.unwrap();
                session.append(message).await.unwrap();
                let recipe = two_sources(rule, &todo(n / every));
                let mut fork = session.fork("a fork").await.unwrap();
                let mut fork_of_fork = fork.fork("another").await.unwrap();
                let mut opened = Session::open(store.clone(), fork.id()).await.unwrap();
                other.refresh().await.unwrap();
                let expected = next(&mut alone, &recipe).await;
                let node = if n % 2 == 0 { &mut session } else { &mut other };
                assert_eq!(next(node, &recipe).await, expected, "{rule} after {n}");
                for node in [&mut fork, &mut fork_of_fork, &mut opened] {
                    assert_eq!(seen(node, &recipe).await, expected, "{rule} after {n}");
                }
                session.refresh().await.unwrap();
            }
        }
    });
}

#[test]
fn c6_after_a_rollback_the_context_stands_where_it_stood_then() {
    block_on(async {
        for rule in &RULES {
            let messages = agent_session(60);
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            let is_sticky = matches!(rule, PlacementRule::Sticky(_));
            let changes = move |n: usize| if is_sticky { 1 } else { n / 3 };
            played(&mut session, &messages[..40], rule, changes).await;
            let mut as_it_was = Session::create(memory().await, "").await.unwrap();
            played(&mut as_it_was, &messages[..40], rule, changes).await;
            // What comes now is taken back: a shorter view, in which all is shown anew.
            let cut = Truncate { keep_last: Some(6), ..Truncate::default() };
            session.operate(Operation::Truncate(cut)).await.unwrap();
            played(&mut session, &messages[40..], rule, changes).await;
            let recipe = two_sources(rule, &todo(if is_sticky { 1 } else { 14 }));
            let moved = next(&mut session, &recipe).await;
            session.roll_back(0).await.unwrap();
            let mut opened = Session::open(store.clone(), session.id()).await.unwrap();
            let expected = next(&mut as_it_was, &recipe).await;
            assert_ne!(expected, moved);
            assert_eq!(seen(&mut opened, &recipe).await, expected, "{rule}");
            assert_eq!(next(&mut session, &recipe).await, expected, "{rule}");
        }
    });
}

#[test]
fn c2_what_was_shown_is_neither_in_the_log_nor_in_a_summary() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        let rule = PlacementRule::Delta(12);
        played(&mut session, &agent_session(20), &rule, |n| n).await;
        let log: Vec<String> = session.conversation().log().map(|m| m.text().into()).collect();
        assert_eq!(log.len(), 20);
        assert!(log.iter().all(|text| !text.contains("Agent TODO List")));
        // A compaction hides the places: the list is stated anew, once and whole.
        let last = session.conversation().visible_at(11).unwrap().id.clone();
        session.summarise_through(&last, "They looked at files.").await.unwrap();
        let body = next(&mut session, &recipe(&rule, &todo(20))).await;
        assert_eq!(body.matches("Agent TODO List").count(), 1);
        assert!(!body.contains("(changes)"));
    });
}

#[test]
fn c2_a_request_that_was_made_elsewhere_and_noted_is_part_of_what_was_shown() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("go")).await.unwrap();
        let rule = PlacementRule::Delta(12);
        next(&mut session, &recipe(&rule, &todo(1))).await;
        session.append(Message::assistant("done")).await.unwrap();
        session.append(Message::user("go on")).await.unwrap();
        let elsewhere = recipe(&rule, &todo(2));
        let previous = session.previous(session.conversation(), None).await.unwrap();
        let view = View::of(session.conversation().visible().cloned());
        let requires = target().requirements();
        let made = assemble(&view, &elsewhere, requires, previous.as_ref()).unwrap();
        assert_eq!(made.report.elements.as_ref().unwrap().kept, 1);
        let (body, report) = (b"{}".as_slice(), &made.report);
        session.note_request(Sent { model: "m", vendor: "v", body, report }).await.unwrap();
        let body = next(&mut session, &recipe(&rule, &todo(3))).await;
        assert_eq!(body.matches("## Agent TODO List\\n").count(), 1);
        assert_eq!(body.matches("## Agent TODO List (changes)").count(), 2);
    });
}

/// What is stored of what was shown may have been changed by hand, and imported.
#[test]
fn c2_what_was_shown_is_shown_anew_if_what_is_stored_of_it_makes_no_sense() {
    // The number of a request, and what is changed in its report.
    let edits: [(u64, &str, &str); 9] = [
        (3, r#""earlier":{"event":"#, r#""earlier":{"event":9"#),
        (3, r#""earlier":"#, r#""latter":"#),
        (3, r#""elements":{"kept":3"#, r#""elements":{"kept":1"#),
        (3, r#""elements":{"kept":3"#, r#""elements":{"kept":99"#),
        (2, r#""elements":{"kept":2"#, r#""elements":{"kept":0"#),
        (1, r#""new":["#, r#""new":[],"old":["#),
        (3, r#""version":4"#, r#""version":4294967295"#),
        (0, r#""form":"whole""#, r#""form":"changes""#),
        (2, r#""elements":{"#, r#""others":{"#),
    ];
    for (no, old, new) in edits {
        block_on(async {
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            let rule = PlacementRule::Delta(50);
            let messages = notation::parse("u 1\na 2\nu 3\na 4\nu 5\na 6\nu 7").unwrap();
            for (n, pair) in messages.chunks(2).enumerate() {
                session.append(pair[0].clone()).await.unwrap();
                next(&mut session, &recipe(&rule, &todo(n))).await;
                if let Some(answer) = pair.get(1) {
                    session.append(answer.clone()).await.unwrap();
                }
            }
            let to = memory().await;
            let mut reader = copy::Reader::whole(store, session.id()).await.unwrap();
            let mut writer = copy::Writer::begin(to.clone(), reader.head.clone()).await.unwrap();
            for mut item in reader.page().await.unwrap() {
                if let copy::Item::Request(request) = &mut item
                    && request.no == no
                {
                    let report = request.report.as_str();
                    assert!(report.contains(old), "{old} in {report}");
                    request.report = Json::parse(report.replacen(old, new, 1)).unwrap();
                }
                writer = writer.item(item).await.unwrap();
            }
            writer.end().await.unwrap();
            let mut imported = Session::open(to, session.id()).await.unwrap();
            let body = next(&mut imported, &recipe(&rule, &todo(4))).await;
            assert_eq!(body.matches("## Agent TODO List").count(), 1, "{no} {old} {body}");
            assert!(body.contains("item 4 is in the state 4"), "{no} {old}");
        });
    }
}
