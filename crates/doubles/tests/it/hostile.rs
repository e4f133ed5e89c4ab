//! Bodies that nobody would send: each gets an answer or a refusal in the API's shape.

use interleaf_doubles::{Api, Double, Obliging, Settings};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::{headers, path, post};
use crate::fixtures::{bodies, model};

/// Every place in a value.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                pointers(inner, &format!("{at}/{i}"), all);
            }
        }
        Value::Object(fields) => {
            for (name, inner) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                pointers(inner, &format!("{at}/{name}"), all);
            }
        }
        _ => {}
    }
}

fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!([null, {"type": 7}, []])),
        Just(json!({"type": "text"})),
        Just(json!("")),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!(true)),
        "\\PC{0,9}".prop_map(Value::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_body_gets_an_answer_or_a_refusal(
        pick in any::<prop::sample::Index>(),
        places in proptest::collection::vec((any::<prop::sample::Index>(), odd()), 1..3),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for api in Api::ALL {
            let all = bodies(api);
            let mut body = pick.get(&all.values().collect::<Vec<_>>()).to_owned().clone();
            let model = model(&body);
            for (place, value) in &places {
                let mut all = Vec::new();
                pointers(&body, "", &mut all);
                let pointer: &String = place.get(&all);
                if let Some(target) = body.pointer_mut(pointer) {
                    *target = value.clone();
                }
            }
            let got = runtime.block_on(async {
                let double = Settings::new().with_brain(Obliging::new().with_rounds(9));
                let double = Double::start(double.without_verification()).await.unwrap();
                let path = path(api, &model.replace('/', "%2F"), false);
                post(&double, &path, &headers(api), &body.to_string()).await
            });
            prop_assert!([200, 400, 404].contains(&got.status), "{} {}", got.status, got.text());
            prop_assert!(got.is_whole && (got.text().starts_with('{') || body["stream"] == true), "{}", got.text());
        }
    }
}
