//! Models that write anything but a summary, and sessions of which little can give way.

use interleaf::compaction::Refusal;
use interleaf::conversation::PINNED;
use interleaf::model::{Message, MessageId};
use interleaf::wire::Family;
use interleaf::{Session, store};
use interleaf_doubles::{Answer, Asked, Double, Finish, Settings};
use interleaf_transport::WithoutModel;
use serde_json::json;

use crate::compact::{at, policy, recipe, talk};
use crate::families::{FAMILIES, transport};

#[tokio::test]
async fn h7_what_is_no_summary_is_asked_for_once_more_and_then_a_digest_takes_its_place() {
    let rows = [
        (Answer::text("I look it up.").with_call("search", &json!({"q": "x"})), "it calls a tool"),
        (Answer::new().with_call("search", &json!({"q": "x"})), "it calls a tool"),
        (Answer::text(" "), "it says nothing"),
        (Answer::text("I will not.").with_finish(Finish::Refusal), "would not write it"),
        (Answer::text("Well, ".repeat(170_000)), "and may have 1500"),
        (Answer::text("Der Nutzer möchte, dass das Programm schneller wird."), "in German"),
    ];
    for (n, (answer, why)) in rows.into_iter().enumerate() {
        let family = FAMILIES[n % FAMILIES.len()];
        let brain = move |_: &Asked| answer.clone();
        let double = Double::start(Settings::new().with_brain(brain)).await.unwrap();
        let (mut session, facts) = talk(n, 14).await;
        let (mut policy, recipe, target) = (policy(), recipe(2_000), at(&double, family));
        policy.language = Some("en".into());
        let own = (&recipe, &target);
        let done = transport().compact(&mut session, &policy, own, &target).await.unwrap();
        let Some(WithoutModel::Refused(refused)) = &done.without_model else { panic!("{done:?}") };
        assert!(refused.iter().any(|r| r.to_string().contains(why)), "{why}: {refused:?}");
        let requests = double.requests();
        assert_eq!(requests.len(), 2, "{why}");
        let (first, second) = (requests[0].body.to_string(), requests[1].body.to_string());
        assert!(second.contains("That summary cannot be used"), "{second}");
        // What was far too long does not fill the window the second time.
        assert!(second.len() < first.len() + 20_000, "{why}: {} {}", first.len(), second.len());
        let summary = session.active_summary().await.unwrap().unwrap().text;
        assert!(summary.contains("put together without a model"), "{summary}");
        assert!(facts[0].iter().all(|fact| summary.contains(&**fact)), "{summary}");
    }
}

#[tokio::test]
async fn h7_a_writer_that_repeats_the_summary_before_is_told_what_is_new() {
    let (mut session, _) = talk(1, 14).await;
    let (mut policy, recipe) = (policy(), recipe(2_000));
    policy.facts.truncate(1);
    let said = std::sync::Arc::new(std::sync::Mutex::new(String::from("Nothing yet.")));
    let brain = {
        let said = said.clone();
        move |_: &Asked| Answer::text(said.lock().unwrap().clone())
    };
    let double = Double::start(Settings::new().with_brain(brain)).await.unwrap();
    let (target, transport) = (at(&double, Family::Anthropic), transport());
    let plan = session.compaction_now(&policy, &recipe, &target).await.unwrap();
    let facts = session.facts_to_keep(&plan, &policy).unwrap().kept;
    *said.lock().unwrap() = facts.iter().map(|fact| format!("{}\n", fact.text)).collect();
    let own = (&recipe, &target);
    let done = transport.compact(&mut session, &policy, own, &target).await.unwrap();
    assert!(done.without_model.is_none(), "{done:?}");
    for n in 50..64 {
        let (turn, _) = crate::compact::turn(2, n);
        session.append_all(turn.map(std::sync::Arc::new)).await.unwrap();
    }
    let done = transport.compact(&mut session, &policy, own, &target).await.unwrap();
    let Some(WithoutModel::Refused(refused)) = &done.without_model else { panic!("{done:?}") };
    let [Refusal::Missing(missing)] = refused.as_slice() else { panic!("{refused:?}") };
    assert!(missing.iter().all(|fact| !facts.iter().any(|old| old.text == fact.text)));
}

async fn refused(mut session: Session, window: u64) -> String {
    let double = Double::start(Settings::new()).await.unwrap();
    let (policy, recipe, target) = (policy(), recipe(window), at(&double, Family::Anthropic));
    let own = (&recipe, &target);
    let error = transport().compact(&mut session, &policy, own, &target).await.unwrap_err();
    assert!(double.requests().is_empty(), "nothing is asked");
    assert_eq!(session.active_summary().await.unwrap(), None);
    error.to_string()
}

#[tokio::test]
async fn where_nothing_can_give_way_the_error_says_so_and_nobody_is_asked() {
    // Nothing was said, one turn, everything pinned, and a window below the system text.
    let nothing = Session::create(store::open("memory:").await.unwrap(), "").await.unwrap();
    let text = refused(nothing, 2_000).await;
    assert!(text.contains("nothing can be summarised"), "{text}");
    let mut one = Session::create(store::open("memory:").await.unwrap(), "").await.unwrap();
    one.append(Message::user("Why is it slow?").with_id(MessageId::of_index(0))).await.unwrap();
    let text = refused(one, 2_000).await;
    assert!(text.contains("nothing can be summarised"), "{text}");
    let (mut pinned, _) = talk(2, 14).await;
    for index in 0..29 {
        pinned.mark(index, PINNED).await.unwrap();
    }
    let text = refused(pinned, 100_000).await;
    assert!(text.contains("nothing can be summarised"), "{text}");
    let (tiny, _) = talk(2, 14).await;
    let text = refused(tiny, 10).await;
    assert!(text.contains("no summary makes the request fit"), "{text}");
}
