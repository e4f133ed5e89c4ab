//! What the model promises, in one binary.
//!
//! - `laws`: what holds for every message and every transcript
//! - `abridge`: what stays of long arguments
//! - `bytes`: what stays byte for byte
//! - `bad_transcripts`: what is refused, where and in which words
//! - `bad_notation`: the same for lines of notation
//! - `reading`: what the notation looks like to people
//! - `schema`: the JSON Schema and the documents agree with the code
//! - `types`: facts about the types themselves
//! - `writing`: our writer of JSON against that of `serde_json`

mod abridge;
mod bad_notation;
mod bad_transcripts;
mod bytes;
mod facts;
mod laws;
mod reading;
mod schema;
mod writing;
