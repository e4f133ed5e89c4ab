//! The headers of an answer, whatever their case.

use std::collections::BTreeMap;

use smol_str::SmolStr;

/// The headers of an answer. Of two with one name, the first counts.
#[derive(Debug, Default)]
pub(super) struct Headers<'h>(BTreeMap<String, &'h str>);

/// Where AWS names its errors.
pub(super) const ERROR_TYPE: &str = "x-amzn-errortype";
/// Where APIs tell the number that their support asks for.
const REQUEST_IDS: [&str; 4] =
    ["request-id", "x-request-id", "x-amzn-requestid", "apim-request-id"];

impl<'h> Headers<'h> {
    pub(super) fn new(headers: impl IntoIterator<Item = (&'h str, &'h str)>) -> Self {
        let mut known = BTreeMap::new();
        for (name, value) in headers {
            known.entry(name.to_ascii_lowercase()).or_insert(value.trim());
        }
        Self(known)
    }

    /// The value of a header, by its name in lower case.
    pub(super) fn get(&self, name: &str) -> Option<&'h str> {
        self.0.get(name).copied()
    }

    /// All headers, names in lower case.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'h str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    pub(super) fn request_id(&self) -> Option<SmolStr> {
        let id = REQUEST_IDS.into_iter().find_map(|name| self.get(name));
        id.filter(|id| !id.is_empty()).map(SmolStr::new)
    }

    /// The name of an error; an address may stand after a colon.
    pub(super) fn error_type(&self) -> Option<SmolStr> {
        let name = self.get(ERROR_TYPE)?.split(':').next()?;
        (!name.is_empty()).then(|| SmolStr::new(name))
    }

    /// Whether the API itself says that another try makes sense.
    pub(super) fn may_retry(&self) -> Option<bool> {
        match self.get("x-should-retry")? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
}
