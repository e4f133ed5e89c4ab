//! Whatever comes in, a request is valid or refused with a reason, the same every
//! time, and made of itself again.
//!
//! The bytes are a transcript, or else lines of notation, or else each byte after
//! the first four is a message from a list, so that broken histories come up often.

#![no_main]

mod drawn;
#[path = "../../crates/assemble/tests/it/told/users.rs"]
mod users;

use std::sync::Arc;

use interleaf_assemble::{
    Assembly, ContextText, ErrorKind, Ledger, LookAlikes, Outcome, Recipe, Running, Summary,
    TokenCounter, View, assemble,
};
use interleaf_model::{
    ContextKind, Entry, Law, Message, MessageId, Prompt, Provenance, Requirements, Role,
    Transcript, notation,
};
use libfuzzer_sys::fuzz_target;

use crate::drawn::{Dice, drawn_messages, recipe};

fuzz_target!(|data: &[u8]| {
    let (messages, dice) = read(data);
    let (view, recipe) = input(messages, dice);
    let made = || assemble(&view, &recipe, Requirements::STRICT, None);
    let assembly = made();
    assert_eq!(assembly, made(), "twice the same");
    let mut running = Running::of(view.clone()).assemble(&recipe, Requirements::STRICT);
    if let Ok(Assembly { outcome: Outcome::Ready(prompt), .. }) = &mut running {
        *prompt = prompt.whole();
    }
    assert_eq!(assembly, running, "the same for a session");
    match assembly {
        Ok(Assembly { outcome: Outcome::Ready(prompt), report }) => {
            if let Some(budget) = recipe.budget {
                assert!(report.tokens.as_ref().is_some_and(|t| t.total() <= budget.limit()));
            }
            users::check(&view, &prompt, &report);
            check_again(&recipe, &prompt);
        }
        Ok(Assembly { outcome: Outcome::Waiting(calls), .. }) => assert!(!calls.is_empty()),
        Err(error) => match error.kind() {
            ErrorKind::Invalid => {
                let law = error.violation().map(|violation| violation.law);
                assert_eq!(law, Some(Law::NotEmpty), "{error}");
            }
            ErrorKind::TooLarge => assert!(recipe.budget.is_some()),
            ErrorKind::Settings => {
                let hears = view.messages.iter().any(|message| recipe.agent.hears(message));
                assert!(!hears, "{error}");
            }
            _ => panic!("{error}"),
        },
    }
});

/// The messages that the bytes stand for, and the dice for everything else.
fn read(data: &[u8]) -> (Vec<Arc<Message>>, Dice) {
    let sum = data.iter().fold(0_u32, |sum, &byte| sum.rotate_left(5) ^ u32::from(byte));
    if let Ok(text) = std::str::from_utf8(data) {
        if let Ok(transcript) = Transcript::read(text) {
            return (transcript.messages, Dice(sum));
        }
        if let Ok(messages) = notation::parse(text) {
            return (named(messages), Dice(sum));
        }
    }
    match data.split_first_chunk() {
        Some((dice, rest)) => (named(drawn_messages(rest)), Dice(u32::from_le_bytes(*dice))),
        None => (Vec::new(), Dice(0)),
    }
}

fn named(messages: Vec<Message>) -> Vec<Arc<Message>> {
    let name = |(i, mut message): (usize, Message)| {
        if message.id.is_unassigned() {
            message.id = MessageId::of_index(i);
        }
        Arc::new(message)
    };
    messages.into_iter().enumerate().map(name).collect()
}

fn input(messages: Vec<Arc<Message>>, mut dice: Dice) -> (View, Recipe) {
    let mut view = View { messages, ..View::default() };
    let mut recipe = recipe(&mut dice);
    recipe.ledger = recipe.budget.map(|_| Arc::new(Ledger::new(Arc::new(Words))));
    let kinds = [ContextKind::Notes, ContextKind::Role, ContextKind::Other("more".into())];
    for kind in kinds.into_iter().take(dice.roll(4)) {
        recipe.context.push(ContextText::new(kind, "context"));
    }
    if dice.roll(2) == 1 {
        recipe.system.push("system".into());
    }
    let ids = view.messages.iter().map(|message| message.id.clone());
    let covers: Vec<MessageId> = ids.skip(dice.roll(4)).step_by(1 + dice.roll(3)).collect();
    view.pinned.extend(covers.iter().skip(1).step_by(5).cloned());
    if let Some(start) = covers.first().filter(|_| dice.roll(2) == 1) {
        let start = start.clone();
        let covers = covers.into_iter().take(8).collect();
        recipe.summary = Some(Arc::new(Summary { text: "before".into(), start, covers }));
    }
    (view, recipe)
}

/// A finished request, taken for a conversation, stays as it is.
fn check_again(recipe: &Recipe, prompt: &Prompt) {
    let is_said = |entry: &&Entry| match entry.provenance {
        Provenance::Context(_) => false,
        Provenance::Summary => entry.message.role() != Role::System,
        _ => true,
    };
    let said = prompt.entries().iter().filter(is_said).map(|entry| entry.message.clone());
    let view = View { messages: said.collect(), ..View::default() };
    // What the engine wrote stands in it, and is no look-alike.
    let again = Recipe::new().with_agent(recipe.agent.clone()).with_look_alikes(LookAlikes::Keep);
    if view.messages.iter().all(|message| message.role() == Role::System) {
        return;
    }
    // A context block that opens the conversation is missing in this one.
    let first = prompt.entries().iter().find(|entry| entry.message.role() != Role::System);
    let mut requires = Requirements::STRICT;
    requires.user_first =
        !first.is_some_and(|entry| matches!(entry.provenance, Provenance::Context(_)));
    match assemble(&view, &again, requires, None) {
        Ok(Assembly { outcome: Outcome::Ready(prompt), report }) => {
            let again: Vec<_> = prompt.messages().cloned().collect();
            assert_eq!(again, view.messages, "made of itself again");
            assert_eq!(report.findings().count(), 0);
        }
        other => panic!("{other:?}"),
    }
}

/// One token a word.
struct Words;

impl TokenCounter for Words {
    fn count(&self, text: &str) -> u64 {
        text.split_whitespace().count() as u64
    }

    fn name(&self) -> &str {
        "words"
    }
}
