//! Facts that a summary must keep: where they are looked for, and what the limits leave out (H7).

use std::collections::BTreeSet;

use interleaf::Session;
use interleaf::compaction::{
    Compacted, CompactionPolicy, FactLimit, FactRule, FactSource, Facts, Refusal,
};
use interleaf::model::{
    Arguments, AssistantPart, Body, CallId, Extra, Message, Parts, Status, ToolCall,
};
use proptest::prelude::*;

use crate::block_on;
use crate::compaction::{of, plan, recipe, talk, target};

fn roomy() -> CompactionPolicy {
    let mut policy = CompactionPolicy::default();
    policy.summary_tokens = 1_500;
    policy
}

/// A turn that says a path and a decision of this number, as two messages.
fn turn(n: usize) -> [Message; 2] {
    let asked = format!("Please look at src/part{n}.rs, it is slow. {}", "Why? ".repeat(30));
    let said = format!("Decision: part {n} gets a cache.\n{}", "It is done. ".repeat(30));
    [Message::user(&asked), Message::assistant(&said)]
}

fn call(id: &str, name: &str, arguments: &str) -> [Message; 2] {
    let call = ToolCall {
        id: CallId::new(id).unwrap(),
        name: name.into(),
        arguments: Arguments::from_text(arguments),
        extra: Extra::NONE,
    };
    let done = call.result("done");
    [Body::Assistant(Parts::new(vec![AssistantPart::Call(call)]).unwrap()).into(), done]
}

async fn kept(session: &mut Session, policy: &CompactionPolicy) -> Facts {
    let plan = plan(session, policy, 4_000).await;
    session.facts_to_keep(&plan, policy).unwrap()
}

fn missing(got: Compacted) -> Vec<String> {
    let Compacted::Again(refused) = got else { panic!("{got:?}") };
    let [Refusal::Missing(missing)] = refused.as_slice() else { panic!("{refused:?}") };
    missing.iter().map(|fact| fact.text.to_string()).collect()
}

