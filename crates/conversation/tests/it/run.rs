//! A conversation and its oracle, side by side.

use std::sync::Arc;

use interleaf_conversation::{Conversation, Event, Operated, Operation, Query, Reason};
use interleaf_model::{BatchRecord, Message, Ranges, Role};

use crate::command::{Branch, Command, Question};
use crate::oracle::{Oracle, Outcome, Refused};

/// A conversation, its oracle, all that happened to it, and the branches that were
/// left behind.
pub(crate) struct Run {
    pub(crate) conversation: Conversation,
    pub(crate) oracle: Oracle,
    pub(crate) events: Vec<Event>,
    pub(crate) left: Vec<(Conversation, Oracle)>,
}

impl Run {
    /// Appends what can be appended.
    pub(crate) fn begin(history: &[Message]) -> Self {
        let mut run = Self {
            conversation: Conversation::new(),
            oracle: Oracle::default(),
            events: Vec::new(),
            left: Vec::new(),
        };
        for message in history {
            run.append(message);
        }
        run
    }

    fn append(&mut self, message: &Message) {
        let done = self.conversation.append(message.clone());
        assert_eq!(done.is_ok(), self.oracle.append(message).is_ok(), "append {message:?}");
        self.events.extend(done);
    }

    /// Does one thing to both sides and compares what they say of it.
    pub(crate) fn step(&mut self, command: &Command) {
        if let Some(operation) = command.operation(&self.oracle) {
            return self.operate(operation);
        }
        let Self { conversation, oracle, events, left } = self;
        let before = conversation.fork();
        let old = oracle.clone();
        let one = |event: Event| vec![event];
        let (done, expected) = match command.clone() {
            Command::Append(message) => {
                (conversation.append(message.clone()).map(one), oracle.append(&message))
            }
            Command::Mark(index, mark) => {
                let index = index.near(oracle.log.len());
                (conversation.mark(index as u32, mark).map(one), oracle.mark(index, mark))
            }
            Command::Unmark(index, mark) => {
                let index = index.near(oracle.log.len());
                (conversation.unmark(index as u32, mark).map(one), oracle.unmark(index, mark))
            }
            Command::RollBack(batch) => {
                let batch = batch.near(oracle.ended.len());
                (conversation.roll_back(batch as u32), oracle.roll_back(batch))
            }
            Command::Reset => {
                oracle.reset();
                (conversation.reset().map(one), Ok(()))
            }
            Command::BeginRequest(agent) => {
                let done = conversation.begin_request(agent.as_ref()).map(one);
                oracle.begin_request(agent);
                (done, Ok(()))
            }
            Command::NoteUsage(usage, agent) => {
                let done = conversation.note_usage(usage, agent.as_ref()).map(one);
                oracle.note_usage(usage, agent);
                (done, Ok(()))
            }
            Command::Fork { goes_on } => {
                let mut other = conversation.fork();
                assert_eq!(other, *conversation, "a fork begins as the same conversation");
                if goes_on == Branch::Fork {
                    std::mem::swap(&mut other, conversation);
                }
                left.push((other, oracle.clone()));
                (Ok(vec![]), Ok(()))
            }
            Command::Truncate(_)
            | Command::Insert { .. }
            | Command::Replace { .. }
            | Command::Clear { .. }
            | Command::Filter(_) => (Ok(vec![]), Ok(())),
        };
        assert_eq!(done.as_ref().err().map(|_| Refused), expected.err(), "{command:?}: {done:?}");
        match done {
            Ok(new) if !new.is_empty() => events.extend(new),
            Ok(_) | Err(_) => {
                assert_eq!(*conversation, before, "without an event nothing changes");
                assert_eq!(*oracle, old);
            }
        }
        assert_log_goes_on(&before, conversation);
    }

