//! What holds for every schema of a family, every value, every text and every path.

use interleaf_model::{Extra, Json, Tool};
use interleaf_plan::calls::{Call, TextTools};
use interleaf_plan::{Job, JobState, Language, Mode, PlanSettings, Schema, Templates};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::exchange::{calls, check, cut, says};
use super::logo;

/// Text with everything that could be mistaken for markup, JSON or layout.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("</parameter>".to_owned()),
        Just("<parameter name=\"a\">".to_owned()),
        Just("</invoke></tools>".to_owned()),
        Just("<![CDATA[".to_owned()),
        Just("]]>".to_owned()),
        Just("&amp;lt;".to_owned()),
        Just("```".to_owned()),
        Just("\n".to_owned()),
        Just("  ".to_owned()),
        Just("null".to_owned()),
        Just("{\"a\": 1}".to_owned()),
        Just("-12.5e3".to_owned()),
        "[a-z<>&\"' \\n\\t]{0,8}",
        "\\PC{0,4}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

/// A JSON value of any shape.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::vec((text(), inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A schema, and a value that keeps to it.
fn schema_and_value() -> impl Strategy<Value = (Value, Value)> {
    let leaf = prop_oneof![
        text().prop_map(|text| (json!({"type": "string"}), Value::String(text))),
        any::<i64>().prop_map(|n| (json!({"type": "integer"}), Value::from(n))),
        (-1e300..1e300_f64).prop_map(|n| (json!({"type": "number"}), Value::from(n))),
        any::<bool>().prop_map(|b| (json!({"type": "boolean"}), Value::Bool(b))),
        Just((json!({"type": "null"}), Value::Null)),
        (text(), text()).prop_map(|(a, b)| (json!({"enum": [a, b, 5, null]}), Value::String(a))),
        text()
            .prop_map(|text| (json!({"type": ["string", "integer", "null"]}), Value::String(text))),
        any::<i64>().prop_map(|n| (json!({"type": ["string", "integer"]}), Value::from(n))),
        text().prop_map(|text| {
            let list = json!({"type": "array", "items": {"type": "string"}});
            (json!({"anyOf": [{"type": "string"}, list]}), Value::String(text))
        }),
        any_value().prop_map(|value| (json!({}), value)),
        any_value().prop_map(|value| (json!(true), value)),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..4).prop_map(|pairs| {
            let (schemas, values): (Vec<Value>, Vec<Value>) = pairs.into_iter().unzip();
            (json!({"type": "array", "prefixItems": schemas}), Value::Array(values))
        });
        let object = proptest::collection::vec((text(), inner), 0..4).prop_map(|fields| {
            let schemas: Map<String, Value> =
                fields.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
            let values: Map<String, Value> =
                fields.into_iter().map(|(name, (_, value))| (name, value)).collect();
            (json!({"type": "object", "properties": schemas}), Value::Object(values))
        });
        prop_oneof![list, object]
    })
}

/// A name that differs from others by more than case and blanks.
fn names(count: usize) -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof!["[a-z_]{1,6}", "[a-z<&\"'>=/]{1,5}", "\\PC{1,4}"];
    proptest::collection::vec(name, count).prop_map(|names| {
        let plain = |(i, name): (usize, String)| format!("p{i}{}", name.trim().to_lowercase());
        names.into_iter().enumerate().map(plain).collect()
    })
}

