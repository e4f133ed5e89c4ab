//! Signatures of thoughts: what a real API signs so that nobody can make a thought up.
//!
//! They are not secret, as a double has nothing to hide. They only tell a thought that the
//! double gave from one that was changed or came from elsewhere.

use xxhash_rust::xxh3::xxh3_128;

use crate::Api;

const BEGINS: &str = "ZG91Ymxl";

/// The signature of a text, in base64's alphabet.
pub(crate) fn seal(api: Api, text: &str) -> String {
    let hash = xxh3_128(format!("{api}\n{text}").as_bytes());
    format!("{BEGINS}{hash:032x}")
}

/// Whether a signature is the one of this text.
pub(crate) fn is_sealed(api: Api, text: &str, signature: &str) -> bool {
    seal(api, text) == signature
}
