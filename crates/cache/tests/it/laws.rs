//! Laws, for sessions whose requests go on from, part from and repeat earlier ones.

use interleaf_cache::{Cache, Checkpoints, Match, Prompt, Rules, Stop, Used, last_used};
use proptest::prelude::*;

use crate::oracle::{self, Asked};

/// Where a request begins: with so much of an earlier one, and then tokens of its own.
type Drawn = (prop::sample::Index, f64, Vec<u8>, Vec<u8>, Vec<prop::sample::Index>);

fn drawn() -> impl Strategy<Value = Drawn> {
    let tokens = || prop::collection::vec(0..3_u8, 0..12);
    let kept = prop_oneof![3 => Just(1.0), 1 => 0.0..1.0];
    let marks = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    (any::<prop::sample::Index>(), kept, tokens(), tokens(), marks)
}

fn session() -> impl Strategy<Value = Vec<Asked>> {
    (1..4_usize, prop::collection::vec(drawn(), 1..12)).prop_map(|(block, all)| {
        let mut session: Vec<Asked> = Vec::new();
        for (from, kept, new, answer, marks) in all {
            let mut tokens = match session.is_empty() {
                true => Vec::new(),
                false => from.get(&session).whole(),
            };
            tokens.truncate((tokens.len() as f64 * kept) as usize);
            tokens.extend(new);
            let mut asked = Asked { tokens, answer, marks: Vec::new(), block };
            let ends: Vec<usize> =
                (1..=asked.tokens.len()).filter(|&n| asked.ends_block(n)).collect();
            if !ends.is_empty() {
                asked.marks = marks.iter().map(|mark| *mark.get(&ends)).collect();
            }
            session.push(asked);
        }
        session
    })
}

fn small() -> impl Strategy<Value = Rules> {
    let rules = |name: &str, matches: Match, minimum: u64| {
        let mut rules = Rules::named(name).unwrap();
        (rules.matches, rules.minimum, rules.lifetime) = (matches, minimum, None);
        rules
    };
    let prefix = (1..5_u64, any::<bool>(), any::<bool>(), 0..8_u64).prop_map(move |row| {
        let (step, answers, computes_last, minimum) = row;
        rules("openai", Match::Prefix { step, answers, computes_last }, minimum)
    });
    let marks = (1..5_usize, 1..5_usize, any::<bool>(), 0..8_u64).prop_map(move |row| {
        let (lookback, most, implicit, minimum) = row;
        rules("anthropic", Match::Marks { lookback, most, implicit }, minimum)
    });
    let units = (0..5_u64).prop_map(move |least| rules("deepseek-v4", Match::Units { least }, 0));
    let slot = Just(rules("llama.cpp", Match::Slot { checkpoints: None }, 0));
    prop_oneof![prefix, marks, units, slot]
}

/// A slot whose state goes back to checkpoints only: the laws of the others need not hold.
fn window() -> impl Strategy<Value = Rules> {
    (0..6_u64, 0..4_u64, 1..5_usize).prop_map(|(more, last, most)| {
        let mut rules = Rules::named("llama.cpp-window").unwrap();
        let checkpoints = Checkpoints { before_end: [more + last, last], most };
        rules.matches = Match::Slot { checkpoints: Some(checkpoints) };
        rules
    })
}

/// The tokens as pieces: one by one, or a content block at a time.
fn prompt(asked: &Asked, tokens: &[u8], by_block: bool) -> Prompt {
    let mut prompt = Prompt::new();
    let mut key = 1;
    let mut n_tokens = 0;
    for (at, token) in tokens.iter().enumerate() {
        let n = at + 1;
        let in_prompt = n <= asked.tokens.len();
        let ends = in_prompt && asked.ends_block(n);
        (key, n_tokens) = (key * 5 + u64::from(*token) + 1, n_tokens + 1);
        let stop = if ends { Stop::Block } else { Stop::Inside };
        if !by_block || ends || !in_prompt {
            prompt.push(key, n_tokens, stop);
            (key, n_tokens) = (1, 0);
        }
        if asked.marks.contains(&n) {
            prompt.mark(prompt.len());
        }
    }
    prompt
}

fn run(rules: &Rules, session: &[Asked], by_block: bool) -> Vec<Used> {
    run_at(rules, session, by_block, &vec![0; session.len()])
}

fn run_at(rules: &Rules, session: &[Asked], by_block: bool, times: &[u64]) -> Vec<Used> {
    let mut cache = Cache::new(rules.clone());
    let one = |(asked, &at): (&Asked, &u64)| {
        let sent = prompt(asked, &asked.tokens, by_block);
        let used = cache.request(&sent, at);
        cache.answered(&prompt(asked, &asked.whole(), by_block));
        used
    };
    session.iter().zip(times).map(one).collect()
}

