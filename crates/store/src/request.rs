//! Requests that were sent, kept so that their bytes can be had again and proven.
//!
//! A body is stored as what is new in it: a request repeats most of the one before,
//! and both ends are shared. A whole body is stored once what came since the last
//! whole one weighs as much; so all bodies together cost about what was new in them,
//! and reading one touches at most twice its length.

use interleaf_model::{Json, Timestamp, Usage};

use crate::session::check_text;
use crate::{Error, ErrorKind};

/// A request to be noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRequest {
    /// Its number in the session, which must be the next one.
    pub no: u64,
    /// Which model was asked.
    pub model: String,
    /// Who serves it.
    pub vendor: String,
    /// Its bytes.
    pub body: StoredBody,
    /// What was done to make it.
    pub report: Json,
}

/// A request as it was noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRequest {
    /// Its number in the session, from 0.
    pub no: u64,
    /// How many events there were, the note of the request itself not counted.
    pub seq: u64,
    /// When it was sent.
    pub at: Timestamp,
    /// Which model was asked.
    pub model: String,
    /// Who serves it.
    pub vendor: String,
    /// Its bytes.
    pub body: StoredBody,
    /// What was done to make it.
    pub report: Json,
    /// What it cost, as far as the API has said.
    pub usage: Option<Usage>,
}

/// The body of a request, as the difference to the one before.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredBody {
    /// The BLAKE3 hash of the whole body.
    pub hash: [u8; 32],
    /// The length of the whole body.
    pub len: u64,
    /// Whether `middle` is all of it.
    pub whole: bool,
    /// How many bytes at the start are those of the request before.
    pub prefix: u64,
    /// How many bytes at the end are those of the request before.
    pub suffix: u64,
    /// What stands between the two.
    pub middle: Vec<u8>,
    /// How many bytes are stored since the last whole body, this one's included.
    pub since_whole: u64,
}

/// The last body of a session, which the next one is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastBody {
    bytes: Vec<u8>,
    since_whole: u64,
}

/// What is known of a request's cost, to be noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestUsage {
    /// The number of the request.
    pub no: u64,
    /// All that it has cost so far.
    pub usage: Usage,
}

impl NewRequest {
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_text("the model", &self.model)?;
        check_text("the vendor", &self.vendor)
    }
}

impl StoredBody {
    /// The stored form of a body that follows another.
    pub fn after(last: Option<&LastBody>, body: &[u8]) -> Self {
        let hash = *blake3::hash(body).as_bytes();
        let len = body.len() as u64;
        let whole = || Self {
            hash,
            len,
            whole: true,
            prefix: 0,
            suffix: 0,
            middle: body.to_vec(),
            since_whole: len,
        };
        let Some(last) = last else { return whole() };
        let prefix = shared(last.bytes.iter().zip(body));
        let rest = (&last.bytes[prefix..], &body[prefix..]);
        let suffix = shared(rest.0.iter().rev().zip(rest.1.iter().rev()));
        let middle = &body[prefix..body.len() - suffix];
        let since_whole = last.since_whole + middle.len() as u64;
        // The whole body itself counts once, so that a chain may grow to twice it.
        if since_whole > 2 * len {
            return whole();
        }
        let (prefix, suffix) = (prefix as u64, suffix as u64);
        Self { hash, len, whole: false, prefix, suffix, middle: middle.to_vec(), since_whole }
    }

    /// The hash in hexadecimal, as people compare it.
    pub fn hash_text(&self) -> String {
        blake3::Hash::from_bytes(self.hash).to_hex().to_string()
    }

    /// Whether these bytes are the body.
    pub fn is(&self, body: &[u8]) -> bool {
        *blake3::hash(body).as_bytes() == self.hash
    }
}

impl LastBody {
    /// The body at the end of a chain of requests that begins with a whole one.
    ///
    /// # Errors
    /// If the chain is broken, or the bytes are not those of the hash.
    pub fn rebuilt<'a>(chain: impl IntoIterator<Item = &'a SentRequest>) -> Result<Self, Error> {
        let mut last: Option<(Vec<u8>, &SentRequest)> = None;
        for request in chain {
            let bytes = next_body(last.as_ref().map(|(bytes, _)| bytes), &request.body);
            let broken = || Error::corrupt(format!("the body of request {} is lost", request.no));
            last = Some((bytes.ok_or_else(broken)?, request));
        }
        let Some((bytes, request)) = last else {
            return Err(Error::new(ErrorKind::NotFound, "no such request was sent"));
        };
        if !request.body.is(&bytes) {
            let message = format!("the bytes of request {} do not have its hash", request.no);
            return Err(Error::corrupt(message));
        }
        Ok(Self { bytes, since_whole: request.body.since_whole })
    }

    /// What the next body is compared with, once this one is stored.
    pub fn of(body: Vec<u8>, stored: &StoredBody) -> Self {
        Self { bytes: body, since_whole: stored.since_whole }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, for good.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

fn next_body(last: Option<&Vec<u8>>, stored: &StoredBody) -> Option<Vec<u8>> {
    if stored.whole {
        return Some(stored.middle.clone());
    }
    let last = last?;
    let prefix = last.get(..usize::try_from(stored.prefix).ok()?)?;
    let suffix_start = last.len().checked_sub(usize::try_from(stored.suffix).ok()?)?;
    let body = [prefix, &stored.middle, last.get(suffix_start..)?].concat();
    (body.len() as u64 == stored.len).then_some(body)
}

fn shared<'a>(pairs: impl Iterator<Item = (&'a u8, &'a u8)>) -> usize {
    pairs.take_while(|(a, b)| a == b).count()
}

impl std::fmt::Debug for StoredBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hash = self.hash_text();
        write!(f, "{} bytes, {} stored, blake3 {hash}", self.len, self.middle.len())
    }
}
