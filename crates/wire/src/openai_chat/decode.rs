//! From chat bodies to the model's words.

mod form;
mod messages;
mod parts;
mod settings;
mod tools;

use std::collections::BTreeMap;

use interleaf_model::{Extra, VendorName};

use self::messages::read_messages;
use super::OPENAI;
use crate::raw::ObjectText;
use crate::{Error, Request};

pub(crate) use self::settings::{read_format, read_schema};

/// Reads the body of a request.
pub(crate) fn decode_request(text: &str) -> Result<Request, Error> {
    let whole = serde_json::from_str(text).map_err(|e| Error::syntax(&e, text))?;
    settings::read(whole).map_err(|fault| fault.locate(text))
}

/// What each owner attached.
fn extra<const N: usize>(owners: [(&str, ObjectText); N]) -> Result<Extra, interleaf_model::Error> {
    let mut map = BTreeMap::new();
    for (owner, own) in owners {
        if let Some(fields) = own.into_json()? {
            map.insert(VendorName::new(owner), fields);
        }
    }
    Extra::from_map(map)
}
