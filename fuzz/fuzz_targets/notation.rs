//! Whatever lines say, they are messages or refused; what messages print, they are
//! made of again.

#![no_main]

use interleaf_model::notation::{parse, print_line, print_whole};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(messages) = parse(text) else { return };
    for message in messages {
        let printed = print_whole(&message);
        let again = parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        let printed_again: Vec<String> = again.iter().map(print_whole).collect();
        assert_eq!(printed_again, [printed.as_str()]);
        // A line break between the tokens of raw JSON becomes a space.
        assert!(text.contains('\r') || again == [message.clone()], "{printed}");
        for width in [0, 1, 40] {
            print_line(&message, width);
        }
    }
});
