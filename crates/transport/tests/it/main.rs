//! Real exchanges over loopback.

mod cancel;
mod connections;
mod cut;
mod fall_back;
mod families;
mod keys;
mod retries;
mod send;
mod server;
mod sessions;
mod timeouts;
mod usage;
