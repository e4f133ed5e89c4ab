//! Summaries: one is active, and what it took the place of is kept with its state.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_assemble::Summary;
use interleaf_model::{Json, MessageId};
use interleaf_store::{Expect, Record, RecordChange, RecordFilter, RecordKind};
use serde::{Deserialize, Serialize};

use super::Session;
use crate::Error;

/// A summary as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
        Ok(self.kept_summaries(RecordFilter::default()).await?.into_iter().find_map(active))
    }

    /// The summary that was sent when the session had so many events.
    ///
    /// # Errors
    /// If the store refuses, or one is damaged.
    pub async fn active_summary_at(&self, seq: u64) -> Result<Option<Summary>, Error> {
        let then = RecordFilter { as_of: Some(seq), ..RecordFilter::default() };
        Ok(self.kept_summaries(then).await?.into_iter().find_map(active))
    }

    /// Sends this summary from now on. The one before is superseded in the same
    /// transaction.
    ///
    /// # Errors
    /// If another writer was first, to the conversation or to its summaries.
    pub async fn summarise(&mut self, summary: Summary) -> Result<(), Error> {
        let known = self.kept_summaries(RecordFilter::default()).await?;
        let key = format!("{:06}", known.len());
        let mut changes = retire(known, SummaryState::Superseded)?;
        let Summary { text, start, covers } = summary;
        let kept = KeptSummary { state: SummaryState::Active, text, start, covers };
        changes.push(put(&key, &kept)?.expecting(Expect::Absent));
        self.change_records(changes).await
    }

    /// Sends no summary from now on: the ground of the active one has changed.
    ///
    /// # Errors
    /// If another writer was first, to the conversation or to its summaries.
    pub async fn invalidate_summary(&mut self) -> Result<(), Error> {
        let known = self.kept_summaries(RecordFilter::default()).await?;
        let changes = retire(known, SummaryState::Invalid)?;
        self.change_records(changes).await
    }

    async fn kept_summaries(
        &self,
        which: RecordFilter,
    ) -> Result<Vec<(Record, KeptSummary)>, Error> {
        let which = RecordFilter { kind: Some(RecordKind::Summary), ..which };
        let mut kept = vec![];
        for record in self.records(which).await? {
            let summary = serde_json::from_str(record.body.as_str());
            kept.push((record, summary.map_err(Error::damaged)?));
        }
        Ok(kept)
    }
}

fn active((_, kept): (Record, KeptSummary)) -> Option<Summary> {
    match kept.state {
        SummaryState::Active => {
            Some(Summary { text: kept.text, start: kept.start, covers: kept.covers })
        }
        SummaryState::Superseded | SummaryState::Invalid => None,
    }
}

/// The changes after which none is active, each on the record as it was read.
fn retire(
    known: Vec<(Record, KeptSummary)>,
    state: SummaryState,
) -> Result<Vec<RecordChange>, Error> {
    let is_active = |(_, kept): &(Record, KeptSummary)| kept.state == SummaryState::Active;
    let retired = |(record, kept): (Record, KeptSummary)| {
        let change = put(&record.key, &KeptSummary { state, ..kept })?;
        Ok(change.expecting(Expect::No(record.no)))
    };
    known.into_iter().filter(is_active).map(retired).collect()
}

fn put(key: &str, kept: &KeptSummary) -> Result<RecordChange, Error> {
    let body = serde_json::to_string(kept).map_err(Error::damaged)?;
    Ok(RecordChange::put(RecordKind::Summary, key, Json::parse(body).map_err(Error::form)?))
}
