//! A window that has no room for all that was said, as the impact of a request tells of it.

use std::sync::Arc;

use interleaf::assemble::{Budget, Estimate, FindingKind, Ledger, Recipe};
use interleaf::model::Message;
use interleaf::wire::Family;
use interleaf::{BreakCause, Session, Target};

use crate::impact::{sent, target};
use crate::{block_on, memory};

async fn say(session: &mut Session, n: usize) {
    for i in 0..n {
        let text = format!("{i} {}", "one word after another ".repeat(12));
        let message = if i % 2 == 0 { Message::user(&text) } else { Message::assistant(&text) };
        session.append(message).await.unwrap();
    }
    session.append(Message::user("Go on.")).await.unwrap();
}

async fn told(session: &mut Session, recipe: &Recipe, target: &Target) -> (BreakCause, usize) {
    let request = sent(session, recipe, target).await;
    let left_out = request.report.findings().filter(|(_, it)| it.kind == FindingKind::Dropped);
    (request.impact.cause, left_out.map(|(_, it)| it.count).sum())
}

#[test]
fn h2_the_first_message_that_newly_gives_way_is_named_and_one_that_is_back() {
    block_on(async {
        let target = target(Family::Anthropic);
        let ledger = Arc::new(Ledger::new(Arc::new(Estimate::default())));
        let open = Recipe::new().with_system("You are a careful agent.");
        let narrow = open.clone().with_budget(Budget::of_window(2_600)).with_ledger(ledger.clone());
        let wide = open.clone().with_budget(Budget::of_window(3_600)).with_ledger(ledger);
        let mut session = Session::create(memory().await, "").await.unwrap();
        say(&mut session, 60).await;
        let (_, had) = told(&mut session, &narrow, &target).await;
        say(&mut session, 6).await;
        let (cause, n) = told(&mut session, &narrow, &target).await;
        assert!(0 < had && had < n, "{had} {n}: {cause}");
        let message = format!("m{had}");
        assert!(
            matches!(&cause, BreakCause::Shortened { message: m, .. } if m.as_str() == message),
            "{message}: {cause}"
        );
        let (cause, n) = told(&mut session, &wide, &target).await;
        let message = format!("m{n}");
        assert_eq!(cause.to_string(), format!("{message} is back: there is room for it"));
        let (cause, _) = told(&mut session, &open, &target).await;
        assert_eq!(cause, BreakCause::Restored { message: "m0".into() });
    });
}