#[test]
fn h7_a_decision_that_a_summary_says_in_other_words_must_be_in_the_next_one_too() {
    block_on(async {
        let mut session = of(talk(20)).await;
        let policy = roomy();
        let mut first = plan(&mut session, &policy, 4_000).await;
        // The words are kept, the form by which they were found is not.
        let facts = session.facts_to_keep(&first, &policy).unwrap().kept;
        let text: Vec<String> =
            facts.iter().map(|fact| format!("They want {}", fact.text)).collect();
        let got = session.take_summary(&mut first, &policy, &text.join("\n")).await;
        assert!(matches!(got.unwrap(), Compacted::Taken(_)));
        for n in 100..110 {
            for message in turn(n) {
                session.append(message).await.unwrap();
            }
        }
        session.append(Message::user("And then?")).await.unwrap();
        let mut second = plan(&mut session, &policy, 4_000).await;
        let got = session.take_summary(&mut second, &policy, "All went well.").await;
        let missing = missing(got.unwrap());
        assert!(missing.contains(&"part 0 gets a cache.".to_owned()), "{missing:?}");
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn h7_a_chain_of_summaries_in_other_words_loses_no_fact(
        rounds in prop::collection::vec((12..15_usize, any::<prop::sample::Index>(), 0..3_u8), 2..5),
    ) {
        block_on(async {
            let mut session = of([]).await;
            let (mut policy, target) = (roomy(), target());
            policy.summary_tokens = 1_800;
            let mut n_said = 0;
            for (n, lost, how) in rounds {
                for message in (n_said..n_said + n).flat_map(turn) {
                    session.append(message).await.unwrap();
                }
                n_said += n;
                session.append(Message::user("And now?")).await.unwrap();
                let mut plan = plan(&mut session, &policy, 5_000).await;
                let facts = session.facts_to_keep(&plan, &policy).unwrap();
                prop_assert_eq!(facts.n_left_out(), 0);
                let words: Vec<String> =
                    facts.kept.iter().map(|fact| format!("It is about {}", fact.text)).collect();
                // One that forgets something is refused; then all is said, or a digest is made.
                let mut short = words.clone();
                let forgotten = facts.kept[lost.index(words.len())].text.to_string();
                short.remove(lost.index(words.len()));
                if how > 0 {
                    let text = short.join("\n");
                    let got = session.take_summary(&mut plan, &policy, &text).await;
                    prop_assert_eq!(missing(got.unwrap()), [forgotten]);
                }
                let text = if how > 1 { short } else { words }.join("\n");
                let got = session.take_summary(&mut plan, &policy, &text).await;
                match (got.unwrap(), how > 1) {
                    (Compacted::Taken(_), false) | (Compacted::Digest(..), true) => {}
                    (got, _) => panic!("{got:?}"),
                }
                let next = session.preview(&recipe(100_000), &target).await.unwrap();
                let body = String::from_utf8(next.request().unwrap().body.to_bytes()).unwrap();
                for n in 0..n_said {
                    prop_assert!(body.contains(&format!("src/part{n}.rs")), "{n}: {body}");
                    prop_assert!(body.contains(&format!("part {n} gets a cache.")), "{n}: {body}");
                }
            }
            Ok(())
        })?;
    }
}

#[test]
fn h7_by_default_files_that_calls_write_are_facts_and_those_that_they_list_are_not() {
    block_on(async {
        let mut said = talk(30);
        let listed: Vec<String> = (0..500).map(|n| format!("old/file{n}.txt")).collect();
        let [look, _] = call("c1", "list_files", r#"{"path": "old"}"#);
        let files = Message::tool(CallId::new("c1").unwrap(), Status::Ok, &listed.join("\n"));
        let edit = r#"{"path": "deep/new.rs", "old_string": "a/b.rs", "new_string": "c/d.rs"}"#;
        let calls = [look, files].into_iter().chain(call("c2", "edit_file", edit));
        said.splice(1..1, calls);
        let mut session = of(said).await;
        let facts = kept(&mut session, &roomy()).await;
        let texts: BTreeSet<&str> = facts.kept.iter().map(|fact| &*fact.text).collect();
        assert!(texts.contains("deep/new.rs"), "{texts:?}");
        for text in ["a/b.rs", "c/d.rs", "old", "old/file7.txt"] {
            assert!(!texts.contains(text), "{text}");
        }
    });
}

#[test]
fn h7_facts_past_a_limit_of_their_rule_are_counted_and_told() {
    block_on(async {
        let mut session = of(talk(30)).await;
        let mut policy = roomy();
        let all = kept(&mut session, &policy).await;
        assert_eq!(all.left_out, []);
        let n = all.kept.iter().filter(|fact| fact.rule == "path").count();
        policy.facts = vec![
            FactRule { most: 5, ..FactRule::paths() },
            FactRule { longest: 20, ..FactRule::decisions() },
        ];
        let facts = kept(&mut session, &policy).await;
        let limits: Vec<_> = facts.left_out.iter().map(|some| (&*some.rule, some.limit)).collect();
        assert_eq!(limits, [("path", FactLimit::Most(5)), ("decision", FactLimit::Longest(20))]);
        assert_eq!(facts.left_out[0].to_string(), format!("path: {} beyond the newest 5", n - 5));
        // `part 7 gets a cache.` is as long as it may be, `part 10 gets a cache.` is longer.
        let of_rule = |rule| facts.kept.iter().filter(|fact| fact.rule == rule).count();
        assert_eq!((of_rule("path"), of_rule("decision")), (5, 10));
        let plan = plan(&mut session, &policy, 4_000).await;
        let report = session.compact_without_model(&plan, &policy).await.unwrap();
        assert_eq!((report.n_facts, report.n_left_out), (15, facts.n_left_out()));
        let told =
            format!("with 15 facts ({} more are past a limit of the policy)", report.n_left_out);
        assert!(report.to_string().ends_with(&told), "{report}");
    });
}

#[test]
fn h7_what_a_rule_does_not_look_in_is_no_fact_because_a_summary_says_it() {
    block_on(async {
        let mut session = of(talk(20)).await;
        let mut policy = roomy();
        policy.facts = vec![FactRule::new("order", r"#\d+").from(FactSource::User)];
        let mut first = plan(&mut session, &policy, 4_000).await;
        let text = "All went well, see #4711.";
        session.take_summary(&mut first, &policy, text).await.unwrap();
        for n in 100..110 {
            for message in turn(n) {
                session.append(message).await.unwrap();
            }
        }
        assert_eq!(kept(&mut session, &policy).await, Facts::default());
        policy.facts = vec![FactRule::new("order", r"#\d+")];
        let facts = kept(&mut session, &policy).await;
        let texts: Vec<_> = facts.kept.iter().map(|fact| (&*fact.text, &fact.message)).collect();
        assert_eq!(texts, [("#4711", &None)]);
    });
}
