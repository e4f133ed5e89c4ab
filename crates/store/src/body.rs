//! The bodies of requests, kept so that their bytes can be retrieved and verified.
//!
//! A body is stored as what is new in it: a request repeats most of the one before,
//! and both ends are shared. A whole body is stored once what came since the last
//! whole one weighs as much; so all bodies together cost about what was new in them,
//! and reading one touches at most twice its length.
//!
//! Noting a body costs what is new in it as well. It comes in pieces that it shares
//! with the body before, so that most of it is compared by address; and the hash, which
//! is the plain BLAKE3 hash of all bytes, goes on from a state that was kept.

mod hash;
mod pieces;

use bytes::Bytes;

use crate::{Error, ErrorKind, Page, SentRequest, SessionId, Store};
use hash::HashStates;
use pieces::End;

pub use pieces::Pieces;

/// The first page of requests that is read to find a whole body; each is twice the last.
const FIRST_PAGE: usize = 32;

/// No page of requests is longer.
const LONGEST_PAGE: usize = 1024;

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
///
/// ```
/// use interleaf_store::LastBody;
///
/// let (_, last) = LastBody::after(None, [r#"{"messages":["one""#, "]}"]);
/// let (stored, _) = LastBody::after(Some(&last), [r#"{"messages":["one""#, r#","two""#, "]}"]);
/// assert_eq!(stored.middle, br#","two""#);
/// ```
#[derive(Debug, Clone)]
pub struct LastBody {
    pieces: Pieces,
    since_whole: u64,
    states: HashStates,
}

impl LastBody {
    /// The stored form of a body that follows another, and what the next one is compared
    /// with once this one is stored. Pieces that are the same memory as those of the body
    /// before cost nothing.
    pub fn after(
        last: Option<&Self>,
        body: impl IntoIterator<Item = impl Into<Bytes>>,
    ) -> (StoredBody, Self) {
        let pieces: Pieces = body.into_iter().map(Into::into).collect();
        let len = pieces.len();
        let Some(last) = last else {
            let (hash, states) = HashStates::default().hash(0, &pieces);
            return Self::whole(hash, pieces, states);
        };
        let prefix = pieces.shared(&last.pieces, End::Front, u64::MAX);
        let rest = len.min(last.pieces.len()) - prefix;
        let suffix = pieces.shared(&last.pieces, End::Back, rest);
        let (hash, states) = last.states.hash(prefix, &pieces);
        let since_whole = last.since_whole + (len - prefix - suffix);
        // The whole body itself counts once, so that a chain may grow to twice it.
        if since_whole > 2 * len {
            return Self::whole(hash, pieces, states);
        }
        let middle = pieces.copy(prefix..len - suffix);
        let body = StoredBody { hash, len, whole: false, prefix, suffix, middle, since_whole };
        (body, Self { pieces, since_whole, states })
    }

    fn whole(hash: [u8; 32], pieces: Pieces, states: HashStates) -> (StoredBody, Self) {
        let len = pieces.len();
        let middle = pieces.copy(0..len);
        let (prefix, suffix, since_whole) = (0, 0, len);
        let body = StoredBody { hash, len, whole: true, prefix, suffix, middle, since_whole };
        (body, Self { pieces, since_whole, states })
    }

    /// Reads the body of a request, and proves it.
    ///
    /// # Errors
    /// If there is no such request, or what is stored does not have the hash.
    pub async fn read(store: &dyn Store, session: SessionId, no: u64) -> Result<Self, Error> {
        let mut chain: Vec<SentRequest> = vec![];
        let (mut before, mut limit) = (no.saturating_add(1), FIRST_PAGE);
        while !chain.first().is_some_and(|first| first.body.whole) {
            let mut page = store.requests(session, Page::before(before, limit)).await?;
            let whole = page.iter().rposition(|request| request.body.whole);
            page.drain(..whole.unwrap_or(0));
            let Some(first) = page.first() else { break };
            (before, limit) = (first.no, LONGEST_PAGE.min(2 * limit));
            page.append(&mut chain);
            chain = page;
        }
        if chain.last().is_none_or(|last| last.no != no) {
            chain.clear();
        }
        Self::rebuilt(chain)
    }

    /// The body at the end of a chain of requests that begins with a whole one.
    ///
    /// # Errors
    /// If the chain is broken, or the bytes are not those of the hash.
    pub fn rebuilt(chain: impl IntoIterator<Item = SentRequest>) -> Result<Self, Error> {
        let mut pieces: Option<Pieces> = None;
        let mut last: Option<(u64, [u8; 32], u64)> = None;
        for SentRequest { no, body, .. } in chain {
            last = Some((no, body.hash, body.since_whole));
            let broken = || Error::corrupt(format!("the body of request {no} is lost"));
            pieces = Some(next_body(pieces, body).ok_or_else(broken)?);
        }
        let (Some(pieces), Some((no, proven, since_whole))) = (pieces, last) else {
            return Err(Error::new(ErrorKind::NotFound, "no such request was recorded"));
        };
        let (hash, states) = HashStates::default().hash(0, &pieces);
        match hash == proven {
            true => Ok(Self { pieces, since_whole, states }),
            false => Err(other_hash(no)),
        }
    }

    /// The body of a request that follows another, of which it takes what it shares. So the
    /// bodies of a session are read one after the other, each at the cost of what is new.
    ///
    /// # Errors
    /// If it goes on from another body, or the bytes are not those of the hash.
    pub fn following(last: Option<&Self>, request: &SentRequest) -> Result<Self, Error> {
        let SentRequest { no, body, .. } = request;
        let broken = || Error::corrupt(format!("the body of request {no} is lost"));
        let last = last.filter(|_| !body.whole);
        let pieces = last.map(|last| last.pieces.clone());
        let pieces = next_body(pieces, body.clone()).ok_or_else(broken)?;
        let states = last.map(|last| &last.states);
        let (hash, states) = states.unwrap_or(&HashStates::default()).hash(body.prefix, &pieces);
        match hash == body.hash {
            true => Ok(Self { pieces, since_whole: body.since_whole, states }),
            false => Err(other_hash(*no)),
        }
    }

    /// The bytes, in pieces.
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// The bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.pieces.copy(0..self.pieces.len())
    }
}

fn other_hash(no: u64) -> Error {
    Error::corrupt(format!("the bytes of request {no} do not have its hash"))
}

fn next_body(last: Option<Pieces>, stored: StoredBody) -> Option<Pieces> {
    let StoredBody { len, whole, prefix, suffix, middle, .. } = stored;
    let mut pieces = match whole {
        true => Pieces::default(),
        false => last?,
    };
    pieces.replace(prefix, suffix, middle.into())?;
    (pieces.len() == len).then_some(pieces)
}

impl StoredBody {
    /// The hash in hexadecimal, as people compare it.
    pub fn hash_text(&self) -> String {
        blake3::Hash::from_bytes(self.hash).to_hex().to_string()
    }

    /// Whether these bytes are the body.
    pub fn is(&self, body: &[u8]) -> bool {
        *blake3::hash(body).as_bytes() == self.hash
    }
}

impl std::fmt::Debug for StoredBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hash = self.hash_text();
        write!(f, "{} bytes, {} stored, blake3 {hash}", self.len, self.middle.len())
    }
}
