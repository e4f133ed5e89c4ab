//! Replies, written as the answers and the streams of every API.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod carried;
mod drawn;
mod examples;
mod grammar;
pub(crate) mod recorded;

use std::collections::BTreeSet;

use interleaf_model::Reply;
use interleaf_wire::{
    Adjustment, AdjustmentKind, AnswerHead, Family, NameMap, StreamDecoder, StreamWriter,
    write_answer, write_stream,
};
use proptest::prelude::*;

pub(crate) use self::grammar::frames;

use self::carried::{Form, carried, difference};
use crate::{decode_response, decode_stream};

fn kinds(adjustments: &[Adjustment]) -> BTreeSet<AdjustmentKind> {
    adjustments.iter().map(|adjustment| adjustment.kind).collect()
}

fn head() -> AnswerHead {
    AnswerHead::default().created(1_767_225_600).include_usage(true)
}

/// Writes a reply whole and streamed, reads both, and says what is not as it must be.
fn fault(reply: &Reply, family: Family, piece_size: usize) -> Option<String> {
    let names = NameMap::default();
    let whole = write_answer(family, reply, &head());
    let read = decode_response(family, &whole.body, &names);
    let read = match read {
        Ok(read) => read,
        Err(error) => return Some(format!("{error}: {}", whole.body)),
    };
    if let Some(fault) = wrong(reply, family, Form::Whole, &read, &whole.adjustments) {
        return Some(format!("{fault}\n{}", whole.body));
    }
    let stream = write_stream(family, reply, &head(), piece_size);
    let shown = || String::from_utf8_lossy(&stream.bytes).into_owned();
    if let Err(fault) = grammar::check(family, &stream.bytes) {
        return Some(format!("{fault}\n{}", shown()));
    }
    match decode_stream(family, &stream.bytes, &names) {
        Ok(read) => {
            let fault = wrong(reply, family, Form::Streamed, &read, &stream.adjustments)?;
            Some(format!("{fault}\n{}", shown()))
        }
        Err(error) => Some(format!("{error}: {}", shown())),
    }
}

fn wrong(
    reply: &Reply,
    family: Family,
    form: Form,
    read: &Reply,
    adjustments: &[Adjustment],
) -> Option<String> {
    let (expected, losses) = carried(reply, family, form);
    if let Some(difference) = difference(&expected, read, family) {
        return Some(format!("as {family}, {form:?}: {difference}"));
    }
    let told = kinds(adjustments);
    (told != losses).then(|| format!("as {family}, {form:?}: told {told:?}, lost {losses:?}"))
}

#[test]
fn a_recorded_answer_reads_back_from_every_api() {
    let recorded = recorded::replies();
    assert_eq!(recorded.len(), 57, "{:?}", recorded.iter().map(|(n, _)| n).collect::<Vec<_>>());
    let mut faults = Vec::new();
    for (name, reply) in recorded {
        for family in Family::ALL {
            if let Some(fault) = fault(&reply, family, 7) {
                faults.push(format!("{name}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// What a gateway does: each piece goes on as it comes.
#[test]
fn a_recorded_stream_is_handed_on_piece_by_piece_to_every_api() {
    let streams = recorded::streams();
    assert_eq!(streams.len(), 32, "{:?}", streams.iter().map(|s| &s.0).collect::<Vec<_>>());
    let mut n_read = 0;
    for (name, from, bytes) in streams {
        let Ok(reply) = decode_stream(from, &bytes, &NameMap::default()) else { continue };
        n_read += 1;
        for family in Family::ALL {
            let written = relayed(&reply, from, &bytes, family);
            if let Err(fault) = grammar::check(family, &written) {
                panic!("{name} as {family}: {fault}\n{}", String::from_utf8_lossy(&written));
            }
            let read = decode_stream(family, &written, &NameMap::default()).unwrap();
            let (expected, _) = carried(&reply, family, Form::Streamed);
            if let Some(difference) = difference(&expected, &read, family) {
                let written = String::from_utf8_lossy(&written);
                panic!("{name} as {family}: {difference}\n{written}");
            }
        }
    }
    assert!(n_read >= 27, "{n_read}");
}

fn relayed(reply: &Reply, from: Family, bytes: &[u8], to: Family) -> Vec<u8> {
    let mut head = head();
    (head.id, head.model) = (reply.id.clone(), reply.model.clone());
    let mut decoder = StreamDecoder::new(from, NameMap::default()).tell_parts();
    let mut writer = StreamWriter::new(to, head);
    let mut written = Vec::new();
    for bytes in bytes.chunks(100) {
        for delta in decoder.push(bytes).unwrap() {
            writer.push(&delta, &mut written);
        }
    }
    writer.finish(&mut written);
    written
}

proptest! {
    #[test]
    fn any_reply_reads_back_from_every_api(reply in drawn::reply(), piece_size in 1_usize..40) {
        for family in Family::ALL {
            let fault = fault(&reply, family, piece_size);
            prop_assert!(fault.is_none(), "{}", fault.unwrap_or_default());
        }
    }

    /// Pieces of several calls may come in any order; so do those of texts between them.
    #[test]
    fn a_stream_obeys_its_grammar_however_the_pieces_come(deltas in drawn::deltas()) {
        for family in Family::ALL {
            let mut bytes = Vec::new();
            let mut writer = StreamWriter::new(family, head());
            for delta in &deltas {
                writer.push(delta, &mut bytes);
            }
            writer.finish(&mut bytes);
            let shown = String::from_utf8_lossy(&bytes);
            let checked = grammar::check(family, &bytes);
            prop_assert!(checked.is_ok(), "{}: {}\n{shown}", family, checked.unwrap_err());
            let read = decode_stream(family, &bytes, &NameMap::default());
            let said = drawn::said(&deltas);
            prop_assert_eq!(drawn::heard(&read.unwrap()), said, "{}\n{}", family, shown);
        }
    }
}