    fn operate(&mut self, operation: Operation) {
        let before = self.conversation.fork();
        let old = self.oracle.clone();
        let expected = self.oracle.operate(&operation);
        let done = self.conversation.operate(operation.clone());
        assert_log_goes_on(&before, &self.conversation);
        match (done, expected) {
            (Ok(operated), Ok(outcome)) => {
                assert_outcome(&operated, &outcome);
                assert_no_half_blocks(&operation, &old, &self.oracle);
                if operated.event.is_none() {
                    assert_eq!(self.conversation, before, "without an event nothing changes");
                } else {
                    assert_eq!(self.conversation.batches().count(), old.ended.len() + 2);
                }
                self.events.extend(operated.event);
            }
            (Err(error), Err(Refused)) => {
                assert!(error.field().starts_with(operation.name()), "{error} names the setting");
                assert_eq!(self.conversation, before, "an error changes nothing");
                assert_eq!(self.oracle, old);
            }
            (done, expected) => panic!("{operation:?} gave {done:?}, but {expected:?} is right"),
        }
    }
}

fn assert_log_goes_on(before: &Conversation, after: &Conversation) {
    assert!(before.log_len() <= after.log_len(), "the log never shrinks");
    let same = before.log().zip(after.log()).all(|(old, new)| Arc::ptr_eq(old, new));
    assert!(same, "what is in the log never changes");
}

fn assert_outcome(operated: &Operated, outcome: &Outcome) {
    let noted = |reasons: &[Reason]| {
        let notes = operated.notes.iter().filter(|note| reasons.contains(&note.reason));
        let mut indices: Vec<u32> = notes.flat_map(|note| note.indices.clone()).collect();
        indices.sort_unstable();
        indices
    };
    let sorted = |indices: &[usize]| {
        let mut indices = as_u32(indices);
        indices.sort_unstable();
        indices
    };
    assert_eq!(operated.event.is_some(), outcome.changed);
    assert_eq!(operated.hidden, as_u32(&outcome.hidden));
    assert_eq!(operated.added, as_u32(&outcome.added));
    let kept = [Reason::Pinned, Reason::System, Reason::BlockKept];
    assert_eq!(noted(&kept), sorted(&outcome.kept_anyway));
    assert_eq!(noted(&[Reason::BlockHidden]), sorted(&outcome.hidden_anyway));
    assert_eq!(noted(&[Reason::MovedBeforeBlock]), sorted(&outcome.moved));
}

/// Every block that was visible is visible as a whole or not at all, and its
/// results still have their call.
fn assert_no_half_blocks(operation: &Operation, before: &Oracle, after: &Oracle) {
    let split = match operation {
        Operation::Truncate(truncate) => truncate.split_blocks,
        Operation::Filter(filter) => filter.split_blocks,
        Operation::Clear(_) => false,
        Operation::Insert(insert) => insert.split_blocks,
        Operation::Replace(replace) => replace.split_blocks,
    };
    if split {
        return;
    }
    // A replaced message lives on in the one that took its place.
    let heir = |position: usize| match operation {
        Operation::Replace(replace) if replace.index == position => before.log.len(),
        _ => before.view[position],
    };
    for block in before.blocks() {
        let visible = block.iter().filter(|&&p| after.view.contains(&heir(p))).count();
        assert!(visible == 0 || visible == block.len(), "{operation:?} cuts {block:?}");
    }
    if let Operation::Replace(_) = operation {
        let owned = |oracle: &Oracle| oracle.blocks().iter().map(|b| b.len() - 1).sum::<usize>();
        assert!(owned(before) <= owned(after), "{operation:?} orphans a result");
    }
}

pub(crate) fn assert_same(conversation: &Conversation, oracle: &Oracle) {
    assert!(conversation.log().map(|m| &**m).eq(oracle.log.iter()), "log");
    for (index, message) in oracle.log.iter().enumerate() {
        assert_eq!(conversation.find(&message.id), Some(index as u32), "ids are unique");
    }
    assert!(conversation.visible().map(|m| &**m).eq(oracle.visible()), "visible messages");
    assert_eq!(conversation.view().collect::<Vec<_>>(), as_u32(&oracle.view), "view");
    assert_eq!(conversation.log_len(), oracle.log.len());
    assert_eq!(conversation.view_len(), oracle.view.len());
    let end = oracle.view.len();
    assert_eq!(conversation.visible_at(end), None);
    assert_eq!(conversation.message(oracle.log.len() as u32), None);
    for role in Role::ALL {
        for query in [Query::role(role), Query::role(role).in_log()] {
            let found = assert_answer(conversation, oracle, &query);
            assert_eq!(conversation.count(query.scope, role), found);
        }
    }
    assert_marks(conversation, oracle);
    assert_eq!(batches(conversation), expected_batches(oracle));
    let usage = conversation.usage();
    assert_eq!(usage.current, oracle.current);
    assert_eq!(usage.cumulative, oracle.cumulative);
    assert_eq!(usage.lifetime, oracle.lifetime);
    let agents =
        conversation.agents().map(|(name, c)| (name, [c.current, c.cumulative, c.lifetime]));
    assert!(agents.eq(oracle.agents.iter().map(|(name, &used)| (name, used))), "sub-agents");
    let fill = conversation.fill();
    let fill = fill.map(|fill| (fill.prompt, fill.added.into_iter().map(|m| &**m).collect()));
    assert_eq!(fill, oracle.fill());
}

