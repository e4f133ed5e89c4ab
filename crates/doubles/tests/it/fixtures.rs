//! The bodies that the project keeps for each rule of each API: the double has an opinion of its
//! own on every one of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use interleaf_doubles::{Api, verdict};
use serde_json::Value;

/// The bodies of an API by their names.
fn bodies(api: Api) -> BTreeMap<String, Value> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rules").join(api.as_str());
    let mut bodies = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().trim_end_matches(".json").to_owned();
        bodies.insert(name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap());
    }
    bodies
}

#[test]
fn show() {
    for api in Api::ALL {
        for (name, body) in bodies(api) {
            let model = body["model"].as_str().unwrap_or_default();
            let verdict = verdict(api, model, &body);
            match (name.ends_with(".bad"), verdict) {
                (true, Ok(())) => println!("{api} {name}: taken"),
                (false, Err(refusal)) => {
                    println!("{api} {name}: {} {}", refusal.rule, refusal.message)
                }
                _ => {}
            }
        }
    }
}
