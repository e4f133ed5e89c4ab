//! Arguments where an API wants a JSON object, and the model wrote none.

use std::borrow::Cow;

use interleaf_model::{Arguments, Json};
use serde::Deserialize;

/// The one key of an object that stands for arguments which are none.
const RAW: &str = "raw_arguments";

/// Such an object. It has one key, or is not read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapped<'a> {
    #[serde(borrow)]
    raw_arguments: Cow<'a, str>,
}

/// The arguments as the text of a JSON object. What is no object is wrapped in one.
pub(crate) fn as_object(arguments: &Arguments) -> Cow<'_, str> {
    match arguments {
        Arguments::Object(json) => Cow::Borrowed(json.as_str()),
        Arguments::Invalid(text) => Cow::Owned(serde_json::json!({ RAW: &**text }).to_string()),
    }
}

/// The arguments that an object stands for: the way back of [`as_object`].
pub(crate) fn from_object(json: Json) -> Arguments {
    if json.as_str().contains(RAW)
        && let Ok(Wrapped { raw_arguments: text }) = serde_json::from_str(json.as_str())
        // An object that was wrapped by hand stays what it is.
        && let invalid @ Arguments::Invalid(_) = Arguments::from_text(&text)
    {
        return invalid;
    }
    Arguments::from_json(json)
}
