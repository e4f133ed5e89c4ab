//! What a conversation promises: worked examples for each row of the mission's
//! part A, and laws tried against an oracle that keeps plain vectors.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod command;
mod laws;
mod oracle;
mod part_a;
mod run;