proptest! {
    #[test]
    fn a_cache_reads_and_writes_what_the_plainest_reading_of_its_rules_says(
        rules in prop_oneof![3 => small(), 1 => window()], session in session(),
    ) {
        prop_assert_eq!(run(&rules, &session, false), oracle::used(&rules, &session));
    }

    #[test]
    fn whole_blocks_read_at_most_what_their_tokens_read_and_from_marks_the_same(
        // Where blocks part, tokens may part a little later: another unit.
        rules in small().prop_filter("has no units", |r| !matches!(r.matches, Match::Units { .. })),
        session in session(),
    ) {
        let (coarse, fine) = (run(&rules, &session, true), run(&rules, &session, false));
        let is_kept = |coarse: Used, fine: Used| match rules.matches {
            Match::Marks { .. } => coarse == fine,
            _ => coarse.read <= fine.read,
        };
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            prop_assert_eq!(coarse.prompt, fine.prompt);
            prop_assert!(is_kept(coarse, fine), "{coarse:?} for {fine:?}");
        }
    }

    #[test]
    fn nothing_is_counted_twice_and_a_repeated_prompt_never_reads_less(
        rules in small(), session in session(),
    ) {
        let mut cache = Cache::new(rules);
        for asked in &session {
            let sent = prompt(asked, &asked.tokens, false);
            let first = cache.request(&sent, 0);
            prop_assert!(first.read + first.written <= first.prompt);
            let again = cache.request(&sent, 0);
            prop_assert!(again.read >= first.read, "{again:?} after {first:?}");
        }
    }

    #[test]
    fn a_prompt_that_is_cut_and_goes_on_is_the_prompt_made_anew(
        session in session(), cut in any::<prop::sample::Index>(),
    ) {
        for pair in session.windows(2) {
            let [old, new] = [&pair[0], &pair[1]].map(|asked| prompt(asked, &asked.tokens, false));
            let (n, tokens) = new.shared(&old);
            prop_assert_eq!(n as u64, tokens);
            // The last token of a prompt ends a block there, but may not in a longer one.
            let n = n.min(old.len().min(new.len()).saturating_sub(1));
            let n = cut.index(n + 1);
            let mut made = old.clone();
            made.truncate(n);
            let asked = &pair[1];
            for at in n..asked.tokens.len() {
                let stop = if asked.ends_block(at + 1) { Stop::Block } else { Stop::Inside };
                made.push(5 + u64::from(asked.tokens[at]) + 1, 1, stop);
            }
            made.clear_marks();
            asked.marks.iter().for_each(|&mark| made.mark(mark));
            prop_assert_eq!(made, new);
        }
    }
}

/// The requests in figures: each goes on from the one that it has most in common with.
fn told<'m>(
    session: &[Asked],
    times: &[u64],
    marks: &'m [Vec<u64>],
) -> Vec<interleaf_cache::SentPrompt<'m>> {
    let shared = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let sent = |(n, asked): (usize, &Asked)| {
        let with = |other: &Asked| shared(&asked.whole(), &other.whole()) as u64;
        let after = (0..n).max_by_key(|&other| with(&session[other]));
        interleaf_cache::SentPrompt {
            at: times[n],
            after,
            shared: after.map_or(0, |other| with(&session[other])),
            tokens: asked.tokens.len() as u64,
            answer: asked.answer.len() as u64,
            marks: &marks[n],
        }
    };
    session.iter().enumerate().map(sent).collect()
}

proptest! {
    #[test]
    fn requests_told_in_figures_take_what_they_take_token_by_token(
        mut session in session(),
        rules in prop_oneof![small(), window()],
        lifetime in prop::option::of(0..20_u64),
        times in prop::collection::vec(0..30_u64, 12),
        in_order in any::<bool>(),
    ) {
        let (mut rules, mut times) = (rules, times);
        rules.lifetime = lifetime;
        // Clocks may be set back.
        if in_order {
            times.sort_unstable();
        }
        // How many blocks stand between two marks is not told in figures.
        if let Match::Marks { lookback, .. } = &mut rules.matches {
            *lookback = usize::MAX;
        }
        session.iter_mut().for_each(|asked| asked.block = 1);
        let own = |asked: &Asked| asked.marks.iter().map(|&mark| mark as u64).collect();
        let marks: Vec<Vec<u64>> = session.iter().map(own).collect();
        let sent = told(&session, &times, &marks);
        for (n, used) in run_at(&rules, &session, false, &times).into_iter().enumerate() {
            let [told] = last_used(&rules, &sent[..n], [&sent[n]]);
            prop_assert_eq!(told, used, "request {}", n);
        }
    }
}
