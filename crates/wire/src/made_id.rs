//! The ids of calls that came without one. The same cause always gives the same id, so that
//! every request built from the same history has the same bytes.

use interleaf_model::CallId;
use smol_str::{SmolStr, format_smolstr};

/// The id of a call of a body, from the call's place.
pub(crate) fn by_place(at: usize, number: usize) -> SmolStr {
    format_smolstr!("call_{at}_{number}")
}

/// The id of a call of an answer, from the answer's id.
pub(crate) fn of_answer(answer: &str, number: usize) -> String {
    of_seed(&format!("answer {number} {answer}"))
}

/// The id of a call of an answer, from the number of the request that it answers.
pub(crate) fn of_request(request: u64, number: usize) -> String {
    of_seed(&format!("request {request} {number}"))
}

/// The id of a call of an answer of which nothing is known but what it says.
pub(crate) fn of_content(number: usize, name: &str, arguments: &str) -> String {
    of_seed(&format!("call {number} {name} {arguments}"))
}

fn of_seed(seed: &str) -> String {
    format!("call_{:016x}", xxhash_rust::xxh3::xxh3_64(seed.as_bytes()))
}

/// Whether an id is in the form of those that are made here for calls without one, with or
/// without a number after it.
///
/// Such an id differs between the calls of one body or answer. Calls of different answers may
/// have the same: of two answers that say the same, and give no id of their own, nothing
/// tells which is which. A conversation that takes in both gives one of them a number.
///
/// ```
/// use interleaf_model::CallId;
/// use interleaf_wire::is_made_call_id;
///
/// for made in ["call_ec47c93aab08a803", "call_0_1", "call_ec47c93aab08a803_2"] {
///     assert!(is_made_call_id(&CallId::new(made)?));
/// }
/// assert!(!is_made_call_id(&CallId::new("toolu_01")?));
/// # Ok::<(), interleaf_model::Error>(())
/// ```
pub fn is_made_call_id(id: &CallId) -> bool {
    let Some(rest) = id.as_str().strip_prefix("call_") else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_hash = |text: &str| {
        text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let mut pieces = rest.split('_');
    let is_made = match pieces.next() {
        Some(first) if is_hash(first) => true,
        Some(first) => is_number(first) && pieces.next().is_some_and(is_number),
        None => false,
    };
    is_made && pieces.next().is_none_or(is_number) && pieces.next().is_none()
}
