//! The rule `auto`, held against every other rule under every cache that is known.

#[path = "../../examples/caches/script.rs"]
mod script;

use std::sync::{Arc, LazyLock};

use interleaf::assemble::{ContextText, Estimate, Ledger, PlacementRule, Recipe};
use interleaf::cache::Rules;
use interleaf::model::{ContextKind, Message, MessageId, Requirements};
use interleaf::replay::{Script, cache_prices};
use interleaf_samples::working_session::Course;

use self::script::script;

static LEDGER: LazyLock<Arc<Ledger>> =
    LazyLock::new(|| Arc::new(Ledger::new(Arc::new(Estimate::default()))));

/// What the session costs by a rule, for each cache. `auto` goes by the prices of the first.
fn costs(script: &Script, rule: &str, rules: &[Rules]) -> Vec<f64> {
    let rule: PlacementRule = rule.parse().unwrap();
    let mut recipe = Recipe::new().with_rule(rule);
    recipe.cache_prices = rules.first().and_then(cache_prices);
    let played = script.play(&recipe, Requirements::STRICT, rules, &LEDGER).unwrap();
    played.iter().map(|figures| figures.iter().map(|figures| figures.cost).sum()).collect()
}

const OTHERS: [&str; 6] =
    ["after_tool_result", "after_system", "from_end(5)", "tail", "sticky", "delta"];

#[test]
fn h1_auto_is_at_most_three_percent_dearer_than_the_best_rule_for_every_cache() {
    let all: Vec<Rules> = Rules::all().collect();
    for results in [(200, 3_000), (2_000, 20_000)] {
        for change_every in [1, 4, 10, 0] {
            let script = script(Course { n_requests: 60, change_every, results });
            let others: Vec<Vec<f64>> =
                OTHERS.iter().map(|rule| costs(&script, rule, &all)).collect();
            for (i, rules) in all.iter().enumerate() {
                let auto = costs(&script, "auto", std::slice::from_ref(rules))[0];
                let row = format!("{} every {change_every} {results:?}", rules.name);
                let best = others.iter().map(|costs| costs[i]).fold(f64::INFINITY, f64::min);
                assert!(auto <= best * 1.03, "{row}: {auto} against {best}");
                let usual = others[0][i];
                let is_cheaper = change_every != 1 || auto <= usual * 0.9;
                assert!(is_cheaper, "{row}: {auto} against {usual}");
            }
        }
    }
}

#[test]
fn h1_where_marks_are_needed_the_context_costs_at_most_a_quarter_more_than_none() {
    // A round takes about ten times what one change of the context does.
    let script = script(Course { n_requests: 60, change_every: 1, results: (1_000, 3_600) });
    let mut bare = script.clone();
    bare.turns.iter_mut().for_each(|turn| turn.context.clear());
    let rules = ["anthropic", "bedrock", "openai-5.6"].map(|name| Rules::named(name).unwrap());
    for rules in rules {
        let rules = [rules];
        let [auto, none] =
            [(&script, "auto"), (&bare, "tail")].map(|(s, by)| costs(s, by, &rules)[0]);
        assert!(auto <= 1.25 * none, "{}: {auto} against {none}", rules[0].name);
    }
}

#[test]
fn h1_in_a_long_session_auto_drops_what_costs_more_than_a_fresh_copy() {
    let script = script(Course { n_requests: 300, change_every: 1, results: (200, 600) });
    let rules = [Rules::named("openai").unwrap()];
    let (auto, delta) = (costs(&script, "auto", &rules)[0], costs(&script, "delta", &rules)[0]);
    assert!(auto < 0.9 * delta, "{auto} against {delta}");
}

#[test]
fn h1_however_long_a_session_is_auto_is_at_most_three_percent_dearer_than_delta() {
    let script = script(Course { n_requests: 900, change_every: 1, results: (60, 200) });
    for rules in Rules::all().filter(|rules| cache_prices(rules).is_some()) {
        let (name, rules) = (rules.name.clone(), [rules]);
        let (auto, delta) = (costs(&script, "auto", &rules)[0], costs(&script, "delta", &rules)[0]);
        assert!(auto <= delta * 1.03, "{name}: {auto} against {delta}");
    }
}

/// The session with a source more, of this many bytes, that says something else in every
/// request: what was looked up for it.
fn with_passages(mut script: Script, len: usize) -> Script {
    for (number, turn) in script.turns.iter_mut().enumerate() {
        let line = |i: usize| format!("- passage {number}.{i} of the manual is found here\n");
        let text: String = (0..len / 50).map(line).collect();
        turn.context.push(ContextText::new(ContextKind::Other("passages".into()), text));
    }
    script
}

#[test]
fn h1_beside_a_source_that_always_says_something_else_auto_is_cheaper_than_any_one_rule() {
    for (n_requests, len) in [(20, 4_000), (60, 500), (60, 4_000)] {
        let course = Course { n_requests, change_every: 4, results: (200, 3_000) };
        let script = with_passages(script(course), len);
        for rules in Rules::all() {
            let row = format!("{} {n_requests} {len}", rules.name);
            let rules = [rules];
            let others = OTHERS.iter().map(|rule| costs(&script, rule, &rules)[0]);
            let best = others.fold(f64::INFINITY, f64::min);
            let auto = costs(&script, "auto", &rules)[0];
            // Where reads are free there is nothing to gain.
            assert!(auto <= best * 1.03, "{row}: {auto} against {best}");
            let gains = rules[0].prices.read > 0.0 && n_requests == 60 && len == 4_000;
            assert!(!gains || auto <= best * 0.95, "{row}: {auto} against {best}");
        }
    }
}

/// The same session as a talk: an answer and a long question before each request, and a short
/// list that says something else each time.
fn as_talk(mut script: Script, len: usize) -> Script {
    for (number, turn) in script.turns.iter_mut().enumerate() {
        let question = format!("{number}. What of this? {}", "It was said so. ".repeat(len / 16));
        let said = [Message::assistant("So it is."), Message::user(&question)];
        let said = said.into_iter().skip(usize::from(number == 0)).enumerate();
        let id = |i: usize| MessageId::new(format!("t{number}-{i}"));
        turn.said = said.map(|(i, message)| Arc::new(message.with_id(id(i)))).collect();
        let todo = format!("{number}. do the thing number {number}");
        turn.context = vec![ContextText::new(ContextKind::Todo, todo)];
    }
    script
}

#[test]
fn h1_a_long_question_does_not_move_for_a_source_that_changes() {
    for n_requests in [8, 24] {
        let course = Course { n_requests, change_every: 1, results: (200, 3_000) };
        let script = as_talk(script(course), 8_000);
        for name in ["anthropic", "openai"] {
            let rules = [Rules::named(name).unwrap()];
            // The rules that keep the question last.
            let others = ["delta", "tail"].map(|rule| costs(&script, rule, &rules)[0]);
            let best = others[0].min(others[1]);
            let auto = costs(&script, "auto", &rules)[0];
            assert!(auto <= best * 1.03, "{name} {n_requests}: {auto} against {others:?}");
        }
    }
}
