//! Whatever a body says, it is read or refused; what is read can be assembled and
//! written again, the same every time; what was written can be read, and breaks no rule.

#![no_main]

mod picked;

use std::sync::Arc;

use interleaf_assemble::{Assembly, Outcome, Recipe, View, assemble};
use interleaf_model::{MessageId, Requirements};
use interleaf_wire::lint::lint;
use interleaf_wire::{Family, Request, Vendor, decode_request, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&family, rest)) = picked::pick(data, &Family::ALL) else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let Ok(request) = decode_request(family, text) else { return };
    let mut options = request.options.clone();
    // A model is the caller's to name.
    if options.model.trim().is_empty() {
        options.model = "m".into();
    }
    let (view, recipe) = input(request);
    let assembly = assemble(&view, &recipe, Requirements::STRICT, None);
    let Ok(Assembly { outcome: Outcome::Ready(prompt), .. }) = assembly else { return };
    let vendor = Vendor::of(family);
    let Ok(encoded) = encode(&prompt, vendor, &options) else { return };
    assert_eq!(Ok(&encoded), encode(&prompt, vendor, &options).as_ref(), "twice the same");
    let body = String::from_utf8(encoded.to_bytes()).expect("a body is text");
    if let Err(error) = decode_request(family, &body) {
        panic!("{error}\n{body}");
    }
    let faults = lint(vendor, &body).expect("a body is JSON");
    assert!(faults.is_empty(), "{faults:#?}\n{body}");
});

fn input(request: Request) -> (View, Recipe) {
    let named = request.messages.into_iter().enumerate().map(|(i, mut message)| {
        message.id = MessageId::of_index(i);
        Arc::new(message)
    });
    let view = View { messages: named.collect(), ..View::default() };
    (view, Recipe::new().with_tools(request.tools))
}