/// Returns how many messages were found.
fn assert_answer(conversation: &Conversation, oracle: &Oracle, query: &Query) -> usize {
    let found = conversation.query(query);
    let expected = oracle.query(query);
    match (found, expected) {
        (Ok(hits), Ok(expected)) => {
            let places: Vec<_> = hits.iter().map(|h| (h.index as usize, h.position)).collect();
            assert_eq!(places, expected, "{query:?}");
            assert!(hits.iter().all(|hit| **hit.message == oracle.log[hit.index as usize]));
            hits.len()
        }
        (Err(error), Err(Refused)) => {
            assert!(["range", "turns"].contains(&error.field()), "{error}");
            0
        }
        (found, expected) => panic!("{query:?} gave {found:?}, but {expected:?} is right"),
    }
}

fn assert_marks(conversation: &Conversation, oracle: &Oracle) {
    let mut expected: Vec<(&str, u32)> =
        oracle.marks.iter().map(|(index, mark)| (mark.as_str(), *index as u32)).collect();
    expected.sort_unstable();
    let marks = conversation.marks().flat_map(|(mark, on)| on.map(move |index| (mark, index)));
    assert_eq!(marks.collect::<Vec<_>>(), expected);
    for &(mark, index) in &expected {
        assert!(conversation.has_mark(index, mark));
        assert!(!conversation.has_mark(index, "unknown"));
    }
}

fn batches(conversation: &Conversation) -> Vec<BatchRecord> {
    let listed: Vec<_> = conversation
        .batches()
        .map(|batch| (batch.cause.clone(), batch.boundary, batch.view_len_at_end()))
        .collect();
    let records = conversation.to_transcript().batches;
    if records.is_empty() {
        assert_eq!(listed, [("start".to_owned(), None, None)]);
        return records;
    }
    let recorded = records.iter().map(|record| {
        (record.cause.clone(), record.boundary, record.end.as_ref().map(Ranges::len))
    });
    assert_eq!(listed, recorded.collect::<Vec<_>>());
    // That the marks of each batch are there is shown by going back to it.
    records.into_iter().map(|record| BatchRecord { marks: None, ..record }).collect()
}

/// None at all before the first operation.
fn expected_batches(oracle: &Oracle) -> Vec<BatchRecord> {
    let record = |cause: Option<&str>, boundary: Option<usize>| BatchRecord {
        cause: cause.unwrap_or("start").to_owned(),
        boundary: boundary.map(|index| index as u32),
        ..BatchRecord::default()
    };
    let mut records: Vec<BatchRecord> = oracle
        .ended
        .iter()
        .map(|ended| BatchRecord {
            end: Some(as_u32(&ended.view).into_iter().collect()),
            cumulative: ended.cumulative,
            agents: ended.agents.iter().map(|(name, used)| (name.clone(), used[1])).collect(),
            ..record(ended.cause, ended.boundary)
        })
        .collect();
    if !records.is_empty() {
        records.push(record(oracle.cause, oracle.boundary));
    }
    records
}

pub(crate) fn as_u32(indices: &[usize]) -> Vec<u32> {
    indices.iter().map(|&index| index as u32).collect()
}

pub(crate) fn run(history: &[Message], commands: &[Command], questions: &[Question]) -> Run {
    let mut run = Run::begin(history);
    assert_same(&run.conversation, &run.oracle);
    for command in commands {
        run.step(command);
        assert_same(&run.conversation, &run.oracle);
        for question in questions {
            assert_answer(&run.conversation, &run.oracle, &question.query(&run.oracle));
        }
    }
    run
}
