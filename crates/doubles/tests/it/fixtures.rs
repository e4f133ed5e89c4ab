//! The bodies that the project keeps for each rule of each API: the double has an opinion of its
//! own on every one of them, and where it differs that is said here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use interleaf_doubles::{Api, verdict};
use serde_json::Value;

/// Rules that the double does not have, and why. Rules of other servers that speak OpenAI's
/// format are not OpenAI's.
#[rustfmt::skip]
const TAKEN: &[(&str, &[&str])] = &[
    // Another vendor's rules: the double is OpenAI.
    ("openai-chat", &[
        "alternation", "arguments", "developer-role", "exact-call-id", "first-message",
        "forced-tool", "inline-definitions", "inline-image", "known-fields", "last-message",
        "late-system", "null-content", "one-system", "plain-content", "reasoning-lost",
        "reasoning-name", "silent-assistant", "user-after-result",
    ]),
    // It knows of namespaces nothing, and of items only whether they came from itself.
    ("openai-responses", &["namespace", "reasoning-kept"]),
    // It has no table of what each model can do beyond what decides a body's form.
    ("anthropic", &["effort", "max-tokens-limit", "waiting-server-tool"]),
    // It is the Gemini API and not Vertex.
    ("gemini", &["vertex-camel-case", "vertex-role"]),
    // It has no table of what each model can do beyond what decides a body's form.
    ("bedrock", &["thinking"]),
];

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

#[test]
fn every_body_of_the_rules_is_judged_as_the_rules_say() {
    let mut differs = Vec::new();
    for api in Api::ALL {
        let taken = TAKEN.iter().find(|(name, _)| *name == api.as_str()).unwrap().1;
        let bodies = bodies(api);
        assert!(bodies.len() > 60, "{api}");
        for (name, body) in bodies {
            let model = model(&body);
            let (rule, is_bad) =
                name.rsplit_once('.').map(|(rule, end)| (rule, end == "bad")).unwrap();
            let is_refused = is_bad && !taken.contains(&rule);
            match verdict(api, &model, &body) {
                Ok(()) if is_refused => differs.push(format!("{api} {name}: taken")),
                Err(refusal) if !is_refused => {
                    differs.push(format!("{api} {name}: {} {}", refusal.rule, refusal.message));
                }
                _ => {}
            }
        }
    }
    assert!(differs.is_empty(), "{}", differs.join("\n"));
}
