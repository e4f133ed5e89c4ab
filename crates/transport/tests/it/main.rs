//! Real exchanges over loopback.

mod families;
mod send;
mod server;
