//! What holds for the wire formats.

mod api_errors;
mod broken_streams;
mod counts;
mod definitions;
mod detect;
mod doubles;
mod effect;
mod examples;
mod faults;
mod foreign_tools;
mod forms;
mod hidden_keys;
mod http;
mod large;
mod laws;
mod model_rows;
mod openai_marks;
mod refusals;
mod requirements;
mod returned;
mod session;
mod setting_types;
mod settings;
mod streams;
mod system_in_place;
mod thinking;
mod told;
mod tool_names;
mod vendor;
mod written;
mod written_errors;

mod anthropic;
mod bedrock;
mod gemini;
mod openai_chat;
mod openai_responses;

use interleaf_model::Reply;
use interleaf_wire::lint::lint;
use interleaf_wire::{Decoder, Error, Family, NameMap, Vendor};

/// Checks that a body breaks no rule, and says whether it can be read: what someone attached
/// may hold half a surrogate pair, a number beyond `f64`, or two fields of one name.
fn lints_clean(vendor: &Vendor, body: &str) -> bool {
    match lint(vendor, body) {
        Ok(mut faults) => {
            // Nobody but the sender can name a model where a broken body names none.
            faults.retain(|fault| !(fault.rule.id.ends_with("/model") && fault.pointer.is_empty()));
            assert_eq!(faults, [], "{}: {body}", vendor.name);
            true
        }
        Err(error) => {
            let unheld = ["hex escape", "number out of range", "duplicate field"];
            let is_unheld = unheld.iter().any(|what| error.to_string().contains(what));
            assert!(is_unheld, "{}: {error}: {body}", vendor.name);
            false
        }
    }
}

/// Reads an answer that came whole.
fn decode_response(family: Family, text: &str, names: &NameMap) -> Result<Reply, Error> {
    Decoder::new(family, names.clone()).whole(200, [], text.as_bytes())
}

/// Reads a recorded stream.
fn decode_stream(family: Family, bytes: &[u8], names: &NameMap) -> Result<Reply, Error> {
    Decoder::new(family, names.clone()).recorded(bytes)
}

/// What every API requires but one thing: an encoder has its own ways with blank texts.
fn taking_blanks() -> interleaf_model::Requirements {
    let mut requires = interleaf_model::Requirements::STRICT;
    requires.no_blank_user = false;
    requires
}
