//! Arguments that fit a schema.

use serde_json::{Map, Number, Value, json};

/// A value that fits a JSON Schema, or Google's form of one; another seed may give another.
///
/// It knows types, `enum`, `const`, `default`, bounds, lengths, formats, `required`, `items`,
/// `anyOf`, `oneOf`, `allOf` and `$ref` into the schema itself. Of patterns it tries a few words.
pub fn fitting(schema: &Value, seed: usize) -> Value {
    let object = json!({});
    let root = if schema.is_null() { &object } else { schema };
    match (Fit { root, seed }).value(root, "", 0) {
        // Arguments are an object whatever the schema says of itself.
        value @ Value::Object(_) => value,
        _ => object,
    }
}

/// Schemas that refer to themselves end here.
const DEEPEST: usize = 12;

struct Fit<'a> {
    root: &'a Value,
    seed: usize,
}

impl Fit<'_> {
    fn value(&self, schema: &Value, name: &str, depth: usize) -> Value {
        if depth > DEEPEST {
            return Value::Null;
        }
        if let Some(target) = schema["$ref"].as_str() {
            let pointer = target.trim_start_matches('#');
            return match self.root.pointer(pointer) {
                Some(target) => self.value(target, name, depth + 1),
                None => Value::Null,
            };
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
            return values[self.seed % values.len()].clone();
        }
        for choices in ["anyOf", "oneOf"] {
            if let Some(first) = schema[choices].as_array().and_then(|list| list.first()) {
                return self.value(&merged(schema, &[first], choices), name, depth + 1);
            }
        }
        if let Some(all) = schema["allOf"].as_array().filter(|all| !all.is_empty()) {
            let all: Vec<&Value> = all.iter().map(|part| self.target(part)).collect();
            return self.value(&merged(schema, &all, "allOf"), name, depth + 1);
        }
        match kind(schema).as_str() {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "integer" => Value::from(self.number(schema, 1.0).ceil() as i64),
            "number" => number(self.number(schema, 0.0)),
            "boolean" => Value::from(self.seed.is_multiple_of(2)),
            "null" => Value::Null,
            _ => Value::from(self.text(schema, name)),
        }
    }

    fn target<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let pointer = schema["$ref"].as_str().map(|target| target.trim_start_matches('#'));
        pointer.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema)
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let required: Vec<&str> = schema["required"]
            .as_array()
            .map(|list| list.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let none = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&none);
        for (name, property) in properties {
            // What need not be there is left out, so that a schema that refers to itself ends;
            // but a tool without any duty gets what it knows.
            if required.contains(&name.as_str()) || (required.is_empty() && depth == 0) {
                object.insert(name.clone(), self.value(property, name, depth + 1));
            }
        }
        for name in required.iter().filter(|name| !properties.contains_key(**name)) {
            object.insert((*name).to_owned(), Value::from(*name));
        }
        Value::Object(object)
    }

    fn array(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let first = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
        let least = whole(&schema["minItems"]).max(first.len()).max(1);
        let most = schema["maxItems"].as_u64().map_or(usize::MAX, |most| most as usize);
        let any = json!({"type": "string"});
        let items = schema.get("items").filter(|items| items.is_object()).unwrap_or(&any);
        let item = |i: usize| {
            let other = Fit { root: self.root, seed: self.seed + i };
            let name = format!("{name}-{i}");
            other.value(first.get(i).unwrap_or(items), &name, depth + 1)
        };
        (0..least.min(most)).map(item).collect()
    }

    fn number(&self, schema: &Value, above: f64) -> f64 {
        let least = schema["minimum"].as_f64();
        let over = schema["exclusiveMinimum"].as_f64();
        let most = schema["maximum"].as_f64();
        let under = schema["exclusiveMaximum"].as_f64();
        let room = if above > 0.0 { 1.0 } else { 0.5 };
        let mut value = (self.seed % 7 + 1) as f64;
        let floor = least.into_iter().chain(over.map(|over| over + room)).reduce(f64::max);
        let ceiling = most.into_iter().chain(under.map(|under| under - room)).reduce(f64::min);
        value = ceiling.map_or(value, |ceiling| value.min(ceiling));
        value = floor.map_or(value, |floor| value.max(floor));
        match schema["multipleOf"].as_f64() {
            Some(step) if step > 0.0 => (value / step).ceil() * step,
            _ => value,
        }
    }

    fn text(&self, schema: &Value, name: &str) -> String {
        let formatted = match schema["format"].as_str().unwrap_or_default() {
            "date-time" => "2026-01-02T03:04:05Z",
            "date" => "2026-01-02",
            "time" => "03:04:05Z",
            "duration" => "PT1M",
            "email" => "someone@example.com",
            "hostname" => "example.com",
            "uri" | "url" => "https://example.com/",
            "ipv4" => "192.0.2.1",
            "ipv6" => "2001:db8::1",
            "uuid" => "01890a5d-ac96-774b-bcce-b302099a8057",
            _ => "",
        };
        let mut text = match formatted {
            "" if name.is_empty() => "text".to_owned(),
            "" => format!("{name}-{}", self.seed),
            formatted => formatted.to_owned(),
        };
        if let Some(pattern) = schema["pattern"].as_str() {
            text = of_pattern(pattern).unwrap_or(text);
        }
        let length = text.chars().count();
        let least = whole(&schema["minLength"]);
        if length < least {
            text.extend(std::iter::repeat_n('x', least - length));
        }
        if let Some(most) = schema["maxLength"].as_u64() {
            text = text.chars().take(most as usize).collect();
        }
        text
    }
}

