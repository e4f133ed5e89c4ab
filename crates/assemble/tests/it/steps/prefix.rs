//! C11: what is the same as in the previous request, and where to cache.

use interleaf_assemble::{Previous, StablePrefix};

use crate::scene::{Scene, four_texts, input, ready, view, words};

fn session(text: &str) -> Scene {
    let mut input = input(text);
    input.context = four_texts();
    input
}

const FOUR_ROUNDS: &str = "s rules
    u go
    a [call c1 ls]
    t c1= one
    a [call c2 ls]
    t c2= two
    a [call c3 ls]
    t c3= three
    a [call c4 ls]
    t c4= four";

#[test]
fn the_report_says_where_the_block_went_and_what_is_stable() {
    let first = session(FOUR_ROUNDS);
    let (prompt, report) = ready(&first);
    assert_eq!(report.placement.unwrap().index, 6);
    assert_eq!((report.breakpoint, prompt.breakpoint()), (Some(5), Some(5)));
    assert_eq!(report.stable_prefix, None, "there was no request before");

    let ledger = words();
    let mut second = session(&format!("{FOUR_ROUNDS}\na [call c5 ls]\nt c5= five"));
    second.previous = Some(Previous::of(prompt.messages().cloned()));
    second.ledger = Some(ledger.clone());
    let (_, report) = ready(&second);
    assert_eq!(report.placement.unwrap().index, 8);
    let stable = report.stable_prefix.unwrap();
    let shared = &prompt.entries()[..6];
    assert_eq!(stable.messages, 6);
    assert_eq!(stable.bytes, shared.iter().map(|e| e.message.neutral_len()).sum::<usize>());
    // Four for each message, eight for each call; the words are rules, go, ls {}, one, ls {}, two.
    assert_eq!(stable.tokens, Some(6 * 4 + 2 * 8 + 1 + 1 + 2 + 1 + 2 + 1));
}

#[test]
fn ids_and_times_do_not_count_but_every_byte_that_is_sent_does() {
    let mut input = input("s rules\nu one\na two");
    let stable = |input: &Scene| ready(input).1.stable_prefix.map(|stable| stable.messages);
    input.previous =
        Some(Previous::of(view("s{id=x} rules\nu{id=y at=2026-11-15T10:00:00Z} one\na three")));
    assert_eq!(stable(&input), Some(2));
    input.previous = Some(Previous::of(view("s rules!\nu one\na two")));
    assert_eq!(stable(&input), Some(0));
    input.previous = Some(Previous::of(view("s rules\nu one\na two\nu four")));
    assert_eq!(stable(&input), Some(3));
    input.previous =
        Some(Previous::of(view("s rules\nu{extra={\"openai\":{\"name\":\"ada\"}}} one\na two")));
    assert_eq!(stable(&input), Some(1));
    input.previous = Some(Previous::default());
    assert_eq!(ready(&input).1.stable_prefix, Some(StablePrefix::default()));
}

#[test]
fn without_a_block_the_last_message_is_the_breakpoint() {
    let (_, report) = ready(&input("s rules\nu one\na two"));
    assert_eq!(report.breakpoint, Some(2));
    let mut first = input("u one");
    first.context = four_texts();
    first.context.remove(0);
    first.rule = interleaf_assemble::PlacementRule::AfterSystem;
    assert_eq!(ready(&first).1.breakpoint, None, "nothing stands before the block");
}
