//! Whatever comes in, a request is valid or refused with a reason, the same every
//! time, and made of itself again.
//!
//! The bytes are a transcript, or else lines of notation, or else each byte after
//! the first four is a message from a list, so that broken histories come up often.

#![no_main]

mod drawn;

use std::sync::Arc;

use interleaf_assemble::{
    Assembly, Context, ErrorKind, Input, Ledger, Outcome, Summary, TokenCounter, assemble,
};
use interleaf_model::{
    ContextKind, Entry, Law, Message, MessageId, Prompt, Provenance, Role, Transcript, notation,
};
use libfuzzer_sys::fuzz_target;

use crate::drawn::{Dice, drawn_messages, settings};

fuzz_target!(|data: &[u8]| {
    let (messages, dice) = read(data);
    let ledger = Ledger::new(Arc::new(Words));
    let input = input(messages, dice, &ledger);
    let assembly = assemble(&input);
    assert_eq!(assembly, assemble(&input), "twice the same");
    match assembly {
        Ok(Assembly { outcome: Outcome::Ready(prompt), report }) => {
            if let Some(budget) = input.settings.budget {
                assert!(report.tokens.as_ref().is_some_and(|t| t.total() <= budget.limit()));
            }
            check_users(&input, &prompt, &report);
            check_again(&input, &prompt);
        }
        Ok(Assembly { outcome: Outcome::Waiting(calls), .. }) => assert!(!calls.is_empty()),
        Err(error) => match error.kind() {
            ErrorKind::Invalid => {
                let law = error.violation().map(|violation| violation.law);
                assert_eq!(law, Some(Law::NotEmpty), "{error}");
            }
            ErrorKind::TooLarge => assert!(input.settings.budget.is_some()),
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

fn input(view: Vec<Arc<Message>>, mut dice: Dice, ledger: &Ledger) -> Input<'_> {
    let mut input = Input::of(view);
    input.settings = settings(&mut dice);
    input.ledger = input.settings.budget.map(|_| ledger);
    let kinds = [ContextKind::Notes, ContextKind::Role, ContextKind::Other("more".into())];
    for kind in kinds.into_iter().take(dice.roll(4)) {
        input.context.push(Context::new(kind, "context"));
    }
    if dice.roll(2) == 1 {
        input.system.push("system".into());
    }
    let ids = input.view.iter().map(|message| message.id.clone());
    let covers: Vec<MessageId> = ids.skip(dice.roll(4)).step_by(1 + dice.roll(3)).collect();
    input.pinned.extend(covers.iter().skip(1).step_by(5).cloned());
    if let Some(start) = covers.first().filter(|_| dice.roll(2) == 1) {
        let start = start.clone();
        let covers = covers.into_iter().take(8).collect();
        input.summary = Some(Summary { text: "before".into(), start, covers });
    }
    input
}

/// No word of a user is lost without being named, and they keep their order.
fn check_users(input: &Input<'_>, prompt: &Prompt, report: &interleaf_assemble::Report) {
    let mut entries = prompt.entries().iter();
    for message in input.view.iter().filter(|message| message.role() == Role::User) {
        let is_named = report.findings().any(|(_, finding)| finding.message == message.id);
        let is_sent = is_named || entries.any(|entry| Arc::ptr_eq(&entry.message, message));
        assert!(is_sent, "{} is gone", message.id);
    }
}

/// A finished request, taken for a conversation, stays as it is.
fn check_again(input: &Input<'_>, prompt: &Prompt) {
    let is_said = |entry: &&Entry| match entry.provenance {
        Provenance::Context(_) => false,
        Provenance::Summary => entry.message.role() != Role::System,
        _ => true,
    };
    let said = prompt.entries().iter().filter(is_said).map(|entry| entry.message.clone());
    let mut again = Input::of(said);
    again.settings.agent = input.settings.agent.clone();
    if again.view.iter().all(|message| message.role() == Role::System) {
        return;
    }
    match assemble(&again) {
        Ok(Assembly { outcome: Outcome::Ready(prompt), report }) => {
            assert!(prompt.messages().eq(&again.view), "made of itself again");
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
