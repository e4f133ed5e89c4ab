//! A number as it was written.

use std::fmt;

use interleaf_model::Json;

/// A number, in the digits in which it was written: `0.10` stays `0.10` on its way through
/// an API.
///
/// ```
/// use interleaf_wire::{Number, Options};
///
/// let mut options = Options::model("gpt-4.1");
/// options.temperature = Some(0.2.into());
/// assert_eq!(options.temperature.unwrap().to_string(), "0.2");
/// assert_eq!(Number::from(40_u32).as_f64(), Some(40.0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number(Json);

impl Number {
    /// Takes what stands in a body, as it stands there.
    pub fn from_json(json: Json) -> Self {
        Self(json)
    }

    /// The value; none, if a body held something that is no number.
    pub fn as_f64(&self) -> Option<f64> {
        self.0.as_str().parse().ok()
    }

    /// The number, if it is one from zero to `most`.
    pub(crate) fn within(&self, most: f64) -> Option<&Self> {
        self.as_f64().is_some_and(|number| (0.0..=most).contains(&number)).then_some(self)
    }

    /// The text as it is written into a body.
    pub fn as_json(&self) -> &Json {
        &self.0
    }
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self(Json::from(&serde_json::Value::from(number)))
    }
}

impl From<u32> for Number {
    fn from(number: u32) -> Self {
        Self(Json::from(&serde_json::Value::from(number)))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}
