//! A request that goes on from an answer which the API keeps: what came before it is not sent.

use bytes::Bytes;

use super::{Encoded, Outline};
use crate::Vendor;

/// How a family goes on from an answer that it keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GoesOnBy {
    /// The list of what is said.
    pub(crate) list: &'static str,
    /// The field that names the answer.
    pub(crate) field: &'static str,
    /// The field that has answers kept.
    pub(crate) kept: &'static str,
}

/// Where a request is cut that goes on from an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Where the list of what is said begins, behind its bracket.
    pub start: usize,
    /// Where the answer ends: from here on all is new.
    pub end: usize,
}

impl Vendor {
    /// Whether it keeps answers that a request can go on from, so that only what is new is sent.
    ///
    /// ```
    /// use interleaf_wire::Vendor;
    ///
    /// let keeps = |name| Vendor::named(name).is_some_and(Vendor::keeps_answers);
    /// assert!(keeps("openai-responses") && keeps("azure-responses") && !keeps("openai"));
    /// ```
    pub fn keeps_answers(&self) -> bool {
        self.family.codec().goes_on_by.is_some()
    }

    /// The field of a body that says whether its answer is kept.
    pub fn kept_field(&self) -> Option<&'static str> {
        self.family.codec().goes_on_by.map(|by| by.kept)
    }

    /// Where the list of what is said begins in a body, behind its bracket, if the vendor keeps
    /// answers.
    pub fn list_start(&self, body: &Encoded) -> Option<usize> {
        let by = self.family.codec().goes_on_by?;
        member(&body.head, by.list)
    }

    /// The body cut: it names the answer, and holds what is new.
    pub fn going_on<'b>(
        &self,
        body: impl IntoIterator<Item = &'b Bytes>,
        cut: Cut,
        answer: &str,
    ) -> Option<Vec<Bytes>> {
        let by = self.family.codec().goes_on_by?;
        let (mut pieces, mut at) = (Vec::new(), 0);
        for piece in body {
            let (start, end) = (at, at + piece.len());
            at = end;
            if start < cut.start {
                pieces.push(piece.slice(..cut.start.min(end) - start));
            }
            // Without the comma after the answer.
            if end > cut.end + 1 {
                pieces.push(piece.slice((cut.end + 1).max(start) - start..));
            }
        }
        let last = pieces.last_mut()?;
        *last = last.slice(..last.len().checked_sub(1)?);
        let answer = serde_json::Value::from(answer);
        pieces.push(Bytes::from(format!(",\"{}\":{answer}}}", by.field)));
        Some(pieces)
    }
}

impl Encoded {
    /// The same request with this body, of which nothing is told by place.
    #[must_use]
    pub fn with_pieces(&self, pieces: Vec<Bytes>) -> Self {
        let mut pieces = pieces.into_iter();
        let head = pieces.next().unwrap_or_default();
        let outline = Outline::new(head.len(), head.len());
        Self { head, settled: Vec::new(), rest: pieces.collect(), outline, ..self.clone() }
    }
}

/// Where the list of a member of an object begins, behind its bracket.
fn member(head: &[u8], name: &str) -> Option<usize> {
    let wanted = format!("\"{name}\":[");
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = head.get(at) {
        match byte {
            b'"' => {
                if depth == 1 && head[at..].starts_with(wanted.as_bytes()) {
                    return Some(at + wanted.len());
                }
                at += 1;
                while head.get(at).is_some_and(|&byte| byte != b'"') {
                    at += if head[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}
