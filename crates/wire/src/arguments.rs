//! Arguments where an API wants a JSON object, and the model wrote none.

use std::borrow::Cow;

use interleaf_model::{Arguments, Json};
use serde_json::Value;

/// The one key of an object that stands for arguments which are none.
const RAW: &str = "raw_arguments";

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
        && let Value::Object(fields) = json.to_value()
        && fields.len() == 1
        && let Some(Value::String(text)) = fields.get(RAW)
        // An object that was wrapped by hand stays what it is.
        && let invalid @ Arguments::Invalid(_) = Arguments::from_text(text)
    {
        return invalid;
    }
    Arguments::from_json(json)
}
