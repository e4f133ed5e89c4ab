//! TOML as a tree.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Fault, Name, Node, Source, Value};

/// The whole file.
pub(super) fn parse(source: &Source) -> Result<Node, Fault> {
    let table = DeTable::parse(source.text()).map_err(|error| {
        let message = error.message().replace('\n', ", ");
        match error.span() {
            Some(at) => Fault::new(source, at, message),
            None => Fault::of_file(source, message),
        }
    })?;
    let at = table.span();
    Ok(Node { at, value: entries(source, table.into_inner())? })
}

fn entries(source: &Source, table: DeTable<'_>) -> Result<Value, Fault> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let name = Name { at: key.span(), text: key.into_inner().into_owned() };
        entries.push((name, node(source, value)?));
    }
    // The order of the file, so that what is told first stands first.
    entries.sort_by_key(|(name, _): &(Name, Node)| name.at.start);
    Ok(Value::Table(entries))
}

fn node(source: &Source, value: Spanned<DeValue<'_>>) -> Result<Node, Fault> {
    let at = value.span();
    let fault = |rule: &str| Fault::new(source, at.clone(), rule);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(Cow::into_owned(text)),
        DeValue::Integer(digits) => {
            let whole = i64::from_str_radix(digits.as_str(), digits.radix());
            Value::Whole(whole.map_err(|_| fault("this number is too large"))?)
        }
        DeValue::Float(digits) => {
            let number = digits.as_str().parse::<f64>().ok().filter(|number| number.is_finite());
            Value::Number(number.ok_or_else(|| fault("this is no finite number"))?)
        }
        DeValue::Boolean(flag) => Value::Flag(flag),
        DeValue::Datetime(time) => Value::Text(time.to_string()),
        DeValue::Array(items) => {
            let items = items.into_iter().map(|item| node(source, item));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => entries(source, table)?,
    };
    Ok(Node { at, value })
}
