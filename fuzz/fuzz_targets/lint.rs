//! Whatever a body says, its faults are of the family's rules, at places in it.

#![no_main]

mod picked;

use interleaf_wire::VENDORS;
use interleaf_wire::lint::{lint, rules};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Some((vendor, rest)) = picked::pick(data, VENDORS) else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let Ok(faults) = lint(vendor, text) else { return };
    let body: Value = serde_json::from_str(text).expect("lint has read it");
    for fault in faults {
        assert!(rules(vendor.family).contains(fault.rule), "{}", fault.rule.id);
        // The place itself may be what is missing.
        let outer = fault.pointer.rsplit_once('/').map_or("", |(outer, _)| outer);
        assert!(body.pointer(outer).is_some(), "{}: {}", fault.rule.id, fault.pointer);
    }
});
