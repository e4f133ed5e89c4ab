//! Counting: exact where the vocabulary is public, an estimate elsewhere, and each
//! message once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interleaf_assemble::{Bpe, Budget, Estimate, Ledger, Rate, TokenCounter, Tokens, counter_for};
use interleaf_model::{Extra, Json, Message, Tool, ToolName};

use crate::scene::{four_texts, input, ready, summary, view, words};

#[test]
fn known_texts_have_known_counts() {
    let bpe = Bpe::named("o200k_base").unwrap();
    for (text, tokens) in [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
    ] {
        assert_eq!(bpe.count(text), tokens, "{text:?}");
    }
    assert_eq!(bpe.name(), "o200k_base");
    assert_eq!(Bpe::named("cl100k_base").unwrap().count("お誕生日おめでとう"), 9);
    assert!(Bpe::named("klingon").is_none());
}

#[test]
fn a_model_has_its_own_vocabulary_or_an_estimate() {
    for (model, counter) in [
        ("gpt-4o", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-9-turbo", "o200k_base"),
        ("openai/o4-mini", "o200k_base"),
        ("claude-opus-4", "estimate"),
        ("gemini-3", "estimate"),
    ] {
        assert_eq!(counter_for(model).name(), counter, "{model}");
    }
}

#[test]
fn an_estimate_moves_towards_what_is_reported() {
    let estimate = Estimate::default();
    let text = "hello world";
    assert_eq!((estimate.count(text), estimate.rate().apply(100)), (2, 115));
    for _ in 0..40 {
        // Of what is 1,000 in its own unit the API says that it is 1,400.
        estimate.observe(estimate.rate().apply(1_000), 1_400);
    }
    let ratio = estimate.rate().ratio();
    assert!((ratio / 1.4 - 1.0).abs() < 0.03, "{ratio}");
    assert_eq!(estimate.count(text), 2, "its own unit stays");
    let before = estimate.rate();
    estimate.observe(0, 5);
    estimate.observe(10, 1_000_000);
    assert_eq!(estimate.rate(), before, "what cannot be about text is passed over");
}

#[test]
fn an_estimate_that_is_near_enough_stays_as_it_is() {
    let estimate = Estimate::default();
    let before = estimate.rate();
    for off in [990, 1_010, 1_005, 995].iter().cycle().take(40) {
        estimate.observe(1_000, *off);
    }
    assert_eq!(estimate.rate(), before);
}

#[test]
fn remembered_counts_follow_the_correction() {
    let ledger = Ledger::new(Arc::new(Estimate::default()));
    let message = &view("u hello world hello world")[0];
    let before = ledger.message(message);
    (0..20).for_each(|_| ledger.observe(1_000, 1_500));
    assert!(ledger.message(message) > before);
}

/// Counts how often it is asked.
#[derive(Default)]
struct Asked(AtomicUsize);

impl TokenCounter for Asked {
    fn count(&self, text: &str) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        text.len() as u64
    }

    fn name(&self) -> &str {
        "asked"
    }
}

#[test]
fn a_message_is_counted_once() {
    let counter = Arc::new(Asked::default());
    let ledger = Arc::new(Ledger::new(counter.clone()));
    let mut input = input("u one\na two\nu three");
    input.ledger = Some(ledger.clone());
    input.budget = Some(Budget::of_window(1_000));
    let first = ready(&input);
    assert_eq!(counter.0.load(Ordering::Relaxed), 3);
    let again = ready(&input);
    assert_eq!(counter.0.load(Ordering::Relaxed), 3);
    assert_eq!(first, again);
    input.view.messages.extend(view("a four"));
    ready(&input);
    assert_eq!(counter.0.load(Ordering::Relaxed), 4);
}

#[test]
fn a_message_at_the_address_of_a_dead_one_is_counted_anew() {
    let ledger = words();
    for n in 1..5_000_u64 {
        let text = format!("u {}", "word ".repeat(n as usize % 7 + 1));
        assert_eq!(ledger.message(&view(&text)[0]), 4 + n % 7 + 1);
    }
}

#[test]
fn the_report_has_the_tokens_of_each_part() {
    let ledger = words();
    let mut input = input(
        "u the first question
         a the first answer
         u the second question
         a [call c1 ls {\"path\": \"src\"}]",
    );
    input.ledger = Some(ledger.clone());
    input.summary = summary("They talked.", &["m0", "m1"]);
    input.system = vec!["You are brief.".into()];
    input.context = four_texts();
    input.tools = Arc::new([Tool {
        name: ToolName::new("ls"),
        description: Some("Lists a folder.".into()),
        parameters: Json::parse(r#"{"type": "object"}"#).ok(),
        strict: None,
        extra: Extra::NONE,
    }]);
    let tokens = ready(&input).1.tokens.unwrap();
    let expected = Tokens {
        counter: "words".to_owned(),
        rate: Rate::ONE,
        system: 4 + 3,
        // [Previous conversation summary] (2 messages), and two words between two tags.
        summary: 4 + 5 + 2 + 2,
        // The question; the call with its name and two words of arguments; the made result.
        history: (4 + 3) + (4 + 8 + 1 + 2) + (4 + 7),
        // Each has a heading of four words and two tags.
        context: 4 * (4 + 4 + 2) + 3 + 2 + 2 + 2,
        tools: 8 + 1 + 3 + 2,
    };
    assert_eq!(tokens, expected);
    assert_eq!(tokens.total(), 7 + 13 + 33 + 49 + 14);
}

#[test]
fn many_messages_count_as_each_by_itself_on_any_number_of_threads() {
    let messages: Vec<Arc<Message>> = (0..2_500)
        .map(|n| Arc::new(Message::user(&format!("message {n} {}", "word ".repeat(n % 7)))))
        .collect();
    let all: Vec<&Arc<Message>> = messages.iter().collect();
    let each = Ledger::for_model("gpt-4.1");
    let expected: Vec<u64> = all.iter().map(|message| each.message(message)).collect();
    for n_threads in [1, 2, 7] {
        let ledger = Ledger::for_model("gpt-4.1");
        // Some are known already.
        all.iter().step_by(3).for_each(|message| _ = ledger.message(message));
        assert_eq!(ledger.messages(&all, n_threads), expected);
        assert_eq!(ledger.messages(&all, n_threads), expected);
    }
}
