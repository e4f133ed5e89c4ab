//! Summaries: one is active, and what it took the place of is kept with its state.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use interleaf_assemble::Summary;
use interleaf_conversation::{Conversation, Event};
use interleaf_model::{Message, MessageId, Origin};
use interleaf_store::{Expect, Page, Record, RecordChange, RecordFilter, RecordKind};
use serde::{Deserialize, Serialize};

use super::Session;
use super::records::{put, read};
use crate::Error;

/// How many events are read at once when a batch is looked for.
const PAGE: usize = 256;

/// A summary as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct KeptSummary {
    /// Whether it is sent.
    pub state: SummaryState,
    /// What it says.
    pub text: Arc<str>,
    /// The first message that it covers.
    pub start: MessageId,
    /// Every message that it covers.
    pub covers: BTreeSet<MessageId>,
}

interleaf_model::only_objects!(KeptSummary);

/// Whether a summary is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryState {
    /// It is.
    Active,
    /// Another took its place.
    Superseded,
    /// A message that it covers was edited or hidden.
    Invalid,
}

impl Session {
    /// Every summary, the oldest first.
    ///
    /// # Errors
    /// If the store refuses, or one is damaged.
    pub async fn summaries(&self) -> Result<Vec<KeptSummary>, Error> {
        Ok(self
            .kept_summaries(RecordFilter::default())
            .await?
            .into_iter()
            .map(|(_, kept)| kept)
            .collect())
    }

    /// The summary that is sent.
    ///
    /// # Errors
    /// If the store refuses, or one is damaged.
    pub async fn active_summary(&self) -> Result<Option<Summary>, Error> {
        Ok(self
            .kept_summaries(RecordFilter::default())
            .await?
            .into_iter()
            .find_map(|(_, kept)| kept.active()))
    }

    /// The summary that was sent when the session had `seq` events.
    ///
    /// # Errors
    /// If the store refuses, or one is damaged.
    pub async fn active_summary_at(&self, seq: u64) -> Result<Option<Summary>, Error> {
        let then = RecordFilter { as_of: Some(seq), ..RecordFilter::default() };
        Ok(self.kept_summaries(then).await?.into_iter().find_map(|(_, kept)| kept.active()))
    }

    /// Sends this summary from now on. The one before is superseded in the same
    /// transaction; of two nodes that summarise from the same state, one wins.
    ///
    /// # Errors
    /// If it says nothing, or names a message that was never said, or another writer was
    /// first, to the conversation or to its summaries.
    pub async fn summarise(&mut self, summary: Summary) -> Result<(), Error> {
        self.check(&summary)?;
        let known = self.known_summaries().await?;
        let is_free = |key: &String| known.iter().all(|(record, _)| record.key != *key);
        let mut keys = (known.len()..).map(|number| format!("{number:06}"));
        let key = keys.find(is_free).ok_or_else(|| Error::rule("there are too many summaries"))?;
        let mut changes = retire(known, SummaryState::Superseded)?;
        let Summary { text, start, covers } = summary;
        let kept = KeptSummary { state: SummaryState::Active, text, start, covers };
        changes.push(put(RecordKind::Summary, &key, &kept)?.expecting(Expect::Absent));
        self.change_records(changes).await
    }

    /// Sends this text from now on instead of the visible messages of the main agent, up to
    /// and with this one.
    ///
    /// # Errors
    /// If that message is not visible; and as [`summarise`](Self::summarise).
    pub async fn summarise_through(&mut self, last: &MessageId, text: &str) -> Result<(), Error> {
        let visible: Vec<&Arc<Message>> = self.conversation.visible().collect();
        let Some(end) = visible.iter().position(|message| message.id == *last) else {
            return Err(Error::rule(format!("the summary ends at {last}, which is not visible")));
        };
        let own = visible[..=end].iter().filter(|message| message.origin == Origin::Main);
        let covers: BTreeSet<MessageId> = own.clone().map(|message| message.id.clone()).collect();
        let Some(start) = own.map(|message| message.id.clone()).next() else {
            return Err(Error::rule(format!("there is nothing to summarise up to {last}")));
        };
        self.summarise(Summary { text: text.into(), start, covers }).await
    }

    fn check(&self, summary: &Summary) -> Result<(), Error> {
        if summary.text.trim().is_empty() {
            return Err(Error::rule("a summary must say something: its text is blank"));
        }
        if !summary.covers.contains(&summary.start) {
            let start = &summary.start;
            return Err(Error::rule(format!(
                "the summary starts at {start}, but does not cover it"
            )));
        }
        let said: HashSet<&MessageId> = self.conversation.log().map(|m| &m.id).collect();
        match summary.covers.iter().find(|id| !said.contains(id)) {
            Some(id) => Err(Error::rule(format!("the summary covers {id}, which was never said"))),
            None => Ok(()),
        }
    }

