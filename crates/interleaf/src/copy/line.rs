//! Heads and items as lines.

use std::fmt::Write as _;

use interleaf_model::{Json, Timestamp, Usage, read_json};
use interleaf_store::{RecordKind, SentRequest, StoredBody, StoredEvent, text_checksum};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{Head, Item, RecordItem};
use crate::session::check_record;
use crate::{Error, InputFault};

/// The version of the form that this program writes, and the newest that it reads.
pub(super) const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Event(EventLine),
    Record(RecordLine),
    Request(Box<RequestLine>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventLine {
    seq: u64,
    at: Timestamp,
    #[serde(default = "first_version", skip_serializing_if = "is_first_version")]
    version: u32,
    /// In hexadecimal; missing in what an earlier program wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sum: Option<String>,
    body: Json,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordLine {
    kind: RecordKind,
    key: String,
    seq: u64,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sum: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestLine {
    no: u64,
    seq: u64,
    at: Timestamp,
    model: String,
    vendor: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sum: Option<String>,
    body: BodyLine,
    report: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage_sum: Option<String>,
}

/// A body as the store has it: what is new in it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyLine {
    blake3: String,
    len: u64,
    whole: bool,
    prefix: u64,
    suffix: u64,
    since_whole: u64,
    /// As text, or in hexadecimal where a character is cut in two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

/// Whether a line is the head of a session.
pub fn is_head(line: &str) -> bool {
    #[derive(Deserialize)]
    struct Marked {
        #[serde(rename = "interleaf_session")]
        _version: IgnoredAny,
    }
    read_json::<Marked>(line).is_ok()
}

/// Reads the head of a session.
///
/// # Errors
/// If it is none, or was written by a newer version.
pub fn read_head(line: &str) -> Result<Head, Error> {
    #[derive(Deserialize)]
    struct Versioned {
        interleaf_session: u32,
    }
    let fault = |e| InputFault::model(&e);
    let Versioned { interleaf_session: version } = read_json(line).map_err(fault)?;
    if !(1..=VERSION).contains(&version) {
        let rule =
            format!("this session has version {version}; this program reads up to {VERSION}");
        return Err(InputFault::new(rule).at("interleaf_session").into());
    }
    let mut head: Head = read_json(line).map_err(fault)?;
    let sum = head.sum.take();
    check_sum(format!("session {}", head.id), sum.as_deref(), checksum(&head)?)?;
    Ok(head)
}

/// Reads an item.
///
/// # Errors
/// If it is none.
pub fn read_item(line: &str) -> Result<Item, Error> {
    let read = read_json(line).map_err(|e| InputFault::model(&e))?;
    Ok(match read {
        Line::Event(EventLine { seq, at, version, sum, body }) => {
            let event = StoredEvent { seq, at, version, body: body.as_str().to_owned() };
            check_sum(format!("event {seq}"), sum.as_deref(), event.checksum())?;
            Item::Event(event)
        }
        Line::Record(mut record) => {
            let sum = record.sum.take();
            let found = checksum(&record)?;
            let RecordLine { kind, key, seq, at, body, .. } = record;
            let place = format!("the {kind} {key:?}");
            check_sum(place.clone(), sum.as_deref(), found)?;
            if let Some(Err(rule)) = body.as_ref().map(|body| check_record(kind, &key, body)) {
                return Err(InputFault::new(rule).at(place).into());
            }
            Item::Record(RecordItem { kind, key, seq, at, body })
        }
        Line::Request(request) => {
            let RequestLine { no, seq, at, model, vendor, sum, body, report, usage, usage_sum } =
                *request;
            let body = body.read().ok_or_else(|| {
                let rule = "a body has a hash, and either `text` or `hex`";
                InputFault::new(rule).at("request.body")
            })?;
            let request = SentRequest { no, seq, at, model, vendor, body, report, usage };
            check_sum(format!("request {no}"), sum.as_deref(), request.checksum())?;
            let found = request.usage_checksum().unwrap_or_default();
            check_sum(format!("the usage of request {no}"), usage_sum.as_deref(), found)?;
            Item::Request(request)
        }
    })
}

/// Writes the head of a session.
///
/// # Errors
/// If a value of it has no JSON form.
pub fn write_head(head: &Head) -> Result<String, Error> {
    let sum = Some(sum_text(checksum(head)?));
    serde_json::to_string(&Head { sum, ..head.clone() }).map_err(Error::damaged)
}

/// Writes an item.
///
/// # Errors
/// If an event is damaged.
pub fn write_item(item: Item) -> Result<String, Error> {
    let line = match item {
        Item::Event(event) => {
            let sum = Some(sum_text(event.checksum()));
            let StoredEvent { seq, at, version, body } = event;
            let damaged = |e| InputFault::model(&e).at(format!("event {seq}"));
            let body = Json::parse(body).map_err(damaged)?;
            Line::Event(EventLine { seq, at, version, sum, body })
        }
        Item::Record(RecordItem { kind, key, seq, at, body }) => {
            let mut line = RecordLine { kind, key, seq, at, body, sum: None };
            line.sum = Some(sum_text(checksum(&line)?));
            Line::Record(line)
        }
        Item::Request(request) => {
            let sum = Some(sum_text(request.checksum()));
            let usage_sum = request.usage_checksum().map(sum_text);
            let SentRequest { no, seq, at, model, vendor, body, report, usage } = request;
            let body = BodyLine::of(body);
            Line::Request(Box::new(RequestLine {
                no,
                seq,
                at,
                model,
                vendor,
                sum,
                body,
                report,
                usage,
                usage_sum,
            }))
        }
    };
    serde_json::to_string(&line).map_err(Error::damaged)
}

/// The checksum of a line that says none of itself.
fn checksum(line: &impl Serialize) -> Result<u64, Error> {
    Ok(text_checksum(&serde_json::to_string(line).map_err(Error::damaged)?))
}

fn sum_text(sum: u64) -> String {
    format!("{sum:016x}")
}

/// Whether an item has the checksum that was written with it, if one was.
fn check_sum(item: String, written: Option<&str>, found: u64) -> Result<(), Error> {
    match written {
        Some(written) if written != sum_text(found) => {
            let rule = "it does not have the checksum that was written with it: it is damaged";
            Err(InputFault::new(rule).at(item).into())
        }
        Some(_) | None => Ok(()),
    }
}

impl BodyLine {
    fn of(body: StoredBody) -> Self {
        let blake3 = body.hash_text();
        let StoredBody { len, whole, prefix, suffix, middle, since_whole, .. } = body;
        let (text, hex) = match String::from_utf8(middle) {
            Ok(text) => (Some(text), None),
            Err(e) => (None, Some(to_hex(e.as_bytes()))),
        };
        Self { blake3, len, whole, prefix, suffix, since_whole, text, hex }
    }

    fn read(self) -> Option<StoredBody> {
        let Self { blake3, len, whole, prefix, suffix, since_whole, text, hex } = self;
        let middle = match (text, hex) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(hex)) => of_hex(&hex)?,
            (None, None) | (Some(_), Some(_)) => return None,
        };
        let hash = of_hex(&blake3)?.try_into().ok()?;
        Some(StoredBody { hash, len, whole, prefix, suffix, middle, since_whole })
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        // Writing into a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn of_hex(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| (*byte as char).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? << 4) | digit(low)?),
        _ => None,
    };
    hex.as_bytes().chunks(2).map(pair).collect()
}

fn first_version() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_first_version(version: &u32) -> bool {
    *version == first_version()
}
