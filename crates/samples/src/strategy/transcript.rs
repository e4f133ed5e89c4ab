//! A transcript with everything that one may carry.

use std::ops::Range;
use std::sync::Arc;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use interleaf_model::{AgentName, BatchRecord, MessageId, Ranges, Transcript, Usage, UsageRecord};

use super::message::message;
use super::text::name;

/// A transcript of any messages, as many as `len` says, each with an id, with a
/// view, marks, batches and counters that fit its log.
pub fn transcript(len: Range<usize>) -> impl Strategy<Value = Transcript> {
    vec(message(), len)
        .prop_flat_map(|mut messages| {
            for (i, message) in messages.iter_mut().enumerate() {
                if message.id.is_unassigned() {
                    message.id = MessageId::of_index(i);
                }
            }
            let len = messages.len() as u32;
            let messages: Vec<_> = messages.into_iter().map(Arc::new).collect();
            let marks =
                btree_map(name(), vec(index(len), 0..3), 0..3).prop_map(move |mut marks| {
                    marks.retain(|_, indices| len > 0 || indices.is_empty());
                    marks
                });
            (Just(messages), option::of(view(len)), marks, batches(len), option::of(usage(len)))
                .prop_map(|(messages, view, marks, batches, usage)| Transcript {
                    messages,
                    view,
                    marks,
                    batches,
                    usage,
                })
        })
        .boxed()
}

/// An index into a log of `len`; zero if it is empty.
fn index(len: u32) -> impl Strategy<Value = u32> {
    0..len.max(1)
}

fn view(len: u32) -> impl Strategy<Value = Ranges> {
    let shuffled = Just((0..len).collect::<Vec<u32>>()).prop_shuffle();
    prop_oneof![
        Just((0..len).collect()),
        vec(any::<bool>(), len as usize).prop_map(|visible| {
            (0_u32..).zip(visible).filter_map(|(i, is_visible)| is_visible.then_some(i)).collect()
        }),
        shuffled.prop_map(Ranges::from_iter),
    ]
}

/// Batches of which all but the last one have ended and been summed up.
fn batches(len: u32) -> impl Strategy<Value = Vec<BatchRecord>> {
    let boundary = option::of(index(len)).prop_map(move |index| index.filter(|_| len > 0));
    let batch =
        (name(), boundary, view(len), tokens()).prop_map(|(cause, boundary, end, cumulative)| {
            BatchRecord { cause, boundary, end: Some(end), cumulative, ..BatchRecord::default() }
        });
    vec(batch, 0..3).prop_map(|mut batches| {
        if let Some(last) = batches.last_mut() {
            last.end = None;
            last.cumulative = Usage::default();
        }
        batches
    })
}

fn usage(len: u32) -> impl Strategy<Value = UsageRecord> {
    let agents = btree_map(name().prop_map(AgentName::new), counters(len), 0..3);
    (counters(len), agents).prop_map(|(main, agents)| UsageRecord { agents, ..main })
}

fn counters(len: u32) -> impl Strategy<Value = UsageRecord> {
    (tokens(), tokens(), tokens(), option::of(0..=len)).prop_map(
        |(current, cumulative, lifetime, request_log_len)| UsageRecord {
            current,
            cumulative,
            lifetime,
            request_log_len,
            ..UsageRecord::default()
        },
    )
}

fn tokens() -> impl Strategy<Value = Usage> {
    let count = || prop_oneof![3 => 0_u64..200_000, 1 => any::<u64>()];
    (count(), count(), count(), count(), count()).prop_map(
        |(prompt, cache_read, cache_write, completion, reasoning)| Usage {
            prompt,
            cache_read,
            cache_write,
            cache_write_hour: cache_write / 3,
            completion,
            reasoning,
        },
    )
}
