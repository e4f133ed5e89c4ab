use std::collections::BTreeSet;

use interleaf_wire::lint::{lint, rules};

use super::{FAMILY, fixture, vendor};

#[test]
fn every_rule_has_a_body_that_breaks_it_and_one_that_keeps_it() {
    for rule in rules(FAMILY) {
        let name = rule.id.strip_prefix("openai-responses/").unwrap();
        let read = |kind: &str| {
            let path = fixture("rules", &format!("{name}.{kind}.json"));
            std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        let found: BTreeSet<&str> =
            lint(vendor(), &read("bad")).unwrap().iter().map(|fault| fault.rule.id).collect();
        assert_eq!(found, BTreeSet::from([rule.id]), "{name}.bad.json");
        assert_eq!(lint(vendor(), &read("good")).unwrap(), [], "{name}.good.json");
    }
}

#[test]
fn rules_have_names_of_their_own() {
    let names: BTreeSet<&str> = rules(FAMILY).iter().map(|rule| rule.id).collect();
    assert_eq!(names.len(), rules(FAMILY).len());
}

#[test]
fn a_fault_names_its_place_as_a_pointer() {
    let body = r#"{"model":"m","input":[{"role":"user","content":"hi"}],"tools":[{"type":"function","name":"f",
        "strict":true,"parameters":{"type":"object","additionalProperties":false,"required":["a/b"],
        "properties":{"a/b":{"type":"object","properties":{},"required":[]}}}}]}"#;
    let faults = lint(vendor(), body).unwrap();
    let found: Vec<_> = faults.iter().map(|fault| (fault.rule.id, &*fault.pointer)).collect();
    let place = "/tools/0/parameters/properties/a~1b";
    assert_eq!(found, [("openai-responses/strict-closed", place)]);
}
