//! Keeping a prefix warm, held against a cache that is asked at these times.

use interleaf_cache::{Cache, Match, Prompt, Rules, Stop, Warmth};
use proptest::prelude::*;

/// What a request costs that comes `gap` seconds after the first, with small requests on the
/// way or without.
fn paid(rules: &Rules, (tokens, tail): (u64, u64), gap: u64, every: Option<u64>) -> f64 {
    let mut prompt = Prompt::new();
    prompt.push(1, tokens as u32, Stop::Block);
    prompt.mark(1);
    prompt.push(2, tail as u32, Stop::Block);
    let mut cache = Cache::new(rules.clone());
    cache.request(&prompt, 0);
    let on_the_way = every.map(|every| (1..).map(move |n| n * every));
    let times = on_the_way.into_iter().flatten().take_while(|&at| at < gap).chain([gap]);
    times.map(|at| rules.prices.cost(cache.request(&prompt, at))).sum()
}

proptest! {
    #[test]
    fn h11_what_keeping_warm_saves_is_what_a_cache_charges_less(
        name in prop::sample::select(vec!["anthropic", "bedrock", "openai"]),
        steps in 1..200_u64,
        tail in prop::sample::select(vec![0, 40, 400, 4_000_u64]),
        gap in 1..20_000_u64,
        read in prop::sample::select(vec![0.05, 0.1, 0.25, 0.5]),
    ) {
        let mut rules = Rules::named(name).unwrap();
        rules.prices.read = read;
        let tokens = 1_024 + steps * rules.matches.step() * 8;
        // What comes after the mark is not kept; where there are no marks, all is.
        let tail = if matches!(rules.matches, Match::Marks { .. }) { tail } else { 0 };
        let keep = Warmth::of_prompt(&rules, (tokens, tokens + tail), 0).keep_alive.unwrap();
        let cost = |every| paid(&rules, (tokens, tail), gap, every);
        let expected = cost(None) - cost(Some(keep.every));
        prop_assert!((keep.saves(gap) - expected).abs() < 0.01, "{} is not {expected}", keep.saves(gap));
        let pays = gap > keep.from && keep.until.is_none_or(|until| gap <= until);
        prop_assert_eq!(pays, expected > 0.01, "after {} s", gap);
    }
}

#[test]
fn h11_nothing_is_said_of_a_lifetime_that_nobody_knows() {
    for rules in Rules::all().filter(|rules| rules.lifetime.is_none()) {
        let warmth = Warmth::of(&rules, 50_000, 60);
        assert_eq!((warmth.left, warmth.keep_alive), (None, None), "{}", rules.name);
    }
    // It is kept for half an hour; whether a read begins that anew is not known.
    let warmth = Warmth::of(&Rules::named("openai-5.6").unwrap(), 50_000, 60);
    assert_eq!((warmth.left, warmth.keep_alive), (Some(1_740), None));
}

#[test]
fn h11_what_is_gone_or_too_short_cannot_be_kept() {
    let rules = Rules::named("anthropic").unwrap();
    let gone = Warmth::of(&rules, 50_000, 301);
    assert_eq!((gone.left, gone.keep_alive, gone.cold), (Some(0), None, 62_500.0));
    let short = Warmth::of(&rules, 1_000, 0);
    assert_eq!((short.tokens, short.keep_alive), (0, None));
    let late = Warmth::of(&rules, 50_000, 290).keep_alive.unwrap();
    assert_eq!(late.due_in, 0);
}
