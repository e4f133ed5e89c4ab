//! Whatever an answer says, it is read or refused, the same every time.

#![no_main]

mod picked;

use interleaf_model::Role;
use interleaf_wire::{Family, NameMap, decode_response};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&family, rest)) = picked::pick(data, &Family::ALL) else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let names = NameMap::default();
    let read = decode_response(family, text, &names);
    assert_eq!(read, decode_response(family, text, &names), "twice the same");
    if let Ok(reply) = read {
        assert_eq!(reply.message.role(), Role::Assistant);
    }
});
