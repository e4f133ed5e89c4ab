//! Events of a stream as bytes.

use bytes::Bytes;
use serde_json::Value;

/// An event that is only data.
pub(crate) fn data(value: &Value) -> Bytes {
    Bytes::from(format!("data: {value}\n\n"))
}

/// An event with a name, which is its type.
pub(crate) fn named(value: &Value) -> Bytes {
    let name = value["type"].as_str().unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {value}\n\n"))
}
