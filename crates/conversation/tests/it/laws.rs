//! Laws: whatever is done to a conversation, it answers like the oracle.

use std::collections::HashSet;

use interleaf_conversation::{Conversation, Event};
use interleaf_model::{Message, Transcript, Usage};
use interleaf_samples::generate::agent_session;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::command::{command, history, message, question};
use crate::run::{Run, as_u32, assert_same, run};

proptest! {
    #[test]
    fn any_sequence_of_commands_gives_what_the_oracle_gives(
        history in history(),
        commands in vec(command(), 0..24),
        questions in vec(question(), 1..5),
    ) {
        let run = run(&history, &commands, &questions);
        for (conversation, oracle) in &run.left {
            assert_same(conversation, oracle);
        }
    }

    #[test]
    fn replaying_the_events_gives_the_same_conversation(
        history in history(),
        commands in vec(command(), 0..24),
    ) {
        let run = run(&history, &commands, &[]);
        prop_assert_eq!(&Conversation::replay(&run.events).unwrap(), &run.conversation);
        let read = |event: &Event| -> Event {
            serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap()
        };
        let events: Vec<Event> = run.events.iter().map(read).collect();
        prop_assert_eq!(&events, &run.events);
        prop_assert_eq!(Conversation::replay(&events).unwrap(), run.conversation);
    }

    #[test]
    fn a_transcript_restores_the_conversation(
        history in history(),
        commands in vec(command(), 0..24),
        more in vec(command(), 0..6),
    ) {
        let mut run = run(&history, &commands, &[]);
        let text = run.conversation.to_transcript().write();
        let restored = Conversation::from_transcript(&Transcript::read(&text).unwrap()).unwrap();
        prop_assert_eq!(&restored, &run.conversation);
        prop_assert_eq!(restored.to_transcript().write(), text);
        run.conversation = restored;
        for command in &more {
            run.step(command);
            assert_same(&run.conversation, &run.oracle);
        }
    }

    #[test]
    fn every_batch_can_be_rolled_back_to_exactly(
        history in history(),
        commands in vec(command(), 0..24),
    ) {
        let run = run(&history, &commands, &[]);
        for (batch, ended) in run.oracle.ended.iter().enumerate() {
            let mut back = run.conversation.fork();
            let events = back.roll_back(batch as u32).unwrap();
            prop_assert_eq!(&events[0], &Event::RolledBack { batch: batch as u32 });
            let mut marks: Vec<_> = back.marks().flat_map(on_each).collect();
            let mut then: Vec<_> =
                ended.marks.iter().map(|(index, mark)| (mark.as_str(), *index as u32)).collect();
            marks.sort_unstable();
            then.sort_unstable();
            prop_assert_eq!(marks, then);
            prop_assert_eq!(back.view().collect::<Vec<_>>(), as_u32(&ended.view));
            prop_assert_eq!(back.usage().cumulative, ended.cumulative);
            prop_assert_eq!(back.usage().lifetime, run.oracle.lifetime);
            back.roll_back(run.oracle.ended.len() as u32).unwrap();
            prop_assert_eq!(back.view().collect::<Vec<_>>(), as_u32(&run.oracle.view));
        }
    }

    #[test]
    fn forks_go_their_own_ways(
        history in history(),
        commands in vec(command(), 0..12),
        one in vec(command(), 0..6),
        other in vec(command(), 0..6),
    ) {
        let mut run = run(&history, &commands, &[]);
        let mut fork = Run {
            conversation: run.conversation.fork(),
            oracle: run.oracle.clone(),
            events: run.events.clone(),
            left: Vec::new(),
        };
        for i in 0..one.len().max(other.len()) {
            one.get(i).into_iter().for_each(|command| run.step(command));
            other.get(i).into_iter().for_each(|command| fork.step(command));
            assert_same(&run.conversation, &run.oracle);
            assert_same(&fork.conversation, &fork.oracle);
        }
    }

    #[test]
    fn a_transcript_of_any_make_is_kept(
        transcript in interleaf_samples::strategy::transcript(0..12),
    ) {
        let conversation = Conversation::from_transcript(&transcript).unwrap();
        let again = Conversation::from_transcript(&conversation.to_transcript()).unwrap();
        prop_assert_eq!(&again, &conversation);
        let view: Vec<u32> = match &transcript.view {
            Some(view) => view.iter().collect(),
            None => (0..transcript.messages.len() as u32).collect(),
        };
        prop_assert_eq!(conversation.view().collect::<Vec<_>>(), view);
        let ids: HashSet<_> = conversation.log().map(|message| &message.id).collect();
        prop_assert_eq!(ids.len(), conversation.log_len(), "ids are unique");
        for (i, (kept, came)) in conversation.log().zip(&transcript.messages).enumerate() {
            let is_double = transcript.messages[..i].iter().any(|before| before.id == came.id);
            prop_assert_eq!(kept.id != came.id, is_double);
            prop_assert_eq!(&Message { id: came.id.clone(), ..(**kept).clone() }, &**came);
        }
        let mut batches = transcript.batches.clone();
        // The current batch has no end, and nothing was counted up to it.
        batches.last_mut().into_iter().for_each(|open| open.cumulative = Usage::default());
        let listed: Vec<_> = conversation.to_transcript().batches;
        prop_assert_eq!(listed, batches);
        for (mark, indices) in &transcript.marks {
            prop_assert!(indices.iter().all(|&index| conversation.has_mark(index, mark)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn a_long_conversation_gives_what_the_oracle_gives(
        len in 1_000_usize..6_000,
        commands in vec(command(), 6..16),
        questions in vec(question(), 2..4),
    ) {
        let run = run(&agent_session(len), &commands, &questions);
        for (conversation, oracle) in &run.left {
            assert_same(conversation, oracle);
        }
        prop_assert_eq!(Conversation::replay(&run.events).unwrap(), run.conversation);
    }
}

#[test]
fn messages_of_every_kind_are_stored_as_they_came() {
    proptest!(ProptestConfig { cases: 64, ..ProptestConfig::default() }, |(
        messages in vec(message(), 0..12),
    )| {
        let run = Run::begin(&messages);
        assert_same(&run.conversation, &run.oracle);
        for (index, message) in run.conversation.log().enumerate() {
            prop_assert!(!message.id.is_unassigned(), "message {index} has an id");
        }
    });
}

fn on_each<'a>(
    (mark, on): (&'a str, impl Iterator<Item = u32> + 'a),
) -> impl Iterator<Item = (&'a str, u32)> + 'a {
    on.map(move |index| (mark, index))
}

#[test]
fn the_visible_messages_are_those_of_the_view_however_it_leaps() {
    let mut conversation = Conversation::default();
    for n in 0..300 {
        conversation.append(Message::user(&format!("{}{n}", n % 2))).unwrap();
    }
    let check = |conversation: &Conversation| {
        let shown: Vec<_> = conversation.view().filter_map(|at| conversation.message(at)).collect();
        assert!(conversation.visible().eq(shown.iter().copied()));
        assert!(conversation.visible().rev().eq(shown.iter().rev().copied()));
        let (mut seen, mut both) = (0, conversation.visible());
        while let (Some(_), Some(last)) = (both.next(), both.next_back()) {
            seen += 1;
            assert_eq!(last.id, shown[shown.len() - seen].id);
        }
    };
    check(&conversation);
    for operation in [
        r#"{"truncate": {"keep_first": 90, "keep_last": 90}}"#,
        r#"{"insert": {"position": 40, "messages": [{"role": "user", "parts": [{"type": "text", "text": "new"}]}]}}"#,
        r#"{"filter": {"excludes": ["1"]}}"#,
        r#"{"insert": {"position": 3, "messages": [{"role": "user", "parts": [{"type": "text", "text": "newer"}]}]}}"#,
    ] {
        conversation.operate(serde_json::from_str(operation).unwrap()).unwrap();
        check(&conversation);
    }
}