fn tool(name: &str, schema: &Value) -> Tool {
    Tool {
        name: name.into(),
        description: None,
        parameters: Some(Json::from(schema)),
        strict: None,
        extra: Extra::NONE,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back_as_it_was(
        pairs in proptest::collection::vec(schema_and_value(), 0..5),
        names in names(5),
        declared in any::<bool>(),
    ) {
        let fields = names.iter().zip(&pairs);
        let schemas: Map<String, Value> = match declared {
            true => fields.clone().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect(),
            false => Map::new(),
        };
        let arguments: Map<String, Value> =
            fields.map(|(name, (_, value))| (name.clone(), value.clone())).collect();
        let schema = json!({"type": "object", "properties": schemas});
        prop_assert!(Schema::new(schema.clone()).unwrap().is_valid(&Value::Object(arguments.clone())));
        let protocol = TextTools::new(&[tool("a <tool> & \"more\"", &schema), tool("other", &schema)]);
        let written = [
            Call::new("a <tool> & \"more\"", arguments.clone()),
            Call::new("other", arguments),
        ];
        let text = protocol.write(&written);
        let reading = protocol.read(&text);
        prop_assert_eq!(&reading.calls, &written, "{}", text);
        prop_assert!(reading.content.is_empty() && reading.refusals.is_empty(), "{}", text);
        prop_assert!(reading.notes.is_empty(), "{:?}", reading.notes);
        // Prose and a fence around it change nothing.
        let reading = protocol.read(&format!("Here:\n```xml\n{text}\n```\nDone."));
        prop_assert_eq!(&reading.calls, &written);
        prop_assert_eq!(reading.content, "Here:\nDone.");
    }

    #[test]
    fn the_reader_never_panics_and_gives_declared_tools_only(text in text(), more in ".{0,60}") {
        let protocol = TextTools::new(&[tool("f", &json!({"properties": {"a": {"type": "array"}}}))]);
        for text in [
            text.clone(),
            format!("<invoke name=\"f\">{text}{more}"),
            format!("<tools><invoke name=\"f\"><parameter name=\"a\">{text}</parameter>{more}</tools>"),
            format!("<f><a>{more}{text}</a></f>{text}"),
            format!("<tool_call>{text}{{\"name\": \"f\"{more}"),
        ] {
            let reading = protocol.read(&text);
            prop_assert!(reading.calls.iter().all(|call| call.tool.as_str() == "f"));
            for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
                protocol.read(&text[..end]);
            }
        }
    }

    #[test]
    fn what_is_mended_is_valid_and_mending_again_changes_nothing(
        (schema, _) in schema_and_value(),
        value in any_value(),
    ) {
        let schema = Schema::new(schema).unwrap();
        match schema.mend(value.clone()) {
            Ok(mended) => {
                prop_assert!(schema.is_valid(&mended.value));
                prop_assert_eq!(schema.is_valid(&value), mended.repairs.is_empty());
                let again = schema.mend(mended.value.clone()).unwrap();
                prop_assert_eq!(again.value, mended.value);
            }
            Err(faults) => prop_assert!(!faults.is_empty() && !schema.is_valid(&value)),
        }
    }

    #[test]
    fn no_path_has_two_user_messages_in_a_row_and_every_path_ends(
        mode in prop_oneof![Just(Mode::Xml), Just(Mode::Native), Just(Mode::Auto)],
        language in prop_oneof![Just(Language::En), Just(Language::Zh)],
        step in 0..2_usize,
        tries in 0..4_usize,
        kinds in proptest::collection::vec((0..7_usize, any::<bool>(), text()), 10),
    ) {
        let (plan, results) = logo();
        let templates = Templates::built_in().unwrap();
        let settings = PlanSettings { mode, language, tries, ..PlanSettings::default() };
        let mut job = Job::new(&plan, step, &results, &settings, &templates).unwrap();
        let mut n_requests = 0;
        for (kind, is_cut, text) in kinds {
            let JobState::Ask(request) = job.next().unwrap() else { break };
            check(&request);
            n_requests += 1;
            let own = plan.steps()[step].tool.as_str();
            let reply = match kind {
                0 => says(&text),
                1 => says(&format!("<invoke name=\"{own}\"><parameter name=\"width\">{text}</parameter></invoke>")),
                2 => says(&format!("<invoke name=\"{own}\"><parameter name=\"html\">{text}")),
                3 => calls(own, &text),
                4 => calls("other", "{}"),
                5 => calls(own, "{\"width\": -1}"),
                _ => says(""),
            };
            job.give(&if is_cut { cut(reply) } else { reply }).unwrap();
        }
        prop_assert!(!matches!(job.next().unwrap(), JobState::Ask(_)));
        prop_assert!(n_requests <= 2 * tries.max(1));
    }
}
