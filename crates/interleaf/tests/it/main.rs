//! What holds where the specialists meet.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod requests;
mod session;
