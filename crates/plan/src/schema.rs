//! JSON Schema: checking arguments, and telling every error (E9).

mod kinds;
mod mend;

use std::fmt;
use std::sync::Arc;

use interleaf_model::Tool;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, ValidationError, Validator};
use serde_json::{Map, Value};

pub(crate) use self::kinds::{Kinds, resolve};
pub use self::mend::{Mended, Repair, RepairKind};
use crate::{Error, ErrorKind};

/// A schema, ready for use.
#[derive(Clone)]
pub struct Schema {
    value: Arc<Value>,
    validator: Arc<Validator>,
}

/// A rule of a schema that a value breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaFault {
    /// Where in the value, such as `filters[0].field`; empty for the value itself.
    pub path: String,
    /// The keyword of the schema, such as `type` or `enum`.
    pub rule: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The values, or the types, that are allowed, where the rule names them.
    pub allowed: Vec<Value>,
}

impl Schema {
    /// Takes a schema. Without `$schema` it is read as 2020-12 if it uses a word that
    /// only that draft has, and as draft 7 otherwise. A `$ref` is never fetched.
    ///
    /// # Errors
    /// If it is no JSON Schema, or refers to something that is not in it.
    pub fn new(schema: Value) -> Result<Self, Error> {
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
        Ok(Self { value: Arc::new(schema), validator: Arc::new(validator) })
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

    /// Every rule that a value breaks.
    pub fn check(&self, value: &Value) -> Vec<SchemaFault> {
        self.validator.iter_errors(value).map(|e| SchemaFault::of(&e)).collect()
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

impl SchemaFault {
    fn of(error: &ValidationError<'_>) -> Self {
        let path = path_text(error.instance_path().as_str());
        let rule = error.kind().keyword().to_owned();
        let mut allowed = Vec::new();
        let message = match error.kind() {
            ValidationErrorKind::Enum { options } => {
                allowed = options.as_array().cloned().unwrap_or_default();
                format!("{} is not one of the allowed values", short(error.instance()))
            }
            ValidationErrorKind::Constant { expected_value } => {
                allowed.push(Value::clone(expected_value));
                format!("{} is not the allowed value", short(error.instance()))
            }
            ValidationErrorKind::Type { kind } => {
                let types: Vec<&str> = match kind {
                    TypeKind::Single(one) => vec![one.as_str()],
                    TypeKind::Multiple(set) => set.iter().map(|one| one.as_str()).collect(),
                };
                allowed = types.iter().map(|&name| name.into()).collect();
                format!("{} is not of type {}", short(error.instance()), types.join(" or "))
            }
            ValidationErrorKind::Required { property } => {
                format!("the required property {property} is missing")
            }
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context } => {
                let alternatives = context.iter().enumerate().map(|(i, errors)| {
                    let faults = errors.iter().map(SchemaFault::of).map(|fault| fault.to_string());
                    format!("({}) {}", i + 1, faults.collect::<Vec<_>>().join(", "))
                });
                let alternatives: Vec<String> = alternatives.take(8).collect();
                format!("it fits none of the alternatives: {}", alternatives.join("; "))
            }
            _ => error.masked_with(short(error.instance())).to_string(),
        };
        Self { path, rule, message, allowed }
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} (rule `{}`", self.message, self.rule)?;
        if !self.allowed.is_empty() && self.rule != "type" {
            let allowed: Vec<String> = self.allowed.iter().map(Value::to_string).collect();
            write!(f, "; allowed: {}", allowed.join(", "))?;
        }
        f.write_str(")")
    }
}

fn declares_draft(schema: &Value) -> bool {
    schema.get("$schema").is_some_and(Value::is_string)
}

/// A value as it is quoted in a sentence.
pub(crate) fn short(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// `/filters/0/field` as `filters[0].field`.
pub(crate) fn path_text(pointer: &str) -> String {
    let mut path = String::new();
    for segment in pointer.split('/').skip(1) {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        if !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit()) {
            path += &format!("[{segment}]");
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path += &segment;
        }
    }
    path
}
