//! Changes: tried on a copy, written, and only then taken.

use std::sync::Arc;

use interleaf_conversation::{Conversation, Event, Operated, Operation};
use interleaf_model::{Message, Timestamp};
use interleaf_store::{Commit, NewEvent, Record, RecordChange};

use super::records::Records;
use super::{Session, now};
use crate::Error;
use crate::hearing::with_caller;

impl Session {
    /// Appends a message and returns its log index. A message without a time gets the
    /// current time; a tool result without an agent belongs to the agent whose call it
    /// answers.
    ///
    /// # Errors
    /// If the message may not be appended, or another writer was first. Nothing is
    /// changed then; the same holds for every method below.
    pub async fn append(&mut self, message: impl Into<Arc<Message>>) -> Result<u32, Error> {
        self.append_all([message.into()]).await
    }

    /// Appends several messages in one transaction and returns the log index of the first.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub async fn append_all(
        &mut self,
        messages: impl IntoIterator<Item = Arc<Message>>,
    ) -> Result<u32, Error> {
        let first = self.conversation.log_len() as u32;
        let mut messages: Vec<Arc<Message>> = messages.into_iter().collect();
        let answers = self.answer_among(&mut messages).await?;
        let mut conversation = self.conversation.clone();
        let several = messages.len() > 1;
        let mut events = Vec::with_capacity(messages.len());
        let mut made_calls = std::mem::take(&mut self.made_calls);
        for (i, message) in messages.into_iter().enumerate() {
            let message = made_calls.fit(message, &conversation);
            let mut message = with_caller(message, &conversation);
            if message.at.is_none() {
                Arc::make_mut(&mut message).at = Some(now()?);
            }
            let event = conversation.append(message);
            let event = event.map_err(|e| if several { e.in_list(i) } else { e });
            // Of many messages only the text of their events is held until it is written.
            let event = NewEvent::of(&event.map_err(Error::conversation)?);
            events.push(event.map_err(Error::store)?);
        }
        if !events.is_empty() {
            self.send(Commit::new(self.id(), now()?).append(self.seq(), events)).await?;
            self.conversation = conversation;
            if let Some(agent) = answers {
                self.lane(agent.as_ref()).asked = None;
            }
        }
        self.made_calls = made_calls;
        Ok(first)
    }

    /// Changes the view. If it hides or replaces a message that the summary covers, the
    /// summary is sent no more.
    ///
    /// # Errors
    /// If the operation does not fit, or another writer was first.
    pub async fn operate(&mut self, operation: Operation) -> Result<Operated, Error> {
        let mut conversation = self.conversation.clone();
        let operated = conversation.operate(operation).map_err(Error::conversation)?;
        self.write(conversation, operated.event.as_slice()).await?;
        Ok(operated)
    }

    /// Puts a mark on the message at a log index.
    ///
    /// # Errors
    /// If there is no such message, or another writer was first.
    pub async fn mark(&mut self, index: u32, mark: &str) -> Result<(), Error> {
        self.change(|conversation| conversation.mark(index, mark).map(one)).await
    }

    /// Takes a mark off the message at a log index.
    ///
    /// # Errors
    /// If there is no such message, or another writer was first.
    pub async fn unmark(&mut self, index: u32, mark: &str) -> Result<(), Error> {
        self.change(|conversation| conversation.unmark(index, mark).map(one)).await
    }

    /// Takes the view back to the end of a batch. Marks and summaries that were made
    /// after that go with it, in the same transaction.
    ///
    /// # Errors
    /// If there is no such batch, or another writer was first.
    pub async fn roll_back(&mut self, batch: u32) -> Result<(), Error> {
        self.change(|conversation| conversation.roll_back(batch)).await
    }

    /// Hides everything and starts counting tokens anew.
    ///
    /// # Errors
    /// If another writer was first.
    pub async fn reset(&mut self) -> Result<(), Error> {
        self.change(|conversation| conversation.reset().map(one)).await
    }

    /// Takes in events that were made elsewhere, such as by an export, in one
    /// transaction.
    ///
    /// # Errors
    /// If one does not fit, or another writer was first.
    pub async fn apply(&mut self, events: &[Event]) -> Result<(), Error> {
        let mut conversation = self.conversation.clone();
        for event in events {
            conversation.apply(event).map_err(Error::conversation)?;
        }
        self.write(conversation, events).await
    }

    /// Changes records, on the condition that nothing was said and no record was changed
    /// meanwhile: all of them, or none.
    ///
    /// # Errors
    /// If another writer was first, or what was expected of a record does not hold.
    pub async fn change_records(&mut self, changes: Vec<RecordChange>) -> Result<(), Error> {
        if self.held.is_some() {
            return self.hold(changes).await;
        }
        let mut commit = self.commit_of(&[])?.expecting_record(self.head.next_record);
        commit.records = changes;
        self.send(commit).await
    }

    /// Gives it another title.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn rename(&mut self, title: &str) -> Result<(), Error> {
        let mut commit = self.commit_of(&[])?;
        commit.title = Some(title.to_owned());
        self.send(commit).await?;
        title.clone_into(&mut self.head.title);
        Ok(())
    }

    async fn change(
        &mut self,
        change: impl FnOnce(&mut Conversation) -> Result<Vec<Event>, interleaf_conversation::Error>,
    ) -> Result<(), Error> {
        let mut conversation = self.conversation.clone();
        let events = change(&mut conversation).map_err(Error::conversation)?;
        self.write(conversation, &events).await
    }

    async fn write(&mut self, changed: Conversation, events: &[Event]) -> Result<(), Error> {
        if events.is_empty() {
            return Ok(());
        }
        let mut commit = self.commit_of(events)?;
        if changed.current_batch() != self.conversation.current_batch() {
            commit.expected_record = Some(self.head.next_record);
            commit.records = self.summaries_after(&changed, events).await?;
        }
        self.send(commit).await?;
        self.conversation = changed;
        Ok(())
    }

    /// A commit of these events that builds on what is known here.
    pub(super) fn commit_of(&self, events: &[Event]) -> Result<Commit, Error> {
        let events: Result<Vec<NewEvent>, _> = events.iter().map(NewEvent::of).collect();
        let events = events.map_err(Error::store)?;
        Ok(Commit::new(self.id(), now()?).append(self.seq(), events))
    }

    pub(super) async fn send(&mut self, commit: Commit) -> Result<(), Error> {
        let at = commit.at;
        let changes = commit.records.clone();
        // Whether a write that fails arrived is not known.
        let kept = self.kept.take();
        let done = self.store.commit(commit).await.map_err(Error::store)?;
        let first = self.head.next_record;
        if done.next_record == first + changes.len() as u64 {
            let changed = |kept| changed(kept, changes, first, (done.next_seq, at));
            self.kept = kept.and_then(changed);
        }
        self.head.next_record = done.next_record;
        self.head.next_seq = done.next_seq;
        self.head.next_request = done.next_request;
        self.head.changed = self.head.changed.max(at);
        Ok(())
    }
}

/// The records after changes of which the first has this number, or none if one of them
/// brings what cannot be read.
pub(super) fn changed(
    mut kept: Records,
    changes: Vec<RecordChange>,
    first: u64,
    (seq, at): (u64, Timestamp),
) -> Option<Records> {
    for (no, change) in (first..).zip(changes) {
        let RecordChange { kind, key, body, .. } = change;
        match body {
            Some(body) => kept.change(Record { kind, key, no, seq, at, body }).ok()?,
            None => kept.remove(kind, &key),
        }
    }
    Some(kept)
}

fn one(event: Event) -> Vec<Event> {
    vec![event]
}
