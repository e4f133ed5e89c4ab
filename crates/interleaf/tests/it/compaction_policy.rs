//! What a policy of compaction may say.

use interleaf::compaction::{CompactionPolicy, FactRule, Trigger};

#[test]
fn a_policy_that_cannot_be_is_refused_with_its_rule() {
    let broken = |change: fn(&mut CompactionPolicy)| {
        let mut policy = CompactionPolicy::default();
        change(&mut policy);
        policy.check().unwrap_err().to_string()
    };
    let part = broken(|policy| policy.down_to = 1.5);
    assert_eq!(part, "`down_to` is 1.5: it must be from 0 to 1");
    let part = broken(|policy| policy.down_to = 1e308);
    assert_eq!(part, "`down_to` is 1e308: it must be from 0 to 1");
    let tokens = broken(|policy| policy.summary_tokens = u64::MAX);
    assert_eq!(tokens, "`summary_tokens` is 18446744073709551615: it must be at most 1000000");
    let pattern = broken(|policy| policy.facts = vec![FactRule::new("id", "(")]);
    assert!(pattern.starts_with("the pattern of the facts \"id\" is none: "), "{pattern}");
    let language = broken(|policy| policy.language = Some("xx".into()));
    assert!(language.starts_with("`language` is \"xx\": "), "{language}");
    let fill = broken(|policy| policy.when = Some(Trigger::Fill(80.0)));
    assert_eq!(fill, "the trigger `fill` is 80: it must be above 0, up to 1");
}

#[test]
fn a_trigger_names_one_thing() {
    let refused = |text: &str| serde_json::from_str::<Trigger>(text).unwrap_err().to_string();
    let two = refused(r#"{"fill": 0.1, "tokens": 9}"#);
    assert!(two.starts_with("a trigger names one thing: `all` or `any` joins several"), "{two}");
    let none = refused("{}");
    assert!(none.starts_with("a trigger names one of `fill`, "), "{none}");
    let array = refused(r#"[0.8]"#);
    assert!(array.starts_with("invalid type: sequence"), "{array}");
}
