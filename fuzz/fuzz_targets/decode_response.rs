//! Whatever an answer says, it is read or refused, the same every time.

#![no_main]

mod picked;

use interleaf_model::Role;
use interleaf_wire::{Decoder, Family, NameMap};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&family, rest)) = picked::pick(data, &Family::ALL) else { return };
    let decoder = Decoder::new(family, NameMap::default());
    let read = decoder.whole(200, [], rest);
    assert_eq!(read, decoder.whole(200, [], rest), "twice the same");
    if let Ok(reply) = read {
        assert_eq!(reply.message.role(), Role::Assistant);
    }
});
