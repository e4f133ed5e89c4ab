//! Marks for the cache, as the impact of a request tells of them.

use interleaf::cache::Rules;
use interleaf::model::Message;
use interleaf::wire::{CacheMarks, Family};
use interleaf::{BreakCause, Session};

use crate::impact::{recipe, sent, target};
use crate::{block_on, memory};

#[test]
fn h2_marks_that_are_switched_on_in_mid_session_change_nothing_for_the_model() {
    block_on(async {
        for family in Family::ALL {
            let mut session = Session::create(memory().await, "").await.unwrap();
            session.append(Message::user("mend the clock")).await.unwrap();
            let mut target = target(family);
            sent(&mut session, &recipe(), &target).await;
            target.options.cache = CacheMarks::On;
            let marked = sent(&mut session, &recipe(), &target).await;
            assert_eq!(marked.impact.cause, BreakCause::Same, "{family:?}");
            target.options.cache = CacheMarks::Off;
            let unmarked = sent(&mut session, &recipe(), &target).await;
            assert_eq!(unmarked.impact.cause, BreakCause::Same, "{family:?}");
        }
    });
}

#[test]
fn h2_a_request_without_marks_is_told_to_leave_nothing_where_marks_are_needed() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user(&"word ".repeat(9_000))).await.unwrap();
        for (family, vendor) in [(Family::Anthropic, "anthropic"), (Family::OpenaiChat, "openai")] {
            for marks in [CacheMarks::Off, CacheMarks::On] {
                let mut target = target(family);
                (target.cache_rules, target.options.cache) = (Rules::named(vendor), marks);
                let cost = sent(&mut session, &recipe(), &target).await.impact.cost.unwrap();
                let is_needed = family == Family::Anthropic && marks == CacheMarks::Off;
                assert_eq!(cost.unmarked, is_needed, "{family} {marks:?}");
                assert!(!cost.unmarked || cost.written == 0, "{family} {marks:?}");
                assert!(cost.unbroken <= cost.price, "{family} {marks:?} {cost:?}");
            }
        }
    });
}
