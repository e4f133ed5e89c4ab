//! What is wrong with a value, as data that can be told in any language.

use std::fmt;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::{Value, json};

/// A rule of a schema that a value breaks.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SchemaFault {
    /// Where in the value, such as `filters[0].field`; empty for the value itself.
    pub path: String,
    /// The keyword of the schema, such as `type` or `enum`.
    pub rule: String,
    /// The value, shortened.
    pub value: String,
    /// What the rule demands, such as the `5` of `"maximum": 5`; may be empty.
    pub limit: String,
    /// The properties that are missing or not allowed, where the rule is about some.
    pub names: Vec<String>,
    /// The values, or the types, that are allowed, where the rule names them.
    pub allowed: Vec<Value>,
    /// What is wrong by each of several alternatives, the first few of each.
    pub alternatives: Vec<Vec<SchemaFault>>,
    /// How many different alternatives are not listed.
    pub n_unlisted: usize,
}

/// How many alternatives are listed, and how many faults of each.
const MOST_ALTERNATIVES: usize = 8;
const MOST_OF_EACH: usize = 4;
/// Alternatives inside alternatives inside alternatives are not listed.
const DEEPEST: usize = 2;

impl SchemaFault {
    /// The fault that an error about `root`, or something in it, tells.
    pub(super) fn of(error: &ValidationError<'_>, root: &Value) -> Self {
        of_error(error, root, 0)
    }

    /// That a value fits none of the alternatives, which are too many to try each.
    pub(super) fn unlisted(n_alternatives: u64) -> Self {
        let n_unlisted = usize::try_from(n_alternatives).unwrap_or(usize::MAX);
        Self { rule: "anyOf".to_owned(), n_unlisted, ..Self::default() }
    }

