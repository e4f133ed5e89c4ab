//! A key that does not show up in a log.

use std::fmt;
use std::sync::Arc;

use crate::echo;

/// A text that must not be printed: an API key, or a header that holds one.
///
/// `Debug` and `Display` print `***`, and it cannot be serialized; only
/// [`expose`](Self::expose) gives the text.
///
/// ```
/// use interleaf_model::Secret;
///
/// let key = Secret::new("sk-live-123");
/// assert_eq!(format!("{key} {key:?}"), "*** ***");
/// assert_eq!(key.expose(), "sk-live-123");
/// ```
#[derive(Clone)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the place where it is sent.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text without it, however a server repeats it there: as it is, escaped, broken into lines,
    /// in base64, in parts. One of less than six letters is no secret.
    ///
    /// ```
    /// use interleaf_model::Secret;
    ///
    /// let key = Secret::new("open sesame");
    /// assert_eq!(key.hidden_in("no such key: open sesame"), "no such key: ***");
    /// ```
    pub fn hidden_in(&self, text: &str) -> String {
        echo::hidden(text, self.0.trim())
    }

    /// Whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
