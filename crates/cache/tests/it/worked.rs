//! Worked examples: what a user of each API would be billed.

use interleaf_cache::{Cache, Certainty, Prompt, Rules, Stop};

/// A system message, then messages of a session; the last of them marked.
fn prompt(messages: &[u64]) -> Prompt {
    let mut prompt = Prompt::new();
    prompt.push(1, 2_000, Stop::Block);
    messages.iter().for_each(|&message| prompt.push(message, 1_000, Stop::Block));
    prompt.mark(prompt.len());
    prompt
}

fn read(name: &str, prompts: &[&[u64]], pause: u64) -> Vec<u64> {
    let mut cache = Cache::new(Rules::named(name).unwrap());
    let times = (0..).map(|n| n * pause);
    prompts.iter().zip(times).map(|(it, at)| cache.request(&prompt(it), at).read).collect()
}

#[test]
fn a_session_that_only_grows_is_read_back_on_every_api() {
    let growing: [&[u64]; 3] = [&[10, 11], &[10, 11, 12, 13], &[10, 11, 12, 13, 14, 15]];
    for rules in Rules::all() {
        let found = read(&rules.name, &growing, 1);
        let step = match &*rules.name {
            "openai-5.5" => 2_048,
            "openai" => 128,
            "deepseek" => 64,
            "vllm" => 16,
            _ => 1,
        };
        let expected = [0, 4_000, 6_000].map(|tokens: u64| tokens - tokens % step);
        let expected = match &*rules.name {
            // Shorter than what is kept at all.
            "gemini" => [0, 0, 6_000],
            _ => expected,
        };
        assert_eq!(found, expected, "{}", rules.name);
    }
}

#[test]
fn a_block_that_moves_is_fatal_where_only_marks_are_found() {
    // Message 90 is the context block: it moves one message on with every request.
    let moving: [&[u64]; 3] = [&[10, 90, 11], &[10, 11, 90, 12], &[10, 11, 12, 90, 13]];
    assert_eq!(read("anthropic", &moving, 1), [0, 0, 0]);
    assert_eq!(read("sglang", &moving, 1), [0, 3_000, 4_000]);
    assert_eq!(read("llama.cpp", &moving, 1), [0, 3_000, 4_000]);
}

#[test]
fn a_mark_before_the_block_saves_what_stands_before_it() {
    let mut cache = Cache::new(Rules::named("anthropic").unwrap());
    let mut reads = Vec::new();
    for n in 3..6 {
        let mut prompt = Prompt::new();
        (0..n).for_each(|message| prompt.push(message, 1_000, Stop::Block));
        prompt.mark(prompt.len());
        prompt.push(90 + n, 500, Stop::Block);
        let used = cache.request(&prompt, n);
        assert_eq!(used.plain(), 500);
        reads.push((used.read, used.written));
    }
    assert_eq!(reads, [(0, 3_000), (3_000, 1_000), (4_000, 1_000)]);
}

#[test]
fn a_mark_finds_nothing_that_was_written_more_than_twenty_blocks_before_it() {
    let mut cache = Cache::new(Rules::named("anthropic").unwrap());
    let mut session: Vec<u64> = (10..12).collect();
    cache.request(&prompt(&session), 0);
    session.extend(12..32);
    assert_eq!(cache.request(&prompt(&session), 1).read, 0);
    session.extend(32..51);
    assert_eq!(cache.request(&prompt(&session), 2).read, 24_000);
}

#[test]
fn what_is_too_short_by_a_later_count_is_not_read() {
    let mut cache = Cache::new(Rules::named("anthropic").unwrap());
    let counted = |tokens: u32| {
        let mut prompt = Prompt::new();
        prompt.push(1, tokens, Stop::Block);
        prompt.mark(1);
        prompt
    };
    assert_eq!(cache.request(&counted(1_100), 0).written, 1_100);
    let used = cache.request(&counted(1_000), 1);
    assert_eq!((used.read, used.written), (0, 0));
    assert_eq!(cache.request(&counted(1_100), 2).read, 1_100);
}

