//! The bodies that the project keeps for each rule of each API: the double has an opinion of its
//! own on every one of them, and it is the lint's. Rules of other servers that speak OpenAI's
//! format are not OpenAI's, and neither of the two has them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use interleaf_doubles::Api;
use serde_json::Value;

use super::agreement::{Opinions, Outcome};

/// The bodies of an API by their names.
pub(crate) fn bodies(api: Api) -> BTreeMap<String, Value> {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rules");
    let mut bodies = BTreeMap::new();
    for entry in fs::read_dir(rules.join(api.as_str())).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().trim_end_matches(".json").to_owned();
        bodies.insert(name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap());
    }
    bodies
}

/// The model that a body names, as a client would put it into the address.
pub(crate) fn model(body: &Value) -> String {
    body["model"].as_str().or(body["modelId"].as_str()).unwrap_or_default().to_owned()
}

/// Bodies on which nobody outside can know what the API does; the table in
/// `agreement/unknown.rs` says why.
const UNKNOWN: &[&str] = &["openai-responses reasoning-kept.bad"];

#[test]
fn every_body_of_the_rules_is_judged_alike_by_the_double_and_the_lint() {
    let (mut differs, mut unknown) = (Vec::new(), Vec::new());
    for api in Api::ALL {
        let bodies = bodies(api);
        assert!(bodies.len() > 60, "{api}");
        for (name, body) in bodies {
            match Opinions::on(api, &body).outcome(&body) {
                Outcome::BothTake | Outcome::BothRefuse => {}
                Outcome::Unknown(_) => unknown.push(format!("{api} {name}")),
                other => differs.push(format!("{api} {name}: {other:?}")),
            }
        }
    }
    unknown.sort_unstable();
    assert!(differs.is_empty(), "{}", differs.join("\n"));
    assert_eq!(unknown, UNKNOWN);
}
