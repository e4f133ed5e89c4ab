//! A conversation as a transcript, and back.

use std::collections::HashSet;

use imbl::Vector;
use interleaf_model::{BatchRecord, MessageId, Ranges, Transcript, UsageRecord};

use crate::batch::End;
use crate::course::Course;
use crate::marks::Marks;
use crate::view::View;
use crate::{Batch, Conversation, Counters, Error};

impl Conversation {
    /// Everything there is to know of the conversation, as plain data.
    pub fn to_transcript(&self) -> Transcript {
        let everything = (0..self.log.len() as u32).collect::<Ranges>();
        let view = self.view().collect::<Ranges>();
        let agents = self.agents.iter().map(|(name, counters)| (name.clone(), counters.record()));
        let usage = UsageRecord { agents: agents.collect(), ..self.usage.record() };
        Transcript {
            messages: self.log.iter().cloned().collect(),
            view: (view != everything).then_some(view),
            marks: self.marks.to_map(),
            batches: if self.batches().eq([&Batch::first()]) {
                vec![]
            } else {
                self.batch_records()
            },
            usage: (usage != UsageRecord::default()).then_some(usage),
        }
    }

    fn batch_records(&self) -> Vec<BatchRecord> {
        let record = |batch: &Batch| BatchRecord {
            cause: batch.cause.clone(),
            boundary: batch.boundary,
            ..BatchRecord::default()
        };
        let mut later = &self.marks;
        let mut records: Vec<BatchRecord> = Vec::with_capacity(self.batches.len());
        for batch in self.batches.iter().rev() {
            records.push(match &batch.end {
                None => record(batch),
                Some(end) => BatchRecord {
                    end: Some(end.view.iter().copied().collect()),
                    marks: (end.marks != *later).then(|| end.marks.to_map()),
                    cumulative: end.cumulative,
                    agents: end.agents.iter().map(|(name, &used)| (name.clone(), used)).collect(),
                    ..record(batch)
                },
            });
            later = batch.end.as_ref().map_or(later, |end| &end.marks);
        }
        records.reverse();
        records
    }

    /// The conversation that a transcript describes.
    ///
    /// Its messages are taken as they are, also a broken history; one without an id, or
    /// with that of a message before it, gets one from its place in the log.
    ///
    /// # Errors
    /// If an index lies outside the log.
    pub fn from_transcript(transcript: &Transcript) -> Result<Self, Error> {
        transcript.check().map_err(|e| Error::event(e.place().path.as_str(), e.message()))?;
        let mut conversation = Self::new();
        let claimed: HashSet<&MessageId> = transcript.messages.iter().map(|m| &m.id).collect();
        for message in &transcript.messages {
            conversation.push_beside(message.clone(), |id| claimed.contains(id))?;
        }
        let view = match &transcript.view {
            Some(view) => view.iter().collect(),
            None => (0..conversation.log.len() as u32).collect(),
        };
        conversation.view = View::new(view, &conversation.log);
        conversation.marks = Marks::of(&transcript.marks);
        let batches = batches(&transcript.batches, &conversation.marks);
        if !batches.is_empty() {
            conversation.course = Course::after_batches(batches.len() - 1);
            conversation.batches = batches;
        }
        if let Some(usage) = &transcript.usage {
            conversation.usage = Counters::of(usage);
            let agents = usage.agents.iter();
            conversation.agents =
                agents.map(|(name, usage)| (name.clone(), Counters::of(usage))).collect();
        }
        Ok(conversation)
    }
}

/// The batches that these records describe. Marks that are not told are those of the next.
fn batches(records: &[BatchRecord], now: &Marks) -> Vector<Batch> {
    let mut later = now.clone();
    let mut batches = Vector::new();
    for record in records.iter().rev() {
        if let Some(marks) = &record.marks {
            later = Marks::of(marks);
        }
        let end = record.end.as_ref().map(|end| End {
            view: end.iter().collect(),
            marks: later.clone(),
            cumulative: record.cumulative,
            agents: record.agents.iter().map(|(name, &used)| (name.clone(), used)).collect(),
        });
        let (cause, boundary) = (record.cause.clone(), record.boundary);
        batches.push_front(Batch { cause, boundary, end });
    }
    batches
}

impl Counters {
    fn of(record: &UsageRecord) -> Self {
        Self {
            current: record.current,
            cumulative: record.cumulative,
            lifetime: record.lifetime,
            request_log_len: record.request_log_len,
        }
    }

    fn record(&self) -> UsageRecord {
        UsageRecord {
            current: self.current,
            cumulative: self.cumulative,
            lifetime: self.lifetime,
            request_log_len: self.request_log_len,
            ..UsageRecord::default()
        }
    }
}
