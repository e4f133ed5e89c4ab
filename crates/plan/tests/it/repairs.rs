//! What a schema mends, and what it leaves alone.

use interleaf_plan::Schema;
use serde_json::{Value, json};

/// The mended value and the places, or every fault.
fn mend(schema: &Value, value: &Value) -> Result<(Value, Vec<String>), Vec<String>> {
    let schema = Schema::new(schema.clone()).unwrap();
    match schema.mend(value.clone()) {
        Ok(mended) => {
            let repair = |r: &interleaf_plan::Repair| format!("{}: {:?}", r.path, r.kind);
            Ok((mended.value, mended.repairs.iter().map(repair).collect()))
        }
        Err(faults) => Err(faults.iter().map(ToString::to_string).collect()),
    }
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[track_caller]
fn mends(schema: &Value, value: &Value, to: &Value, repairs: &[&str]) {
    let (found, done) = mend(schema, value).unwrap();
    assert_eq!(found, *to);
    assert_eq!(done, repairs);
}

#[test]
fn what_is_right_is_not_touched() {
    let schema = object(&json!({"n": {"type": ["integer", "string"]}}));
    mends(&schema, &json!({"n": "5"}), &json!({"n": "5"}), &[]);
    mends(&schema, &json!({}), &json!({}), &[]);
}

#[test]
fn json_in_strings_is_decoded_at_any_depth() {
    let schema = object(&json!({
        "list": {"type": "array", "items": {"type": "integer"}},
        "map": {"type": "object", "properties": {"on": {"type": "boolean"}}},
        "n": {"type": "number"},
    }));
    let value = json!({"list": "[1, \"2\"]", "map": "{\"on\": \"True\"}", "n": " 1.5 "});
    let to = json!({"list": [1, 2], "map": {"on": true}, "n": 1.5});
    let (found, mut done) = mend(&schema, &value).unwrap();
    done.sort();
    assert_eq!(found, to);
    assert_eq!(
        done,
        ["list: Decoded", "list[1]: Decoded", "map.on: Decoded", "map: Decoded", "n: Decoded"]
    );
    mends(&schema, &json!("{\"n\": 2}"), &json!({"n": 2}), &[": Decoded"]);
}

#[test]
fn a_single_value_becomes_an_array_and_an_array_of_one_a_value() {
    let schema = object(
        &json!({"tags": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"}}),
    );
    mends(&schema, &json!({"tags": "a"}), &json!({"tags": ["a"]}), &["tags: Wrapped"]);
    mends(&schema, &json!({"n": [3]}), &json!({"n": 3}), &["n: Unwrapped"]);
}

#[test]
fn a_list_in_words_is_left_to_the_model() {
    let schema = object(&json!({"tags": {"type": "array", "items": {"type": "string"}}}));
    let faults = mend(&schema, &json!({"tags": "a, b"})).unwrap_err();
    assert_eq!(faults, ["tags: \"a, b\" is not of type array (rule `type`)"]);
}

#[test]
fn two_ways_to_mend_are_a_doubt() {
    let list = json!({"type": "array", "items": {"type": "string"}});
    let schema = object(&json!({"v": {"anyOf": [{"type": "integer"}, list]}}));
    assert!(mend(&schema, &json!({"v": "5"})).is_err());
    mends(&schema, &json!({"v": "five"}), &json!({"v": ["five"]}), &["v: Wrapped"]);
}

#[test]
fn allowed_values_are_spelled_as_the_schema_spells_them() {
    let schema = object(
        &json!({"unit": {"type": "string", "enum": ["celsius", "kelvin"]}, "level": {"enum": [1, 2]}}),
    );
    mends(&schema, &json!({"unit": " Celsius"}), &json!({"unit": "celsius"}), &["unit: Spelled"]);
    mends(&schema, &json!({"unit": "'KELVIN'"}), &json!({"unit": "kelvin"}), &["unit: Spelled"]);
    mends(&schema, &json!({"level": "2"}), &json!({"level": 2}), &["level: Spelled"]);
    let faults = mend(&schema, &json!({"unit": "rankine"})).unwrap_err();
    let expected = "unit: \"rankine\" is not one of the allowed values \
                    (rule `enum`; allowed: \"celsius\", \"kelvin\")";
    assert_eq!(faults, [expected]);
}

#[test]
fn names_are_mended_and_nulls_of_optional_properties_left_out() {
    let schema = json!({
        "type": "object",
        "properties": {"city_name": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city_name"],
    });
    mends(
        &schema,
        &json!({"cityName": "Rome"}),
        &json!({"city_name": "Rome"}),
        &["city_name: Renamed"],
    );
    mends(
        &schema,
        &json!({"city_name": "Rome", "days": null}),
        &json!({"city_name": "Rome"}),
        &["days: Dropped"],
    );
    assert!(mend(&schema, &json!({"city_name": null})).is_err());
    assert!(mend(&schema, &json!({"town": "Rome"})).is_err());
}

#[test]
fn arguments_inside_of_arguments_are_taken_out() {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    mends(&schema, &json!({"arguments": {"a": 1}}), &json!({"a": 1}), &[": Unpacked"]);
    mends(&schema, &json!({"parameters": "{\"a\": 1}"}), &json!({"a": 1}), &[": Unpacked"]);
}

#[test]
fn a_number_is_written_as_a_string_where_one_is_wanted() {
    let schema = object(&json!({"zip": {"type": "string"}}));
    mends(&schema, &json!({"zip": 8001}), &json!({"zip": "8001"}), &["zip: Quoted"]);
}

#[test]
fn every_fault_is_told_with_path_rule_and_what_is_allowed() {
    let schema = json!({
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}}},
            "n": {"type": "integer", "maximum": 5},
            "v": {"oneOf": [{"type": "integer"}, {"const": "auto"}]},
        },
        "required": ["n", "m"],
    });
    let faults = mend(&schema, &json!({"list": [{"kind": "c"}], "n": 9, "v": "fast"})).unwrap_err();
    assert_eq!(faults.len(), 4, "{faults:#?}");
    for expected in [
        "the required property \"m\" is missing (rule `required`)",
        "list[0].kind: \"c\" is not one of the allowed values (rule `enum`; allowed: \"a\", \"b\")",
        "n: 9 is greater than the maximum of 5 (rule `maximum`)",
        "v: it fits none of the alternatives: (1) \"fast\" is not of type integer (rule `type`); \
         (2) \"fast\" is not the allowed value (rule `const`; allowed: \"auto\") (rule `oneOf`)",
    ] {
        let found = faults.iter().any(|fault| {
            fault.replace("v: \"fast\"", "\"fast\"").replace(") v: ", ") ") == expected
        });
        assert!(found, "{expected}\nin {faults:#?}");
    }
}

#[test]
fn a_reference_is_never_fetched() {
    for address in ["http://127.0.0.1:9/schema.json", "file:///etc/passwd"] {
        assert!(Schema::new(json!({"$ref": address})).is_err(), "{address}");
    }
}

#[test]
fn the_draft_is_seen_from_the_words_of_a_schema() {
    let tuple =
        Schema::new(json!({"items": [{"type": "integer"}], "additionalItems": false})).unwrap();
    assert!(tuple.is_valid(&json!([1])) && !tuple.is_valid(&json!([1, 2])));
    let tuple = Schema::new(json!({"prefixItems": [{"type": "integer"}], "items": false})).unwrap();
    assert!(tuple.is_valid(&json!([1])) && !tuple.is_valid(&json!([1, 2])));
}