/// A text for a pattern of letters, digits, classes and counts; none for any other.
fn of_pattern(pattern: &str) -> Option<String> {
    let mut rest = pattern.trim_start_matches('^').trim_end_matches('$');
    let mut text = String::new();
    while let Some(c) = rest.chars().next() {
        let (one, after) = match c {
            '[' => {
                let end = rest.find(']')?;
                let class = rest.get(1..end)?;
                (class.chars().next().filter(|first| *first != '^' && *first != '\\')?, end + 1)
            }
            '\\' => match rest.chars().nth(1)? {
                'd' => ('7', 2),
                'w' => ('a', 2),
                other if other.is_ascii_punctuation() => (other, 1 + other.len_utf8()),
                _ => return None,
            },
            '(' | ')' | '|' | '*' | '+' | '?' | '{' => return None,
            '.' => ('a', 1),
            other => (other, other.len_utf8()),
        };
        rest = &rest[after..];
        let times = match rest.chars().next() {
            Some('+' | '*' | '?') => {
                rest = &rest[1..];
                1
            }
            Some('{') => {
                let end = rest.find('}')?;
                let times = rest[1..end].split(',').next()?.parse().ok()?;
                rest = &rest[end + 1..];
                times
            }
            _ => 1,
        };
        text.extend(std::iter::repeat_n(one, times));
    }
    Some(text)
}

/// The type of a schema; Google writes it in capitals.
fn kind(schema: &Value) -> String {
    let named = match &schema["type"] {
        Value::String(name) => name.to_lowercase(),
        Value::Array(names) => names.iter().find_map(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    match named.as_str() {
        "" if schema.get("properties").is_some() || schema.get("required").is_some() => {
            "object".to_owned()
        }
        "" if schema.get("items").is_some() => "array".to_owned(),
        _ => named,
    }
}

/// A schema with its parts in place of the keyword that held them.
fn merged(schema: &Value, parts: &[&Value], keyword: &str) -> Value {
    let mut all = schema.as_object().cloned().unwrap_or_default();
    all.remove(keyword);
    for part in parts.iter().filter_map(|part| part.as_object()) {
        for (name, value) in part {
            match (all.get_mut(name), value) {
                (Some(Value::Object(ours)), Value::Object(theirs)) => {
                    ours.extend(theirs.iter().map(|(name, value)| (name.clone(), value.clone())));
                }
                (Some(Value::Array(ours)), Value::Array(theirs)) if name == "required" => {
                    ours.extend(theirs.iter().cloned());
                }
                _ => _ = all.insert(name.clone(), value.clone()),
            }
        }
    }
    Value::Object(all)
}

fn whole(value: &Value) -> usize {
    value.as_u64().unwrap_or_default() as usize
}

fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}
