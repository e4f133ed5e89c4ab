//! From a body or an answer to the model's words, whatever the family.

use interleaf_model::{Opaque, Reply, Tool};

use crate::{Error, Family, NameMap, Request, StreamDecoder};

/// Reads the body of a request, or the bare list of its messages.
///
/// # Errors
/// If the text is no such body. Its messages may be a broken history.
pub fn decode_request(family: Family, text: &str) -> Result<Request, Error> {
    (family.codec().read_request)(text)
}

/// Reads a list of tools: those that the caller runs, and those that only the vendor knows.
///
/// # Errors
/// If the text is no such list.
pub fn decode_tools(family: Family, list: &str) -> Result<(Vec<Tool>, Vec<Opaque>), Error> {
    let Request { tools, options, .. } =
        decode_request(family, &(family.codec().body_of_tools)(list))?;
    Ok((tools, options.hosted_tools))
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
