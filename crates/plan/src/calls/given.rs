//! Calls that a user gives as JSON.

use interleaf_model::{Json, ToolName};
use serde_json::Value;

use super::Call;
use crate::{Error, ErrorKind, exact};

/// Reads a list of calls: `{"name", "arguments"}`, or the form of OpenAI.
///
/// # Errors
/// If it is no list, or the first call that has no name or no readable arguments.
pub fn read_calls(list: &Json) -> Result<Vec<Call>, Error> {
    let fault = |place: &str, rule: &str| Error::new(ErrorKind::Form, place, rule);
    let list = exact::items(list).ok_or_else(|| fault("", "a list of calls is expected"))?;
    let call = |(i, value): (usize, &Json)| {
        let place = format!("[{i}]");
        let fields = exact::fields(value).unwrap_or_default();
        let of = |name: &str| fields.iter().find(|(own, _)| own == name).map(|(_, own)| own);
        let inner = of("function").and_then(exact::fields);
        let fields = inner.as_ref().unwrap_or(&fields);
        let of = |name: &str| fields.iter().find(|(own, _)| own == name).map(|(_, own)| own);
        let name = of("name").or_else(|| of("tool")).and_then(exact::text);
        let name = name.ok_or_else(|| fault(&place, "a call needs a field `name`"))?;
        let null = Json::from(Value::Null);
        let given = of("arguments").or_else(|| of("input")).unwrap_or(&null);
        let arguments = super::json::of_value(given).map(|(own, _)| own);
        let call = arguments.and_then(|own| Call::exact(&ToolName::from(name.as_str()), own));
        call.ok_or_else(|| fault(&place, "the arguments are not a JSON object"))
    };
    list.iter().enumerate().map(call).collect()
}
