//! What is sent, and to whom.

use bytes::Bytes;
use interleaf::wire::{Decoder, Encoded, NameMap};
use interleaf::{Request, Target};

/// A body, whom it goes to, and what reads the answer.
///
/// ```
/// use interleaf::Target;
/// use interleaf_transport::Call;
///
/// let target = Target::new("openai", "gpt-5")?.with_key("sk-123");
/// let body = r#"{"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}"#;
/// let call = Call::new(target, body);
/// assert_eq!(call.len(), body.len());
/// # Ok::<(), interleaf::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Call {
    /// Whom it goes to. Its options say whether a stream is asked for; the body must say the
    /// same.
    pub target: Target,
    /// The body, in pieces.
    pub body: Vec<Bytes>,
    /// What reads the answer.
    pub decoder: Decoder,
}

impl Call {
    /// A body that was made elsewhere.
    pub fn new(target: Target, body: impl Into<Bytes>) -> Self {
        let decoder = Decoder::new(target.vendor.family, NameMap::default());
        Self { target, body: vec![body.into()], decoder }
    }

    /// A body that was made for this target.
    pub fn encoded(body: &Encoded, target: &Target) -> Self {
        let decoder = Decoder::new(target.vendor.family, body.names.clone());
        Self { target: target.clone(), body: body.fragments().cloned().collect(), decoder }
    }

    /// A session's request. The target is the one that it was made for.
    pub fn of(request: &Request, target: &Target) -> Self {
        let body = request.body.fragments().cloned().collect();
        Self { target: target.clone(), body, decoder: request.decoder.clone() }
    }

    /// The bytes of the body.
    pub fn len(&self) -> usize {
        self.body.iter().map(Bytes::len).sum()
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn name(&self) -> (&str, &str) {
        (&self.target.vendor.name, &self.target.options.model)
    }
}
