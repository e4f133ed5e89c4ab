//! Real exchanges with a double over loopback.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod agreement;
mod brains;
mod cached;
mod client;
mod exchanges;
mod faults;
mod fixtures;
mod hostile;
mod reassembled;
mod rules;
mod sdk;
mod streams;