#[test]
fn after_a_pause_longer_than_the_lifetime_all_is_computed_again() {
    let same: [&[u64]; 3] = [&[10, 11], &[10, 11], &[10, 11]];
    assert_eq!(read("anthropic", &same, 300), [0, 4_000, 4_000]);
    assert_eq!(read("anthropic", &same, 301), [0, 0, 0]);
    assert_eq!(read("openai", &same, 601), [0, 0, 0]);
    assert_eq!(read("sglang", &same, 1 << 40), [0, 3_999, 3_999]);
}

#[test]
fn a_model_that_cannot_go_back_reads_up_to_its_last_checkpoint() {
    let moving: [&[u64]; 3] = [&[10, 90, 11], &[10, 11, 90, 12], &[10, 11, 12, 90, 13]];
    // Checkpoints lie close to the end of a prompt, after the block's old place.
    assert_eq!(read("llama.cpp-window", &moving, 1), [0, 0, 0]);
}

#[test]
fn every_row_has_a_name_of_its_own_and_prices_that_make_sense() {
    let mut names = Vec::new();
    for rules in Rules::all() {
        assert!(!names.contains(&rules.name), "{}", rules.name);
        assert!(rules.prices.read < 1.0 && rules.prices.write >= 1.0, "{}", rules.name);
        assert!(rules.certainty != Certainty::Measured || rules.prices.read == 0.0);
        names.push(rules.name);
    }
}

#[test]
fn a_mark_goes_with_its_piece() {
    let mut prompt = prompt(&[10, 11]);
    prompt.truncate(2);
    prompt.push(12, 1_000, Stop::Block);
    let mut cache = Cache::new(Rules::named("anthropic").unwrap());
    assert_eq!(cache.request(&prompt, 0).written, 0);
    prompt.mark(3);
    prompt.mark(4);
    assert_eq!(cache.request(&prompt, 0).written, 4_000);
    prompt.clear_marks();
    assert_eq!(cache.request(&prompt, 0).read, 0);
}

#[test]
fn a_clock_that_is_set_back_does_no_harm() {
    for rules in Rules::all() {
        let mut cache = Cache::new(rules.clone());
        let prompt = prompt(&[10, 11, 12, 13]);
        let read = [100, 60, 0, 90].map(|at| cache.request(&prompt, at).read);
        assert!(read[0] == 0 && read[1..].iter().all(|&read| read > 4_000), "{read:?}");
    }
}

#[test]
fn later_models_have_the_rules_of_their_kind_and_claude_has_its_figures_on_bedrock() {
    let name = |vendor, model| Rules::of_model(vendor, model).unwrap().name;
    for model in ["gpt-5.6", "gpt-5.7-mini", "gpt-5.10", "gpt-6", "gpt-6.1-sol", "gpt-7"] {
        assert_eq!(name("openai", model), "openai-5.6", "{model}");
    }
    for model in ["gpt-5", "gpt-5.4", "gpt-4.1", "gpt-oss", "o3"] {
        assert_eq!(name("openai", model), "openai", "{model}");
    }
    assert_eq!(name("openai", "gpt-5.5-pro"), "openai-5.5");
    for (model, minimum) in [
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 4_096),
        ("anthropic.claude-opus-4-7", 2_048),
        ("global.anthropic.claude-sonnet-4-5", 1_024),
        ("us.amazon.nova-pro-v1:0", 1_000),
        ("meta.llama3-8b", 1_024),
    ] {
        let rules = Rules::of_model("bedrock", model).unwrap();
        assert_eq!((&*rules.name, rules.minimum), ("bedrock", minimum), "{model}");
    }
    assert_eq!(Rules::of_model("anthropic", "claude-haiku-5-5").unwrap().minimum, 512);
}
