//! From a text to a value.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use smol_str::SmolStr;

use super::{Map, Value};

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(SmolStr::new(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = object.next_entry()? {
            fields.push(field);
        }
        Ok(Value::Object(Map::of(fields)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Known;

    use super::Value;

    /// JSON texts: names that repeat, objects of few and many fields, numbers of every kind.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|flag| flag.to_string()),
            any::<i64>().prop_map(|n| n.to_string()),
            any::<u64>().prop_map(|n| n.to_string()),
            "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?",
            ".{0,40}".prop_map(|text| Known::from(text).to_string()),
            r#""(a|\\n|\\u00e9|\\ud83d\\ude00|\\ud800){0,9}""#,
        ];
        leaf.prop_recursive(6, 200, 40, |inner| {
            let name = prop_oneof!["[a-d]{0,2}", "[a-z/~]{20,30}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..40)
                    .prop_map(|list| format!("[ {} ]", list.join(" ,"))),
                prop::collection::vec((name, inner), 0..40).prop_map(|fields| {
                    let fields = fields.iter().map(|(name, value)| format!("{name:?}: {value}"));
                    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
                }),
            ]
        })
    }

    /// Holds every accessor against the same of `serde_json`.
    fn compare(value: &Value, known: &Known) {
        assert_eq!(value.to_string(), known.to_string());
        assert_eq!(value.as_str(), known.as_str());
        assert_eq!(value.as_number(), known.as_number());
        assert_eq!(value.as_u64(), known.as_u64());
        assert_eq!(value.as_i64(), known.as_i64());
        assert_eq!(value.as_f64(), known.as_f64());
        assert_eq!(value.as_bool(), known.as_bool());
        assert_eq!(value.is_null(), known.is_null());
        assert_eq!(value.as_array().map(<[_]>::len), known.as_array().map(Vec::len));
        assert_eq!(value.as_object().map(super::Map::len), known.as_object().map(|o| o.len()));
        for (i, known) in known.as_array().into_iter().flatten().enumerate() {
            compare(value.pointer(&format!("/{i}")).unwrap(), known);
        }
        for (name, known) in known.as_object().into_iter().flatten() {
            compare(&value[name.as_str()], known);
            let step = crate::tree::step(name);
            assert_eq!(value.pointer(&format!("/{step}")), value.get(name));
        }
        assert!(value.get("no such field").is_none());
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_serde_json_reads_it(text in json()) {
            match (serde_json::from_str::<Value>(&text), serde_json::from_str::<Known>(&text)) {
                (Ok(value), Ok(known)) => compare(&value, &known),
                (Err(fault), Err(known)) => prop_assert_eq!(fault.to_string(), known.to_string()),
                (value, known) => prop_assert!(false, "{value:?} and {known:?}"),
            }
        }

        #[test]
        fn any_pointer_leads_where_serde_json_leads(
            text in json(),
            pointer in "(/([0-9]{1,2}|[a-d]{0,2}|-|\\+1)){0,3}|[a-d]",
        ) {
            let read = serde_json::from_str::<Value>(&text).ok();
            let known = serde_json::from_str::<Known>(&text).ok();
            let found = read.as_ref().and_then(|value| value.pointer(&pointer));
            let known = known.as_ref().and_then(|value| value.pointer(&pointer));
            prop_assert_eq!(found.map(Value::to_string), known.map(Known::to_string));
        }

        #[test]
        fn objects_are_the_same_whatever_the_order_of_their_fields(
            names in prop::collection::hash_set("[a-z]{1,3}", 0..40),
        ) {
            let of = |names: Vec<&String>| {
                let fields: Vec<String> =
                    names.iter().map(|name| format!("{name:?}:{}", name.len())).collect();
                serde_json::from_str::<Value>(&format!("{{{}}}", fields.join(","))).unwrap()
            };
            let sorted = of(names.iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect());
            prop_assert_eq!(of(names.iter().collect()), sorted);
        }
    }

    #[test]
    fn texts_nested_too_deep_get_the_same_error() {
        for depth in [127, 128, 129] {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let read = serde_json::from_str::<Value>(&text).map(|value| value.to_string());
            let known = serde_json::from_str::<Known>(&text).map(|value| value.to_string());
            assert_eq!(read.map_err(|e| e.to_string()), known.map_err(|e| e.to_string()));
        }
    }
}
