//! What holds for every store, and what each must stand.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod contract;
mod fixture;
mod oracle;

mod bad_input;
mod bodies;
mod checksums;
mod crash;
mod damage;
mod fail_over;
mod file;
mod left_log;
mod lost;
mod migrations;
mod replay;
mod shut;
mod tls;
mod writers;