    /// Sends no summary from now on: the ground of the active one has changed.
    ///
    /// # Errors
    /// If another writer was first, to the conversation or to its summaries.
    pub async fn invalidate_summary(&mut self) -> Result<(), Error> {
        let known = self.known_summaries().await?;
        let changes = retire(known, SummaryState::Invalid)?;
        self.change_records(changes).await
    }

    /// The changes of summaries that go with these events. A rollback gives each summary the
    /// state that it had then. Otherwise a summary becomes invalid if a message that it
    /// covers is hidden or replaced (F4).
    pub(super) async fn summaries_after(
        &mut self,
        changed: &Conversation,
        events: &[Event],
    ) -> Result<Vec<RecordChange>, Error> {
        let known = self.known_summaries().await?;
        if known.is_empty() {
            return Ok(Vec::new());
        }
        let back = events.iter().rev().find_map(|event| match event {
            Event::RolledBack { batch } => Some(*batch),
            _ => None,
        });
        match back.filter(|&batch| batch < self.conversation.current_batch()) {
            Some(batch) => {
                let then = RecordFilter { as_of: Some(self.end_of(batch).await?), kind: None };
                let then = self.kept_summaries(then).await?;
                restored(known, &then)
            }
            None => {
                let shown: HashSet<&MessageId> = changed.visible().map(|m| &m.id).collect();
                let before = self.conversation.visible().map(|message| &message.id);
                let hidden: HashSet<&MessageId> = before.filter(|id| !shown.contains(id)).collect();
                let loses = |kept: &KeptSummary| kept.covers.iter().any(|id| hidden.contains(id));
                let lost = known.into_iter().filter(|(_, kept)| loses(kept)).collect();
                retire(lost, SummaryState::Invalid)
            }
        }
    }

    /// How many events there were when a batch ended.
    async fn end_of(&self, batch: u32) -> Result<u64, Error> {
        let mut later = self.conversation.current_batch().saturating_sub(batch);
        let mut before = self.seq();
        while later > 0 && before > 0 {
            let page = self.store.events(self.id(), Page::before(before, PAGE)).await;
            for stored in page.map_err(Error::store)?.iter().rev() {
                before = stored.seq;
                later -= u32::from(begins_batch(&stored.event().map_err(Error::store)?));
                if later == 0 {
                    break;
                }
            }
        }
        Ok(before)
    }

    /// The summaries as they stand.
    async fn known_summaries(&mut self) -> Result<Vec<(Record, KeptSummary)>, Error> {
        Ok(self.kept().await?.summaries.values().cloned().collect())
    }

    async fn kept_summaries(
        &self,
        which: RecordFilter,
    ) -> Result<Vec<(Record, KeptSummary)>, Error> {
        let which = RecordFilter { kind: Some(RecordKind::Summary), ..which };
        let mut kept = vec![];
        for record in self.records(which).await? {
            let summary = read(&record)?;
            kept.push((record, summary));
        }
        Ok(kept)
    }
}

impl KeptSummary {
    /// The summary, if it is sent.
    pub(super) fn active(&self) -> Option<Summary> {
        let Self { state, text, start, covers } = self.clone();
        (state == SummaryState::Active).then_some(Summary { text, start, covers })
    }
}

/// The changes that give the summaries the states that they had then.
fn restored(
    now: Vec<(Record, KeptSummary)>,
    then: &[(Record, KeptSummary)],
) -> Result<Vec<RecordChange>, Error> {
    let mut changes = Vec::new();
    for (record, kept) in now {
        let before = then.iter().find(|(known, _)| known.key == record.key);
        let state = match before {
            Some((_, before)) => before.state,
            None if kept.state == SummaryState::Active => SummaryState::Invalid,
            None => kept.state,
        };
        if state != kept.state {
            let change = put(RecordKind::Summary, &record.key, &KeptSummary { state, ..kept })?;
            changes.push(change.expecting(Expect::No(record.no)));
        }
    }
    Ok(changes)
}

fn begins_batch(event: &Event) -> bool {
    match event {
        Event::Operated { .. } | Event::RolledBack { .. } | Event::Reset {} => true,
        Event::Appended { .. }
        | Event::Marked { .. }
        | Event::Unmarked { .. }
        | Event::RequestBegan { .. }
        | Event::UsageNoted { .. } => false,
    }
}

/// The changes after which none is active, each on the record as it was read.
fn retire(
    known: Vec<(Record, KeptSummary)>,
    state: SummaryState,
) -> Result<Vec<RecordChange>, Error> {
    let is_active = |(_, kept): &(Record, KeptSummary)| kept.state == SummaryState::Active;
    let retired = |(record, kept): (Record, KeptSummary)| {
        let change = put(RecordKind::Summary, &record.key, &KeptSummary { state, ..kept })?;
        Ok(change.expecting(Expect::No(record.no)))
    };
    known.into_iter().filter(is_active).map(retired).collect()
}
