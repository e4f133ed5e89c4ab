//! From a body or an answer to the model's words, whatever the family.

use std::sync::Arc;

use interleaf_model::{Opaque, Reply, Secret, Tool};

use crate::api_error::Mask;
use crate::{ApiError, CallReader, Error, ErrorKind, Family, NameMap, Request, StreamDecoder};

/// Reads the body of a request, or the bare list of its messages.
///
/// # Errors
/// If the text is no such body, or an object in it has two fields of one name. Its messages
/// may be a broken history.
pub fn decode_request(family: Family, text: &str) -> Result<Request, Error> {
    let request = (family.codec().read_request)(text)?;
    Error::unless_double(text)?;
    Ok(request)
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

/// Reads the answer to a request, whole or streamed.
///
/// ```
/// use interleaf_wire::{Decoder, Family, NameMap};
///
/// let decoder = Decoder::new(Family::OpenaiChat, NameMap::default());
/// let body = br#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
/// assert_eq!(decoder.whole(200, [], body)?.message.text(), "hi");
///
/// let refused = decoder.whole(429, [("retry-after", "2")], b"slow down").unwrap_err();
/// assert!(refused.api_error().is_some_and(|error| error.is_retryable()));
///
/// let mut stream = decoder.stream();
/// stream.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"h\"}}]}\n\n")?;
/// assert!(stream.finish().is_err());
/// assert_eq!(stream.partial().unwrap().message.text(), "h");
/// # Ok::<(), interleaf_wire::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Decoder {
    family: Family,
    names: NameMap,
    request: Option<u64>,
    /// What no error shows.
    hidden: Vec<Secret>,
    /// What reads calls out of what the model says.
    reader: Option<Arc<dyn CallReader>>,
}

impl Decoder {
    /// A decoder for the answer to a request whose tool names were rewritten so.
    pub fn new(family: Family, names: NameMap) -> Self {
        Self { family, names, request: None, hidden: Vec::new(), reader: None }
    }

    /// Says which request of its session the answer belongs to: the reply names it, and
    /// calls that the API gives no id get one that no other answer has.
    #[must_use]
    pub fn for_request(self, number: u64) -> Self {
        Self { request: Some(number), ..self }
    }

    /// Says which key the request was sent with, or what else is secret in it, such as the
    /// password of a proxy: no error shows it, however the server repeats it. May be said several
    /// times. Other keys are known by their looks.
    ///
    /// ```
    /// use interleaf_model::Secret;
    /// use interleaf_wire::{Decoder, Family, NameMap};
    ///
    /// let decoder = Decoder::new(Family::OpenaiChat, NameMap::default());
    /// let decoder = decoder.hiding(&Secret::new("open sesame"));
    /// let refused = decoder.whole(401, [], b"no such key: open sesame").unwrap_err();
    /// assert_eq!(refused.to_string(), "no such key: ***");
    /// ```
    #[must_use]
    pub fn hiding(mut self, key: &Secret) -> Self {
        self.hidden.push(key.clone());
        self
    }

    /// Says that the model makes its calls in words, and what reads them: they become calls of
    /// the reply, with ids that are made here, and its finish says so.
    #[must_use]
    pub fn reading(self, reader: Arc<dyn CallReader>) -> Self {
        Self { reader: Some(reader), ..self }
    }

    pub(crate) fn reader(&self) -> Option<&Arc<dyn CallReader>> {
        self.reader.as_ref()
    }

    /// A text without what is [hidden](Self::hiding), however a server repeats it there.
    pub fn hidden(&self, text: &str) -> String {
        self.mask().given(text)
    }

    /// What takes keys out of errors.
    pub(crate) fn mask(&self) -> Mask<'_> {
        Mask::new(&self.hidden)
    }

    /// Whose answers it reads.
    pub fn family(&self) -> Family {
        self.family
    }

    pub(crate) fn names(&self) -> &NameMap {
        &self.names
    }

    pub(crate) fn request(&self) -> Option<u64> {
        self.request
    }

    /// Reads an answer that came whole, with its HTTP status and headers.
    ///
    /// # Errors
    /// If the body is no answer, or an error of the API's, which
    /// [`Error::api_error`] gives.
    pub fn whole<'h>(
        &self,
        status: u16,
        headers: impl IntoIterator<Item = (&'h str, &'h str)>,
        body: &[u8],
    ) -> Result<Reply, Error> {
        if !(200..300).contains(&status) {
            let refused = ApiError::answered(self.family, status, headers, body);
            return Err(refused.sealed(self.mask()).into());
        }
        let not_text = |_| Error::new(ErrorKind::Syntax, "the answer is not UTF-8");
        self.text(std::str::from_utf8(body).map_err(not_text)?)
    }

    /// Begins to read a stream.
    pub fn stream(&self) -> StreamDecoder {
        StreamDecoder::of(self.clone())
    }

    /// Reads a stream of which all bytes are at hand.
    ///
    /// # Errors
    /// As [`StreamDecoder`].
    pub fn recorded(&self, bytes: &[u8]) -> Result<Reply, Error> {
        let mut stream = self.stream();
        stream.push(bytes)?;
        stream.finish()
    }

    fn text(&self, text: &str) -> Result<Reply, Error> {
        // Some servers put a byte order mark before it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let answer = (self.family.codec().read_answer)(text);
        Ok(answer.map_err(|error| error.sealed(self.mask()))?.build(self))
    }
}
