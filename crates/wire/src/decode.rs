//! From a body or an answer to the model's words, whatever the family.

use interleaf_model::Reply;

use crate::{Error, Family, NameMap, Request, StreamDecoder};

/// Reads the body of a request.
///
/// # Errors
/// If the text is no such body. Its messages may be a broken history.
pub fn decode_request(family: Family, text: &str) -> Result<Request, Error> {
    (family.codec().read_request)(text)
}

/// Reads an answer that came whole.
///
/// # Errors
/// If the text is no answer, or is an error of the API's.
pub fn decode_response(family: Family, text: &str, names: &NameMap) -> Result<Reply, Error> {
    let reply = (family.codec().read_answer)(text)?;
    Ok(reply.build(names, family.owner()))
}

/// Reads a recorded stream.
///
/// # Errors
/// As [`StreamDecoder`].
pub fn decode_stream(family: Family, bytes: &[u8], names: &NameMap) -> Result<Reply, Error> {
    let mut decoder = StreamDecoder::new(family, names.clone());
    decoder.push(bytes)?;
    decoder.finish()
}
