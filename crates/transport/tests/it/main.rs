//! Real exchanges over loopback.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of a test fail like a test"
)]

mod cancel;
mod compact;
mod connections;
mod cut;
mod cut_off;
mod fall_back;
mod families;
mod keys;
mod kill;
mod llama;
mod long_session;
mod overflow;
mod pages;
mod predicted;
mod prepared;
mod retries;
mod send;
mod server;
mod sessions;
mod stored;
mod strange_answers;
mod strange_writers;
mod text_tools;
mod timeouts;
mod tls;
mod usage;