    /// What is wrong, in an English sentence without the place.
    pub fn message(&self) -> String {
        let Self { value, limit, .. } = self;
        let names = self.names.iter().map(|name| Value::from(name.as_str()).to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        let items = |count: &str| if count == "1" { "item" } else { "items" };
        let characters = |count: &str| if count == "1" { "character" } else { "characters" };
        let properties = |count: &str| if count == "1" { "property" } else { "properties" };
        match self.rule.as_str() {
            "type" => format!("{value} is not of type {limit}"),
            "enum" => format!("{value} is not one of the allowed values"),
            "const" => format!("{value} is not the allowed value"),
            "required" => format!("the required property {names} is missing"),
            "additionalProperties" | "unevaluatedProperties" | "falseSchema"
                if !names.is_empty() =>
            {
                match self.names.len() {
                    1 => format!("the property {names} is not allowed"),
                    _ => format!("the properties {names} are not allowed"),
                }
            }
            "falseSchema" => "no value is allowed here".to_owned(),
            "minimum" => format!("{value} is less than the minimum of {limit}"),
            "maximum" => format!("{value} is greater than the maximum of {limit}"),
            "exclusiveMinimum" => format!("{value} is not greater than {limit}"),
            "exclusiveMaximum" => format!("{value} is not less than {limit}"),
            "multipleOf" => format!("{value} is not a multiple of {limit}"),
            "minLength" => format!("{value} is shorter than {limit} {}", characters(limit)),
            "maxLength" => format!("{value} is longer than {limit} {}", characters(limit)),
            "pattern" => format!("{value} does not match the pattern {limit}"),
            "format" => format!("{value} is not a {limit}"),
            "minItems" => format!("{value} has fewer than {limit} {}", items(limit)),
            "maxItems" | "additionalItems" => {
                format!("{value} has more than {limit} {}", items(limit))
            }
            "uniqueItems" => format!("{value} has items that are equal"),
            "contains" => format!("{value} has no item of the kind that must be in it"),
            "unevaluatedItems" => format!("{value} has items that are not allowed"),
            "minProperties" => format!("{value} has fewer than {limit} {}", properties(limit)),
            "maxProperties" => format!("{value} has more than {limit} {}", properties(limit)),
            "not" => format!("{value} is what the schema excludes: {limit}"),
            "anyOf" | "oneOf" if self.alternatives.is_empty() && self.n_unlisted > 0 => {
                format!("it fits none of {} alternatives", self.n_unlisted)
            }
            "anyOf" | "oneOf" if self.alternatives.is_empty() => {
                "it fits more than one of the alternatives, and must fit exactly one".to_owned()
            }
            "anyOf" | "oneOf" => {
                let mut text = String::from("it fits none of the alternatives: ");
                for (i, faults) in self.alternatives.iter().enumerate() {
                    let faults: Vec<String> = faults.iter().map(Self::to_string).collect();
                    let comma = if i > 0 { "; " } else { "" };
                    text += &format!("{comma}({}) {}", i + 1, faults.join(", "));
                }
                match self.n_unlisted {
                    0 => text,
                    more => format!("{text}; and {more} more"),
                }
            }
            _ => limit.clone(),
        }
    }

    /// The fault as the templates get it.
    pub(crate) fn to_given(&self) -> Value {
        let alternatives: Vec<Vec<Value>> = self
            .alternatives
            .iter()
            .map(|faults| faults.iter().map(Self::to_given).collect())
            .collect();
        json!({
            "kind": "rule",
            "text": self.to_string(),
            "path": self.path,
            "rule": self.rule,
            "value": self.value,
            "limit": self.limit,
            "names": self.names,
            "allowed": self.allowed_text(),
            "alternatives": alternatives,
            "more": self.n_unlisted,
        })
    }

    /// The allowed values as they are listed; the types of `type` are in its sentence.
    fn allowed_text(&self) -> String {
        const LONGEST: usize = 2_000;
        if self.rule == "type" {
            return String::new();
        }
        let mut text = String::new();
        for (i, allowed) in self.allowed.iter().enumerate() {
            let allowed = short(allowed);
            if text.len() + allowed.len() > LONGEST {
                return format!("{text}, … ({} in all)", self.allowed.len());
            }
            text += if i > 0 { ", " } else { "" };
            text += &allowed;
        }
        text
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} (rule `{}`", self.message(), self.rule)?;
        match self.allowed_text().as_str() {
            "" => {}
            allowed => write!(f, "; allowed: {allowed}")?,
        }
        f.write_str(")")
    }
}

fn of_error(error: &ValidationError<'_>, root: &Value, depth: usize) -> SchemaFault {
    use ValidationErrorKind as Kind;
    let mut fault = SchemaFault {
        path: path_text(error.instance_path().as_str()),
        rule: error.kind().keyword().to_owned(),
        value: short(error.instance()),
        ..SchemaFault::default()
    };
    fault.limit = match error.kind() {
        Kind::Minimum { limit }
        | Kind::Maximum { limit }
        | Kind::ExclusiveMinimum { limit }
        | Kind::ExclusiveMaximum { limit } => limit.to_string(),
        Kind::MinItems { limit }
        | Kind::MaxItems { limit }
        | Kind::MinLength { limit }
        | Kind::MaxLength { limit }
        | Kind::MinProperties { limit }
        | Kind::MaxProperties { limit } => limit.to_string(),
        Kind::AdditionalItems { limit } => limit.to_string(),
        Kind::MultipleOf { multiple_of } => multiple_of.to_string(),
        Kind::Pattern { pattern } => short(&Value::from(pattern.as_str())),
        Kind::Format { format } => format.clone(),
        Kind::Not { schema } => short(schema),
        Kind::Enum { options } => {
            fault.allowed = options.as_array().cloned().unwrap_or_default();
            String::new()
        }
        Kind::Constant { expected_value } => {
            fault.allowed.push(Value::clone(expected_value));
            String::new()
        }
        Kind::Type { kind } => {
            let types: Vec<&str> = match kind {
                TypeKind::Single(one) => vec![one.as_str()],
                TypeKind::Multiple(set) => set.iter().map(|one| one.as_str()).collect(),
            };
            fault.allowed = types.iter().map(|&name| name.into()).collect();
            types.join(" or ")
        }
        Kind::Required { property } => {
            fault.names.push(property.as_str().map_or_else(|| property.to_string(), str::to_owned));
            String::new()
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            fault.names.clone_from(unexpected);
            String::new()
        }
        Kind::FalseSchema => {
            name_refused_properties(&mut fault, error, root);
            String::new()
        }
        Kind::PropertyNames { error } => {
            let inner = of_error(error, root, depth);
            let name = error.instance().as_str().unwrap_or_default().to_owned();
            return SchemaFault { path: fault.path, names: vec![name], ..inner };
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            list_alternatives(&mut fault, context, root, depth);
            String::new()
        }
        Kind::OneOfMultipleValid { .. }
        | Kind::Contains
        | Kind::UniqueItems
        | Kind::UnevaluatedItems { .. } => String::new(),
        Kind::BacktrackLimitExceeded { .. }
        | Kind::RegexEngineFailure { .. }
        | Kind::ContentEncoding { .. }
        | Kind::ContentMediaType { .. }
        | Kind::Custom { .. }
        | Kind::FromUtf8 { .. }
        | Kind::Referencing(_) => error.masked_with(fault.value.as_str()).to_string(),
    };
    fault
}

/// A schema that is just `false` stands for properties that may not be there: the object
/// is at fault, and they are named.
fn name_refused_properties(fault: &mut SchemaFault, error: &ValidationError<'_>, root: &Value) {
    let mut keywords = error.schema_path().as_str().rsplit('/');
    let (path, last) = (error.instance_path().as_str(), keywords.next().unwrap_or_default());
    if last == "additionalProperties"
        && let Some(Value::Object(fields)) = root.pointer(path)
    {
        // The validator does so where the schema declares no property: it refuses all.
        last.clone_into(&mut fault.rule);
        fault.names.extend(fields.keys().cloned());
    } else if keywords.next() == Some("properties")
        && let Some((object, name)) = path.rsplit_once('/')
    {
        fault.path = path_text(object);
        fault.names.push(name.replace("~1", "/").replace("~0", "~"));
    }
}

fn list_alternatives(
    fault: &mut SchemaFault,
    context: &[Vec<ValidationError<'static>>],
    root: &Value,
    depth: usize,
) {
    if depth >= DEEPEST {
        fault.n_unlisted = context.len();
        return;
    }
    for errors in context {
        if fault.alternatives.len() >= MOST_ALTERNATIVES {
            fault.n_unlisted += 1;
            continue;
        }
        let mut faults: Vec<SchemaFault> = Vec::new();
        for error in errors.iter().take(4 * MOST_OF_EACH) {
            let own = of_error(error, root, depth + 1);
            if faults.len() < MOST_OF_EACH && !faults.contains(&own) {
                faults.push(own);
            }
        }
        if !fault.alternatives.contains(&faults) {
            fault.alternatives.push(faults);
        }
    }
}

/// A value as it is quoted in a sentence. Only what is quoted is written.
pub(crate) fn short(value: &Value) -> String {
    const LONGEST: usize = 80;
    struct Few(Vec<u8>);
    impl std::io::Write for Few {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            // No character is longer than four bytes.
            if self.0.len() > 4 * LONGEST {
                return Err(std::io::ErrorKind::WriteZero.into());
            }
            self.0.extend_from_slice(&bytes[..bytes.len().min(5 * LONGEST)]);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut few = Few(Vec::new());
    // It fails when there is enough, which is all that is wanted.
    let _ = serde_json::to_writer(&mut few, value);
    let text = String::from_utf8_lossy(&few.0);
    match text.char_indices().nth(LONGEST) {
        None => text.into_owned(),
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
