//! JSON Schema: checking arguments, and telling every error (E9).

mod fault;
mod kinds;
mod mend;
mod size;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use interleaf_model::Tool;
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value};

pub use self::fault::SchemaFault;
pub(crate) use self::fault::path_text;
pub(crate) use self::kinds::{Kinds, resolve};
pub use self::mend::{Mended, Repair, RepairKind};
use crate::{Error, ErrorKind};

/// A schema, ready for use.
#[derive(Clone)]
pub struct Schema {
    value: Arc<Value>,
    validator: Arc<Validator>,
    /// The most subschemas that one value is held against.
    fan_out: u64,
}

impl Schema {
    /// Takes a schema. Without `$schema` it is read as 2020-12 if it uses a word that
    /// only that draft has, and as draft 7 otherwise. A `$ref` is never fetched.
    ///
    /// # Errors
    /// If it is no JSON Schema, refers to something that is not in it, or holds a value
    /// against more subschemas than can be told about.
    pub fn new(schema: Value) -> Result<Self, Error> {
        let fan_out = size::fan_out(&schema);
        if fan_out > size::MOST {
            let count =
                if fan_out == u64::MAX { "endlessly many".into() } else { fan_out.to_string() };
            let rule = format!(
                "the schema holds one value against {count} subschemas, and at most {} are possible",
                size::MOST
            );
            return Err(Error::new(ErrorKind::Schema, "", rule));
        }
        let options = jsonschema::options();
        let options = match declares_draft(&schema) {
            true => options,
            false if kinds::has_new_words(&schema) => options.with_draft(Draft::Draft202012),
            false => options.with_draft(Draft::Draft7),
        };
        let validator = options.build(&schema).map_err(|e| {
            let place = path_text(e.instance_path().as_str());
            Error::new(ErrorKind::Schema, place, format!("this is not a JSON Schema: {e}"))
        })?;
        Ok(Self { value: Arc::new(schema), validator: Arc::new(validator), fan_out })
    }

    /// The schema of a tool's arguments; one that takes none has an empty object.
    ///
    /// # Errors
    /// If it is no JSON Schema.
    pub fn of_tool(tool: &Tool) -> Result<Self, Error> {
        match &tool.parameters {
            Some(parameters) => Self::new(parameters.to_value()),
            None => Self::new(serde_json::json!({"type": "object", "properties": {}})),
        }
    }

    /// The schema as it came.
    pub fn as_value(&self) -> &Value {
        &self.value
    }

    /// Whether a value keeps every rule.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// The rules that a value breaks, each once. Of a value that is too large to be held
    /// against every alternative, only that it breaks the schema.
    pub fn check(&self, value: &Value) -> Vec<SchemaFault> {
        if !self.can_tell(value) {
            let fault = SchemaFault::unlisted(self.fan_out);
            return if self.is_valid(value) { Vec::new() } else { vec![fault] };
        }
        let mut seen = HashSet::new();
        let faults = self.validator.iter_errors(value).map(|e| SchemaFault::of(&e, value));
        faults.filter(|fault| seen.insert(fault.to_string())).collect()
    }

    /// Whether the errors of a value can be listed: each alternative keeps a copy of it.
    fn can_tell(&self, value: &Value) -> bool {
        const MOST_BYTES: u64 = 64 << 20;
        self.fan_out < 16 || self.fan_out.saturating_mul(length(value)) < MOST_BYTES
    }

    /// Checks a value and mends what the schema leaves no doubt about.
    ///
    /// # Errors
    /// Every rule that the value as it came breaks, if not all of them can be mended.
    pub fn mend(&self, value: Value) -> Result<Mended, Vec<SchemaFault>> {
        mend::mend(self, value)
    }

    /// The names that the schema requires, in order.
    pub fn required(&self) -> Vec<&str> {
        let list = resolve(&self.value, &self.value).get("required").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The declared properties and their schemas, in order.
    pub fn properties(&self) -> Option<&Map<String, Value>> {
        resolve(&self.value, &self.value).get("properties").and_then(Value::as_object)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({})", self.value)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

fn declares_draft(schema: &Value) -> bool {
    schema.get("$schema").is_some_and(Value::is_string)
}

/// About how many bytes a value takes as text.
fn length(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(items) => items.iter().map(|item| length(item) + 1).sum::<u64>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(name, own)| name.len() as u64 + length(own) + 4).sum::<u64>() + 2
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
