//! A conversation as a transcript, and back.

use std::collections::BTreeMap;

use imbl::Vector;
use interleaf_model::{BatchRecord, Ranges, Transcript, UsageRecord};

use crate::batch::End;
use crate::view::View;
use crate::{Batch, Conversation, Counters, Error};

impl Conversation {
    /// Everything there is to know of the conversation, as plain data.
    pub fn to_transcript(&self) -> Transcript {
        let everything = (0..self.log.len() as u32).collect::<Ranges>();
        let view = self.view().collect::<Ranges>();
        let marks = self.marks().map(|(mark, indices)| (mark.to_owned(), indices.collect()));
        let batch = |batch: &Batch| BatchRecord {
            cause: batch.cause.clone(),
            boundary: batch.boundary,
            end: batch.end.as_ref().map(|end| end.view.iter().copied().collect()),
            cumulative: batch.end.as_ref().map(|end| end.cumulative).unwrap_or_default(),
        };
        let usage = UsageRecord {
            current: self.usage.current,
            cumulative: self.usage.cumulative,
            lifetime: self.usage.lifetime,
            request_log_len: self.usage.request_log_len,
        };
        Transcript {
            messages: self.log.iter().cloned().collect(),
            view: (view != everything).then_some(view),
            marks: marks.collect::<BTreeMap<_, _>>(),
            batches: if self.batches().eq([&Batch::first()]) {
                vec![]
            } else {
                self.batches().map(batch).collect()
            },
            usage: (usage != UsageRecord::default()).then_some(usage),
        }
    }

    /// The conversation that a transcript describes.
    ///
    /// Its messages are taken as they are, also a broken history; one without an id
    /// gets one from its place in the log.
    ///
    /// # Errors
    /// If an index lies outside the log.
    pub fn from_transcript(transcript: &Transcript) -> Result<Self, Error> {
        transcript.check().map_err(|e| Error::event(e.place().path.as_str(), e.message()))?;
        let mut conversation = Self::new();
        for message in &transcript.messages {
            conversation.push(message.clone())?;
        }
        let view = match &transcript.view {
            Some(view) => view.iter().collect(),
            None => (0..conversation.log.len() as u32).collect(),
        };
        conversation.view = View::new(view, &conversation.log);
        for (mark, indices) in &transcript.marks {
            for &index in indices {
                conversation.marks.add(mark, index);
            }
        }
        let batch = |record: &BatchRecord| Batch {
            cause: record.cause.clone(),
            boundary: record.boundary,
            end: record
                .end
                .as_ref()
                .map(|end| End { view: end.iter().collect(), cumulative: record.cumulative }),
        };
        let batches: Vector<Batch> = transcript.batches.iter().map(batch).collect();
        if !batches.is_empty() {
            conversation.batches = batches;
        }
        if let Some(usage) = &transcript.usage {
            conversation.usage = Counters {
                current: usage.current,
                cumulative: usage.cumulative,
                lifetime: usage.lifetime,
                request_log_len: usage.request_log_len,
            };
        }
        Ok(conversation)
    }
}
